"""Reading what a stored session has gained: from where it was read last, or from the run that waits for its pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Final

from gitmem.app.transcripts import Transcripts, adapter_of
from gitmem.model.frozen import dataclass

if TYPE_CHECKING:
    from gitmem.app.workspace import Workspace
    from gitmem.capture.turns import Record, Turn
    from gitmem.model.sessions import Generation
    from gitmem.store.sessions import StoredSession

_HEAD: Final = 64 * 1024  # bytes at the start, where hosts say of what a session is
_PIECE: Final = 8 * 1024 * 1024


@dataclass(frozen=True)
class Reader:
    """The turns of one session. `state` is another one when the session, or the rules by which it is read, changed."""

    workspace: Workspace
    stored: StoredSession
    generation: Generation

    @property
    def state(self) -> str:
        last = self.generation
        adapter = adapter_of(self.stored.manifest.host)
        end = last.chunks[-1].sha256[:16] if last.chunks else ""
        return f"{last.number}:{last.bytes}:{end}:{adapter.rules if adapter else 0}"

    def turns(self, start: int = 0) -> Iterator[Turn]:
        """The turns of the records from the byte `start` on, which begins a line."""
        if start <= _HEAD:
            yield from (
                turn for turn in Transcripts(self.workspace).turns(self.stored, self.generation) if turn.start >= start
            )
            return
        from gitmem.capture.turns import of_child

        adapter = adapter_of(self.stored.manifest.host)
        if adapter is None:
            return
        said = adapter.turns(self._records(start))
        said = of_child(said) if self.stored.manifest.parent else said
        yield from (turn for turn in said if turn.start >= start)

    def _records(self, start: int) -> Iterator[Record]:
        """The first lines, which say whose session it is, and all from `start` on, each at its own place."""
        from gitmem.capture.records import records

        head = (self.stored.span(self.generation, 0, _HEAD) or b"")[:_HEAD]
        head = head[: head.rfind(b"\n") + 1]
        shift = start - len(head)
        for record in records(chain([head], self._pieces(start)), self.stored.manifest.suffix):
            moved = record.start >= len(head)
            yield replace(record, start=record.start + shift, end=record.end + shift) if moved else record

    def _pieces(self, start: int) -> Iterator[bytes]:
        while start < self.generation.bytes:
            end = min(start + _PIECE, self.generation.bytes)
            yield self.stored.span(self.generation, start, end) or b""
            start = end


def reader_of(workspace: Workspace, stored: StoredSession) -> Reader | None:
    """None for a session without bytes, and for a host whose adapter is not installed here."""
    last = stored.manifest.last
    return Reader(workspace, stored, last) if last and last.chunks and adapter_of(stored.manifest.host) else None
