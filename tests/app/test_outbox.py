"""Refused writes are kept on this machine, and nothing of a refused secret is kept anywhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.app.steps import POOL, RETRY, Run, everything, put

# In two parts, so that no scanner takes this file for a leak.
SECRET = "gh" + "p_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"
LABEL = "nobody finds this label"


@pytest.fixture(autouse=True)
def begun(repo: Path, gitmem: Run) -> None:
    assert gitmem(repo, "init").code == 0


def holds(repo: Path, text: str) -> list[str]:
    return [name for name, data in everything(repo) if text.encode() in data]


@pytest.mark.parametrize(
    "words",
    [
        ["remember", "-k", "fact", f"The token is {SECRET}", "-e", "file:src/pool.py:2"],
        ["remember", "-k", "fact", POOL, "-e", "file:src/pool.py:2", "--body", f"{LABEL} token={SECRET}"],
        ["remember", "-k", "fact", POOL, "-e", "file:src/pool.py:2", "--tag", SECRET],
        ["remember", "-k", "fact", POOL, "-e", f'human:"the token is {SECRET}"'],
        ["remember", "-k", "fact", POOL, "-e", f"commit:{SECRET}"],
        ["remember", "-k", "fact", POOL, "-e", f"file:{SECRET}.py:3"],
        ["remember", "-k", "fact", POOL, "-e", "file:src/pool.py:2", "--because", f"token={SECRET}"],
        ["wrong", "ID", "--because", f"token={SECRET}"],
        ["policy", "set", "review", "forge", "--because", f"token={SECRET}"],
        ["edit", "ID", "--body", f"token={SECRET}", "--because", "x"],
    ],
    ids=["title", "body", "tag", "quote", "commit", "path", "reason", "wrong", "policy", "edit"],
)
@pytest.mark.parametrize("channel", ["terminal", "agent"])
def test_nothing_of_a_refused_secret_is_kept(repo: Path, gitmem: Run, words: list[str], channel: str) -> None:
    memory = put(gitmem, repo, RETRY)
    for options in ([], ["--json"]):
        refused = gitmem(repo, *(memory if w == "ID" else w for w in words), *options, channel=channel)
        assert refused.code == 3, refused.err
    assert holds(repo, SECRET) == [] and holds(repo, LABEL) == []
    assert SECRET not in gitmem(repo, "list", "--refused").out + gitmem(repo, "list", "--refused", "--json").out
    # The control: the search would find what is kept, in a file as well as in an object.
    put(gitmem, repo, "A planted canary sings in the mine", channel=channel)
    assert holds(repo, "planted canary")


def test_a_secret_in_a_title_is_not_repeated_in_the_refusal(repo: Path, gitmem: Run) -> None:
    for options in ([], ["--json"]):
        refused = gitmem(repo, "remember", "-k", "fact", f"The token is {SECRET}", "-e", "file:src/pool.py:2", *options)
        assert refused.code == 3 and SECRET[:12] not in refused.err + refused.out and "secret" in refused.err
    shown = gitmem(repo, "remember", "-k", "fact", POOL)
    assert POOL in shown.err


def test_a_refused_write_is_kept_with_its_reasons_and_its_text(repo: Path, gitmem: Run) -> None:
    assert gitmem(repo, "remember", "-k", "fact", POOL, "--tag", "db", channel="agent").code == 3
    assert gitmem(repo, "remember", "-k", "solution", RETRY, "-e", "file:src/pool.py:2").code == 3
    newest, oldest = gitmem(repo, "list", "--refused", "--json").lines
    assert [reason["code"] for reason in oldest["reasons"]] == ["evidence.missing"]
    assert (oldest["op"], oldest["asked"], oldest["actor"]["channel"]) == ("refused", "create", "agent")
    assert POOL in oldest["draft"] and "- db" in oldest["draft"]
    assert [reason["code"] for reason in newest["reasons"]] == ["problem.missing"]
    text = gitmem(repo, "list", "--refused").out
    assert text.index(RETRY) < text.index(POOL) and "evidence.missing: nothing supports the claim" in text
    assert len(gitmem(repo, "list", "--refused", "--limit", "1", "--json").lines) == 1


def test_what_was_kept_can_be_mended_and_remembered(repo: Path, gitmem: Run) -> None:
    gitmem(repo, "remember", "-k", "fact", POOL, "--body", "a body: with marks")
    draft = gitmem(repo, "list", "--refused", "--json").lines[0]["draft"]
    mended = draft.replace("evidence: []", "evidence: [file:src/pool.py:2]")
    done = gitmem(repo, "remember", "--json", stdin=mended)
    assert done.code == 0 and done.lines[0]["memory"]["body"] == "a body: with marks"


def test_the_outbox_is_private_and_bounded(repo: Path, gitmem: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitmem.app.outbox.KEEP", 3)
    for number in range(5):
        gitmem(repo, "remember", "-k", "fact", f"Claim number {number} without proof")
    folder = repo / ".git/gitmem/outbox"
    files = sorted(folder.iterdir())
    assert len(files) == 3 and {file.stat().st_mode & 0o777 for file in files} == {0o600}
    assert folder.stat().st_mode & 0o777 == 0o700
    assert "Claim number 4" in json.loads(files[-1].read_text())["draft"]


def test_a_damaged_entry_hides_no_other(repo: Path, gitmem: Run) -> None:
    gitmem(repo, "remember", "-k", "fact", POOL)
    (repo / ".git/gitmem/outbox/zzz.json").write_text("{")
    assert len(gitmem(repo, "list", "--refused", "--json").lines) == 1
