"""Candidates that facts decided close themselves, with an event."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.steps import POOL, RETRY, Run, events, ids, proposed, put, status, tips

WHY = ("--because", "looked at it")


@pytest.fixture(autouse=True)
def begun(repo: Path, gitmem: Run) -> None:
    assert gitmem(repo, "init").code == 0


def test_what_expired_closes_itself_with_an_event(repo: Path, gitmem: Run) -> None:
    ends = proposed(gitmem, repo, POOL, "--valid-until", "2026-03-02T10:00:15Z")
    past = proposed(gitmem, repo, RETRY, "--valid-until", "2026-01-01")  # it speaks of the past: nothing expired
    for _ in range(20):
        gitmem(repo, "list", "--inbox", channel="agent")  # the clock of the tests ticks; a program closes nothing
    before = tips(repo)
    assert ids(gitmem(repo, "list", "--inbox", "--json", channel="agent")) and tips(repo) == before
    done = gitmem(repo, "list", "--inbox")
    assert done.code == 0 and f"closed {ends[:8]}" in done.err
    assert ids(gitmem(repo, "list", "--inbox", "--json")) == [past]
    last = events(gitmem, repo, ends)[0]
    assert last["op"] == "retract" and last["reason"].startswith("expired") and status(gitmem, repo, ends) == "archived"


def test_a_proposal_to_replace_what_was_replaced_closes_itself(repo: Path, gitmem: Run) -> None:
    old = put(gitmem, repo, POOL)
    offers = [
        gitmem(repo, "supersede", old, title, "-e", "file:src/pool.py:2", "--json", *WHY, channel="agent").lines[0][
            "id"
        ]
        for title in ("The pool holds what the balancer grants", "Connections are not pooled any more")
    ]
    assert gitmem(repo, "accept", offers[0], *WHY).code == 0
    assert gitmem(repo, "review", "--json").lines[-1]["summary"]["waiting"] == 0
    assert "superseded" in events(gitmem, repo, offers[1])[0]["reason"]


def test_nothing_to_close_writes_nothing(repo: Path, gitmem: Run) -> None:
    proposed(gitmem, repo, POOL)
    before = tips(repo)
    assert gitmem(repo, "list", "--inbox").code == 0 and gitmem(repo, "review", "--json").code == 0
    assert tips(repo) == before
