"""When a reminder is due."""

from __future__ import annotations

from datetime import datetime, timezone

import pytest

from gitmem.app.cues import due, due_at, waits
from gitmem.model.nouns import Memory, Scope

NOW = datetime(2026, 3, 2, 10, tzinfo=timezone.utc)
FILES = ("src/pool.py", "docs/index.md", ".github/ci.yml")


def reminder(cue: str | None) -> Memory:
    return Memory("7k3q9dxwm2ab", "reminder", "Ask Ann", "active", Scope("shop"), "human", cue=cue)


@pytest.mark.parametrize(
    "cue", ["2026-03-02", "on 2026-03-01", "after 2026-03-02T10:00:00Z.", "(2025-01-01)", "Session  start", "always."]
)
def test_it_is_due_everywhere(cue: str) -> None:
    assert due(reminder(cue), NOW)
    assert not waits(reminder(cue), NOW)


@pytest.mark.parametrize("cue", ["2026-03-03", "after 2026-03-02T10:00:01Z", "from 2027-01-01 on src/pool.py changes"])
def test_its_day_has_not_come(cue: str) -> None:
    assert waits(reminder(cue), NOW)
    assert not due(reminder(cue), NOW)
    assert not due_at(reminder(cue), NOW, FILES)


@pytest.mark.parametrize(
    "cue",
    [
        "src/pool.py",
        "when `src/pool.py` changes",
        "before src/ is touched",
        "*.md",
        "src/**/*.py",
        "in ./docs/.",
        "(.github/**)",
    ],
)
def test_it_is_due_at_a_file(cue: str) -> None:
    assert due_at(reminder(cue), NOW, FILES)
    assert not due_at(reminder(cue), NOW, ("web/app.ts",))
    assert not due(reminder(cue), NOW)


@pytest.mark.parametrize(
    "cue", ["when the pool is slow", "src", "the vendor writes.", "…", "e.g. later", "", None, "a / b", ".", "* one"]
)
def test_other_cues_wait_for_their_words(cue: str | None) -> None:
    assert not due(reminder(cue), NOW)
    assert not due_at(reminder(cue), NOW, FILES)
    assert not waits(reminder(cue), NOW)
