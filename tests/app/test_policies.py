"""What a policy allows is explained; with keys of people it is changed by their signature, and reviews have a level."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from gitmem.app import policies
from tests.app.steps import POOL, WEATHER, Run, codes, proposed, put
from tests.conftest import git

WHY = ("--because", "we agreed on it")


@pytest.fixture(autouse=True)
def begun(repo: Path, gitmem: Run) -> None:
    assert gitmem(repo, "init").code == 0


def key_pair(folder: Path, name: str) -> Path:
    """A new key pair; the file of its private part."""
    path = folder / name
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", path], check=True)
    return path


def sign_with(repo: Path, key: Path) -> None:
    """Have this repository's commits signed, as a person sets it up."""
    for name, value in (("gpg.format", "ssh"), ("user.signingkey", str(key)), ("commit.gpgsign", "true")):
        git(repo, "config", name, value)


@pytest.fixture
def signer(repo: Path, tmp_path: Path, gitmem: Run) -> Path:
    """The key of a person whom the policy names, and with which commits are signed here."""
    key = key_pair(tmp_path, "ann")
    sign_with(repo, key)
    added = gitmem(repo, "policy", "signer", "add", "ann@example.invalid", f"{key}.pub", *WHY)
    assert added.code == 0, added.err
    return key


def told(gitmem: Run, repo: Path, *words: str, channel: str = "terminal") -> dict[str, Any]:
    ran = gitmem(repo, "policy", "explain", "--json", *words, channel=channel)
    assert ran.code == 0, ran.err
    return {line["what"]: line for line in ran.lines}


def levels(gitmem: Run, repo: Path, *words: str) -> list[tuple[str, str, int]]:
    """(operation, signature, level of review) of events, newest first."""
    lines = gitmem(repo, "log", "--json", *words).lines
    return [(line["op"], line["signature"], line["review"]["level"]) for line in lines]


def test_what_a_person_and_what_an_agent_may_do_is_explained(repo: Path, gitmem: Run) -> None:
    person, agent = told(gitmem, repo), told(gitmem, repo, channel="agent")
    assert {person[verb]["verdict"] for verb in ("remember", "accept", "wrong", "policy")} == {"yes"}
    assert agent["remember"]["verdict"] == "proposal"
    for verb in ("accept", "wrong", "policy"):
        assert agent[verb]["verdict"] == "no"
        assert f"a person runs: gitmem {verb}" in agent[verb]["instead"]
        assert gitmem(repo, "policy", "explain", verb).out.startswith("yes")
    assert gitmem(repo, "policy", "set", "evidence.fact", "test", *WHY).code == 0
    assert "test" in told(gitmem, repo)["a fact"]["why"]
    assert gitmem(repo, "policy", "explain", "dance").code == 2


def test_what_is_explained_is_what_happens(repo: Path, gitmem: Run) -> None:
    active, candidate = put(gitmem, repo, POOL), proposed(gitmem, repo, WEATHER)
    verbs = {
        "accept": (candidate,), "reject": (candidate, *WHY), "archive": (active, *WHY), "restore": (active, *WHY),
        "wrong": (active, *WHY), "lift": (active, *WHY), "dispute": (active, *WHY),
    }  # fmt: skip
    for channel in ("agent", "terminal"):
        for verb, words in verbs.items():
            expected = told(gitmem, repo, verb, words[0], channel=channel)[verb]["verdict"]
            done = gitmem(repo, verb, *words, channel=channel)
            assert (done.code == 0) == (expected == "yes"), (channel, verb, done.err)
    assert gitmem(repo, "policy", "set", "review", "forge", *WHY).code == 0
    assert (
        told(gitmem, repo)["wrong"]["verdict"] == "proposal" and told(gitmem, repo)["remember"]["verdict"] == "proposal"
    )


