"""Credit and use from captured sessions: what was in context when checks passed, what an agent cited, what it ran."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from gitmem.app.env import Env
from gitmem.app.tools import call
from tests.app import conftest
from tests.installed import agent
from tests.learning.transcripts import FAILED, PASSED, Claude, Clone, Session

RUN = "python -m pytest tests/test_pool.py -q"
FIRST = "8c2f6a10-7d1e-4c55-9a3b-2f1e0d9c8b7a"
SECOND = "1d4e6a10-7d1e-4c55-9a3b-2f1e0d9c8b7b"
RULE = "Sockets of the pool are closed by the timer"
env = conftest.env


def rows(clone: Clone) -> dict[str, Any]:
    path = clone.repo / ".git/gitmem/use.json"
    return dict(json.loads(path.read_text())["memories"]) if path.exists() else {}


def rule(clone: Clone, title: str = RULE, body: str = "") -> str:
    flags = ("--body", body) if body else ()
    done = clone.person("remember", "--json", "-k", "convention", title, "-e", "file:src/pool.py:2", *flags)
    assert done.code == 0, done.err
    return str(done.lines[0]["id"])


def started(clone: Clone, name: str) -> None:
    """The host asks at the start of a session, and is told the brief."""
    given = {"session_id": name, "transcript_path": None, "cwd": str(clone.repo), "source": "startup"}
    given["hook_event_name"] = "SessionStart"
    told = agent(clone.repo, "hook-agent", "claude-code", "SessionStart", stdin=json.dumps(given))
    assert told.code == 0 and RULE in told.out, told


def later(repo: Path, name: str) -> Claude:
    """A session whose records come after what the hooks tell now."""
    return Claude(repo, name, start=datetime.now(timezone.utc) + timedelta(seconds=5))


def captured(clone: Clone, *sessions: Session) -> None:
    for session in sessions:
        session.write()
    done = clone.run("capture", "--json")
    assert done.code == 0, done.out + done.err


def test_what_was_in_context_when_a_check_passed_is_credited_once_a_session(clone: Clone) -> None:
    known, other = rule(clone), "aaaaaaaaaaaa"
    started(clone, FIRST)
    untold = rule(clone, "Buttons are blue in the whole shop")
    session = later(clone.repo, FIRST).ask("The night job dies.").run(RUN, FAILED, failed=True)
    captured(clone, session)
    assert not any(row["credit"] for row in rows(clone).values())  # nothing passed
    session.edit("src/pool.py", "WORKERS = 4", "WORKERS = 16").run(RUN, PASSED).run(RUN, PASSED).answer("It passes.")
    captured(clone, session)
    credits = {name: row["credit"] for name, row in rows(clone).items() if row["credit"]}
    assert list(credits) == [known] and len(credits[known]) == 1
    assert FIRST not in json.dumps(credits) and untold not in credits and other not in credits
    captured(clone, session.ask("Again.").run(RUN, PASSED).answer("It passes."))
    assert rows(clone)[known]["credit"] == credits[known]
    started(clone, SECOND)
    captured(clone, later(clone.repo, SECOND).ask("Check it.").run(RUN, PASSED).answer("It passes."))
    assert len(rows(clone)[known]["credit"]) == 2


def test_a_check_that_passed_before_it_was_told_credits_nothing(clone: Clone) -> None:
    known = rule(clone)
    session = Claude(clone.repo, FIRST, start=datetime.now(timezone.utc) - timedelta(days=1))
    session.ask("Check it.").run(RUN, PASSED).answer("It passes.")
    started(clone, FIRST)
    captured(clone, session)
    assert not rows(clone).get(known, {}).get("credit")
    session.start = datetime.now(timezone.utc) + timedelta(seconds=5)
    captured(clone, session.run(RUN, PASSED).answer("It passes."))
    assert rows(clone)[known]["credit"]


def test_the_word_of_an_agent_counts_after_it_was_told_and_a_command_that_passed(clone: Clone) -> None:
    known, names_it = rule(clone), rule(clone, "The pool has a test of its own", f"Run `{RUN}` after a change.")
    untold = rule(clone, "Buttons are blue in the whole shop")
    session = Claude(clone.repo, FIRST).ask("Mind the pool.").answer(f"I know {untold} and {known} by heart.")
    captured(clone, session)
    assert not [row for row in rows(clone).values() if row["n"]]
    session.run("cat notes.txt", f"{untold} was written down here")
    session.run("gitmem recall pool", f"{known[:8]}  convention  {RULE}\n{names_it[:8]}  convention")  # as it is shown
    session.answer(f"As {known[:8]} says, the timer closes them; {untold[:8]} says nothing.").run(RUN, PASSED)
    captured(clone, session.answer("Done."))
    used = {name: row["how"] for name, row in rows(clone).items() if row["n"]}
    assert used == {known: {"cited": 1}, names_it: {"ran": 1}}
    assert not any(row["credit"] for row in rows(clone).values())  # it asked itself; nothing came unasked
    before = rows(clone)
    captured(clone, session.ask("Thanks."))
    assert rows(clone) == before


def test_who_opens_a_memory_or_the_record_that_it_cites_has_used_it(clone: Clone, env: Callable[..., Env]) -> None:
    known = rule(clone)
    session = Claude(clone.repo, FIRST).ask("From now on use the timer for sockets, always.").answer("I will.")
    captured(clone, session)
    (said,) = clone.run("directives", "list", "--json").lines
    record = clone.run("show", said["id"], "--json").lines[0]["evidence"][0]["record"]
    (clone.repo / ".git/gitmem/use.json").unlink(missing_ok=True)
    here = env(clone.repo, "tool")
    for name, given in (
        ("recall", {"question": "sockets of the pool"}),
        ("session_get", {"session": FIRST}),
        ("sessions_search", {"words": "timer sockets"}),
    ):
        assert not call(here, name, given)[1]
    assert rows(clone) == {}
    assert not call(here, "show", {"id": known})[1]
    assert not call(here, "session_get", {"session": FIRST, "record": record})[1]
    assert {name: row["how"] for name, row in rows(clone).items()} == {known: {"opened": 1}, said["id"]: {"opened": 1}}
