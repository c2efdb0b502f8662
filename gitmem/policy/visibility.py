"""The one definition of what a reader may see. Every read lane asks here; nothing else makes a Filter."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from gitmem.model.judgement import Filter, Viewer
from gitmem.model.layout import HOMES, PLACES
from gitmem.model.nouns import Memory
from gitmem.model.vocabulary import AUDIENCES, STATUSES, VISIBLE

_READ_BESIDE: Final = {"team": ("team",), "private": ("team", "private", "user"), "user": ("user",)}


def visible(viewer: Viewer, *, at: datetime | None, statuses: Iterable[str] = VISIBLE) -> Filter:
    """What `viewer` may be shown, of the visible states only.

    `at` asks what was true at that instant; None does not ask. A status or audience that is not on the closed
    list is dropped, so asking for more never shows more. A viewer of no project sees nothing.
    """
    return _filter(viewer, frozenset(statuses) & VISIBLE.keys(), at)


def withheld_view(viewer: Viewer, statuses: Iterable[str], *, at: datetime | None = None) -> Filter:
    """Records of any known state, for review, `list --status` and the gate's own look-up; still bound to scope."""
    return _filter(viewer, frozenset(statuses) & frozenset(STATUSES), at)


def _filter(viewer: Viewer, statuses: frozenset[str], at: datetime | None) -> Filter:
    return Filter(
        projects=viewer.projects,
        audiences=viewer.audiences & frozenset(AUDIENCES),
        statuses=statuses,
        valid_at=at,
        own=viewer.own,
    )


def fits(place: str, memory: Memory) -> bool:
    """Whether a record may lie in a place of `layout.PLACES`. What lies elsewhere is shown to nobody: a record that
    calls itself private is not made so by lying on the branch, nor the other way round; and what waits in the inbox was
    let in by nobody, whatever it says of its state."""
    if place == "inbox":
        return memory.status not in VISIBLE
    return HOMES.get(memory.scope.audience) == PLACES[place]


def compared(audience: str, other: str, *, rejected: bool = False) -> bool:
    """Whether a record for `audience` is judged by its likeness to one for `other`: when all who will read the first
    may read the second, so that nobody is told the same twice. What the team rejected is rejected for all of it."""
    return other in _READ_BESIDE.get(audience, ()) or (rejected and other == "team")
