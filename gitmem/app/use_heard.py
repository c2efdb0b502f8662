"""What captured sessions show of the use of memories: which were cited, whose command passed, which were in context
when the project's own checks passed. Told from stored records; each session is read on from where it was read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from gitmem.app import use
from gitmem.app.belief import believed_view
from gitmem.app.shown import told_since
from gitmem.app.state import load, save
from gitmem.errors import GitmemError
from gitmem.model.ids import ALPHABET, MEMORY_ID_LENGTH
from gitmem.model.layout import MAIN, PRIVATE, USER
from gitmem.model.nouns import TranscriptRef
from gitmem.model.pattern import pattern
from gitmem.model.vocabulary import VISIBLE

if TYPE_CHECKING:
    from gitmem.app.learning_reader import Reader
    from gitmem.app.workspace import View, Workspace
    from gitmem.capture.outcomes import Check
    from gitmem.capture.turns import Turn

STATE: Final = "use-read"
MOST_SEEN: Final = 400  # memories of one session, as `shown.MOST_IDS`
MOST_LOOKED_AT: Final = 2000  # memories of one's own that may cite a record
MOST_SESSIONS: Final = 200  # whose place is remembered
_SHORTEST: Final = 8  # characters of a command by which a memory is known
_SHOWN: Final = 8  # characters of an id that a reader is shown, and so the least by which it names one
_MOST_NAMES: Final = 40  # of one text, that are looked up
_WORD: Final = rf"[{ALPHABET}]{{{_SHOWN},{MEMORY_ID_LENGTH}}}"
_ID: Final = pattern(rf"(?<![0-9A-Za-z])({_WORD})(?![0-9A-Za-z])")
_OURS: Final = pattern(rf'"id": ?"({_WORD})"')  # in a block


def note_use(workspace: Workspace, names: Sequence[str], commits: Sequence[str] = ()) -> None:
    """Count what the sessions `names` (HOST/SESSION) and the messages of `commits` show. Raises nothing of gitmem's
    own: what was captured stays captured, and counts are losable."""
    if not names and not commits:
        return
    try:
        if workspace.backend.ref(MAIN) is None or not use.is_on(workspace.env.environ):
            return
        view = believed_view(workspace)
        _note_messages(view, commits)
        state = load(workspace.location.private, STATE)
        rows: dict[str, Any] = state if all(isinstance(row, dict) for row in state.values()) else {}
        for name in names:
            row = _note_session(view, name, rows.pop(name, {}))
            if row:
                rows[name] = row  # the latest stands last
        save(workspace.location.private, STATE, dict(list(rows.items())[-MOST_SESSIONS:]))
    except GitmemError:
        return


def note_opened(workspace: Workspace, session: str, records: Sequence[str]) -> None:
    """Who opens a record has opened the memories of one's own that cite it. Those of the team are not looked through:
    there may be very many. Raises nothing of gitmem's own."""
    try:
        view = believed_view(workspace)
        wanted = frozenset(records)
        citing = [
            memory.id
            for memory in islice(view.memories(PRIVATE), MOST_LOOKED_AT)
            if any(isinstance(ref, TranscriptRef) and ref.session == session and ref.record in wanted
                   for ref in memory.evidence)
        ]  # fmt: skip
        _note(view, "opened", citing, workspace.env.now())
    except GitmemError:
        return


def _note_messages(view: View, commits: Sequence[str]) -> None:
    from datetime import timezone

    from gitmem.store.objects import parse_commit

    workspace = view.workspace
    for oid in commits:
        try:
            kind, data = workspace.backend.read(oid)
        except GitmemError:
            continue
        if kind == "commit":
            info = parse_commit(data)
            at = datetime.fromtimestamp(int(info.committer.rsplit(" ", 2)[1]), timezone.utc)
            said = _named(data.partition(b"\n\n")[2].decode("utf-8", "replace"))
            _note(view, "cited", _resolved(view, said), at)


def _note(view: View, how: use.How, ids: Iterable[str], at: datetime) -> None:
    """Those that are memories here and hold."""
    there = [identifier for identifier in dict.fromkeys(ids) if _stands(view, identifier)]
    use.note(view.workspace.location.private, view.workspace.env.environ, how, there, at)


def _stands(view: View, identifier: str) -> bool:
    found = view.anywhere(identifier)
    return found is not None and found.memory.status in VISIBLE


def _named(text: str) -> list[str]:
    """Words that may be ids, whole or as they are shown."""
    return list(dict.fromkeys(_ID.findall(text)))


def _resolved(view: View, named: Sequence[str]) -> list[str]:
    """The ids that these words are, or of which each is the beginning of exactly one."""
    found: list[str] = []
    for word in named[:_MOST_NAMES]:
        ids = {one for ref in (MAIN, PRIVATE, USER) for one in view.place(ref).memory_ids(word)}
        found += ids if len(ids) == 1 else ()
    return list(dict.fromkeys(found))


