"""`gitmem sessions share`: sessions that a person names go to a remote, and nothing else of them ever does.

What goes is the last state of each session as one commit, without the history of its captures, under
`refs/gitmem/shared/`. Every object of it is looked through before a byte leaves, by the rules and the secret values of
today; anything found refuses all of it. The push is gitmem's own and names object ids, so nothing else can travel with
it; the pre-push hook refuses whatever is pushed from below `refs/gitmem/` in another way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from gitmem.app.scan_secrets import Scanner
from gitmem.app.secrets_known import known_secrets
from gitmem.app.sessions import session
from gitmem.app.sessions_judged import judged
from gitmem.app.sync import Pushed
from gitmem.app.workspace import Workspace
from gitmem.errors import GitmemError, NotFound, Refused, RemoteError
from gitmem.model.frozen import dataclass, replace
from gitmem.model.judgement import Reason
from gitmem.model.layout import MANIFEST, SHARED_SESSIONS, apart_path, sent_ref, session_folder, shared_ref
from gitmem.model.times import parse_instant
from gitmem.store import remote as remotes_of
from gitmem.store.lock import writer_lock
from gitmem.store.objects import commit_bytes, object_id
from gitmem.store.port import RefMove
from gitmem.store.reachable import reachable
from gitmem.store.sessions import StoredSession, stored_sessions
from gitmem.store.snapshot import tree_of
from gitmem.store.transaction import TOOL

_SHOWN: Final = 50  # reasons that are told
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Item:
    """One session that is to go. `commit`: what is pushed, from `before` (what the remote has now).

    `state`: "new" there, "grown", or "same" when it is there as it is here. `bytes` of transcript, `objects` looked
    through; `removed` lines of it have a marker; `children` are sessions that it started and that do not go along.
    """

    stored: StoredSession
    commit: str
    before: str | None
    state: str
    bytes: int
    objects: int
    removed: int
    children: int


@dataclass(frozen=True)
class Plan:
    """What would be sent where, all of it looked through."""

    remote: remotes_of.Remote
    items: tuple[Item, ...]

    @property
    def moving(self) -> tuple[Item, ...]:
        return tuple(item for item in self.items if item.state != "same")


def chosen(workspace: Workspace, names: Sequence[str], since: str | None, *, subagents: bool) -> list[StoredSession]:
    """The sessions that are named, or captured at or after `since`. Raises NotFound, Ambiguous, Refused for one that
    this clone did not capture."""
    found = {stored.manifest.name: stored for stored in (session(workspace, name) for name in names)}
    foreign = sorted(name for name, stored in found.items() if stored.fetched)
    if foreign:
        raise Refused(
            f"{', '.join(foreign)} was fetched, and is not this clone's to share",
            reasons=[Reason("session.fetched", "who captured a session shares it", "gitmem sessions list", foreign[0])],
            hint="name sessions that were captured here",
        )
    here = list(stored_sessions(workspace.backend, []))
    if since is not None:
        bound = parse_instant(since)
        recent = [item for item in here if item.manifest.captured and parse_instant(item.manifest.captured) >= bound]
        found |= {item.manifest.name: item for item in recent if subagents or item.manifest.parent is None}
    if subagents:
        found |= {child.manifest.name: child for stored in list(found.values()) for child in _children(here, stored)}
    if not found:
        raise NotFound(f"no session was captured since {since}", hint="gitmem sessions list")
    return [found[name] for name in sorted(found)]


def plan(
    workspace: Workspace, sessions: Sequence[StoredSession], remote: str, progress: Progress = lambda done, total: None
) -> Plan:
    """Ask the remote what it has, and look through all that would go.

    Raises UsageError for a remote that is not configured, RemoteError, and Refused with every reason.
    """
    known = remotes_of.remote_named(workspace.location, remote)
    with remotes_of.beside(workspace.location, known) as place:
        there = remotes_of.offered(place, known, SHARED_SESSIONS)
    exact = known_secrets(workspace.location, workspace.env.environ)
    here = list(stored_sessions(workspace.backend, []))
    items, reasons = [], []
    for number, stored in enumerate(sessions, 1):
        item, why = _item(workspace, stored, known, there, exact)
        items.append(replace(item, children=len(_children(here, stored))))
        reasons += why
        progress(number, len(sessions))
    if reasons:
        more = f", and {len(reasons) - _SHOWN} more reasons" if len(reasons) > _SHOWN else ""
        raise Refused(
            f"nothing was sent to {known.name}{more}",
            reasons=reasons[:_SHOWN],
            hint="gitmem sessions show names what was said there; share the others without it",
        )
    return Plan(known, tuple(items))


def send(workspace: Workspace, plan: Plan) -> Pushed:
    """Push what was planned, all or none of it, and remember what the remote has."""
    moving = plan.moving
    if moving:
        with remotes_of.beside(workspace.location, plan.remote) as place:
            moves = [(_ref(item.stored, shared_ref), item.commit, item.before) for item in moving]
            done = remotes_of.push(place, plan.remote, moves, force=False)
        if done.state == "moved":
            raise RemoteError(
                f"somebody else shared one of these sessions to {plan.remote.name} meanwhile; nothing was sent",
                hint="try again",
                details={"state": "moved", "remote": plan.remote.name},
            )
        if done.state != "done":
            raise RemoteError(
                f"{plan.remote.name} did not take the sessions: {done.said}",
                hint="ask who runs it whether it takes refs/gitmem/shared/*",
                details={"state": done.state, "remote": plan.remote.name, "said": done.said},
            )
    _note_sent(workspace, plan)
    return Pushed("done")


def _note_sent(workspace: Workspace, plan: Plan) -> None:
    backend = workspace.backend
    moves = []
    for item in plan.items:
        ref = _sent(plan.remote, item.stored)
        before = backend.ref(ref)
        if before != item.commit:
            moves.append(RefMove(ref, item.commit, before, f"gitmem: shared with {plan.remote.name}"))
    if moves:
        with writer_lock(workspace.location):
            backend.move_refs(moves)


def _item(
    workspace: Workspace,
    stored: StoredSession,
    remote: remotes_of.Remote,
    there: dict[str, str],
    exact: tuple[str, ...],
) -> tuple[Item, list[Reason]]:
    backend, manifest = workspace.backend, stored.manifest
    sent = backend.ref(_sent(remote, stored))
    before = there.get(_ref(stored, shared_ref))
    size = sum(generation.bytes for generation in manifest.generations)
    removed = sum(len(lines) for generation in manifest.generations for lines in generation.removed.values())
    if before is not None and before == sent and tree_of(backend, sent) == stored.tree:
        return Item(stored, sent, before, "same", size, 0, removed, 0), []
    # A push of which the answer was lost gives the same commit again.
    parent = sent if before == sent else None
    commit, data = _commit(workspace, stored, parent)
    lost, _ = _commit(workspace, stored, sent)
    if before in (commit, lost):
        commit, parent = before or commit, sent if before == lost else parent
        data = _commit(workspace, stored, parent)[1]
    elif before is not None and before != sent:
        where = f"{remote.name} {_ref(stored, shared_ref)}"
        return Item(stored, commit, before, "new", size, 0, removed, 0), [
            Reason(
                "share.taken",
                f"{remote.name} has {manifest.name} already, and not from this clone",
                f"gitmem sessions fetch {remote.name} shows it",
                where,
            )
        ]
    backend.write([("commit", data)])
    objects, reasons = _looked_through(workspace, stored, commit, exact)
    state = "same" if before == commit else "new" if before is None else "grown"
    return Item(stored, commit, before, state, size, objects, removed, 0), reasons


def _commit(workspace: Workspace, stored: StoredSession, parent: str | None) -> tuple[str, bytes]:
    """The commit that is shared: nothing in it tells of this machine, and equal input gives an equal id."""
    at = parse_instant(stored.manifest.captured)
    message = f"share: {stored.manifest.name}"
    data = commit_bytes(stored.tree, [parent] if parent else [], TOOL, TOOL, at, message)
    return object_id("commit", data, workspace.backend.object_format), data


def _looked_through(
    workspace: Workspace, stored: StoredSession, commit: str, exact: tuple[str, ...]
) -> tuple[int, list[Reason]]:
    """How many objects the commit leads to, and what speaks against sending them: secrets, files that no manifest
    names, bytes that do not hash."""
    location, backend, manifest = workspace.location, workspace.backend, stored.manifest
    objects, missing = reachable(location, [commit])
    reasons = [
        Reason("share.missing", f"object {oid} is not here", "gitmem sessions verify", manifest.name) for oid in missing
    ]
    scanner = Scanner(exact)
    scanner.refs([(_ref(stored, shared_ref), commit)], ())
    chunks = list(_chunks(stored))
    streamed = {oid for oid, _ in chunks}
    for generation in manifest.generations:
        where = f"{manifest.name} generation {generation.number}"
        scanner.stream(stored.stream(generation), manifest.name, where)
    parts = [apart_path(item.sha256) for generation in manifest.generations for item in generation.apart]
    allowed = {*(path for _, path in chunks), *(_placed(stored, path) for path in (MANIFEST, *parts))}
    strange = sorted({path for path, _ in stored.view.walk(stored.folder)} - allowed)
    reasons += [
        Reason("share.unknown", "no manifest names this file", "gitmem sessions verify", path) for path in strange
    ]
    rest = [oid for oid in objects if oid not in streamed]
    for oid, kind, data in backend.read_many(rest):
        scanner.object(oid, kind, data, objects[oid], location.object_format)
    reasons += [
        Reason(
            "share.secret",
            f"{found.place} {found.path or found.name} holds a secret ({found.rule})",
            "it was captured before its rule or value was known; share without this session",
            f"{manifest.name} line {found.line}" if found.line else manifest.name,
        )
        for found in scanner.result.found
    ]
    if not reasons:
        try:
            judged(backend, commit, session_folder(manifest.host, manifest.session))
        except GitmemError as error:
            reasons = [Reason("share.malformed", error.message, "gitmem sessions verify", manifest.name)]
    return len(objects), reasons


def _chunks(stored: StoredSession) -> Iterator[tuple[str, str]]:
    """(object id, path in its tree) of the chunks, which are read as one stream for each generation."""
    for generation in stored.manifest.generations:
        for chunk in generation.chunks:
            path = stored.path(generation, chunk)
            entry = stored.view.entry(path)
            if entry is not None:
                yield entry.oid, path


def _placed(stored: StoredSession, path: str) -> str:
    return f"{stored.folder}/{path}" if stored.folder else path


def _ref(stored: StoredSession, make: Callable[[str], str]) -> str:
    return make(session_folder(stored.manifest.host, stored.manifest.session))


def _sent(remote: remotes_of.Remote, stored: StoredSession) -> str:
    return sent_ref(remote.name, session_folder(stored.manifest.host, stored.manifest.session))


def _children(here: Sequence[StoredSession], stored: StoredSession) -> list[StoredSession]:
    own = stored.manifest
    return [item for item in here if item.manifest.host == own.host and item.manifest.parent == own.session]
