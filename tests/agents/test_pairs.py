"""A problem arrives with what solved it, in one block and within its budget, by the installed command."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from gitmem.recall.budget import estimate
from tests.agents.test_injection import edits, prompted, remember
from tests.conftest import git
from tests.installed import person

PROBLEM = "pytest tests/test_pool.py fails: the pool of session workers is exhausted"
SOLUTION = "What got pytest tests/test_pool.py to pass: a change of src/pool.py"
LINE = "+ limit=None"
ASKS = "why do the tests of the pool fail with session workers exhausted?"


def rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def settings(repo: Path, **budgets: int) -> None:
    home = Path(os.environ["XDG_CONFIG_HOME"]) / "gitmem"
    home.mkdir(parents=True, exist_ok=True)
    (home / "inject.json").write_text(json.dumps(budgets))


@pytest.fixture
def pair(repo: Path) -> tuple[str, str]:
    """(problem, solution)"""
    assert person(repo, "init").code == 0
    problem = remember(repo, "problem", PROBLEM, "-p", "src/pool.py")
    body = f"- src/pool.py\n    - limit=4\n    {LINE}"
    return problem, remember(repo, "solution", SOLUTION, "--body", body, "--solves", problem)


@pytest.mark.parametrize("event", ["prompt", "edit"])
def test_a_problem_comes_with_the_line_that_solved_it(repo: Path, pair: tuple[str, str], event: str) -> None:
    problem, solution = pair
    (repo / "src/pool.py").write_text("import time\n\ndef wait():\n    return 1\n")
    git(repo, "commit", "-qam", "another pool")
    text = prompted(repo, ASKS) if event == "prompt" else edits(repo, str(repo / "src/pool.py"))
    told = {row["id"]: row for row in rows(text)}
    (beside,) = told[problem]["beside"]
    assert (beside["how"], beside["id"]) == ("solved by", solution)
    assert LINE in beside["body"] and text.count(SOLUTION) == 1 and solution not in told
    # It says of itself what every record says.
    assert (beside["status"], beside["origin"]) == ("active", told[problem]["origin"])
    assert beside["cites"] == told[problem]["cites"] and "at HEAD)" in beside["cites"][0], beside
    assert {"kind", "title", "age", "review"} <= beside.keys()
    assert estimate(text) <= (800 if event == "prompt" else 400)


def test_what_was_told_beside_a_problem_is_told_and_what_is_held_is_not_told_again(
    repo: Path, pair: tuple[str, str]
) -> None:
    problem, solution = pair
    assert LINE in prompted(repo, ASKS)
    assert edits(repo, str(repo / "src/pool.py")) == ""
    assert LINE in edits(repo, str(repo / "src/pool.py"), session="s-2")  # the control: a session that holds nothing
    # The problem changes, and the session holds its solution.
    assert person(repo, "edit", problem, "--body", "It began in March.", "--because", "known since").code == 0
    (row,) = rows(prompted(repo, ASKS))
    assert row["id"] == problem and [near["id"] for near in row["beside"]] == [solution]
    assert "body" not in row["beside"][0]


@pytest.mark.parametrize("event", ["prompt", "edit"])
def test_a_solution_without_room_is_named_and_every_budget_holds(repo: Path, pair: tuple[str, str], event: str) -> None:
    problem, solution = pair
    remember(repo, "fact", "The pool of session workers is shared by the tests of the pool", "-p", "src/**")
    whole: set[bool] = set()
    named: set[bool] = set()
    for budget in range(120, 520, 20):
        settings(repo, **{"brief": 0, event: budget})
        session = f"s-{budget}"
        path = str(repo / "src/pool.py")
        text = prompted(repo, ASKS, session=session) if event == "prompt" else edits(repo, path, session=session)
        assert estimate(text) <= budget
        told = next((row for row in rows(text) if row.get("id") == problem and "beside" in row), None)
        if told is not None:
            (beside,) = told["beside"]
            assert beside["id"] == solution and beside["title"] == SOLUTION
            (whole if "body" in beside else named).add(True)
    assert whole and named


def test_a_solution_that_no_reader_is_shown_is_not_beside_its_problem(repo: Path, pair: tuple[str, str]) -> None:
    _, solution = pair
    assert LINE in prompted(repo, ASKS)
    assert person(repo, "wrong", solution, "--because", "it was the timer").code == 0
    text = prompted(repo, ASKS, session="s-2")
    assert PROBLEM in text and LINE not in text and solution not in text
