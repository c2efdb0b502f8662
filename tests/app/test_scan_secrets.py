"""`scan-secrets`: a secret is found wherever gitmem keeps it, named by place and rule and never repeated."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.app import scan_secrets as scanning
from tests.app.steps import POOL, Run, proposed, put
from tests.conftest import git
from tests.policy.test_secrets import LABELLED, TOKENS

TOKEN = TOKENS["github-token"]
VALUE = "harbour-Lamp-9"  # of the user's list; no rule knows it


def planted(repo: Path, content: bytes, name: str = "notes.md") -> str:
    """The commit, on no ref, of one file."""
    blob = put_object(repo, "blob", content)
    tree = git(repo, "mktree", input=f"100644 blob {blob}\t{name}\n").strip()
    return git(repo, "commit-tree", tree, "-m", "a note").strip()


def put_object(repo: Path, kind: str, content: bytes) -> str:
    return git(repo, "hash-object", "-w", "-t", kind, "--stdin", input=content.decode()).strip()


def found(gitmem: Run, repo: Path) -> list[tuple[str, str, str, int]]:
    ran = gitmem(repo, "scan-secrets", "--json")
    *lines, last = ran.lines
    assert ran.code == (3 if lines else 0) and last["found"] == len(lines), ran.err
    said = ran.out + ran.err + gitmem(repo, "scan-secrets").out
    assert TOKEN not in said and VALUE not in said
    return [(line["rule"], line["place"], line["path"] or line["name"], line["line"]) for line in lines]


@pytest.fixture
def used(repo: Path, gitmem: Run) -> Path:
    """A repository with a memory, a candidate, a refusal and an index."""
    gitmem(repo, "init")
    put(gitmem, repo, POOL)
    proposed(gitmem, repo, "Invoices are numbered by the accounting service")
    gitmem(repo, "remember", "-k", "fact", f"the key is {TOKEN}")
    gitmem(repo, "recall", "pool")
    return repo


def test_a_clean_repository_says_so_and_counts_everything(used: Path, gitmem: Run, seal: Path) -> None:
    assert found(gitmem, used) == []
    ran = gitmem(used, "scan-secrets")
    assert ran.code == 0 and ran.out.startswith("no secret in ")
    looked = gitmem(used, "scan-secrets", "--json").lines[-1]["looked_at"]
    tips = git(used, "for-each-ref", "--format=%(objectname)", "refs/gitmem/", "refs/heads/gitmem/").split()
    assert looked["objects"] >= len(set(git(used, "rev-list", "--objects", *tips).splitlines())) > 10
    kept = (used / ".git/gitmem", seal / ".local/state/gitmem")
    files = [path for folder in kept for path in folder.rglob("*") if path.is_file()]
    assert looked["files"] == len(files) and looked["refs"] == len(tips) == 2


def plant_blob(repo: Path) -> tuple[str, ...]:
    git(repo, "update-ref", "refs/gitmem/sessions/codex/ab/x", planted(repo, f"one\nuse {TOKEN}\n".encode()))
    return "github-token", "blob", "notes.md", "2"


def plant_exact(repo: Path) -> tuple[str, ...]:
    git(repo, "update-ref", "refs/heads/gitmem/propose/x", planted(repo, f"{VALUE}\n".encode()))
    return "exact", "blob", "notes.md", "1"


def plant_key(repo: Path) -> tuple[str, ...]:
    git(repo, "update-ref", "refs/gitmem/inbox", planted(repo, f"x\n{LABELLED['private-key'][0]}\n".encode()))
    return "private-key", "blob", "notes.md", "3"


def plant_message(repo: Path) -> tuple[str, ...]:
    tree = git(repo, "mktree", input="").strip()
    commit = git(repo, "commit-tree", tree, "-m", "subject", "-m", f"Trailer: {TOKEN}").strip()
    git(repo, "update-ref", "refs/remotes/origin/gitmem/main", commit)
    return "github-token", "commit", commit, "7"


def plant_tag(repo: Path) -> tuple[str, ...]:
    head = git(repo, "rev-parse", "HEAD").strip()
    tag = put_object(repo, "tag", f"object {head}\ntype commit\ntag x\ntagger A <a@b> 0 +0000\n\n{TOKEN}\n".encode())
    git(repo, "update-ref", "refs/gitmem/remotes/origin/main", tag)
    return "github-token", "tag", "x", "6"


def plant_path(repo: Path) -> tuple[str, ...]:
    commit = planted(repo, b"x", f"{TOKEN}.md")
    git(repo, "update-ref", "refs/gitmem/inbox", commit)
    return "github-token", "tree", git(repo, "rev-parse", f"{commit}^{{tree}}").strip(), "1"


def plant_ref_name(repo: Path) -> tuple[str, ...]:
    git(repo, "update-ref", f"refs/heads/gitmem/propose/{TOKEN}", planted(repo, b"x"))
    return "github-token", "ref", git(repo, "rev-parse", f"refs/heads/gitmem/propose/{TOKEN}").strip(), "0"


def plant_reflog_only(repo: Path) -> tuple[str, ...]:
    now = git(repo, "rev-parse", "refs/heads/gitmem/main").strip()
    git(repo, "update-ref", "refs/heads/gitmem/main", planted(repo, f"use {TOKEN}".encode()))
    git(repo, "update-ref", "refs/heads/gitmem/main", now)
    return "github-token", "blob", "notes.md", "1"


def plant_reflog_message(repo: Path) -> tuple[str, ...]:
    git(repo, "update-ref", "-m", f"because {TOKEN}", "refs/heads/gitmem/propose/y", planted(repo, b"x"))
    return "github-token", "reflog", "refs/heads/gitmem/propose/y", "1"


def plant_file(name: str, content: bytes, line: int) -> Callable[[Path], tuple[str, ...]]:
    def plant(repo: Path) -> tuple[str, ...]:
        file = repo / ".git/gitmem" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        return "github-token", "file", f"gitmem/{name}", str(line)

    return plant


def plant_link(repo: Path) -> tuple[str, ...]:
    (repo / ".git/gitmem/link").symlink_to(TOKEN)
    return "github-token", "file", "gitmem/link", "1"


def plant_state(repo: Path) -> tuple[str, ...]:
    folder = Path(os.environ["XDG_STATE_HOME"]) / "gitmem"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "errors.log").write_text(f"Traceback\n  {TOKEN}\n")
    return "github-token", "file", "gitmem/errors.log", "2"


PLANTS: dict[str, Callable[[Path], tuple[str, ...]]] = {
    "blob of a session": plant_blob,
    "exact value in a proposal": plant_exact,
    "private key in the inbox": plant_key,
    "message of a fetched commit": plant_message,
    "tag": plant_tag,
    "path": plant_path,
    "name of a ref": plant_ref_name,
    "object that only a reflog knows": plant_reflog_only,
    "message of a reflog": plant_reflog_message,
    "spool": plant_file("spool/claude-code", json.dumps({"session": TOKEN}).encode() + b"\n", 1),
    "index": plant_file("index/segment.store", b"\x00\xff\x01" + TOKEN.encode() + b"\x00\n", 1),
    "hidden temporary": plant_file("outbox/.x.json.123", b"a\n\nb " + TOKEN.encode(), 3),
    "no newline for long": plant_file("state", b"\x00" * 5_000_000 + b" " + TOKEN.encode(), 1),
    "link": plant_link,
    "state of the user": plant_state,
}


@pytest.mark.parametrize("where", PLANTS)
def test_a_secret_is_found_where_it_was_planted(where: str, used: Path, gitmem: Run, seal: Path) -> None:
    (seal / ".config/gitmem").mkdir(parents=True)
    (seal / ".config/gitmem/secrets").write_text(f"{VALUE}\n")
    assert found(gitmem, used) == []
    rule, place, name, line = PLANTS[where](used)
    assert (rule, place, name, int(line)) in found(gitmem, used)


def test_an_object_of_no_ref_and_what_is_not_gitmems_are_not_looked_at(used: Path, gitmem: Run) -> None:
    git(used, "update-ref", "refs/heads/other", planted(used, TOKEN.encode()))
    put_object(used, "blob", f"loose {TOKEN}".encode())
    (used / ".env").write_text(TOKEN)
    assert found(gitmem, used) == []
    git(used, "update-ref", "refs/gitmem/inbox", "refs/heads/other")
    assert len(found(gitmem, used)) == 1


def test_a_damaged_object_is_named_and_the_rest_is_looked_at(used: Path, gitmem: Run) -> None:
    bad = put_object(used, "blob", b"to be lost")
    tree = git(
        used, "mktree", input=f"100644 blob {bad}\ta\n100644 blob {put_object(used, 'blob', TOKEN.encode())}\tb\n"
    ).strip()
    git(used, "update-ref", "refs/gitmem/inbox", git(used, "commit-tree", tree, "-m", "x").strip())
    (used / ".git/objects" / bad[:2] / bad[2:]).unlink()
    ran = gitmem(used, "scan-secrets", "--json")
    assert ran.code == 3 and any(bad in why for why in ran.lines[-1]["unread"]) and ran.lines[0]["path"] == "b"
    git(used, "update-ref", "-d", "refs/gitmem/inbox")
    tree = git(used, "mktree", "--missing", input=f"100644 blob {bad}\ta\n").strip()
    git(used, "update-ref", "refs/gitmem/inbox", git(used, "commit-tree", tree, "-m", "x").strip())
    assert gitmem(used, "scan-secrets").code == 7


def test_a_long_line_is_read_in_pieces_and_a_secret_on_their_seam_is_found(
    used: Path, gitmem: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scanning, "_PIECE", 4096)
    for before in (4096 - 20, 4096, 2 * 4096 - 10):
        plant_file("long", b"a\n" + b"." * before + TOKEN.encode() + b"." * 9000 + b"\nend", 2)(used)
        assert {(line[2], line[3]) for line in found(gitmem, used)} == {("gitmem/long", 2)}
