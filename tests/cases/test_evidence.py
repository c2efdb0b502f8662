"""Evidence that does not carry its memory is refused naming the failing reference: at the command, and in a commit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cases.world import QUOTE, TITLE, hand_commit, record_file, records, remember, seeded
from tests.conftest import git
from tests.installed import Ran, agent, person

OTHER = "Acquiring retries the connect three times"


def proposed(repo: Path, evidence: list[Any] | None) -> Ran:
    draft: dict[str, Any] = {"kind": "fact", "title": OTHER}
    if evidence is not None:
        draft["evidence"] = evidence
    (repo.parent / "draft.json").write_text(json.dumps(draft))
    return person(repo, "remember", "--file", str(repo.parent / "draft.json"))


@pytest.fixture
def sound(repo: Path) -> dict[str, Any]:
    """The full reference to `size = 20` in line 2 of src/pool.py."""
    seeded(repo)
    [record] = records(agent(repo, "list", "--json"))
    [reference] = record["evidence"]
    return dict(reference)


CHANGES: dict[str, dict[str, Any]] = {
    "a blob that no commit has there": {"blob": "2" * 40},
    "a blob that is not": {"blob": "1" * 40},
    "a line past the end": {"lines": "99"},
    "another line": {"lines": "1"},
    "other numbers in the quote": {"quote": "size = 50"},
    "more than is there": {"quote": "size = 200"},
    "the digest of something else": {"sha256": "0" * 64},
    "another file": {"path": "README.md"},
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_reference_that_does_not_hold(repo: Path, sound: dict[str, Any], name: str) -> None:
    answer = proposed(repo, [{**sound, **CHANGES[name]}])
    assert answer.code == 3 and "evidence[0]" in answer.err, answer
    assert "Traceback" not in answer.err
    assert proposed(repo, [sound]).code == 0


@pytest.mark.parametrize(
    ("evidence", "said"),
    [
        (None, "evidence"),
        ([], "evidence"),
        (["url:https://example.org/x"], "url"),
        (["memory:zzzzzzzzzzzz"], "memory"),
        (["commit:nowhere"], "nowhere"),
        (["file:src/none.py:1"], "none.py"),
        (["file:src/pool.py:40-58"], "pool.py"),
        (["file:../shop/src/pool.py:2"], ".."),
    ],
)
def test_what_is_no_evidence(repo: Path, sound: dict[str, Any], evidence: list[str] | None, said: str) -> None:
    answer = proposed(repo, evidence)
    assert answer.code in (2, 3) and said in answer.err, answer
    assert len(records(agent(repo, "list", "--json"))) == 1
    assert proposed(repo, ["file:src/pool.py:5"]).code == 0


def test_an_agent_does_not_quote_a_human(repo: Path) -> None:
    seeded(repo)
    line = ["remember", "-k", "fact", OTHER, "-e", "human:three times, I said"]
    answer = agent(repo, *line)
    assert answer.code == 3 and "human" in answer.err
    assert person(repo, *line).code == 0


def test_the_same_answer_for_a_commit_made_by_hand(repo: Path, sound: dict[str, Any]) -> None:
    identifier = records(agent(repo, "list", "--json"))[0]["id"]
    path, text = record_file(repo, identifier)
    assert sound["sha256"] in text
    hand_commit(repo, {path: text.replace(sound["sha256"], "0" * 64).encode()})
    checked = agent(repo, "verify", "--all")
    assert checked.code == 3 and path in checked.out
    assert records(agent(repo, "list", "--json")) == []
    assert remember(repo, OTHER, "file:src/pool.py:5").code == 0  # the control
    assert [record["title"] for record in records(agent(repo, "list", "--json"))] == [OTHER]


def test_evidence_that_changed_since_is_told_and_what_was_cited_is_kept(repo: Path) -> None:
    identifier = seeded(repo)
    (repo / "src/pool.py").write_text("class Pool:\n    size = 50\n")
    git(repo, "commit", "-q", "-am", "fifty")
    answer = agent(repo, "show", identifier)
    assert answer.code == 0 and QUOTE in answer.out and TITLE in answer.out


def test_a_commit_that_is_gone_is_told(repo: Path, sound: dict[str, Any]) -> None:
    """The same bytes stand in the history of the path: what was cited can still be read, and the rewrite is said."""
    assert proposed(repo, [{**sound, "commit": "1" * 40}]).code == 0
    [record] = [each for each in records(agent(repo, "list", "--json")) if each["title"] == OTHER]
    assert "rewritten" in agent(repo, "show", record["id"]).out