def _note_session(view: View, name: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """Count what is new in one session; what to remember of it."""
    from gitmem.app.learning_reader import reader_of
    from gitmem.store.sessions import stored_session

    stored = stored_session(view.workspace.backend, *name.split("/", 1))
    reader = reader_of(view.workspace, stored) if stored is not None else None
    if reader is None:
        return {}
    if row.get("at") == reader.state:
        return dict(row)
    return _Listener(view, reader, row).listen()


class _Listener:
    """Hears the turns of one session in their order."""

    def __init__(self, view: View, reader: Reader, row: Mapping[str, Any]) -> None:
        same = row.get("generation") == reader.generation.number and row.get("end", 0) <= reader.generation.bytes
        kept = row if same else {}
        self._view = view
        self._reader = reader
        self._before: int = kept.get("end", 0)
        self._from: int = kept.get("from", 0)
        self._told: list[str] = list(kept.get("told", []))  # in blocks that came unasked
        self._seen: list[str] = list(kept.get("seen", []))  # in those, and in what gitmem answered
        self._texts: dict[str, str] = {}
        self._calls: dict[str, tuple[int, bool]] = {}
        self._asks: bool = False  # whether the last call, of a host that numbers none, asks gitmem
        self._since = told_since(view.workspace.location.private, *reader.stored.manifest.name.split("/", 1))

    def listen(self) -> dict[str, Any]:
        from gitmem.capture.outcomes import Check, outcomes

        for seen in outcomes(self._hearing(self._reader.turns(self._from))):
            if isinstance(seen, Check) and seen.outcome == "ok" and seen.turn.start >= self._before:
                self._passed(seen)
        end = self._reader.generation.bytes
        return {
            "at": self._reader.state,
            "generation": self._reader.generation.number,
            "end": end,
            "from": min((start for start, _ in self._calls.values()), default=end),
            "told": self._told[-MOST_SEEN:],
            "seen": self._seen[-MOST_SEEN:],
        }

    def _hearing(self, turns: Iterable[Turn]) -> Iterable[Turn]:
        for turn in turns:
            self._hear(turn)
            yield turn

    def _hear(self, turn: Turn) -> None:
        is_new = turn.start >= self._before
        if turn.speaker == "ours":
            self._add(self._told, _resolved(self._view, list(dict.fromkeys(_OURS.findall(turn.text)))))
        elif turn.speaker == "tool":
            _, asked = self._calls.pop(turn.call, (0, False)) if turn.call else (0, self._asks)
            if asked:
                self._add(self._seen, _resolved(self._view, _named(turn.text)))
        elif turn.speaker in ("assistant", "subagent"):
            if turn.tool is not None:
                self._asks = "gitmem" in turn.tool or "gitmem" in turn.text
                if turn.call:
                    self._calls[turn.call] = (turn.start, self._asks)
            if is_new and (turn.tool is None or "git commit" in turn.text):
                self._note("cited", self._known(_named(turn.text), turn), turn)

    @staticmethod
    def _add(known: list[str], named: Iterable[str]) -> None:
        known += [identifier for identifier in named if identifier not in known]

    def _known(self, named: Iterable[str], turn: Turn) -> list[str]:
        """Those that the session was told of before this turn."""
        words = tuple(named)
        return [one for one in self._context(turn, asked_for=True) if words and any(map(one.startswith, words))]

    def _context(self, turn: Turn, *, asked_for: bool) -> list[str]:
        """Memories that the session held at a turn. What no record shows is known from the hooks, by its time."""
        shown = [name for name, at in self._since.items() if turn.at is not None and at <= turn.at.timestamp()]
        return list(dict.fromkeys([*self._told, *shown, *(self._seen if asked_for else ())]))

    def _note(self, how: use.How, ids: Sequence[str], turn: Turn) -> None:
        if ids:
            _note(self._view, how, ids, turn.at or self._view.workspace.env.now())

    def _passed(self, check: Check) -> None:
        held = self._context(check.turn, asked_for=True)
        self._note("ran", [identifier for identifier in held if self._says(identifier, check.run)], check.turn)
        if check.is_of_code:
            told = [name for name in self._context(check.turn, asked_for=False) if _stands(self._view, name)]
            env, private = self._view.workspace.env, self._view.workspace.location.private
            use.credit(private, env.environ, told, self._reader.stored.manifest.name)

    def _says(self, identifier: str, command: str) -> bool:
        """Whether a memory names a command."""
        if len(command) < _SHORTEST:
            return False
        if identifier not in self._texts:
            found = self._view.anywhere(identifier)
            parts = (
                (found.memory.title, found.memory.body, *(step.text for step in found.memory.steps)) if found else ()
            )
            self._texts[identifier] = " ".join("\n".join(parts).split())
        return command in self._texts[identifier]
