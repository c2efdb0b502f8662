"""Reading stored sessions with the rules of today: the speaker of a turn is never stored."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from gitmem.model.frozen import dataclass

if TYPE_CHECKING:
    from gitmem.app.capture_progress import Progress
    from gitmem.app.workspace import Workspace
    from gitmem.capture.adapter import Adapter
    from gitmem.capture.turns import Record, Turn
    from gitmem.model.sessions import Generation
    from gitmem.store.sessions import StoredSession


@dataclass(frozen=True)
class Transcripts:
    """See `gitmem.evidence.sources.Transcripts`."""

    workspace: Workspace

    def turns(
        self, stored: StoredSession, generation: Generation, damaged: list[tuple[int, int]] | None = None
    ) -> Iterator[Turn]:
        """None for a host whose adapter is not installed here. The bytes [start, end) of lines that cannot be read, or
        not all of them, are added to `damaged`."""
        from gitmem.capture.records import records
        from gitmem.capture.turns import of_child

        adapter = adapter_of(stored.manifest.host)
        if adapter is None:
            return iter(())
        found = records(stored.stream(generation), stored.manifest.suffix)
        said = adapter.turns(found if damaged is None else _noted(found, damaged))
        return of_child(said) if stored.manifest.parent else said

    @cached_property
    def _progress(self) -> Progress:
        from gitmem.app.capture_progress import Progress

        return Progress(self.workspace.location.private, self.workspace.env.random)

    def origin(self, stored: StoredSession) -> Path | None:
        """Where the host kept a session when this clone captured it; None when another clone did."""
        known = None if stored.fetched else self._progress.known(stored.manifest.name)
        return Path(known.path) if known else None

    def captured_here(self, stored: StoredSession) -> bool:
        """Whether this clone itself captured all of it from a host's file. What was fetched, or put there by hand, may
        say of anybody what they never said."""
        known = None if stored.fetched else self._progress.known(stored.manifest.name)
        return known is not None and stored.tree in known.trees

    def forgotten(self, name: str) -> str:
        """When and why this clone let a session go; empty when it did not."""
        from gitmem.app.forgotten import forgotten

        item = forgotten(self.workspace.location.private).get(name)
        return f"this clone let the session go on {item.at[:10]}: {item.why}" if item else ""

    def receipt(self, stored: StoredSession) -> str:
        path = self.origin(stored)
        if path is None or path.exists():
            return ""
        last = stored.manifest.last
        size = last.bytes if last else 0
        return (
            f"{stored.manifest.host} has deleted the session; {size:,} bytes captured until {stored.manifest.captured}"
        )


def _noted(records: Iterator[Record], damaged: list[tuple[int, int]]) -> Iterator[Record]:
    for record in records:
        if record.damaged:
            damaged.append((record.start, record.end))
        yield record


def adapter_of(host: str) -> Adapter | None:
    from gitmem.capture.registry import adapters

    return adapters().get(host)
