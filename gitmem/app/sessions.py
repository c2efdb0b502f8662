"""`gitmem sessions list`, `show` and `verify`: what was captured, who said what in it, and whether it still hashes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, Literal

from gitmem.app.state import load, save
from gitmem.app.transcripts import Transcripts, adapter_of
from gitmem.app.workspace import Workspace
from gitmem.errors import Ambiguous, GitmemError, NotFound
from gitmem.model.frozen import dataclass
from gitmem.model.layout import apart_path
from gitmem.model.sessions import Generation
from gitmem.model.text import one_line
from gitmem.model.times import format_instant
from gitmem.store.sessions import StoredSession, sessions_like, stored_sessions

if TYPE_CHECKING:
    from gitmem.capture.turns import Turn as Turn

_COUNTS: Final = "session-counts"
_CANDIDATES: Final = 10
Where = Literal["there", "gone", "elsewhere"]


@dataclass(frozen=True)
class Row:
    """One session in a list. `first` and `last` are times of turns, empty when the host writes none.

    `origin`: whether the host still has its file; "elsewhere" when another clone captured it.
    """

    stored: StoredSession
    turns: int
    first: str
    last: str
    origin: Where

    @property
    def bytes(self) -> int:
        return sum(generation.bytes for generation in self.stored.manifest.generations)

    @property
    def removed(self) -> int:
        return sum(
            len(lines) for generation in self.stored.manifest.generations for lines in generation.removed.values()
        )


@dataclass(frozen=True)
class Checked:
    """What `verify` found in one session."""

    name: str
    chunks: int
    bytes: int
    faults: tuple[str, ...]


def rows(workspace: Workspace, host: str | None = None, *, children: bool = False) -> tuple[list[Row], tuple[str, ...]]:
    """The sessions captured here, the latest first, and what is wrong with those that cannot be read.

    Those that another session started only with `children`.
    """
    damaged: list[str] = []
    read = Transcripts(workspace)
    counts = _Counts(workspace)
    found = [
        _row(read, stored, counts)
        for stored in stored_sessions(workspace.backend, damaged, fetched=True)
        if (host is None or stored.manifest.host == host) and (children or stored.manifest.parent is None)
    ]
    counts.save()
    found.sort(key=lambda row: (row.last or row.stored.manifest.captured, row.stored.manifest.name), reverse=True)
    return found, tuple(damaged)


def session(workspace: Workspace, wanted: str) -> StoredSession:
    """The one session that `[HOST/]PREFIX` names. Raises NotFound, or Ambiguous with the candidates."""
    found = sessions_like(workspace.backend, wanted)
    if len(found) == 1:
        return found[0]
    if not found:
        raise NotFound(f"no captured session begins with {one_line(wanted, 60)!r}", hint="gitmem sessions list")
    names = sorted(item.manifest.name for item in found)
    lines = "\n".join(f"  {name}" for name in names[:_CANDIDATES])
    raise Ambiguous(
        f"{one_line(wanted, 60)!r} begins {len(names)} sessions:\n{lines}",
        hint="type more of the id, or HOST/ID",
        details={"sessions": names},
    )


def turns(
    workspace: Workspace,
    stored: StoredSession,
    generation: int | None = None,
    roles: Sequence[str] = (),
    record: str | None = None,
    *,
    damaged: list[tuple[int, int]] | None = None,
) -> Iterator[Turn]:
    """Who said what in one generation, the last unless named. `record`: only of the record or call that begins so.
    `damaged`: as `Transcripts.turns`."""
    chosen = stored.manifest.last if generation is None else stored.manifest.generation(generation)
    if chosen is None:
        raise NotFound(f"{stored.manifest.name} has no generation {generation}", hint="gitmem sessions show without it")
    if adapter_of(stored.manifest.host) is None:
        raise NotFound(
            f"no adapter for {stored.manifest.host} is installed here, so its turns cannot be told apart",
            hint=f"the bytes: git cat-file blob {stored.ref}:{stored.path(chosen, chosen.chunks[0])}"
            if chosen.chunks
            else "",
        )
    for turn in Transcripts(workspace).turns(stored, chosen, damaged):
        ids = (turn.record, turn.call or "")
        if (not roles or turn.speaker in roles) and (record is None or any(i.startswith(record) for i in ids)):
            yield turn


def verify(workspace: Workspace, wanted: str | None = None) -> Iterator[Checked]:
    """Re-hash every stored byte of one session or of all."""
    damaged: list[str] = []
    chosen = (
        [session(workspace, wanted)]
        if wanted is not None
        else stored_sessions(workspace.backend, damaged, fetched=True)
    )
    for stored in chosen:
        chunks = size = 0
        faults = []
        for generation in stored.manifest.generations:
            digest = sha256()
            for chunk in generation.chunks:
                try:
                    data = stored.chunk(generation, chunk)
                except GitmemError as error:
                    faults.append(error.message)
                    continue
                digest.update(data)
                chunks += 1
                size += len(data)
            faults += _apart_faults(stored, generation)
        yield Checked(stored.manifest.name, chunks, size, tuple(faults))
    if damaged:
        yield Checked("?", 0, 0, tuple(damaged))


def _apart_faults(stored: StoredSession, generation: Generation) -> Iterator[str]:
    for item in generation.apart:
        try:
            if len(stored.apart(item.sha256)) != item.bytes:
                yield f"{apart_path(item.sha256)} of {stored.ref} has another length than the manifest says"
        except GitmemError as error:
            yield error.message


def where_is_origin(read: Transcripts, stored: StoredSession) -> Where:
    path = read.origin(stored)
    return "elsewhere" if path is None else "there" if path.exists() else "gone"


def _row(read: Transcripts, stored: StoredSession, counts: _Counts) -> Row:
    number, first, last = counts.of(stored)
    return Row(stored, number, first, last, where_is_origin(read, stored))


class _Counts:
    """How many turns a session has and from when to when; counted once for each state of it and set of rules."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._kept: Mapping[str, Any] = load(workspace.location.private, _COUNTS)
        self._asked: dict[str, list[Any]] = {}

    def of(self, stored: StoredSession) -> tuple[int, str, str]:
        name, last = stored.manifest.name, stored.manifest.last
        adapter = adapter_of(stored.manifest.host)
        if last is None or adapter is None:
            return 0, "", ""
        state = f"{last.number}:{last.bytes}:{last.chunks[-1].sha256 if last.chunks else ''}:{adapter.rules}"
        kept = self._kept.get(name)
        if not isinstance(kept, list) or len(kept) != 4 or kept[0] != state:
            kept = [state, *_counted(self._workspace, stored, last)]
        self._asked[name] = kept
        return int(kept[1]), str(kept[2]), str(kept[3])

    def save(self) -> None:
        kept = {**self._kept, **self._asked}
        if kept != self._kept:
            save(self._workspace.location.private, _COUNTS, kept)


def _counted(workspace: Workspace, stored: StoredSession, generation: Generation) -> tuple[int, str, str]:
    number = 0
    first: datetime | None = None
    last: datetime | None = None
    for turn in Transcripts(workspace).turns(stored, generation):
        number += 1
        if turn.at is not None:
            first = min(first or turn.at, turn.at)
            last = max(last or turn.at, turn.at)
    return number, format_instant(first) if first else "", format_instant(last) if last else ""
