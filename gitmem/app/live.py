"""Sessions of this repository that are at work: those with a record of the last hour, by the times of the records."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Final

from gitmem.app.episodes import SILENT
from gitmem.app.learning_reader import Reader, reader_of
from gitmem.model.frozen import dataclass
from gitmem.model.times import parse_instant

if TYPE_CHECKING:
    from gitmem.app.workspace import Workspace
    from gitmem.store.sessions import StoredSession

_TAIL: Final = 256 * 1024  # bytes at the end of a session in which its newest time is looked for


@dataclass(frozen=True)
class Live:
    """`last`: the time of the newest record that is captured."""

    session: str
    last: datetime


def live(workspace: Workspace, sessions: Iterable[StoredSession]) -> tuple[Live, ...]:
    """The latest first. A session that another one started is part of that one."""
    now = workspace.env.now()
    found = []
    for stored in sessions:
        manifest = stored.manifest
        if manifest.parent is not None or now - parse_instant(manifest.captured) >= SILENT:
            continue  # what was not captured of late has no record of late that is known here
        reader = reader_of(workspace, stored)
        last = _newest(reader) if reader is not None else None
        if last is not None and now - last < SILENT:
            found.append(Live(manifest.name, last))
    return tuple(sorted(found, key=lambda one: one.last, reverse=True))


def _newest(reader: Reader) -> datetime | None:
    start = max(reader.generation.bytes - _TAIL, 0)
    if start:
        piece = reader.stored.span(reader.generation, start, reader.generation.bytes) or b""
        start += piece.find(b"\n") + 1
    return max((turn.at for turn in reader.turns(start) if turn.at is not None), default=None)
