"""What is signed otherwise than by the rules proves no more than it does: no level above 0 comes of it."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.app.steps import POOL, WEATHER, Run, proposed, put
from tests.app.test_policies import key_pair, sign_with
from tests.conftest import git

WHY = ("--because", "we agreed on it")


def object_of(repo: Path, raw: bytes) -> str:
    """Write a commit of these bytes, well formed or not; its id."""
    words = ["git", "-C", str(repo), "hash-object", "-t", "commit", "-w", "--stdin", "--literally"]
    return subprocess.run(words, input=raw, capture_output=True, check=True).stdout.decode().strip()


def signed_as(key: Path, payload: bytes) -> bytes:
    """The header that is a signature of `key` over these bytes."""
    words = ["ssh-keygen", "-Y", "sign", "-n", "git", "-f", str(key)]
    done = subprocess.run(words, input=payload, capture_output=True, check=True).stdout.decode().strip()
    return b"gpgsig " + "\n ".join(done.split("\n")).encode()


def with_header(commit: bytes, *headers: bytes) -> bytes:
    head, _, message = commit.partition(b"\n\n")
    return b"\n".join((head, *headers)) + b"\n\n" + message


def test_only_one_right_signature_over_the_whole_commit_has_a_level(repo: Path, tmp_path: Path, gitmem: Run) -> None:
    assert gitmem(repo, "init").code == 0
    ann, eve = key_pair(tmp_path, "ann"), key_pair(tmp_path, "eve")
    sign_with(repo, ann)
    assert gitmem(repo, "policy", "signer", "add", "ann@example.invalid", f"{ann}.pub", *WHY).code == 0
    git(repo, "config", "gitmem.sign", "false")
    item = proposed(gitmem, repo, WEATHER)
    put(gitmem, repo, POOL)
    base = git(repo, "rev-parse", "gitmem/main").strip()
    assert gitmem(repo, "accept", item).code == 0
    tip = git(repo, "rev-parse", "gitmem/main").strip()
    plain = subprocess.run(["git", "-C", str(repo), "cat-file", "commit", tip], capture_output=True, check=True).stdout
    other = plain.replace(b"\n\n", b"\n\nanother message: ", 1)
    assert b"gpgsig" not in plain and other != plain
    good, stranger, elsewhere = signed_as(ann, plain), signed_as(eve, plain), signed_as(ann, other)
    tag = b"object " + tip.encode() + b"\ntype commit\ntag v1\ntagger A <a@example.invalid> 1 +0000\n\nv1\n"
    inner = b"mergetag " + b"\n ".join(tag.split(b"\n")) + good.split(b" ", 1)[1]
    inside = b"mergetag object " + tip.encode() + b"\n " + b"\n ".join(good.split(b"\n"))
    made_so = {
        "right": with_header(plain, good),
        "none": plain,
        "two, right first": with_header(plain, good, stranger),
        "two, right last": with_header(plain, stranger, good),
        "twice the right one": with_header(plain, good, good),
        "for both hashes": with_header(plain, good, good.replace(b"gpgsig", b"gpgsig-sha256", 1)),
        "inside a mergetag": with_header(plain, inside),
        "of the tag inside": with_header(plain, inner),
        "over other bytes": with_header(plain, elsewhere),
        "of a stranger": with_header(plain, stranger),
        "in the message": plain + b"\n" + good + b"\n",
        "over other headers": with_header(plain, b"encoding UTF-8", good),
        "for another hash": with_header(plain, good.replace(b"gpgsig", b"gpgsig-sha256", 1)),
    }
    found = {}
    for name, raw in made_so.items():
        made = object_of(repo, raw)
        git(repo, "update-ref", "refs/heads/gitmem/main", made)
        (repo / ".git/gitmem/belief.json").unlink(missing_ok=True)  # else what was there before the rewriting is read
        report = gitmem(repo, "verify", "--base", base, "--json")
        entry = gitmem(repo, "log", item, "--json").lines[0]
        shown = gitmem(repo, "show", item, "--json").lines[0]["review"]["level"]
        found[name] = (entry["signature"], entry["signer"], entry["review"]["level"], shown, report.code)
    for name in ("right", "for both hashes"):  # that of the other hash is none of these bytes, for git as well
        assert found.pop(name) == ("good", "ann@example.invalid", 1, 1, 0)
    assert {name: row for name, row in found.items() if row[2:4] != (0, 0) or row[1]} == {}
