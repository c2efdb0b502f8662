"""The directives in what captured sessions have gained: which sessions, from which byte on, said by whom."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from gitmem.app.state import load, save
from gitmem.app.transcripts import Transcripts, adapter_of
from gitmem.errors import CorruptRecord, NotFound
from gitmem.model.frozen import dataclass
from gitmem.model.times import format_instant
from gitmem.store.sessions import StoredSession, session_archives, stored_session

if TYPE_CHECKING:
    from gitmem.app.capture_progress import Progress
    from gitmem.app.workspace import Workspace
    from gitmem.capture.turns import Turn
    from gitmem.model.nouns import TranscriptRef
    from gitmem.model.sessions import Generation
    from gitmem.policy.directives import Directive, Language

_STATE: Final = "directives"
_REMOVED: Final = "[gitmem:"  # a marker stands in the line for something that was taken out of it
_UNCLEAR: Final = frozenset({"human", "unknown"})  # whom the words may be of, told without what came before


@dataclass(frozen=True)
class Heard:
    """A directive and the record that it stands in. `at`: when it was said, empty when the host does not tell."""

    directive: Directive
    ref: TranscriptRef
    at: str

    @property
    def host(self) -> str:
        return self.ref.session.partition("/")[0]


@dataclass(frozen=True)
class _Seen:
    """How far a session was listened to: what `Progress.marks` said then, the generation, its stored bytes."""

    mark: str
    generation: int
    bytes: int


class Ear:
    """Listens to what is new in the sessions that were captured here, and remembers how far it came."""

    def __init__(self, workspace: Workspace, progress: Progress) -> None:
        self._workspace = workspace
        self._seen = {name: seen for name, row in _rows(workspace).items() if (seen := _seen_of(row))}
        foreign = foreign_sessions(workspace)
        self._fresh = {
            name: mark
            for name, mark in progress.marks().items()
            if name not in foreign and (name not in self._seen or self._seen[name].mark != mark)
        }

    @property
    def is_idle(self) -> bool:
        """Whether no session has anything new."""
        return not self._fresh

    def listen(self, languages: Sequence[Language], faults: list[str]) -> list[Heard]:
        """The directives of what is new, in the order in which they were said. A session that cannot be read keeps no
        other from being heard, and is tried again."""
        found: list[tuple[str, str, int, Heard]] = []
        for stored, generation, since in self._new(faults):
            try:
                for heard in _of_session(self._workspace, stored, generation, since, languages):
                    at = heard.at or generation.captured
                    found.append((at, stored.manifest.name, heard.ref.span.start, heard))
            except (CorruptRecord, NotFound) as error:
                self._seen.pop(stored.manifest.name, None)
                faults.append(error.message)
        return [heard for *_, heard in sorted(found, key=lambda item: item[:3])]

    def pass_over(self) -> None:
        """Take what is new for heard, without listening."""
        for _ in self._new([]):
            pass

    def remember(self) -> None:
        """What was heard is not listened to again."""
        rows = {name: [seen.mark, seen.generation, seen.bytes] for name, seen in self._seen.items()}
        save(
            self._workspace.location.private,
            _STATE,
            {**load(self._workspace.location.private, _STATE), "sessions": rows},
        )

    def _new(self, faults: list[str]) -> Iterator[tuple[StoredSession, Generation, int]]:
        """Each session with something new and the byte of its last generation from which on it is."""
        backend = self._workspace.backend
        archives = session_archives(backend)
        for name, mark in self._fresh.items():
            host, _, session = name.partition("/")
            try:
                stored = stored_session(backend, host, session, archives)
            except (CorruptRecord, NotFound) as error:
                faults.append(error.message)
                continue
            last = stored.manifest.last if stored else None
            if stored is None or last is None:
                continue
            before = self._seen.get(name)
            since = before.bytes if before is not None and before.generation == last.number else 0
            self._seen[name] = _Seen(mark, last.number, last.bytes)
            if stored.manifest.parent is None and since < last.bytes:
                yield stored, last, since


def never_listen(workspace: Workspace, sessions: Collection[str]) -> None:
    """Nothing is learned of these sessions from now on: whoever named their files may have written them."""
    folder = workspace.location.private
    foreign = foreign_sessions(workspace)
    if not foreign.issuperset(sessions):
        save(folder, _STATE, {**load(folder, _STATE), "foreign": sorted(foreign.union(sessions))})


def foreign_sessions(workspace: Workspace) -> set[str]:
    """The sessions of which nothing is learned, as HOST/SESSION."""
    names = load(workspace.location.private, _STATE).get("foreign")
    return {name for name in names if isinstance(name, str)} if isinstance(names, list) else set()


def _of_session(
    workspace: Workspace, stored: StoredSession, generation: Generation, since: int, languages: Sequence[Language]
) -> Iterator[Heard]:
    from gitmem.model.nouns import Span, TranscriptRef
    from gitmem.model.records import digest
    from gitmem.policy.directives import directives

    if not _may_say(stored, generation, since, languages):
        return
    for turn in Transcripts(workspace).turns(stored, generation):
        if turn.speaker != "human" or turn.start < since:
            continue
        for found in directives(turn.text, languages):
            data = stored.span(generation, turn.start, turn.end)
            if data is None or _REMOVED in found.line:
                continue
            span = Span(generation.number, turn.start, turn.end)
            ref = TranscriptRef(stored.manifest.name, turn.record, span, digest(data), turn.speaker, found.line)
            yield Heard(found, ref, _said_at(turn, workspace.env.now()))


def _said_at(turn: Turn, now: datetime) -> str:
    """When it was said, as far as that is in the past: a clock of another machine may be ahead."""
    return "" if turn.at is None else format_instant(min(turn.at, now))


def _may_say(stored: StoredSession, generation: Generation, since: int, languages: Sequence[Language]) -> bool:
    """False when nothing new is a directive, by the new bytes alone: a long session need not be read from its start.

    Who spoke may hang on what came before, which only takes words away from a person. Markdown is always read.
    """
    from gitmem.capture.records import records
    from gitmem.policy.directives import directives

    adapter = adapter_of(stored.manifest.host)
    if adapter is None:
        return False
    if stored.manifest.suffix != "jsonl" or not since:
        return True
    turns = adapter.turns(records(_bytes_from(stored, generation, since), stored.manifest.suffix))
    return any(turn.speaker in _UNCLEAR and directives(turn.text, languages) for turn in turns)


def _bytes_from(stored: StoredSession, generation: Generation, since: int) -> Iterator[bytes]:
    for chunk in generation.chunks:
        if chunk.end > since:
            yield stored.chunk(generation, chunk)[max(since - chunk.start, 0) :]


def _rows(workspace: Workspace) -> dict[str, Any]:
    rows = load(workspace.location.private, _STATE).get("sessions")
    return rows if isinstance(rows, dict) else {}


def _seen_of(row: Any) -> _Seen | None:
    try:
        mark, generation, size = row
        return _Seen(str(mark), int(generation), int(size))
    except (TypeError, ValueError):
        return None
