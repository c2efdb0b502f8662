"""Open plans go on, and a reminder comes up once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitmem.app.plans import goes_on
from tests.installed import agent
from tests.learning.transcripts import Claude, Clone

FIRST = "8c2f6a10-7d1e-4c55-9a3b-2f1e0d9c8b7a"
SECOND = "1d4e6a10-7d1e-4c55-9a3b-2f1e0d9c8b7b"
CITED = ("-e", "file:src/pool.py:2")


def prompted(repo: Path, text: str, session: str = "s-1") -> str:
    """What Claude Code is told at a prompt."""
    given = {"session_id": session, "cwd": str(repo), "hook_event_name": "UserPromptSubmit", "prompt": text}
    done = agent(repo, "hook-agent", "claude-code", "UserPromptSubmit", stdin=json.dumps(given))
    assert done.code == 0, done.err
    return done.out


def started(repo: Path, session: str) -> str:
    given = {"session_id": session, "cwd": str(repo), "hook_event_name": "SessionStart", "source": "startup"}
    return agent(repo, "hook-agent", "claude-code", "SessionStart", stdin=json.dumps(given)).out


def made(clone: Clone, *arguments: str) -> str:
    done = clone.person("remember", "--json", *arguments, *CITED)
    assert done.code == 0, done.err
    return str(done.lines[0]["id"])[:8]


def test_the_newest_open_plan_is_shown_marked_and_dropped(clone: Clone) -> None:
    old = made(clone, "-k", "plan", "Move the exporter to parquet", "--step", "write the schema")
    new = made(clone, "-k", "plan", "Take the pool apart", "--step", "cut the timer out", "--step", "test the rest")
    shown = clone.run("plan").out
    assert new in shown and "0 of 2 steps done; next: cut the timer out" in shown and f"also open: {old}" in shown
    assert clone.person("plan", "done", "1").code == 0
    assert "1 of 2 steps done; next: test the rest" in clone.run("plan").out
    assert clone.person("plan", "done", "1").code != 0
    assert clone.person("plan", "drop", "--because", "the timer stays").code == 0
    assert [row["id"][:8] for row in clone.run("plan", "--json").lines] == [old]
    assert clone.run("plan", "done", "1").code != 0  # an agent decides nothing


def test_continue_brings_the_newest_open_plan(clone: Clone) -> None:
    plan = made(clone, "-k", "plan", "Take the pool apart", "--step", "cut the timer out")
    started(clone.repo, "other")
    told = prompted(clone.repo, "please continue", "s-1")
    assert plan in told and "cut the timer out" in told
    assert plan not in prompted(clone.repo, "continue", "s-1")  # the session holds it
    prompted(clone.repo, "hello there, nice weather on the moon", "s-2")
    assert clone.person("plan", "done", "1").code == 0
    assert "next: cut the timer out" not in prompted(clone.repo, "continue", "s-3")


@pytest.mark.parametrize("text", ["continue", "Go on!", "ok, keep going", "continue with the plan", "Sigue, por favor.",
                                  "what's next?", "¿por dónde íbamos?", "weiter"])  # fmt: skip
def test_what_only_says_to_go_on(text: str) -> None:
    assert goes_on(text)


@pytest.mark.parametrize("text", ["continue the loop when the pool is empty", "resume the download after a 503", "next",
                                  "", "why does it go on forever?", "delete what is left"])  # fmt: skip
def test_what_says_more(text: str) -> None:
    assert goes_on("next") and (text == "next" or not goes_on(text))


def test_a_reminder_comes_up_once_and_again_when_it_changed(clone: Clone) -> None:
    once = made(clone, "-k", "reminder", "Renew the certificate of the pool", "--cue", "2026-01-01")
    always = made(clone, "-k", "reminder", "The staging database is shared", "--cue", "session start")
    assert once in clone.run("brief", "--peek").out
    first = clone.run("brief").out
    assert once in first and always in first
    second = clone.run("brief").out
    assert once not in second and always in second
    assert once in clone.run("list", "--kind", "reminder", "--json").out
    assert clone.person("edit", once, "--title", "Renew both certificates", "--because", "there are two").code == 0
    assert once in clone.run("brief").out


def test_a_reminder_that_a_hook_told_comes_up_no_more(clone: Clone) -> None:
    once = made(clone, "-k", "reminder", "Renew the certificate of the pool", "--cue", "next session")
    rule = made(clone, "-k", "convention", "Certificates live in the vault of the pool")
    assert once in started(clone.repo, "s-1")
    later = started(clone.repo, "s-2")
    assert once not in later and rule in later


def test_open_steps_of_a_session_go_on_in_the_next(clone: Clone) -> None:
    session = Claude(clone.repo, FIRST).ask("Take the pool apart.").edit("src/pool.py", "a", "b")
    session.steps(("cut the timer out", "completed"), ("test the rest", "pending"), ("write it down", "pending"))
    session.answer("More tomorrow.")
    (told,) = [row for row in clone.learn(session) if row.get("plan")]
    assert told["ended"] == "unverified"
    (plan,) = clone.run("plan", "--json").lines
    assert (plan["id"], plan["standing"]) == (told["plan"], "1 of 3 steps done; next: test the rest")
    assert plan["id"][:8] in clone.run("brief").out
    later = Claude(clone.repo, SECOND).ask("continue").edit("src/pool.py", "b", "c")
    later.steps(("Test the rest", "completed"), ("write it down", "in_progress"), ("tell the team", "pending"))
    clone.learn(later.answer("Nearly."))
    (plan_then,) = clone.run("plan", "--json").lines
    assert plan_then["id"] == plan["id"] and plan_then["standing"] == "2 of 4 steps done; next: write it down"
