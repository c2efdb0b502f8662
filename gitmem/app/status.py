"""`gitmem status`: whether each host's sessions are captured as they should be, and what else is not as it should be.

`unknown` is what cannot be told, with the reason; it is never counted as fine.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from gitmem.app import agents, belief
from gitmem.app.capture import LOCK, SWEPT, home_of, work_trees
from gitmem.app.capture_progress import Progress, stamp_of
from gitmem.app.capture_spool import SPOOL
from gitmem.app.catch_up import opened_index
from gitmem.app.codex_features import switched_off
from gitmem.app.doorbell import RUNG, doorbell_path
from gitmem.app.forgotten import forgotten
from gitmem.app.host_settings import HOSTS
from gitmem.app.injection_log import failures, fired
from gitmem.app.live import Live, live
from gitmem.app.retention import retention
from gitmem.app.state import load
from gitmem.app.workspace import Workspace
from gitmem.errors import GitmemError
from gitmem.model.frozen import dataclass, field
from gitmem.model.layout import INBOX, PLACES, SESSION_ARCHIVES, SESSIONS
from gitmem.model.times import format_instant
from gitmem.model.vocabulary import WAITING
from gitmem.store.disk_usage import disk_usage
from gitmem.store.lock import sole
from gitmem.store.sessions import stored_sessions

if TYPE_CHECKING:
    from gitmem.capture.adapter import Adapter, Origin
    from gitmem.model.nouns import Memory

_GRACE: Final = 15 * 60  # seconds in which a session that grew is under way and not yet behind
_OF_LATE: Final = timedelta(days=1)  # in which a failure of a hook is something to look at
_ROOM: Final = 64 * 1024 * 1024  # bytes that must be free for a step of capture and a repack
State = Literal["fresh", "stale", "unknown", "absent"]


@dataclass(frozen=True)
class HostHealth:
    """One host. `absent`: it is not on this machine and was never captured here.

    `waiting` sessions have something that is not captured. `swept` and `rung` are times, empty for never. `told`: the
    events at which it asks what its agent should know, each with the time when it did so last here.
    """

    host: str
    state: State
    reason: str
    hint: str = ""
    sessions: int = 0
    waiting: int = 0
    swept: str = ""
    rung: str = ""
    installed: tuple[Path, ...] = ()
    told: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class MemoryHealth:
    """Whether the index has seen all that is believed, and how many candidates wait for a person."""

    state: State
    reason: str
    hint: str = ""
    candidates: int = 0


@dataclass(frozen=True)
class Health:
    """Everything that was looked at. `bytes` are those of the transcripts, `disk` those that git needs for them.
    `untold`: what went wrong of late when an agent should have been told something, the newest last. `proposals`: what
    a person said of the whole team and only that person is told, see `app.directives`. `live`: sessions at work.
    `retention`: how long and how much is kept; `forgotten` sessions were let go."""

    hosts: tuple[HostHealth, ...]
    sessions: int
    bytes: int
    objects: int
    disk: int
    damaged: tuple[str, ...]
    capturing: bool
    memory: MemoryHealth
    free: int
    untold: tuple[Mapping[str, str], ...] = ()
    proposals: tuple[Memory, ...] = ()
    live: tuple[Live, ...] = ()
    retention: str = "for ever"
    forgotten: int = 0

    @property
    def is_fine(self) -> bool:
        states = {self.memory.state, *(host.state for host in self.hosts)}
        return not states & {"stale", "unknown"} and not self.damaged and self.has_room and not self.untold

    @property
    def has_room(self) -> bool:
        return self.free >= _ROOM


def status(workspace: Workspace) -> Health:
    """Look at hosts, sessions, candidates and index. Writes nothing but a lock file of no content."""
    from gitmem.capture.registry import adapters

    location = workspace.location
    damaged: list[str] = []
    kept = list(stored_sessions(workspace.backend, damaged))
    stored = [item.manifest for item in kept]
    counts: dict[str, int] = {}
    for manifest in stored:
        counts[manifest.host] = counts.get(manifest.host, 0) + 1
    objects, disk = disk_usage(location, (SESSIONS, SESSION_ARCHIVES)) if stored else (0, 0)
    known = adapters()
    look = _Look(workspace, counts)
    room = os.statvfs(location.common_dir)
    return Health(
        hosts=tuple(found for name in known if (found := look.host(name, known)) is not None),
        sessions=len(stored),
        bytes=sum(generation.bytes for manifest in stored for generation in manifest.generations),
        objects=objects,
        disk=disk,
        damaged=tuple(damaged),
        capturing=_capturing(workspace),
        memory=_memory(workspace),
        free=room.f_bavail * room.f_frsize,
        untold=_untold(workspace),
        proposals=_proposals(workspace),
        live=live(workspace, kept),
        retention=_retention(workspace),
        forgotten=len(forgotten(location.private)),
    )


class _Look:
    """What is known of all hosts, read once."""

    def __init__(self, workspace: Workspace, stored: Mapping[str, int]) -> None:
        env = workspace.env
        self._env = env
        self._stored = stored
        self._private = workspace.location.private
        self._home = home_of(workspace)
        self._trees = work_trees(workspace)
        self._top = workspace.location.work_tree
        self._swept: dict[str, Any] = load(self._private, SWEPT).get("hosts", {})
        self._progress = Progress(self._private, env.random)
        self._now = env.now()
        self._gone = forgotten(self._private)

    def host(self, name: str, adapters: Mapping[str, Adapter]) -> HostHealth | None:
        """The health of one host; None for one that has no place of its own, whose files are captured when named."""
        try:
            adapter = adapters[name]
            watched = adapter.watched(self._home, self._env.environ)
        except GitmemError as error:
            return HostHealth(name, "unknown", error.message)
        if not watched:
            return None
        installed = tuple(agents.installed(self._env, name, self._top)) if name in HOSTS else ()
        swept: dict[str, Any] = self._swept.get(name, {})
        rung = _time(self._private / SPOOL / f"{name}{RUNG}")
        try:
            origins = list(adapter.origins(self._home, self._env.environ, self._trees))
        except OSError as error:
            found: tuple[State, str, str] = ("unknown", f"its sessions cannot be read: {error.strerror or error}", "")
            waiting: list[Origin] = []
        else:
            waiting = [origin for origin in origins if self._is_behind(origin)]
            there = bool(origins) or any(path.exists() for path in self._places(watched))
            if not there:
                found = self._missing(name, watched, installed)
            else:
                found = self._judged(origins, waiting, swept, rung, installed)
            lost = agents.taken_out(self._env, name, self._top) if name in HOSTS and found[0] == "fresh" else []
            if lost:
                found = ("stale", f"its hook is no longer in {lost[0]}", f"gitmem install {name}")
            off = switched_off(self._env.environ) if name == "codex" and installed else None
            if off is not None:
                found = ("stale", f"it runs no hook: [features] hooks is false in {off}", "switch hooks on there")
        state, reason, hint = found
        return HostHealth(
            name, state, reason, hint, self._stored.get(name, 0), len(waiting), str(swept.get("at", "")),
            "" if rung is None else format_instant(rung), installed, self._told(name),
        )  # fmt: skip

    def _told(self, name: str) -> dict[str, str]:
        events = agents.injecting(self._env, name, self._top) if name in HOSTS else ()
        return {event: fired(self._private, name, event) for event in events}

    def _places(self, watched: Sequence[Path]) -> list[Path]:
        """Where the host writes; a bare name lies in each work tree."""
        return [tree / path for path in watched for tree in (self._trees or [Path("/")])]

    def _missing(self, name: str, watched: Sequence[Path], installed: Sequence[Path]) -> tuple[State, str, str]:
        if installed or self._stored.get(name):
            return "unknown", f"no transcripts where they are expected: {', '.join(map(str, watched))}", ""
        return "absent", "not on this machine", ""

    def _judged(
        self,
        origins: Sequence[Origin],
        waiting: Sequence[Origin],
        swept: Mapping[str, Any],
        rung: datetime | None,
        installed: Sequence[Path],
    ) -> tuple[State, str, str]:
        late = [origin for origin in waiting if self._age(origin.path) > _GRACE]
        if swept.get("error"):
            return "stale", str(swept["error"]), "gitmem capture"
        if not swept:
            return "unknown", "never looked at here", "gitmem capture"
        if swept.get("degraded"):
            return "stale", f"{swept['degraded']} rewritten too often today", "gitmem capture, tomorrow"
        unheard = installed and rung is None and any(self._age(origin.path) < self._since() for origin in origins)
        why = "; its hook is installed and has never rung here: is it trusted?" if unheard else ""
        if late:
            return "stale", f"{len(late)} with something that is not captured{why}", "gitmem capture"
        if unheard:
            return "stale", why.removeprefix("; "), "start the host, look at its list of hooks"
        if waiting:
            return "fresh", f"{len(waiting)} under way", ""
        return "fresh", "all is captured" if origins else "no session of this repository", ""

    def _is_behind(self, origin: Origin) -> bool:
        try:
            stamp = stamp_of(origin.path, origin.version)
        except OSError:
            return False  # it went away meanwhile
        name = f"{origin.host}/{origin.session}"
        return name not in self._gone and not self._progress.is_unchanged(
            name, str(origin.path), stamp, self._now.date().isoformat()
        )

    def _age(self, path: Path) -> float:
        """Seconds since a file changed."""
        changed = _time(path)
        return 0 if changed is None else (self._now - changed).total_seconds()

    def _since(self) -> float:
        """Seconds since the doorbell was written."""
        return self._age(doorbell_path(self._env.environ))


def _time(path: Path) -> datetime | None:
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, timezone.utc)
    except OSError:
        return None


def _proposals(workspace: Workspace) -> tuple[Memory, ...]:
    from gitmem.app.directives import proposals

    try:
        return tuple(proposals(belief.believed_view(workspace)))
    except GitmemError:
        return ()  # what is not believed is told as the state of the memory


def _untold(workspace: Workspace) -> tuple[Mapping[str, str], ...]:
    since = format_instant(workspace.env.now() - _OF_LATE)
    return tuple(one for one in failures(workspace.location.private) if one["at"] >= since)


def _retention(workspace: Workspace) -> str:
    try:
        return str(retention(workspace.env.environ))
    except GitmemError as error:
        return f"as nobody knows: {error.message}"


def _capturing(workspace: Workspace) -> bool:
    if not (workspace.location.private / f"{LOCK}.lock").exists():
        return False
    with sole(workspace.location, LOCK) as alone:
        return not alone


def _memory(workspace: Workspace) -> MemoryHealth:
    try:
        view = belief.believed_view(workspace)
        if view.config is None:
            return MemoryHealth("absent", "there is no memory here", "gitmem init")
        candidates = sum(memory.status in WAITING for memory in view.memories(INBOX))
    except GitmemError as error:
        return MemoryHealth("unknown", error.message, error.hint or "gitmem doctor")
    seen = opened_index(workspace).tips
    if not seen and not any(view.place(ref).memory_ids() for ref in PLACES.values()):  # right after `gitmem init`
        return MemoryHealth("fresh", "there is nothing to index yet", "", candidates)
    if seen.get("main") == view.main.commit:
        return MemoryHealth("fresh", "the index has seen all of it", "", candidates)
    # No fault: so it is after every write, and whoever asks next waits for it.
    return MemoryHealth("fresh", "the index is behind; the next read brings it up", "", candidates)
