"""From a transcript to a lesson that is recalled, through the installed command, for two hosts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.agents.test_injection import block, hook
from tests.learning.transcripts import FAILED, PASSED, Claude, Clone, Codex, Session, switched_off

RUN = "python -m pytest tests/test_pool.py -q"
FIRST = "8c2f6a10-7d1e-4c55-9a3b-2f1e0d9c8b7a"
SECOND = "1d4e6a10-7d1e-4c55-9a3b-2f1e0d9c8b7b"
HOSTS = pytest.mark.parametrize("host", [Claude, Codex])


def past(session: Claude | Codex) -> Session:
    """It fails, something is edited, it passes."""
    session.ask("The night job dies. Make it work.")
    session.run(RUN, FAILED, failed=True)
    session.edit("src/pool.py", "WORKERS = 4", "WORKERS = 16")
    session.run(RUN, PASSED)
    return session.answer("It passes now.")


@HOSTS
def test_what_failed_and_passed_is_kept_cited_and_recalled(clone: Clone, host: type[Claude | Codex]) -> None:
    lesson, *_, summary = clone.learn(past(host(clone.repo, FIRST)))
    assert (lesson["result"], summary["checks"], summary["failures"]) == ("learned", 2, 1)
    assert "the pool of session workers is exhausted" in lesson["title"] and "src/pool.py" in lesson["fix"]
    shown = clone.run("show", lesson["solution"], "--json").lines[0]
    assert shown["origin"] == "observed" and shown["scope"]["audience"] == "private" and shown["status"] == "active"
    assert [ref["role"] for ref in shown["evidence"]] == ["supports", "supports"]
    assert [found["state"] for found in shown["resolutions"]] == ["verified", "verified"]
    assert "exhausted" in shown["evidence"][0]["quote"] and "4 passed" in shown["evidence"][1]["quote"]
    assert "WORKERS = 16" in shown["body"] and str(clone.repo) not in shown["body"]
    assert lesson["problem"] in {link["to"] for link in shown["links"]}
    recalled = clone.run("recall", "redis pool of session workers exhausted", "--json")
    assert lesson["solution"] in recalled.out


@pytest.mark.parametrize(
    "given",
    [
        {"old_string": "limit=4", "new_string": "limit=None", "replace_all": False},
        {"old_string": "name: pool\nlimit: 4\n", "new_string": "name: pool\nlimit: null\n"},
        {"edits": [{"old_string": "a", "new_string": "b"}, {"old_string": "limit=4", "new_string": "limit=None"}]},
    ],
)
def test_the_lines_that_helped_reach_the_next_session(clone: Clone, given: dict[str, Any]) -> None:
    session = Claude(clone.repo, FIRST).ask("The night job dies. Make it work.").run(RUN, FAILED, failed=True)
    tool = "MultiEdit" if "edits" in given else "Edit"
    call = session.call(tool, {"file_path": str(clone.repo / "src/pool.py"), **given})
    session.result(call, "The file src/pool.py has been updated.")
    lesson, *_ = clone.learn(session.run(RUN, PASSED).answer("It passes now."))
    line = "+ limit: null" if "name" in str(given) else "+ limit=None"
    body = clone.run("show", lesson["solution"], "--json").lines[0]["body"]
    assert line in body and "name: pool" not in body and "replace_all" not in body
    asks = {"prompt": "why is the redis pool of session workers exhausted in tests/test_pool.py?", "session_id": "s-9"}
    told = block(hook(clone.repo, "claude-code", "UserPromptSubmit", **asks))
    assert lesson["problem"][:8] in told and line in told


def test_without_a_pass_or_a_change_nothing_is_taught(clone: Clone) -> None:
    """Each negative beside one that teaches, so that it is not silence that is tested."""
    never = Claude(clone.repo, "aaaa6a10-0000-4c55-9a3b-2f1e0d9c8b7a").ask("Make the exporter work.")
    never.run("npm test", "Error: the exporter has no writer for parquet files\n1 failing", failed=True)
    never.edit("src/export.ts", "a", "b").answer("It should work now.")
    flaky = Claude(clone.repo, "bbbb6a10-0000-4c55-9a3b-2f1e0d9c8b7a").ask("Run the browser tests.")
    flaky.run("npm run e2e", "Error: page closed before the banner was shown", failed=True)
    flaky.run("npm run e2e", "3 passing").answer("They pass.")
    stopped = Claude(clone.repo, "cccc6a10-0000-4c55-9a3b-2f1e0d9c8b7a").ask("Run the slow tests.")
    stopped.run("npm run slow", "Command timed out after 2m 0s. Error: waiting for the database", failed=True)
    stopped.edit("src/slow.ts", "a", "b").run("npm run slow", "3 passing").answer("They pass.")
    hidden = Claude(clone.repo, "dddd6a10-0000-4c55-9a3b-2f1e0d9c8b7a").ask("Check the types.")
    hidden.run("npx tsc --noEmit", "src/a.ts(1,2): error TS2304: Cannot find name 'Walrus'.", failed=True)
    hidden.edit("src/a.ts", "a", "b").run("npx tsc --noEmit 2>&1 | head -5", "").answer("Fine.")
    back = Claude(clone.repo, "eeee6a10-0000-4c55-9a3b-2f1e0d9c8b7a").ask("Is it mine?")
    back.run("npm run lint", "src/b.ts:3:1: error: the walrus is not awaited", failed=True)
    back.run("git stash", "Saved working directory").run("npm run lint", "").answer("It is yours.")
    rows = clone.learn(never, flaky, stopped, hidden, back, past(Claude(clone.repo, FIRST)))
    lessons = [row for row in rows if "fix" in row]
    assert [(row["session"], row["result"]) for row in lessons] == [(f"claude-code/{FIRST}", "learned")]
    assert rows[-1]["unknown"] == 2 and rows[-1]["read"] == 6


def test_a_failure_that_passes_in_a_later_capture_is_a_lesson(clone: Clone) -> None:
    session = Claude(clone.repo, FIRST).ask("The night job dies.")
    session.run(RUN, FAILED, failed=True)
    assert not [row for row in clone.learn(session) if "fix" in row]
    session.edit("src/pool.py", "WORKERS = 4", "WORKERS = 16")
    assert not [row for row in clone.learn(session) if "fix" in row]
    session.run(RUN, PASSED).answer("It passes now.")
    rows = clone.learn(session)
    (lesson,) = [row for row in rows if "fix" in row]
    assert lesson["result"] == "learned" and "src/pool.py" in lesson["fix"]
    assert rows[-1]["checks"] == 1


def test_nothing_is_kept_twice(clone: Clone) -> None:
    session = past(Claude(clone.repo, FIRST))
    clone.learn(session)
    before = clone.run("list", "--tag", "lesson", "--json").out
    assert '"total": 2' in before
    assert clone.learn(session)[-1]["read"] == 0
    (again, *_) = clone.run("lessons", "--json", "--session", FIRST).lines
    assert again["result"] == "known" and again["sessions"] == 1
    (clone.repo / ".git/gitmem/lessons.json").unlink()
    assert clone.learn(session)[0]["result"] == "known"
    assert clone.run("list", "--tag", "lesson", "--json").out == before


def test_two_sessions_teach_one_lesson_which_is_offered(clone: Clone) -> None:
    first = clone.learn(past(Claude(clone.repo, FIRST)))[0]
    assert first["offer"] is None
    later = Codex(clone.repo, SECOND)
    again = clone.learn(past(later))[0]
    assert (again["result"], again["sessions"]) == ("again", 2)
    assert again["solution"] == first["solution"] and again["offer"] == f"gitmem promote {first['solution']}"
    shown = clone.run("show", first["solution"], "--json").lines[0]
    assert {ref["session"] for ref in shown["evidence"]} == {f"claude-code/{FIRST}", f"codex/{SECOND}"}
    assert shown["origin"] == "observed"


def test_what_a_person_rejected_is_not_learned_again(clone: Clone) -> None:
    first = clone.learn(past(Claude(clone.repo, FIRST)))[0]
    done = clone.person("wrong", first["solution"], "--because", "the pool was not it")
    assert done.code == 0, done.err
    later = clone.learn(past(Codex(clone.repo, SECOND)))[0]
    assert later["result"] == "set aside"
    told = clone.run("recall", "redis pool of session workers exhausted", "--json").lines
    assert first["problem"] in [row.get("id") for row in told]
    assert first["solution"] not in [row.get("id") for row in told]


def test_a_dry_run_keeps_nothing(clone: Clone) -> None:
    past(Claude(clone.repo, FIRST)).write()
    with switched_off():
        clone.run("capture")
    assert "1 lesson would be learned" in clone.run("lessons", "--dry-run").out
    assert clone.run("list", "--tag", "lesson", "--json").lines[-1]["summary"]["total"] == 0
    assert "1 lesson learned" in clone.run("lessons").out


def test_a_program_that_was_not_there_is_called_otherwise(clone: Clone) -> None:
    session = Claude(clone.repo, FIRST).ask("Run the tests.")
    session.run("pytest tests", "bash: pytest: command not found", failed=True)
    session.run("uv run pytest tests", PASSED).answer("They pass.")
    lesson = clone.learn(session)[0]
    assert lesson["result"] == "learned" and "uv run pytest tests" in lesson["fix"]


def test_a_capture_learns_unless_it_is_switched_off(clone: Clone) -> None:
    past(Claude(clone.repo, FIRST)).write()
    with switched_off():
        assert clone.run("capture", "--json").lines[-1]["lessons"] == []
    past(Codex(clone.repo, SECOND)).write()
    (lesson,) = clone.run("capture", "--json").lines[-1]["lessons"]
    assert lesson["result"] == "learned"
    assert lesson["solution"] in clone.run("recall", "redis pool of session workers exhausted", "--json").out
    again = clone.run("lessons", "--json").lines[0]
    assert (again["session"], again["result"], again["solution"]) == (
        f"claude-code/{FIRST}", "again", lesson["solution"],
    )  # fmt: skip


def test_nothing_is_learned_of_a_transcript_that_no_host_keeps(clone: Clone) -> None:
    made_up = past(Claude(clone.repo, FIRST))
    made_up.write()
    elsewhere = made_up.path().rename(clone.repo.parent / f"{SECOND}.jsonl")
    assert clone.run("capture", "--host", "claude-code", str(elsewhere)).code == 0
    assert clone.run("lessons", "--json").lines[-1]["read"] == 0
    assert clone.learn(past(Claude(clone.repo, FIRST)))[0]["result"] == "learned"


@HOSTS
def test_a_long_session_is_read_on_from_where_it_was_read(clone: Clone, host: type[Claude | Codex]) -> None:
    """Its start is longer than what is always read, so that the places of what is cited hang on where it is read on."""
    session = host(clone.repo, FIRST)
    session.ask("The night job dies.")
    for number in range(40):
        session.answer(f"{number} " + "I look at the pool, and at its workers, and at what they wait for. " * 60)
    assert session.run(RUN, FAILED, failed=True) and clone.learn(session)[-1]["failures"] == 1
    row = json.loads((clone.repo / ".git/gitmem/lessons.json").read_text())["sessions"]
    assert all(known["end"] > known["from"] > 64 * 1024 for known in row.values())
    session.edit("src/pool.py", "WORKERS = 4", "WORKERS = 16")
    session.run(RUN, PASSED)
    session.answer("It passes now.")
    lesson = next(row for row in clone.learn(session) if "fix" in row)
    assert lesson["result"] == "learned"
    shown = clone.run("show", lesson["solution"], "--json").lines[0]
    assert [found["state"] for found in shown["resolutions"]] == ["verified", "verified"]
    assert "exhausted" in shown["evidence"][0]["quote"] and "4 passed" in shown["evidence"][1]["quote"]
