"""When a reminder is due: its cue is a date, the start of a session, or a file; any other cue waits for its words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

from gitmem.model.globs import covers
from gitmem.model.nouns import Memory
from gitmem.model.times import parse_instant

_EVERY: Final = ("session start", "start of session", "session", "always")
_SESSION: Final = (*_EVERY, "next session")
_AROUND: Final = ".,;:!?()[]{}<>\"'`"


def due(memory: Memory, now: datetime) -> str:
    """Why a reminder is due wherever somebody works, in words; empty when it is not."""
    cue = memory.cue or ""
    dates = list(_dates(cue))
    if dates:
        return f"due since {min(dates).date()}" if min(dates) <= now else ""
    return "due at the start of a session" if _bare(cue) in _SESSION else ""


def recurs(memory: Memory) -> bool:
    """Whether a reminder is due again and again: at the start of every session. Any other comes up once."""
    return _bare(memory.cue or "") in _EVERY


def _bare(cue: str) -> str:
    return " ".join(cue.casefold().split()).strip(_AROUND)


def due_at(memory: Memory, now: datetime, paths: Iterable[str]) -> str:
    """Why a reminder is due for one of these files: its cue names it, or a pattern that covers it."""
    if waits(memory, now):
        return ""
    named = list(_paths(memory.cue or ""))
    return next((f"due at {path}" for path in paths if any(covers(name, path) for name in named)), "")


def waits(memory: Memory, now: datetime) -> bool:
    """Whether the cue is a date that has not come."""
    dates = list(_dates(memory.cue or ""))
    return bool(dates) and min(dates) > now


def _dates(cue: str) -> Iterator[datetime]:
    for word in cue.split():
        try:
            yield parse_instant(word.strip(_AROUND))
        except ValueError:
            continue


def _paths(cue: str) -> Iterator[str]:
    """The words of a cue that can only be a path: they hold a slash, a star, or a dot inside, beside their letters."""
    for word in cue.split():
        plain = word.rstrip(_AROUND).lstrip(_AROUND.replace(".", ""))  # a dot at the start belongs to a name
        if any(char.isalnum() for char in plain) and ("/" in plain or "*" in plain or "." in plain):
            yield plain
