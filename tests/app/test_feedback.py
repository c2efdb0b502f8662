"""`gitmem feedback`: useful counts here alone, wrong is for a person to decide."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.app import use
from tests.app.conftest import Ran
from tests.app.steps import POOL, RETRY, ids, proposed, put, status, tips
from tests.installed import agent, person

Run = Callable[..., Ran]
WHY = "the pool was removed in March"


@pytest.fixture(autouse=True)
def begun(repo: Path, gitmem: Run) -> None:
    assert gitmem(repo, "init").code == 0


def test_a_persons_useful_is_credit_once_and_an_agents_a_use(repo: Path, gitmem: Run) -> None:
    known = put(gitmem, repo, POOL)
    before = tips(repo)
    said = gitmem(repo, "feedback", known, "useful", "--json", channel="agent").lines[0]
    kept = use.load(repo / ".git/gitmem")[known]
    assert (said["result"], kept.count, kept.credits) == ("counted", 1, ())
    results = [gitmem(repo, "feedback", known[:6], "useful", "--json").lines[0]["result"] for _ in range(2)]
    kept = use.load(repo / ".git/gitmem")[known]
    assert (results, kept.credits) == (["credited", "known"], (use.PERSON,))
    assert use.sessions_crediting(kept) == 0
    assert tips(repo) == before


def test_wrong_from_a_person_is_asked_and_changes_nothing_without_an_answer(repo: Path, gitmem: Run) -> None:
    known = put(gitmem, repo, POOL)
    assert gitmem(repo, "feedback", known, "wrong").code == 2  # it needs a reason
    before = tips(repo)
    for typed in ("\n", "n\n", ""):
        told = gitmem(repo, "feedback", known, "wrong", "--because", WHY, stdin=typed)
        assert told.code == 0 and f"gitmem wrong {known[:8]}" in told.out and "nothing was changed" in told.out
    answer = gitmem(repo, "feedback", known, "wrong", "--because", WHY, "--json").lines[0]
    assert answer["result"] == "asked" and [line.split()[1] for line in answer["commands"]] == ["wrong", "dispute"]
    assert tips(repo) == before
    assert gitmem(repo, "feedback", known, "wrong", "--because", WHY, stdin="d\n").code == 0
    assert status(gitmem, repo, known) == "disputed"
    assert gitmem(repo, "restore", known, "--because", "no").code == 0
    assert gitmem(repo, "feedback", known, "wrong", "--because", WHY, stdin="w\n").code == 0
    assert status(gitmem, repo, known) == "wrong"


@pytest.mark.parametrize("audience", ["team", "private"])
def test_wrong_from_an_agent_waits_for_a_person(repo: Path, gitmem: Run, audience: str) -> None:
    words = ("--private", "-e", 'human:"the pool holds twenty"') if audience == "private" else ()
    known = put(gitmem, repo, POOL, *words)
    told = gitmem(repo, "feedback", known, "wrong", "--because", WHY, "--json", channel="agent")
    assert told.code == 0, told.err
    candidate = told.lines[0]["candidate"]
    shown = gitmem(repo, "show", candidate, "--json").lines[0]
    assert (shown["status"], shown["scope"]["audience"]) == ("candidate", audience)
    assert {"type": "contradicts", "to": known, "why": WHY}.items() <= shown["links"][0].items()
    assert known not in use.load(repo / ".git/gitmem")  # who contradicts it has not used it
    assert status(gitmem, repo, known) == "active"
    assert WHY not in gitmem(repo, "recall", "twenty pool connections", "--format", "prompt", channel="agent").out
    listed = [row for row in gitmem(repo, "consolidate", "--json").lines if row.get("needs") == "waiting"]
    assert listed[0]["commands"][0] == f'gitmem feedback {known[:8]} wrong --because "…"'
    again = gitmem(repo, "feedback", known, "wrong", "--because", WHY, "--json", channel="agent")
    assert again.lines[0]["candidate"] == candidate


def test_what_nobody_is_told_is_neither(repo: Path, gitmem: Run) -> None:
    waits = proposed(gitmem, repo, POOL)
    assert gitmem(repo, "feedback", waits, "useful").code == 2
    assert "gitmem reject" in gitmem(repo, "feedback", waits, "wrong", "--because", WHY).out
    assert gitmem(repo, "feedback", waits, "helpful").code == 2
    assert gitmem(repo, "feedback", "zzzz", "useful").code != 0
    assert json.loads(gitmem(repo, "show", waits, "--json").out)["status"] == "candidate"


def test_what_says_that_another_is_wrong_is_answered_and_never_let_in(repo: Path, gitmem: Run) -> None:
    known, other = put(gitmem, repo, POOL), proposed(gitmem, repo, RETRY)
    told = agent(repo, "feedback", known, "wrong", "--because", WHY)
    assert told.code == 0 and "gitmem accept" not in told.err and f"gitmem wrong {known[:8]}" in told.err
    waits = next(i for i in ids(gitmem(repo, "list", "--inbox", "--json")) if i != other)
    before = tips(repo)
    for words in (("accept", waits, "--because", "so it is"), ("review", "accept", waits, "--because", "so it is")):
        refused = person(repo, *words)
        assert refused.code == 3 and f"gitmem wrong {known[:8]}" in refused.err, words
    assert tips(repo) == before
    page = agent(repo, "review", waits)
    assert page.code == 0, page
    assert f"it says that {known} is wrong" in page.out and f"gitmem dispute {known[:8]}" in page.out
    assert person(repo, "accept", "--all").code == 0  # the others are let in
    assert (status(gitmem, repo, other), status(gitmem, repo, waits)) == ("active", "candidate")
    assert person(repo, "dispute", known, "--because", WHY).code == 0
    assert person(repo, "consolidate").code == 0 and "answered" in person(repo, "log", waits).out
    assert (status(gitmem, repo, known), status(gitmem, repo, waits)) == ("disputed", "archived")
