"""`gitmem lessons`: what the captured sessions teach, without a model. Each session is read on from where it was read.

What is remembered of a session (how far it was read, from where the next reading has to begin) is this clone's own
state; without it every session is read once more, and nothing is kept twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from gitmem.app.belief import believed_view
from gitmem.app.directives_heard import foreign_sessions
from gitmem.app.episodes import Episode, is_due, tell_silent
from gitmem.app.learn_settings import learns
from gitmem.app.learning_reader import Reader, reader_of
from gitmem.app.lessons import Lesson, keep
from gitmem.app.state import load, save
from gitmem.app.workspace import Workspace
from gitmem.capture.fixes import Fix, Fixes
from gitmem.capture.outcomes import Check, outcomes
from gitmem.errors import GitmemError
from gitmem.model.frozen import dataclass, replace
from gitmem.model.layout import MAIN
from gitmem.model.times import format_instant
from gitmem.store.sessions import StoredSession, stored_session, stored_sessions

if TYPE_CHECKING:
    from gitmem.capture.turns import Turn

STATE: Final = "lessons"
RULES: Final = 1  # of what is a check and what a fix; another number reads every session once more
_WINDOW: Final = 16 * 1024 * 1024  # bytes after which a failure that never passed is no longer waited for
_FLAKY: Final = 50


@dataclass(frozen=True)
class Read:
    """One session that was read. `checks` and `failures`: in what was read now."""

    session: str
    checks: int
    failures: int
    unknown: int
    lessons: tuple[Lesson, ...]


@dataclass(frozen=True)
class Learned:
    """`sessions`: those that were read, because something was new in them. `unchanged`: how many had nothing new.
    `passed`: how many are of another project, or of a host whose turns teach nothing.
    `faults`: sessions that could not be read, in a line each."""

    sessions: tuple[Read, ...] = ()
    unchanged: int = 0
    episodes: tuple[Episode, ...] = ()
    faults: tuple[str, ...] = ()
    passed: int = 0


def learn(
    workspace: Workspace,
    chosen: Sequence[StoredSession] | None = None,
    *,
    again: bool = False,
    dry_run: bool = False,
) -> Learned:
    """Read what is new in the sessions, all or those `chosen`, and keep what it teaches.

    `again`: read them whole. Raises NotFound without a memory, and what believing its branch raises.
    """
    believed_view(workspace).require_config()
    workspace = Workspace(replace(workspace.env, channel="capture", host=None), workspace.location, workspace.backend)
    damaged: list[str] = []
    state = load(workspace.location.private, STATE)
    kept: dict[str, Any] = state.get("sessions", {}) if state.get("rules") == RULES else {}
    top = _tops(workspace)
    foreign = foreign_sessions(workspace)
    read: list[Read] = []
    unchanged = passed = 0
    for stored in chosen if chosen is not None else stored_sessions(workspace.backend, damaged):
        name = stored.manifest.name
        try:
            reader = reader_of(workspace, stored)
            if reader is None or name in foreign:
                passed += 1
                continue
            row = kept.get(name, {})
            if not again and row.get("at") == reader.state:
                unchanged += 1
                continue
            done, kept[name] = _read(workspace, reader, {} if again else row, top, dry_run=dry_run)
            read.append(done)
        except GitmemError as error:
            damaged.append(f"{name}: {error.message}")
    told = tell_silent(workspace, kept, top, dry_run=dry_run)
    if not dry_run:
        save(workspace.location.private, STATE, {"rules": RULES, "sessions": kept})
    return Learned(tuple(read), unchanged, tuple(told), tuple(damaged), passed)


def learn_captured(workspace: Workspace, names: Sequence[str]) -> Learned:
    """What a capture that stored the sessions `names` (HOST/SESSION) teaches, where that is switched on. Raises
    nothing of gitmem's own: what was captured stays captured."""
    try:
        if workspace.backend.ref(MAIN) is None or not learns(workspace.env.environ, "lessons"):
            return Learned()
        rows = load(workspace.location.private, STATE).get("sessions", {})
        if not names and not any(is_due(row, rows, workspace.env.now()) for row in rows.values()):
            return Learned()
        found = (stored_session(workspace.backend, *name.split("/", 1)) for name in names)
        return learn(workspace, [stored for stored in found if stored is not None])
    except GitmemError as error:
        return Learned(faults=(error.message,))


def _read(
    workspace: Workspace, reader: Reader, row: dict[str, Any], top: Sequence[str], *, dry_run: bool
) -> tuple[Read, dict[str, Any]]:
    """What was new in one session, and what to remember of it."""
    same = row.get("generation") == reader.generation.number and int(row.get("end", 0)) <= reader.generation.bytes
    before = int(row.get("end", 0)) if same else 0
    known = Fixes(row.get("flaky", ()) if same else ())
    listener = _Listener(row.get("last") if same else None)
    found: list[Fix] = []
    checks = failures = unknown = 0
    for seen in outcomes(listener.hear(reader.turns(int(row.get("from", 0)) if same else 0))):
        found += known.take(seen)
        if isinstance(seen, Check) and seen.turn.start >= before:
            checks += 1
            failures += seen.outcome == "failed"
            unknown += seen.outcome is None
    fresh = [fix for fix in found if fix.passed.turn.start >= before]
    folders = [*top, *([listener.folder] if listener.folder else [])]
    lessons = keep(workspace, reader, fresh, folders, dry_run=dry_run)
    end = reader.generation.bytes
    needed = min((at for at in (known.needed_from, *listener.calls.values()) if at is not None), default=end)
    return Read(reader.stored.manifest.name, checks, failures, unknown, tuple(lessons)), {
        "at": reader.state,
        "generation": reader.generation.number,
        "end": end,
        "from": needed if end - needed <= _WINDOW else end,
        "flaky": sorted(known.flaky)[:_FLAKY],
        "last": listener.last,
        "child": reader.stored.manifest.parent is not None,
        "told": row.get("told", ""),
    }


class _Listener:
    """What passes by besides checks: calls that wait for their answer, the last time, where the session ran."""

    def __init__(self, last: str | None) -> None:
        self.calls: dict[str, int] = {}
        self.last = last or ""
        self.folder = ""
        self._latest: datetime | None = None

    def hear(self, turns: Iterable[Turn]) -> Iterable[Turn]:
        for turn in turns:
            self.folder = self.folder or turn.cwd or ""
            if turn.call and turn.speaker == "tool":
                self.calls.pop(turn.call, None)
            elif turn.call:
                self.calls[turn.call] = turn.start
            if turn.at is not None and (self._latest is None or turn.at > self._latest):
                self._latest = turn.at
                self.last = format_instant(turn.at)
            yield turn


def _tops(workspace: Workspace) -> list[str]:
    from gitmem.app.capture import work_trees

    return [str(path) for path in work_trees(workspace)]
