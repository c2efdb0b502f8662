"""The work of one sweep: what each origin has gained, written in batches.

A batch notes in the private progress what will be true once the refs have moved beside what is true now, then writes
objects, then moves all its refs at once. Killed anywhere, the next sweep finds one of the two and goes on.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, Literal, Protocol

from gitmem.app.capture_append import Append
from gitmem.app.capture_lines import Prefix, Redact, comes_from, storable
from gitmem.app.capture_progress import Known, Progress, Stamp, mark_of, stamp_of
from gitmem.app.workspace import Workspace
from gitmem.errors import GitmemError, RefMoved
from gitmem.model.frozen import dataclass, replace
from gitmem.model.sessions import Generation, Manifest
from gitmem.store.lock import writer_lock
from gitmem.store.port import RefMove
from gitmem.store.sessions import StoredSession, session_archives, stored_session

if TYPE_CHECKING:
    from gitmem.capture.adapter import Adapter, Origin

GENERATIONS_A_DAY: Final = 24  # of one session; a host that rewrites its file more often is captured the next day
STEP: Final = 24 * 1024 * 1024  # bytes that are held before they are written
_SESSIONS_A_STEP: Final = 500

State = Literal["new", "grown", "rewritten", "unchanged", "waiting", "degraded", "failed"]


@dataclass(frozen=True)
class Captured:
    """What became of one session. `bytes` were stored, `removed` secrets taken out of them before."""

    host: str
    session: str
    state: State
    bytes: int = 0
    removed: int = 0
    detail: str = ""


class Redacting(Protocol):
    """The redactor of one session."""

    @property
    def remembered(self) -> tuple[str, ...]: ...

    @property
    def line(self) -> Redact: ...


@dataclass(frozen=True)
class Tools:
    """What a sweep needs of other rooms: a redactor for one stream, and how much of a torn end may be taken."""

    redactor: Callable[[Sequence[str]], Redacting]
    complete: Callable[[bytes], int]


class Sweeper:
    """One run over origins. `capture` each, then `finish`."""

    def __init__(self, workspace: Workspace, progress: Progress, tools: Tools) -> None:
        self._workspace = workspace
        self._progress = progress
        self._tools = tools
        self._now = workspace.env.now()
        self._today = self._now.date().isoformat()
        self._archives = session_archives(workspace.backend)
        self._objects: list[tuple[str, bytes]] = []
        self._moves: list[RefMove] = []
        self._after: list[tuple[str, Known]] = []
        self._held = 0
        self.unmoved: dict[str, str] = {}  # sessions whose ref was not where it was expected to be, and why
        self._writing = False  # a failure now is not one origin's

    def capture(self, adapter: Adapter, origin: Origin) -> Captured:
        """Take what the origin has gained. Never raises for one origin what the others need not suffer from."""
        name = f"{origin.host}/{origin.session}"
        try:
            stamp = stamp_of(origin.path, origin.version)
            if self._progress.is_unchanged(name, str(origin.path), stamp, self._today):
                return Captured(origin.host, origin.session, "unchanged")
            return self._changed(adapter, origin, name, stamp)
        except (OSError, GitmemError) as error:
            if self._writing:
                raise
            detail = error.message if isinstance(error, GitmemError) else error.strerror or str(error)
            return Captured(origin.host, origin.session, "failed", detail=detail)

    def finish(self) -> None:
        """Write what is held. Raises what writing raises; the next sweep does it then."""
        self._flush()
        self._progress.save()

    def _changed(self, adapter: Adapter, origin: Origin, name: str, stamp: Stamp) -> Captured:
        stored = stored_session(self._workspace.backend, origin.host, origin.session, self._archives)
        last = stored.manifest.last if stored else None
        known = self._progress.known(name)
        if stored is not None and known is not None and stored.tree not in known.trees:
            known = replace(known, marks={}, trees=())  # what is stored is compared byte for byte
        with adapter.open(origin) as stream:
            prefix = Prefix(stream, self._progress.key)
            redactor = self._tools.redactor(known.remembered if known else ())
            follows = None if stored is None or last is None else _followed(stored, last, known, prefix, redactor)
            if stored is None or last is None or follows is not None:
                return self._take(origin, adapter, stored, stamp, stream, prefix, redactor, follows)
        if sum(item.begun[:10] == self._today for item in stored.manifest.generations) >= GENERATIONS_A_DAY:
            marks = known.marks if known else {}
            trees = known.trees if known else ()
            self._progress.note(name, Known(str(origin.path), stamp, marks, degraded=self._today, trees=trees))
            return Captured(
                origin.host, origin.session, "degraded",
                detail=f"rewritten {GENERATIONS_A_DAY} times today; the next state is captured tomorrow",
            )  # fmt: skip
        with adapter.open(origin) as stream:
            prefix = Prefix(stream, self._progress.key)
            return self._take(origin, adapter, stored, stamp, stream, prefix, self._tools.redactor(()), None)

    def _take(
        self,
        origin: Origin,
        adapter: Adapter,
        stored: StoredSession | None,
        stamp: Stamp,
        stream: BinaryIO,
        prefix: Prefix,
        redactor: Redacting,
        follows: int | None,
    ) -> Captured:
        """Take what stands behind the first `follows` bytes; all of it as a new generation when that is None."""
        name = f"{origin.host}/{origin.session}"
        manifest = (
            stored.manifest if stored else Manifest(origin.host, origin.session, adapter.suffix, (), origin.parent)
        )
        append = Append(self._workspace.backend, manifest, stored, self._now)
        begin = follows is None
        if follows is None:
            append.begin()
        else:
            append.go_on(follows)
        plain = _is_file(stream, origin.path)
        before = self._progress.known(name)
        marks = before.marks if before else {}
        taken = removed = 0
        own = _is_own(stored, before, follows)

        def known(final: bool) -> Known:
            at = append.generation
            mark = {mark_of(at.number, at.origin): prefix.digest} if at and at.origin else {}
            if not taken and marks:
                mark = marks  # nothing was added, so they hold as they are
            return Known(str(origin.path), stamp if final else [], mark, plain, "", redactor.remembered)

        for raw in prefix.lines(self._tools.complete, from_start=begin):
            line = storable(raw, redactor.line)
            append.add(line)
            taken += len(line.stored)
            removed += len(line.rules)
            if append.size >= STEP:
                self._stage(name, append, marks, known(final=False), own)
                self._flush()
                append.written()
                marks = known(final=False).marks
        if append.size:
            self._stage(name, append, marks, known(final=True), own)
        else:
            self._progress.note(name, _stored_by(own, append, known(final=True)))
        if not taken:
            return Captured(origin.host, origin.session, "waiting" if begin else "unchanged")
        state: State = "grown" if not begin else "rewritten" if stored else "new"
        return Captured(origin.host, origin.session, state, taken, removed)

    def _stage(self, name: str, append: Append, marks: dict[str, str], known: Known, own: bool) -> None:
        move, objects = append.staged()
        known = _stored_by(own, append, known)
        before = self._progress.known(name)
        trees = known.trees and (*(before.trees if before else ()), append.tree)
        both = Known(known.path, [], {**marks, **known.marks}, known.plain, "", known.remembered, trees)
        self._progress.note(name, both)
        self._moves.append(move)
        self._objects += objects
        self._after.append((name, known))
        self._held += sum(len(data) for _, data in objects)
        if self._held >= STEP or len(self._moves) >= _SESSIONS_A_STEP:
            self._flush()

    def _flush(self) -> None:
        if not self._moves:
            return
        self._writing = True
        self._progress.save()
        backend = self._workspace.backend
        try:
            backend.write(self._objects)
        except OSError as error:
            raise GitmemError(
                f"what was captured cannot be written: {error.strerror}", hint="see the free space and the rights"
            ) from None
        with writer_lock(self._workspace.location):
            try:
                backend.move_refs(self._moves)
            except RefMoved:
                self._move_each()
        for name, known in self._after:
            if name not in self.unmoved:
                self._progress.note(name, known)
        self._objects, self._moves, self._after, self._held = [], [], [], 0
        self._writing = False

    def _move_each(self) -> None:
        """One ref that somebody else moved keeps no other session from being stored."""
        for move, (name, _) in zip(self._moves, self._after, strict=True):
            try:
                self._workspace.backend.move_refs([move])
            except RefMoved as error:
                self.unmoved[name] = error.message


def _stored_by(own: bool, append: Append, known: Known) -> Known:
    return replace(known, trees=(append.tree,) if own and append.tree else ())


def _is_own(stored: StoredSession | None, known: Known | None, follows: int | None) -> bool:
    """Whether this clone stored all that is stored: it noted so, or just found all of it in the host's file."""
    if stored is None or (known is not None and stored.tree in known.trees):
        return True
    return follows is not None and len(stored.manifest.generations) == 1


def _followed(
    stored: StoredSession, last: Generation, known: Known | None, prefix: Prefix, redactor: Redacting
) -> int | None:
    """How many bytes of the origin are what was captured of it; None when it begins otherwise.

    Leaves `prefix` behind them. That is another number than was read once when the file was given back: markers
    stand in it for secrets.
    """
    name = mark_of(last.number, last.origin)
    for mark, digest in known.marks.items() if known else ():
        taken, _, given_back = mark.partition("=")
        if taken == name:
            length = int(given_back) if given_back else last.origin
            return length if prefix.skip(length) and prefix.digest == digest else None
    same = comes_from(stored.stream(last), _seen(prefix.taken(last.origin), redactor))
    return last.origin if same else None


def _seen(lines: Iterator[bytes], redactor: Redacting) -> Iterator[bytes]:
    """The redactor has to know what was said before the lines that it will be given."""
    for line in lines:
        redactor.line(line.removesuffix(b"\n"))
        yield line


def _is_file(stream: BinaryIO, path: Path) -> bool:
    """True when the bytes are those of the file itself, not an export of it."""
    try:
        return os.path.samestat(os.fstat(stream.fileno()), path.stat())
    except (OSError, AttributeError, ValueError):
        return False
