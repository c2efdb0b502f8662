"""Letting captured sessions go: those that a person names, and those that the retention setting no longer keeps.

A session that a memory cites as evidence stays, unless a person says otherwise. The host's own file is not touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from hashlib import sha256

from gitmem.app import forgotten as record
from gitmem.app.belief import inert_view
from gitmem.app.capture_progress import Progress
from gitmem.app.forgotten import Forgotten
from gitmem.app.retention import Retention, retention
from gitmem.app.sessions import session
from gitmem.app.workspace import Workspace
from gitmem.errors import Locked
from gitmem.model.frozen import dataclass
from gitmem.model.layout import PLACES, REMOTES, session_folder
from gitmem.model.nouns import TranscriptRef
from gitmem.model.sessions import manifest_bytes
from gitmem.model.text import counted
from gitmem.model.times import format_instant, parse_instant
from gitmem.store.lock import sole, writer_lock
from gitmem.store.port import RefMove
from gitmem.store.sessions import StoredSession, stored_sessions
from gitmem.store.snapshot import Snapshot, snapshot
from gitmem.store.transaction import TOOL, Transaction

NAMED = "named by a person"


@dataclass(frozen=True)
class Going:
    """A session and why it goes. `cited`: ids of the memories that have it as evidence."""

    stored: StoredSession
    why: str
    cited: tuple[str, ...] = ()

    @property
    def bytes(self) -> int:
        return sum(generation.bytes for generation in self.stored.manifest.generations)


@dataclass(frozen=True)
class Plan:
    """`going` are dropped; `kept` would be, and a memory cites them."""

    going: tuple[Going, ...]
    kept: tuple[Going, ...] = ()


def plan(workspace: Workspace, names: Sequence[str], limits: Retention, *, cited: bool = False) -> Plan:
    """What has to go: the sessions that are named, else what is beyond `limits`; with `cited` also cited ones.

    Raises NotFound and Ambiguous for a name, and what believing the memory raises: else nobody knows what is cited.
    """
    if names:
        named = {stored.manifest.name: stored for stored in (session(workspace, name) for name in names)}
        meant = [Going(stored, NAMED) for stored in named.values()]
    else:
        meant = list(_beyond(workspace, limits))
    citing = _citing(workspace) if meant else {}
    found = [Going(one.stored, one.why, tuple(sorted(citing.get(one.stored.manifest.name, ())))) for one in meant]
    return Plan(
        tuple(one for one in found if cited or not one.cited), tuple(one for one in found if one.cited and not cited)
    )


def forget(workspace: Workspace, going: Sequence[Going]) -> list[Forgotten]:
    """Drop these, but none that a memory cites since it was planned. Raises Locked while a capture is at work, RefMoved
    when one of them went on meanwhile."""
    from gitmem.app.capture import LOCK

    with sole(workspace.location, LOCK) as alone:
        if not alone:
            raise Locked("a capture is at work here", hint="try again when it has ended")
        citing = _citing(workspace)
        known = [one for one in going if set(citing.get(one.stored.manifest.name, ())) <= set(one.cited)]
        return drop(workspace, known)


def forget_by_age_and_size(workspace: Workspace) -> list[Forgotten]:
    """What the user's setting lets go, once a day; to be called by who holds the lock of capture. Raises UsageError for
    a setting that is none, and what believing the memory raises."""
    limits = retention(workspace.env.environ)
    today = workspace.env.now().date().isoformat()
    private = workspace.location.private
    if not limits.is_set or record.looked_at(private) == today:
        return []
    done = drop(workspace, plan(workspace, (), limits).going)
    record.note_looked(private, today)
    return done


def drop(workspace: Workspace, going: Sequence[Going]) -> list[Forgotten]:
    """Note what goes, then move all refs at once: killed in between, the next time finds them still there."""
    if not going:
        return []
    backend, location, now = workspace.backend, workspace.location, workspace.env.now()
    at = format_instant(now.replace(microsecond=0))
    gone = [Forgotten(one.stored.manifest.name, _digest(one.stored), one.bytes, at, one.why) for one in going]
    own = [one for one in going if not one.stored.fetched]
    with writer_lock(location):
        moves = [
            RefMove(one.stored.ref, None, one.stored.view.commit, "gitmem: forget")
            for one in going
            if not one.stored.archived
        ]
        archives: dict[str, list[StoredSession]] = {}
        for one in own:
            if one.stored.archived:
                archives.setdefault(one.stored.ref, []).append(one.stored)
        moves += [_without(workspace, ref, dropped) for ref, dropped in archives.items()]
        moves += _sent(workspace, own)
        record.note_forgotten(location.private, (item for item, one in zip(gone, going, strict=True) if one in own))
        backend.move_refs(moves)
    progress = Progress(location.private, workspace.env.random)
    progress.forget(one.stored.manifest.name for one in own)
    progress.save()
    return gone


def _digest(stored: StoredSession) -> str:
    return sha256(manifest_bytes(stored.manifest)).hexdigest()


def _without(workspace: Workspace, ref: str, dropped: Iterable[StoredSession]) -> RefMove:
    """The archive anew without some sessions, and without the history that still has them."""
    backend = workspace.backend
    base = snapshot(backend, ref)
    transaction = Transaction(backend, Snapshot(backend, None, base.tree))
    for stored in dropped:
        transaction.delete(stored.folder)
    folders = {stored.folder for stored in dropped}
    left = {path.rsplit("/", 1)[0] for path, _ in base.walk() if path.endswith("/manifest.json")} - folders
    if not left:
        return RefMove(ref, None, base.commit, "gitmem: forget")
    month = ref.rsplit("/", 1)[-1]
    commit = transaction.commit(f"archive: {counted(len(left), 'session')} of {month}", TOOL, TOOL, workspace.env.now())
    return RefMove(ref, commit, base.commit, "gitmem: forget")


def _sent(workspace: Workspace, own: Sequence[Going]) -> list[RefMove]:
    """What was kept of these to know what a remote has of them."""
    folders = {session_folder(one.stored.manifest.host, one.stored.manifest.session) for one in own}
    return [
        RefMove(ref, None, oid, "gitmem: forget")
        for ref, oid in workspace.backend.refs(REMOTES)
        if any(ref.endswith(f"/shared/{folder}") for folder in folders)
    ]


def _beyond(workspace: Workspace, limits: Retention) -> Iterable[Going]:
    """The sessions that are too old, then the oldest of the others while there is too much."""
    sessions = [item for item in stored_sessions(workspace.backend, []) if item.manifest.captured]
    sessions.sort(key=lambda item: (item.manifest.captured, item.manifest.name))
    rest = []
    oldest = workspace.env.now() - timedelta(days=limits.days) if limits.days is not None else None
    for stored in sessions:
        if oldest is not None and parse_instant(stored.manifest.captured) < oldest:
            yield Going(stored, f"older than {limits.days:,} days")
        else:
            rest.append(Going(stored, f"above {limits.bytes or 0:,} bytes"))
    total = sum(one.bytes for one in rest)
    for one in rest:
        if limits.bytes is None or total <= limits.bytes:
            return
        total -= one.bytes
        yield one


def _citing(workspace: Workspace) -> dict[str, set[str]]:
    """By session the memories, in any state and place, that have it as evidence."""
    view = inert_view(workspace)
    found: dict[str, set[str]] = {}
    for ref in PLACES.values():
        for memory in view.memories(ref):
            for evidence in memory.evidence:
                if isinstance(evidence, TranscriptRef):
                    found.setdefault(evidence.session, set()).add(memory.id)
    return found
