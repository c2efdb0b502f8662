"""One session as it grows: lines in, objects and a ref move out. Nothing is written here."""

from __future__ import annotations

from datetime import datetime
from hashlib import sha256
from typing import Final

from gitmem.app.capture_lines import Line
from gitmem.model.frozen import replace
from gitmem.model.layout import MANIFEST, apart_path, chunk_path, session_ref
from gitmem.model.sessions import Apart, Chunk, Generation, Manifest, manifest_bytes
from gitmem.model.times import format_instant
from gitmem.store.objects import parse_commit
from gitmem.store.port import Backend, RefMove
from gitmem.store.sessions import StoredSession
from gitmem.store.snapshot import Snapshot, snapshot
from gitmem.store.transaction import TOOL, Transaction

# A chunk below OPEN grows with the next capture; one of CHUNK bytes is full. So a capture of one turn writes some
# 128 KiB on average, a long session has few chunks, and none comes near the limit of 50 MB.
OPEN: Final = 256 * 1024
CHUNK: Final = 8 * 1024 * 1024


class Append:
    """The next state of one session. `add` what its origin has gained, then `staged`; again as often as needed."""

    def __init__(self, backend: Backend, manifest: Manifest, stored: StoredSession | None, now: datetime) -> None:
        self._backend = backend
        self._stored = stored
        self._at = format_instant(now.replace(microsecond=0))
        self._now = now
        self._ref = session_ref(manifest.host, manifest.session)
        self._base = _base(stored)
        self._tip = stored.view.commit if stored and not stored.archived else None
        self._manifest = manifest
        self._chunks: list[Chunk] = []
        self._removed: dict[str, list[int]] = {}
        self._apart: dict[str, Apart] = {}
        self._open = bytearray()
        self._open_start = 0
        self._replaced: str | None = None
        self._edits: dict[str, bytes] = {}
        self.generation: Generation | None = None
        self.size = 0  # bytes that `staged` would give
        self.tree = stored.tree if stored else ""  # of the state that `staged` gave last

    def go_on(self, origin: int) -> None:
        """Append to the last generation what stands behind the first `origin` bytes of the host's file."""
        assert self._stored and self._stored.manifest.last  # noqa: S101 - who calls this has looked
        last = replace(self._stored.manifest.last, origin=origin)
        self._take_up(last)
        if last.chunks and last.chunks[-1].end - last.chunks[-1].start < OPEN:
            tail = self._chunks.pop()
            self._open += self._stored.chunk(last, tail)
            self._open_start = tail.start
            self._replaced = self._chunk_path(tail)

    def begin(self) -> None:
        """Begin the next generation."""
        last = self._manifest.last
        self._take_up(Generation(last.number + 1 if last else 1, self._at, self._at))

    def _take_up(self, generation: Generation) -> None:
        self.generation = generation
        self._chunks = list(generation.chunks)
        self._removed = {rule: list(lines) for rule, lines in generation.removed.items()}
        self._apart = {item.sha256: item for item in generation.apart}
        self._open.clear()
        self._open_start = generation.bytes
        self._replaced = None

    def add(self, line: Line) -> None:
        assert self.generation  # noqa: S101 - after `go_on` or `begin`
        number = self.generation.lines + 1
        for rule in line.rules:
            self._removed.setdefault(rule, []).append(number)
        for item, data in line.apart:
            if item.sha256 not in self._apart:
                self._apart[item.sha256] = item
                self._edits[apart_path(item.sha256)] = data
                self.size += len(data)
        self._open += line.stored
        self.size += len(line.stored)
        self.generation = replace(
            self.generation,
            origin=self.generation.origin + line.origin,
            lines=self.generation.lines + line.stored.count(b"\n"),
        )
        if len(self._open) >= CHUNK:
            self._close()

    def _close(self) -> None:
        data = bytes(self._open)
        chunk = Chunk(self._open_start, self._open_start + len(data), sha256(data).hexdigest())
        self._chunks.append(chunk)
        self._edits[self._chunk_path(chunk)] = data
        self._open.clear()
        self._open_start = chunk.end

    def _chunk_path(self, chunk: Chunk) -> str:
        assert self.generation  # noqa: S101
        return chunk_path(self.generation.number, chunk.start, chunk.end, self._manifest.suffix)

    def staged(self) -> tuple[RefMove, list[tuple[str, bytes]]]:
        """The move of the session's ref to what was added, and the objects that have to be written before it."""
        assert self.generation  # noqa: S101
        kept = bytes(self._open)
        if kept:
            self._close()
        generation = replace(
            self.generation,
            captured=self._at,
            chunks=tuple(self._chunks),
            removed={rule: tuple(lines) for rule, lines in self._removed.items()},
            apart=tuple(self._apart.values()),
        )
        earlier = tuple(item for item in self._manifest.generations if item.number != generation.number)
        self._manifest = replace(self._manifest, generations=(*earlier, generation))
        transaction = Transaction(self._backend, self._base)
        for path, data in self._edits.items():
            transaction.put(path, data)
        if self._replaced and self._replaced not in self._edits:
            transaction.delete(self._replaced)
        transaction.put(MANIFEST, manifest_bytes(self._manifest))
        commit, objects = transaction.prepared(f"capture: {self._manifest.name}", TOOL, TOOL, self._now)
        if objects:
            self.tree = parse_commit(objects[-1][1]).tree
        move = RefMove(self._ref, commit, self._tip, "gitmem: capture")
        self._tip = commit
        self._continue(generation, kept)
        return move, objects

    def _continue(self, generation: Generation, kept: bytes) -> None:
        """Make ready for what is added after this state was written."""
        self.generation = generation
        self._edits.clear()
        self.size = 0
        self._replaced = None
        if kept and len(kept) < OPEN:
            tail = self._chunks.pop()
            self._open += kept
            self._open_start = tail.start
            self._replaced = self._chunk_path(tail)

    def written(self) -> None:
        """The objects of the last `staged` are written: build on them."""
        self._base = snapshot(self._backend, self._tip) if self._tip else None


def _base(stored: StoredSession | None) -> Snapshot | None:
    """The tree that is built on; of an archived session without the archive's history."""
    if stored is None or not stored.archived:
        return stored.view if stored else None
    folder = stored.view.entry(stored.folder)
    assert folder is not None  # noqa: S101 - the manifest was read from it
    return Snapshot(stored.view.backend, None, folder.oid)
