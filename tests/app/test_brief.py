"""`gitmem brief`: what to know at the start of a session, and that there is nothing when there is nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.app.conftest import Ran
from tests.app.steps import INVOICE, POOL, RETRY, WEATHER, proposed, put
from tests.app.test_context import about, commit
from tests.conftest import git
from tests.sessions.hosts import make_host

Run = Callable[..., Ran]


@pytest.fixture(autouse=True)
def begun(repo: Path, gitmem: Run) -> None:
    assert gitmem(repo, "init").code == 0


def sections(ran: Ran) -> dict[str, list[str]]:
    """The ids of each section."""
    assert ran.code == 0, ran.err
    found: dict[str, list[str]] = {}
    for line in ran.lines:
        if "section" in line:
            found.setdefault(line["section"], []).append(line["id"])
    return found


def peek(gitmem: Run, repo: Path) -> dict[str, list[str]]:
    return sections(gitmem(repo, "brief", "--peek", "--json", "--budget", "100000"))


def summary(ran: Ran) -> Any:
    return ran.lines[-1]["summary"]


def test_it_says_when_it_is_empty_and_never_widens(repo: Path, gitmem: Run) -> None:
    assert "nothing is remembered here yet" in gitmem(repo, "brief").out
    fact = put(gitmem, repo, POOL)
    assert fact[:8] in gitmem(repo, "brief").out  # new since then, and once
    for form in ((), ("--json",), ("--format", "prompt")):
        ran = gitmem(repo, "brief", *form)
        assert (ran.code, fact[:8] in ran.out) == (0, False)
        assert "nothing to tell: of 1 memory none is a rule" in ran.out


def test_rules_stand_by_how_near_they_are_to_the_work(repo: Path, gitmem: Run) -> None:
    here = about(gitmem, repo, "Sockets are closed by the pool alone", "src/pool.py", kind="convention")
    elsewhere = about(gitmem, repo, "Buttons are blue", "web/**", kind="convention")
    everywhere = about(gitmem, repo, "Commit subjects name the room", kind="preference")
    put(gitmem, repo, RETRY)
    assert peek(gitmem, repo)["standing"] == [here, everywhere, elsewhere]
    commit(repo, *(f"page{n}.md" for n in range(12)))
    for number in range(12):
        commit(repo, f"page{number}.md", text="again")
    assert peek(gitmem, repo)["standing"] == [everywhere, elsewhere, here]  # the pool is not worked on any more
    (repo / "src/pool.py").write_text("class Pool: ...\n")
    assert peek(gitmem, repo)["standing"] == [here, everywhere, elsewhere]  # but uncommitted work is


def test_plans_are_open_until_their_last_step(repo: Path, gitmem: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    about(gitmem, repo, "Move to the new queue", kind="plan", flags=("--step", "measure", "--step", "switch"))
    newest = about(gitmem, repo, "Retire the importer", kind="plan", flags=("--step", "warn", "--step", "remove"))
    found = peek(gitmem, repo)["plans"]
    assert (len(found), found[0]) == (2, newest)
    assert "0 of 2 steps done; next: warn" in gitmem(repo, "brief", "--peek").out
    monkeypatch.setenv("EDITOR", "sed -i '0,/done: false/s//done: true/'")
    for places in ("1 of 2 steps done; next: remove", ""):
        assert gitmem(repo, "edit", newest, "--edit", "--because", "one more step is done").code == 0
        assert places in gitmem(repo, "brief", "--peek").out
    assert newest not in peek(gitmem, repo)["plans"]


def test_reminders_appear_on_their_cue(repo: Path, gitmem: Run) -> None:
    dated = about(gitmem, repo, "Drop the shim", kind="reminder", flags=("--cue", "on 2026-03-01, please"))
    session = about(gitmem, repo, "Read the runbook", kind="reminder", flags=("--cue", "Session start"))
    at_file = about(gitmem, repo, "Ask Ann about it", kind="reminder", flags=("--cue", "when src/*.py changes"))
    about(gitmem, repo, "Renew the lease", kind="reminder", flags=("--cue", "2027-01-01"))
    about(gitmem, repo, "Call the vendor", kind="reminder", flags=("--cue", "when the vendor writes"))
    about(gitmem, repo, "Look at the pages", kind="reminder", flags=("--cue", "web/**"))
    assert set(peek(gitmem, repo)["reminders"]) == {dated, session, at_file}


def test_traps_are_those_of_the_files_that_are_worked_on_and_not_solved(repo: Path, gitmem: Run) -> None:
    open_one = about(gitmem, repo, "Connects hang behind the proxy", "src/**", kind="problem")
    tried = ("--tried-for", open_one)
    trap = about(gitmem, repo, "Raising the timeout does not help", "src/**", kind="failed_tactic", flags=tried)
    solved = about(gitmem, repo, "Ports run out under load", "src/**", kind="problem")
    about(gitmem, repo, "Buttons vanish on narrow screens", "web/**", kind="problem")
    assert set(peek(gitmem, repo)["traps"]) == {open_one, trap, solved}
    fix = about(gitmem, repo, "Reuse the sockets", "src/**", kind="solution", flags=("--solves", solved))
    assert set(peek(gitmem, repo)["traps"]) == {open_one, trap}
    assert gitmem(repo, "wrong", fix, "--because", "it leaks").code == 0
    assert set(peek(gitmem, repo)["traps"]) == {open_one, trap, solved}


def test_what_changed_is_told_once_and_a_peek_leaves_the_mark(repo: Path, gitmem: Run) -> None:
    old = put(gitmem, repo, POOL)
    kept = put(gitmem, repo, WEATHER)
    first = gitmem(repo, "brief", "--json")
    assert "changed" not in sections(first)
    assert summary(first)["since"] is None
    new = put(gitmem, repo, RETRY)
    assert gitmem(repo, "edit", kept, "--tag", "harbour", "--because", "found by it").code == 0
    assert gitmem(repo, "wrong", old, "--because", "it was forty").code == 0
    for _ in range(2):
        peeked = gitmem(repo, "brief", "--peek", "--json", "--budget", "100000")
        assert set(sections(peeked)["changed"]) == {new, kept}
        assert {line["id"]: line["place"] for line in peeked.lines[:-1]} == {new: "new", kept: "changed"}
        assert summary(peeked)["withdrawn"] == {"wrong": 1}
    rule = about(gitmem, repo, "Buttons are blue", kind="convention")
    found = peek(gitmem, repo)
    assert (found["standing"], set(found["changed"])) == ([rule], {new, kept})  # each once
    text = gitmem(repo, "brief")
    assert "new or changed since the last brief" in text.out
    assert "since the last brief: 1 wrong; they hold no more" in text.out
    assert old[:8] not in text.out
    after = gitmem(repo, "brief", "--json")
    assert sections(after) == {"standing": [rule]}
    assert summary(after)["withdrawn"] == {}
    assert summary(after)["since"] == git(repo, "rev-parse", "gitmem/main").strip()


@pytest.mark.parametrize("state", ["[]", "{", '{"commit": 7}', '{"commit": "no id"}', f'{{"commit": "{"a" * 40}"}}'])
def test_a_damaged_mark_is_none(repo: Path, gitmem: Run, state: str) -> None:
    rule = about(gitmem, repo, "Buttons are blue", kind="convention")
    (repo / ".git/gitmem/brief.json").write_text(state)
    ran = gitmem(repo, "brief", "--json")
    assert sections(ran) == {"standing": [rule]}
    assert summary(ran)["since"] is None


def test_what_is_withheld_is_counted_and_never_shown(repo: Path, gitmem: Run) -> None:
    about(gitmem, repo, "Control: tabs are four wide", "**", kind="convention")
    assert gitmem(repo, "brief").code == 0
    gone = about(gitmem, repo, "Superseded: sort by name", kind="convention")
    done = gitmem(repo, "supersede", gone, "Sort by date", "-e", "commit:HEAD", "--because", "x")
    assert done.code == 0
    wrong = about(gitmem, repo, "Wrong: goto is welcome", "src/**", kind="convention")
    assert gitmem(repo, "wrong", wrong, "--because", "no").code == 0
    expired = about(
        gitmem, repo, "Expired: deploy on Mondays", kind="preference", flags=("--valid-until", "2026-01-01")
    )
    early = about(
        gitmem, repo, "Early: deploy on Fridays only", kind="preference", flags=("--valid-from", "2027-01-01")
    )
    candidate = proposed(gitmem, repo, "Candidate: the cache is warm at noon", "-p", "src/**")
    for form in ((), ("--json",), ("--format", "prompt"), ("--full",)):
        out = gitmem(repo, "brief", "--peek", "--budget", "100000", *form).out
        assert "Control: tabs are four wide" in out and "Sort by date" in out
        assert not re.search("(Superseded|Wrong|Expired|Early|Candidate): ", out)
        for hidden in (wrong, expired, early, candidate, *([gone] if "--json" not in form else [])):
            assert hidden[:8] not in out  # as data, what follows names what it superseded
        assert "1 candidate waits for a person: gitmem list --inbox" in out
        assert "1 superseded, 1 wrong" in out


def test_every_section_has_its_part_of_a_small_budget(repo: Path, gitmem: Run) -> None:
    words = ("ants", "bees", "cats", "dogs", "eels", "foxes", "goats", "hens", "ibises", "jays", "kites", "larks")
    for number, word in enumerate(words * 2):
        about(
            gitmem, repo, f"{word.title()} {number} are named {word}{number} in {word[::-1]}", "**", kind="convention"
        )
    plan = about(gitmem, repo, "Move to the new queue", kind="plan", flags=("--step", "measure"))
    problem = about(gitmem, repo, "Connects hang behind the proxy", "src/**", kind="problem")
    ran = gitmem(repo, "brief", "--peek", "--json")
    found = sections(ran)
    assert (len(found["standing"]), found["plans"], found["traps"]) == (20, [plan], [problem])
    assert summary(ran)["totals"] == {"standing": 24, "plans": 1, "traps": 1}
    block = gitmem(repo, "brief", "--peek", "--format", "prompt").out
    assert 0 < len(block.encode()) / 4 <= 1200
    shown = [json.loads(line) for line in block.split("\n")[2:-2]]
    assert {plan[:8], problem[:8]} <= {line.get("id") for line in shown}
    text = gitmem(repo, "brief", "--peek").out
    assert len(text.encode()) / 4 <= 1300
    assert "conventions and preferences (" in text


def test_nothing_is_written_by_a_peek_and_a_clone_that_cannot_be_written_to_is_told_too(
    repo: Path, gitmem: Run
) -> None:
    rule = about(gitmem, repo, INVOICE, kind="convention")
    state = repo / ".git/gitmem/brief.json"
    assert gitmem(repo, "brief", "--peek").code == 0
    assert not state.exists()
    assert gitmem(repo, "brief").code == 0
    assert state.exists()
    state.unlink()
    state.mkdir()
    assert sections(gitmem(repo, "brief", "--json"))["standing"] == [rule]


def test_capture_is_told_only_where_there_is_some(repo: Path, gitmem: Run) -> None:
    about(gitmem, repo, INVOICE, kind="convention")
    assert "captured" not in gitmem(repo, "brief").out
    make_host(repo).say("one")
    assert gitmem(repo, "capture").code == 0
    (repo / ".git/gitmem/capture.json").write_text("no JSON")  # it grows with the sessions, and is not read
    assert "1 session captured" in gitmem(repo, "brief").out
    swept = repo / ".git/gitmem/capture-swept.json"
    swept.write_text(swept.read_text().replace('"held": 0', '"held": 1'))
    assert "1 session captured, 1 held back" in gitmem(repo, "brief").out
