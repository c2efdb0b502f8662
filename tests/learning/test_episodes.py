"""How sessions ended, told once each and mended when they go on."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from tests.learning.test_lessons import FIRST, HOSTS, RUN, SECOND, past
from tests.learning.transcripts import FAILED, PASSED, Claude, Clone, Codex


def episodes(rows: list[Any]) -> list[Any]:
    return [row for row in rows if "ended" in row]


@HOSTS
def test_a_session_is_told_with_what_was_asked_and_how_it_ended(clone: Clone, host: type[Claude | Codex]) -> None:
    (told,) = episodes(clone.learn(past(host(clone.repo, FIRST))))
    assert (told["result"], told["ended"]) == ("told", "verified")
    shown = clone.run("show", told["episode"], "--json").lines[0]
    assert (shown["kind"], shown["origin"], shown["scope"]["audience"]) == ("episode", "observed", "private")
    assert "Asked: “The night job dies. Make it work.”" in shown["body"]
    assert "Files: src/pool.py" in shown["body"] and "Got past: pytest tests/test_pool.py: " in shown["body"]
    assert shown["applies_to"] == ["src/pool.py"] and str(clone.repo) not in shown["body"]
    asked, answered = shown["evidence"]
    assert asked["speaker"] == "human" and asked["quote"] == "The night job dies. Make it work."
    assert answered["speaker"] == "tool"
    assert {found["state"] for found in shown["resolutions"]} == {"verified"}
    assert not episodes(clone.learn())


def test_a_crash_in_a_call_is_interrupted_and_mended_when_the_session_goes_on(clone: Clone) -> None:
    session = Claude(clone.repo, FIRST).ask("The night job dies.").edit("src/pool.py", "a", "b")
    call = session.call("Bash", {"command": RUN})
    (told,) = episodes(clone.learn(session))
    assert told["ended"] == "interrupted" and "interrupted" in told["title"]
    session.result(call, PASSED)
    session.answer("It passes.")
    (later,) = episodes(clone.learn(session))
    assert (later["result"], later["ended"], later["episode"]) == ("changed", "verified", told["episode"])
    assert clone.run("list", "--kind", "episode", "--json").lines[-1]["summary"]["total"] == 1
    log = clone.run("log", told["episode"]).out
    assert "edit" in log and "the session went on" in log


@pytest.mark.parametrize(
    ("tests", "ended"), [((), "unverified"), ((FAILED, True), "failed"), ((PASSED, False), "verified")]
)
def test_how_it_ended_is_told_by_checks_alone(clone: Clone, tests: tuple[Any, ...], ended: str) -> None:
    session = Claude(clone.repo, FIRST).ask("Take the pool apart.").edit("src/pool.py", "a", "b")
    if tests:
        session.run(RUN, tests[0], failed=tests[1])
    session.answer("All done, and all tests pass!")
    (told,) = episodes(clone.learn(session))
    assert told["ended"] == ended


def test_a_person_who_stopped_it_is_an_interruption(clone: Clone) -> None:
    session = Claude(clone.repo, FIRST).ask("Take the pool apart.").edit("src/pool.py", "a", "b")
    session.run(RUN, PASSED).ask("[Request interrupted by user]")
    (told,) = episodes(clone.learn(session))
    assert told["ended"] == "interrupted"


def test_a_session_at_work_has_no_episode_yet_and_is_listed(clone: Clone) -> None:
    now = datetime.now(timezone.utc)
    working = past(Claude(clone.repo, FIRST, start=now - timedelta(minutes=10)))
    over = past(Codex(clone.repo, SECOND, start=now - timedelta(hours=5)))
    (told,) = episodes(clone.learn(working, over))
    assert told["session"] == f"codex/{SECOND}"
    status = clone.run("status", "--json").lines[-1]
    assert [row["session"] for row in status["live"]] == [f"claude-code/{FIRST}"]
    assert f"claude-code/{FIRST}" in clone.run("status").out


def test_talk_alone_makes_no_episode(clone: Clone) -> None:
    talk = Claude(clone.repo, FIRST).ask("What is a pool?").answer("A set of connections.")
    done = past(Claude(clone.repo, SECOND))
    told = episodes(clone.learn(talk, done))
    assert {row["session"]: row["result"] for row in told} == {
        f"claude-code/{FIRST}": "empty",
        f"claude-code/{SECOND}": "told",
    }


def test_what_a_person_put_away_is_not_told_again(clone: Clone) -> None:
    session = past(Claude(clone.repo, FIRST))
    (told,) = episodes(clone.learn(session))
    done = clone.person("archive", told["episode"], "--because", "of no use")
    assert done.code == 0, done.err
    session.answer("One more thing.")  # type: ignore[attr-defined]
    (later,) = episodes(clone.learn(session))
    assert later["result"] == "set aside"
