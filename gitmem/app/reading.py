"""Reading: show, list, recall, key. Every lane asks the one visibility predicate, or says that it does not."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Final

from gitmem.app import belief
from gitmem.app.context import from_here
from gitmem.app.facts import resolutions, sources
from gitmem.app.ground import Ground
from gitmem.app.moments import TOO_EARLY, moment
from gitmem.app.read_filters import Filters, about
from gitmem.app.review_levels import SAYING
from gitmem.app.signing import level, who_signed
from gitmem.app.use import note
from gitmem.app.workspace import Found, View, Workspace
from gitmem.errors import NotFound, UsageError
from gitmem.evidence.drift import drifts, said
from gitmem.model.frozen import replace
from gitmem.model.judgement import Filter, Resolution
from gitmem.model.layout import PLACES, memory_path
from gitmem.model.nouns import FileRef, Memory
from gitmem.model.records import event_from_bytes, memory_from_bytes
from gitmem.model.times import parse_instant
from gitmem.model.vocabulary import STATUSES, VISIBLE, WAITING
from gitmem.policy.origin import keeps_words
from gitmem.policy.review import ReviewLevel
from gitmem.policy.ssh_signature import NOT_SIGNED
from gitmem.policy.visibility import visible, withheld_view
from gitmem.recall.query import ACCEPTED, Query
from gitmem.store.objects import parse_commit
from gitmem.store.snapshot import Snapshot, snapshot
from gitmem.store.transaction import root_commit_id

EVERY: Final = "all"  # the word for every state


@dataclass(frozen=True)
class Shown:
    """One memory with where it lies, what its evidence resolves to now, and what became of cited lines at HEAD.

    `at` is the moment that was asked for, None for the present. `review`: what a person's verdict on it is worth.
    """

    memory: Memory
    ref: str
    raw: bytes
    resolutions: tuple[Resolution, ...]
    drifts: tuple[str, ...] = ()
    at: datetime | None = None
    review: ReviewLevel | None = None


@dataclass(frozen=True)
class Listed:
    """An answer of list or recall. `searched`: records looked at. `warnings`: what may be missing, and why."""

    items: tuple[Found, ...]
    total: int
    searched: int
    warnings: tuple[str, ...] = ()


def show(workspace: Workspace, prefix: str, *, at: str | None = None) -> Shown:
    """One memory in any state, today or as the branch had it at a revision, tag or date."""
    view, moment = view_at(workspace, at)
    view.require_config()
    found = view.find(prefix)
    raw = view.place(found.ref).read(memory_path(found.memory.id)) or b""
    # A stored human reference was judged by the channel of its own event; here it is only shown.
    resolved = resolutions(view, found.memory, "terminal")
    became = drifts_of(workspace, view, found.memory)
    note(workspace.location.private, workspace.env.environ, "opened", [found.memory.id], workspace.env.now())
    then, level = moment if at is not None else None, _reviewed(view, found)
    return Shown(found.memory, found.ref, raw, resolved, became, then, level)


def _reviewed(view: View, found: Found) -> ReviewLevel | None:
    """What the last change that says a shown memory, or lets it in, is worth as a review."""
    if found.memory.status not in VISIBLE:
        return None
    place = view.place(found.ref)
    for path in reversed(place.event_names(found.memory.id)):
        raw = place.read(path)
        event = event_from_bytes(raw, path=path, trusted=True) if raw is not None else None
        if event is None or event.op not in SAYING:
            continue
        if view.config is None or not view.config.signers:
            return level(event, NOT_SIGNED)  # nobody signs here: no history is read for it
        brought = place.backend.log(place.commit or "", paths=[path])
        if brought and event.op == "edit" and _keeps_words(place, brought[-1], found.memory.id):
            continue
        return level(event, who_signed(place.backend, brought[-1]) if brought else NOT_SIGNED)
    return None


def _keeps_words(place: Snapshot, commit: str, identifier: str) -> bool:
    """Whether the commit of an edit changed nothing of what a memory says."""
    parents = parse_commit(place.backend.read(commit)[1]).parents
    sides = [snapshot(place.backend, one).read(memory_path(identifier)) for one in (*parents[:1], commit)]
    read = [memory_from_bytes(raw, trusted=True) for raw in sides if raw is not None]
    return len(read) == 2 and keeps_words(*read)


def drifts_of(workspace: Workspace, view: View, memory: Memory) -> tuple[str, ...]:
    """For each reference "", "changed at HEAD", "gone at HEAD" or "moved to PATH"."""
    cited = [ref for ref in memory.evidence if isinstance(ref, FileRef)]
    found = iter(drifts(cited, sources(view, workspace.env.channel)) if cited else ())
    at_head = [(ref, next(found) if isinstance(ref, FileRef) else None) for ref in memory.evidence]
    return tuple(said(one.verdict, one.path, ref) if one is not None else "" for ref, one in at_head)


def view_at(workspace: Workspace, at: str | None) -> tuple[View, datetime]:
    """The believed view and the present, or an earlier commit of what is believed and the moment that was named.

    `at`: a date or time, a revision or tag of the memory branch, or one of the code, which stands for its date.
    """
    view = belief.believed_view(workspace)
    if at is None:
        return view, workspace.env.now()
    if view.main.commit is None:
        view.require_config()
    commit, moment = _commit_at(workspace, view.main.commit or "", at)
    if commit == root_commit_id(workspace.backend):
        raise NotFound(f"gitmem/main did not exist yet at {at}", hint=TOO_EARLY)
    return belief.earlier_view(view, commit), moment


def _commit_at(workspace: Workspace, tip: str, at: str) -> tuple[str, datetime]:
    backend = workspace.backend
    try:
        moment = parse_instant(at)
    except ValueError:
        named = backend.resolve(at)
        if named is None:
            raise NotFound(
                f"{at!r} names no commit here and is no date",
                hint="a date is like 2026-03-02; git log gitmem/main lists the commits",
            ) from None
        moment = committed(workspace, named)
        if backend.is_ancestor(named, tip):
            return named, moment
        if backend.is_ancestor(root_commit_id(backend), named):
            raise NotFound(
                f"{at!r} is no earlier state of what is believed of gitmem/main", hint="gitmem verify --all says why"
            ) from None
    for commit in backend.log(tip, first_parent=True):
        if committed(workspace, commit) <= moment:
            return commit, moment
    raise NotFound(f"gitmem/main did not exist yet at {at}", hint=TOO_EARLY)


def committed(workspace: Workspace, commit: str) -> datetime:
    committer = parse_commit(workspace.backend.read(commit)[1]).committer
    return datetime.fromtimestamp(int(committer.rpartition(">")[2].split()[0]), timezone.utc)


def listing(ground: Ground, filters: Filters) -> Listed:
    """Records by their fields, newest first: what may be shown and is true now, or in the states that are named
    whenever it is true."""
    filters = from_here(ground, filters)
    wanted = _filter(ground, filters)
    query = Query(
        kinds=filters.kinds, tags=filters.tags, key=filters.key, path=filters.path, refs=_refs(filters),
        called=tuple(filters.former.names),
        origins=filters.origins, since=filters.since, until=filters.until, limit=filters.limit, order="newest",
    )  # fmt: skip
    items: list[Found] = []
    while True:
        found = ground.index.search(query, wanted)
        items += (
            Found(hit.memory, PLACES[hit.ref])
            for hit in found.hits
            if filters.path is None or about(hit.memory, filters.path, filters.former)
        )
        query = replace(query, offset=query.offset + query.limit)
        if len(items) >= filters.limit or query.offset >= found.total:
            break  # the index finds more than what is about a path, so one page may not be enough
    whole = filters.path is not None and query.offset >= found.total
    total = len(items) if whole else found.total
    return Listed(tuple(items[: filters.limit]), total, found.searched, ground.warnings)


def _filter(ground: Ground, filters: Filters) -> Filter:
    unknown = [status for status in filters.statuses if status not in (*STATUSES, EVERY)]
    if unknown:
        raise UsageError(f"there is no status {unknown[0]!r}", hint=f"one of {', '.join(STATUSES)}, or {EVERY}")
    viewer = filters.narrowed(ground.viewer)
    if filters.scope is not None and filters.scope not in viewer.projects:
        raise UsageError(
            f"this repository's project is {', '.join(sorted(viewer.projects))}, not {filters.scope!r}",
            hint="leave --scope out",
        )
    asked = filters.statuses or (WAITING if filters.inbox else ())
    if asked:
        return withheld_view(viewer, STATUSES if EVERY in asked else asked, at=filters.valid_at)
    return visible(viewer, at=filters.valid_at or ground.now, statuses=VISIBLE)


def _refs(filters: Filters) -> tuple[str, ...]:
    """Candidates lie in the inbox until they are accepted, and so do those that were rejected or taken back."""
    if filters.inbox:
        return ("inbox",)
    return (*ACCEPTED, "inbox") if any(status not in VISIBLE for status in filters.statuses) else ACCEPTED


def key_value(ground: Ground, key: str, *, valid_at: datetime | None = None, as_of: str | None = None) -> list[Memory]:
    """The memories that hold a key: those visible, true at `valid_at` and on record at `as_of`.

    Without `valid_at` it is the moment of `as_of`, and without that the present.
    """
    then = moment(ground, as_of)
    wanted = visible(ground.viewer, at=valid_at or then.at)
    found = [hit.memory for hit in ground.index.holding(key, wanted, then.position)]
    if not found and valid_at is not None:
        # What was superseded was true until its interval ended; without an end it says nothing about then.
        past = withheld_view(ground.viewer, ("superseded",), at=valid_at)
        held = [hit.memory for hit in ground.index.holding(key, past, then.position)]
        found = [memory for memory in held if memory.valid.until is not None]
    if not found:
        when = " then" if valid_at or as_of else ""
        raise NotFound(f"nothing holds the key {key!r}{when}", hint=f"gitmem list --key {key} --status {EVERY}")
    return found