def test_a_signature_gives_the_review_of_a_proposal_a_level(repo: Path, gitmem: Run, signer: Path) -> None:
    candidate = proposed(gitmem, repo, WEATHER)
    assert gitmem(repo, "accept", candidate).code == 0
    own = put(gitmem, repo, POOL)
    assert levels(gitmem, repo, candidate)[0] == ("accept", "good", 1)
    assert levels(gitmem, repo, own) == [("create", "good", 0)]  # who wrote it is proven, and nobody reviewed it
    git(repo, "config", "gitmem.sign", "false")
    later = proposed(gitmem, repo, "Retries of a failed connect stop after three attempts")
    assert gitmem(repo, "accept", later).code == 0
    assert levels(gitmem, repo, later)[0] == ("accept", "none", 0)
    assert "review 1, keyed (ann@example.invalid)" in gitmem(repo, "log", candidate).out
    assert git(repo, "-c", f"gpg.ssh.allowedSignersFile={allowed(signer)}", "verify-commit", own_commit(repo)) == ""
    assert gitmem(repo, "verify", "--all").code == 0


def allowed(key: Path) -> Path:
    """The file by which git itself knows the key."""
    path = key.with_name("allowed")
    path.write_text(f"ann@example.invalid {key.with_suffix('.pub').read_text()}")
    return path


def own_commit(repo: Path) -> str:
    """The newest commit of the branch that is signed."""
    return next(c for c in git(repo, "rev-list", "gitmem/main").split() if "gpgsig" in git(repo, "cat-file", "-p", c))


def test_a_policy_with_keys_of_people_is_changed_by_their_signature_only(
    repo: Path, tmp_path: Path, gitmem: Run, signer: Path
) -> None:
    assert gitmem(repo, "policy", "set", "unobservable", "refuse", *WHY).code == 0
    sign_with(repo, key_pair(tmp_path, "stranger"))
    refused = gitmem(repo, "policy", "set", "review", "forge", "--json", *WHY)
    assert refused.code == 3 and codes(refused) == ["policy.unsigned"]
    assert gitmem(repo, "policy", "--json").lines[0]["review"] == "local"
    # Who writes the commit with git alone is found out by every reader.
    before = git(repo, "rev-parse", "gitmem/main").strip()
    sign_with(repo, signer)
    assert gitmem(repo, "policy", "set", "review", "forge", *WHY).code == 0
    signed = git(repo, "rev-parse", "gitmem/main").strip()
    assert gitmem(repo, "verify", "--base", before).code == 0
    tree, message = git(repo, "rev-parse", f"{signed}^{{tree}}").strip(), "policy: we agreed on it"
    unsigned = git(repo, "-c", "commit.gpgsign=false", "commit-tree", tree, "-p", before, "-m", message).strip()
    report = gitmem(repo, "verify", "--base", before, "--head", unsigned, "--json")
    assert report.code == 3
    assert [fault["code"] for fault in report.lines[0]["faults"]] == ["policy.unsigned"]


def test_keys_are_read_with_care(repo: Path, tmp_path: Path, gitmem: Run) -> None:
    key = key_pair(tmp_path, "bob")
    private = gitmem(repo, "policy", "signer", "add", "bob@example.invalid", str(key), *WHY)
    assert private.code == 2 and "private key" in private.err
    assert gitmem(repo, "policy", "signer", "add", "bob@example.invalid", "ssh-ed25519 nonsense", *WHY).code == 2
    public = f"{key}.pub"
    assert gitmem(repo, "policy", "signer", "add", "a-bot", public, "--role", "agent", *WHY).code == 0
    assert gitmem(repo, "policy", "signer", "add", "bob@example.invalid", public, *WHY).code == 2
    agent = gitmem(repo, "policy", "signer", "add", "eve@example.invalid", public, *WHY, channel="agent")
    assert agent.code == 3
    assert gitmem(repo, "policy", "signer", "remove", "nobody", *WHY).code == 2
    assert gitmem(repo, "policy", "signer", "remove", "a-bot", *WHY).code == 0
    assert "signer a-bot" not in gitmem(repo, "policy", "--json").lines[0]


TOKEN = (  # a key in a hardware token
    "sk-ssh-ed25519@openssh.com"
    " AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIEX/dQ0v4127bEo8eeG1EV0ApO2lWbSnN6RWusn/NjqIAAAABHNzaDo="
)


def test_a_name_is_one_printable_line_and_is_shown_as_one(repo: Path, tmp_path: Path, gitmem: Run) -> None:
    key = f"{key_pair(tmp_path, 'ann')}.pub"
    forged = "ann\x1b[2J\x07\nsigners none"
    for name in ("", " ann", forged, "a\u202eb", "x" * 101):
        done = gitmem(repo, "policy", "signer", "add", name, key, *WHY)
        assert done.code == 2 and "names nobody" in done.err and "\x1b" not in done.err, name
    with mock.patch.object(policies, "_is_name", lambda name: True):  # as another program might write it
        assert gitmem(repo, "policy", "signer", "add", forged, key, *WHY).code == 0
    for verb in ("show", "explain"):
        shown = gitmem(repo, "policy", verb)
        assert shown.code == 0 and "\x1b" not in shown.out and "\x07" not in shown.out and "\nsigners" not in shown.out


