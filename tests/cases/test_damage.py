"""Damaged objects are named by every verb that needs them; damaged state of gitmem's own is derived again."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cases.world import TITLE, record_file, records, remember, seeded
from tests.conftest import git
from tests.installed import Ran, agent, person

Damage = Callable[[bytes], bytes]
DAMAGE: dict[str, Damage] = {"emptied": lambda raw: b"", "cut": lambda raw: raw[: len(raw) // 2]}


def damage(path: Path, how: str) -> None:
    raw = path.read_bytes()
    path.chmod(0o644)
    path.write_bytes(DAMAGE[how](raw))


def verbs(repo: Path, identifier: str) -> dict[str, Ran]:
    """What each verb answers that reads the tip."""
    lines = (["list"], ["recall", "pool connections"], ["show", identifier], ["log"], ["verify", "--all"])
    answers = {line[0]: agent(repo, *line) for line in lines}
    return {**answers, "remember": remember(repo, "Something else entirely", "human:something else")}


def from_the_index(answers: dict[str, Ran]) -> None:
    """Take out what the index answered, which has seen the branch whole: for that no object is read."""
    for verb in ("list", "recall"):
        if answers[verb].code == 0:
            assert TITLE in answers.pop(verb).out


@pytest.mark.parametrize("known", [True, False], ids=["believed", "new"])
@pytest.mark.parametrize("how", DAMAGE)
@pytest.mark.parametrize("what", ["^{commit}", "^{tree}", ":gitmem.yaml", ":record"])
def test_a_damaged_object_is_named(repo: Path, what: str, how: str, known: bool) -> None:
    identifier = seeded(repo)
    path, _ = record_file(repo, identifier)
    oid = git(repo, "rev-parse", "gitmem/main" + (f":{path}" if what == ":record" else what)).strip()
    file = repo / ".git/objects" / oid[:2] / oid[2:]
    whole = file.read_bytes()
    damage(file, how)
    if not known:
        shutil.rmtree(repo / ".git/gitmem")
    answers = verbs(repo, identifier)
    if what == ":record" and known:
        assert answers.pop("remember").code in (0, 7)  # a write beside it need not read it
    if known:
        from_the_index(answers)
    for verb, answer in answers.items():
        assert answer.code == 7 and oid in answer.err and "Traceback" not in answer.err, (verb, answer)
        assert "git fsck" in answer.err
    file.write_bytes(whole)
    if not known:
        assert person(repo, "trust", "--yes").code == 0  # the answer went with the state of the clone
    assert verbs(repo, identifier)["list"].code == 0  # nothing was concluded for good
    assert [record["title"] for record in records(agent(repo, "recall", "pool connections", "--json"))] == [TITLE]


@pytest.mark.parametrize("how", DAMAGE)
@pytest.mark.parametrize("suffix", ["pack", "idx"])
def test_a_damaged_pack_is_named(repo: Path, suffix: str, how: str) -> None:
    identifier = seeded(repo)
    git(repo, "gc", "-q")
    [file] = (repo / ".git/objects/pack").glob(f"*.{suffix}")
    whole = file.read_bytes()
    damage(file, how)
    answers = verbs(repo, identifier)
    from_the_index(answers)
    for verb, answer in answers.items():
        assert answer.code == 7 and "Traceback" not in answer.err, (verb, answer)
        assert file.stem in answer.err, (verb, answer.err)
    file.write_bytes(whole)
    assert all(answer.code == 0 for answer in verbs(repo, identifier).values())


def test_a_damaged_parent_is_named_where_history_is_read(repo: Path) -> None:
    identifier = seeded(repo)
    oid = git(repo, "rev-parse", "gitmem/main^").strip()
    damage(repo / ".git/objects" / oid[:2] / oid[2:], "cut")
    answers = verbs(repo, identifier)
    assert answers["list"].code == answers["show"].code == 0
    for verb in ("log", "verify"):
        assert answers[verb].code == 7 and oid in answers[verb].err, answers[verb]


GARBAGE = (
    b"", b"\0\xff garbage", b"[]", b'"text"', b"{", b'{"commit": 5, "tip": [], "failed": 3, "quarantined": "x"}',
    b'{"refs/heads/gitmem/main": {"writer": 3, "prev": 7, "commit": "zz"}, "refs/gitmem/inbox": 1}',
)  # fmt: skip


@pytest.mark.parametrize("what", ["belief.json", "chains.json", "index", ""])
def test_damaged_state_of_this_clone_is_derived_again(repo: Path, what: str) -> None:
    seeded(repo)
    agent(repo, "recall", "pool")  # so that there is an index
    trust = repo / ".git/gitmem/trust.json"  # a person's answer: nothing derives it
    files = [p for p in (repo / ".git/gitmem").rglob("*") if p.is_file() and what in (*p.parts, "") and p != trust]
    assert files
    for number, junk in enumerate(GARBAGE):
        for file in files:
            if file.exists():
                file.write_bytes(junk)
        found = agent(repo, "recall", "pool connections", "--json")
        assert found.code == 0 and TITLE in [r["title"] for r in records(found)], (junk, found)
        done = remember(repo, f"Garbage of shape {'abcdefg'[number] * 7}", f"human:shape {number}")
        assert done.code == 0, (junk, done.err)
    assert agent(repo, "verify", "--all").code == 0
    assert len(records(agent(repo, "list", "--json"))) == len(GARBAGE) + 1


def test_a_damaged_answer_to_trust_is_none(repo: Path) -> None:
    seeded(repo)
    assert agent(repo, "list").code == 0
    for junk in GARBAGE:
        (repo / ".git/gitmem/trust.json").write_bytes(junk)
        answer = agent(repo, "list")
        assert answer.code == 3 and "gitmem trust" in answer.err and TITLE not in answer.out, (junk, answer)
    assert person(repo, "trust", "--yes").code == 0 and TITLE in agent(repo, "list").out


def test_a_believed_commit_that_is_gone_is_named(repo: Path) -> None:
    seeded(repo)
    state = repo / ".git/gitmem/belief.json"
    state.write_text(state.read_text().replace(git(repo, "rev-parse", "gitmem/main").strip(), "1" * 40))
    answer = agent(repo, "list")
    assert answer.code == 3 and "no longer in the repository" in answer.err and "reindex --forget" in answer.err
    assert person(repo, "reindex", "--forget").code == 0
    assert len(records(agent(repo, "list", "--json"))) == 1
