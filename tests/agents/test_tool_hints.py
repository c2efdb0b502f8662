"""What the tools of `gitmem mcp` say when they refuse: in words of these tools, and with no way round a person."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitmem.app.env import Env
from gitmem.app.tools import TOOLS, call
from gitmem.model.vocabulary import KINDS
from tests.app.conftest import env, gitmem
from tests.app.steps import POOL, RETRY, Run, codes, proposed, put

__all__ = ["env", "gitmem"]

Ask = Callable[..., tuple[bool, dict[str, Any]]]


@pytest.fixture
def ask(repo: Path, env: Callable[..., Env], gitmem: Run) -> Ask:
    """`ask("show", id="7k3q")`: whether it is an error, and its first row."""
    assert gitmem(repo, "init").code == 0

    def asked(tool: str, **given: Any) -> tuple[bool, dict[str, Any]]:
        text, failed = call(env(repo, "tool"), tool, given)
        return failed, json.loads(next(line for line in text.splitlines() if line.startswith("{")))

    return asked


def propose(ask: Ask, title: str, kind: str = "fact", **more: Any) -> tuple[bool, dict[str, Any]]:
    return ask("propose", kind=kind, title=title, evidence=["file:src/pool.py:2"], **more)


def test_the_kinds_that_are_named_are_kinds(ask: Ask) -> None:
    failed, row = propose(ask, POOL, "trap")
    assert failed and row["message"] == "there is no kind 'trap'" and all(kind in row["hint"] for kind in KINDS)
    about = TOOLS["propose"].about
    named = about.partition("worth keeping: a ")[2].partition(" (a trap")[0].replace(" or ", ", ").split(", ")
    assert len(named) == 6 and set(named) <= set(KINDS)
    assert not propose(ask, POOL)[0]


def test_what_is_not_found_is_looked_for_with_the_tools(ask: Ask, repo: Path, gitmem: Run) -> None:
    failed, row = ask("show", id="zzzz")
    assert failed and row["code"] == "not_found" and "tool recall" in row["hint"] and "gitmem" not in row["hint"]
    failed, row = propose(ask, RETRY, "solution")
    (lacking,) = row["reasons"]
    assert failed and "recall" in lacking["hint"] and "gitmem list" not in lacking["hint"]
    # A person at a command line is told of commands.
    assert "gitmem list" in gitmem(repo, "show", "zzzz").err


def test_a_rejected_claim_is_not_proposed_again_and_a_near_one_is_told_apart_by_argument(
    ask: Ask, repo: Path, gitmem: Run
) -> None:
    rejected = proposed(gitmem, repo, POOL)
    assert gitmem(repo, "reject", rejected, "--because", "thinking aloud").code == 0
    others = {"": POOL, "aliases": RETRY, "body": RETRY}
    for field, title in others.items():
        given = {"body": f"As ever. {POOL}."} if field == "body" else {}
        failed, row = propose(ask, title, **given) if field != "aliases" else (True, {})
        if field == "aliases":
            words = ("remember", "--json", "-k", "fact", title, "-e", "file:src/pool.py:2", "--alias", POOL)
            refused = gitmem(repo, *words)
            assert codes(refused) == ["tombstoned"]
            row = json.loads(refused.err)["error"]
        (why,) = row["reasons"]
        assert failed and why["code"] == "tombstoned" and POOL in why["message"] and "thinking aloud" in why["message"]
        assert why["where"] == (field or "title")
        assert ("gitmem lift" in why["hint"]) == (field == "aliases")
    known = put(gitmem, repo, RETRY)
    failed, row = propose(ask, f"{RETRY} today")
    assert failed and f'distinct_from ["{known}"]' in row["reasons"][0]["hint"]
    assert not propose(ask, f"{RETRY} today", distinct_from=[known], because="of the queue")[0]