def test_nobody_is_named_whose_signature_is_never_evaluated(repo: Path, tmp_path: Path, gitmem: Run) -> None:
    # Named as the first person, such a key would lock the policy for good.
    empty = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAAA=="
    for key in (TOKEN, empty):
        added = gitmem(repo, "policy", "signer", "add", "ann@example.invalid", key, *WHY)
        assert added.code == 2 and "not evaluated" in added.err
    for kind in ("ecdsa", "rsa"):
        file = tmp_path / kind
        subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", "", "-f", file], check=True)
        added = gitmem(repo, "policy", "signer", "add", f"{kind}@example.invalid", f"{file}.pub", *WHY)
        assert added.code == 0, added.err
        sign_with(repo, file)


def test_what_cannot_be_signed_is_not_written(repo: Path, tmp_path: Path, gitmem: Run) -> None:
    before = git(repo, "for-each-ref")
    sign_with(repo, tmp_path / "no-such-key")
    done = gitmem(repo, "remember", "-k", "fact", POOL, "-e", "file:src/pool.py:2")
    assert done.code == 1 and "could not be signed" in done.err and "gitmem.sign false" in done.err
    assert git(repo, "for-each-ref") == before
    git(repo, "config", "gitmem.sign", "false")
    assert gitmem(repo, "remember", "-k", "fact", POOL, "-e", "file:src/pool.py:2").code == 0


def recalled(gitmem: Run, repo: Path, words: str, *flags: str) -> list[tuple[str, int]]:
    """(title, level of review) of what recall answers."""
    lines = gitmem(repo, "recall", words, "--json", *flags).lines
    return [(line["title"], line["review"]) for line in lines if "title" in line]


def test_recall_and_show_tell_the_level_of_what_they_show_now_and_then(repo: Path, gitmem: Run, signer: Path) -> None:
    candidate = proposed(gitmem, repo, WEATHER)
    assert gitmem(repo, "accept", candidate).code == 0
    assert recalled(gitmem, repo, "weather report") == [(WEATHER, 1)]
    assert gitmem(repo, "show", candidate, "--json").lines[0]["review"]["level"] == 1
    assert "review 1" in gitmem(repo, "recall", "weather report").out
    reviewed = git(repo, "rev-parse", "gitmem/main").strip()

    git(repo, "config", "gitmem.sign", "false")
    # A move that says nothing leaves the review where it was; whoever changes the words has to be reviewed again.
    assert gitmem(repo, "archive", candidate, *WHY).code == 0
    assert gitmem(repo, "restore", candidate, *WHY).code == 0
    assert recalled(gitmem, repo, "weather report") == [(WEATHER, 1)]
    assert gitmem(repo, "edit", candidate, "--tag", "deploys", *WHY).code == 0
    assert recalled(gitmem, repo, "weather report") == [(WEATHER, 1)]
    assert gitmem(repo, "show", candidate, "--json").lines[0]["review"]["level"] == 1
    assert gitmem(repo, "edit", candidate, "--body", "The one of the harbour.", *WHY).code == 0
    assert recalled(gitmem, repo, "weather report") == [(WEATHER, 0)]
    assert gitmem(repo, "show", candidate, "--json").lines[0]["review"]["level"] == 0
    assert recalled(gitmem, repo, "weather report", "--as-of", reviewed) == [(WEATHER, 1)]
    caught_up = recalled(gitmem, repo, "weather report", "--history")
    assert gitmem(repo, "reindex").code == 0
    assert recalled(gitmem, repo, "weather report", "--history") == caught_up

    assert gitmem(repo, "policy", "show").code == 0
    git(repo, "config", "gitmem.sign", "true")
    assert gitmem(repo, "policy", "signer", "remove", "ann@example.invalid", *WHY).code == 0
    assert recalled(gitmem, repo, "weather report", "--as-of", reviewed) == [(WEATHER, 0)]  # nobody is named any more
