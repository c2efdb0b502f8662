"""`log` and `blame`: who, when, by which channel, why, and what changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.steps import POOL, WEATHER, Run, events, proposed, put
from tests.conftest import git

WHO = "Test Person <person@example.invalid>"


@pytest.fixture(autouse=True)
def begun(repo: Path, gitmem: Run) -> None:
    assert gitmem(repo, "init").code == 0


def test_the_log_of_one_memory_tells_every_change_with_its_diff(repo: Path, gitmem: Run) -> None:
    memory = put(gitmem, repo, POOL, "--because", "measured")
    put(gitmem, repo, WEATHER)
    gitmem(repo, "edit", memory, "--tag", "db", "--because", "find it")
    gitmem(repo, "archive", memory, "--because", "moved away")
    told = events(gitmem, repo, memory)
    assert [(e["op"], e["from"], e["to"], e["reason"]) for e in told] == [
        ("archive", "active", "archived", "moved away"),
        ("edit", "active", "active", "find it"),
        ("create", None, "active", "measured"),
    ]
    assert {e["author"] for e in told} == {WHO} and {e["actor"]["channel"] for e in told} == {"terminal"}
    assert "-tags: []\n+tags:\n+  - db" in told[1]["diff"] and "-status: active\n+status: archived" in told[0]["diff"]
    assert told[0]["at"] > told[1]["at"] > told[2]["at"]
    # The chain: each event before is what the next one says it found.
    assert told[0]["before"] == told[1]["after"] and told[1]["before"] == told[2]["after"]
    assert [git(repo, "cat-file", "-t", e["commit"]).strip() for e in told] == ["commit"] * 3
    text = gitmem(repo, "log", memory).out
    assert f"by {WHO} through terminal; commit" in text and "review 0, unproven" in text
    assert "because moved away" in text
    assert "active → archived" in text and "active → active" not in text
    assert len(events(gitmem, repo, memory, "--limit", "1")) == 1
    assert "+status: archived" not in gitmem(repo, "log", memory, "--no-diff").out


def test_the_log_of_the_branch_is_everything_newest_first(repo: Path, gitmem: Run) -> None:
    first, second = put(gitmem, repo, POOL), put(gitmem, repo, WEATHER)
    candidate = proposed(gitmem, repo, "Invoices are numbered elsewhere")
    assert gitmem(repo, "reject", candidate, "--because", "not ours").code == 0
    assert gitmem(repo, "policy", "set", "unobservable", "refuse", "--because", "be strict").code == 0
    told = events(gitmem, repo)
    assert [(e["op"], e["memory"]) for e in told] == [
        ("policy", None), ("reject", candidate), ("create", second), ("create", first), ("policy", None),
    ]  # fmt: skip
    text = gitmem(repo, "log").out
    assert "Invoices are numbered elsewhere" in text and "because be strict" in text


def test_the_log_names_who_proposed_what_was_accepted(repo: Path, gitmem: Run) -> None:
    candidate = proposed(gitmem, repo, POOL)
    gitmem(repo, "accept", candidate, "--because", "checked it")
    accepted, created = events(gitmem, repo, candidate)
    assert (accepted["op"], accepted["actor"]["channel"], accepted["reason"]) == ("accept", "terminal", "checked it")
    assert accepted["proposed"]["actor"]["channel"] == "agent" and accepted["proposed"]["at"] == created["at"]
    assert (created["op"], created["ref"]) == ("create", "refs/gitmem/inbox")
    assert accepted["ref"] == "refs/heads/gitmem/main"
    assert "proposed 2026-03-02T" in gitmem(repo, "log", candidate).out
    mine = put(gitmem, repo, WEATHER)
    assert "proposed" not in gitmem(repo, "log", mine).out and "proposed" not in events(gitmem, repo, mine)[0]


def test_blame_names_the_event_of_each_line(repo: Path, gitmem: Run) -> None:
    memory = put(gitmem, repo, POOL, "--body", "one\ntwo\nthree")
    gitmem(repo, "edit", memory, "--body", "one\n2\nthree", "--because", "a digit")
    gitmem(repo, "dispute", memory, "--because", "is it?")
    lines = {line["line"]: line for line in gitmem(repo, "blame", memory, "--json").lines}
    assert lines["  2"]["op"] == "edit" and lines["  one"]["op"] == "create" and lines["  three"]["op"] == "create"
    assert lines["status: disputed"]["op"] == "dispute" and lines[f"title: {POOL}"]["op"] == "create"
    assert "  two" not in lines
    ops = {e["op"]: e["commit"] for e in events(gitmem, repo, memory)}
    assert all(line["commit"] == ops[line["op"]] for line in lines.values())
    raw = git(repo, "cat-file", "blob", f"gitmem/main:memories/{memory[0]}/{memory[1]}/{memory}.yaml")
    shown = gitmem(repo, "blame", memory).out.splitlines()
    assert len(shown) == len(lines) == len(raw.splitlines()) - 1  # the comment for the editor is no line of the record


def test_blame_of_an_accepted_memory_tells_the_proposer(repo: Path, gitmem: Run) -> None:
    candidate = proposed(gitmem, repo, POOL)
    before = gitmem(repo, "blame", candidate, "--json").lines
    assert {(line["op"], line["channel"]) for line in before} == {("create", "agent")}
    gitmem(repo, "accept", candidate)
    lines = gitmem(repo, "blame", candidate, "--json").lines
    assert {(line["op"], line["channel"], line["proposed_by"]) for line in lines} == {("accept", "terminal", "agent")}


def test_hostile_text_is_escaped_in_the_log(repo: Path, gitmem: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Eve\x1b[31m\u202e")
    memory = put(gitmem, repo, POOL)
    shown = gitmem(repo, "log", memory)
    assert "Eve" in shown.out and "\x1b" not in shown.out and "\u202e" not in shown.out
