"""Reading: show, list, recall, key. Every lane asks the one visibility predicate, or says that it does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from gitmem.app import belief
from gitmem.app.catch_up import catch_up, opened_index
from gitmem.app.facts import resolutions
from gitmem.app.workspace import Found, View, Workspace, raw_view
from gitmem.errors import NotFound, UsageError
from gitmem.model.judgement import Filter, Resolution
from gitmem.model.layout import INBOX, MAIN, memory_path
from gitmem.model.nouns import Memory
from gitmem.model.times import parse_instant
from gitmem.model.vocabulary import STATUSES, VISIBLE
from gitmem.policy.visibility import visible, withheld_view
from gitmem.recall.faults import IndexBusy
from gitmem.recall.query import Found as Answer
from gitmem.recall.query import Query
from gitmem.recall.search_index import SearchIndex
from gitmem.store.objects import parse_commit


@dataclass(frozen=True)
class Shown:
    """One memory with where it lies, when it was read, and what its evidence resolves to now."""

    memory: Memory
    ref: str
    raw: bytes
    resolutions: tuple[Resolution, ...]


@dataclass(frozen=True)
class Listed:
    """An answer of list or recall. `searched`: records looked at. `warnings`: what may be missing, and why."""

    items: tuple[Found, ...]
    total: int
    searched: int
    warnings: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()


def show(workspace: Workspace, prefix: str, *, at: str | None = None) -> Shown:
    """One memory in any state, today or as the branch had it at a revision, tag or date."""
    view = view_at(workspace, at)
    found = view.find(prefix)
    source = view.main if found.ref == MAIN else view.inbox
    raw = source.read(memory_path(found.memory.id)) or b""
    # A stored human reference was judged by the channel of its own event; here it is only shown.
    return Shown(found.memory, found.ref, raw, resolutions(view, found.memory, "terminal"))


def view_at(workspace: Workspace, at: str | None) -> View:
    """The believed view, or an earlier commit of what is believed. `at`: a revision of the branch, or a date."""
    view = belief.believed_view(workspace)
    if at is None:
        return view
    backend = workspace.backend
    commit = _commit_at(workspace, view, at)
    if view.main.commit is None or not backend.is_ancestor(commit, view.main.commit):
        raise NotFound(
            f"{at!r} is no earlier state of gitmem/main", hint="git log gitmem/main shows them; a date works too"
        )
    # The inbox has no past worth asking for: candidates are this clone's own.
    return View(workspace, raw_view(workspace, commit).main, raw_view(workspace).main, view.quarantined)


def _commit_at(workspace: Workspace, view: View, at: str) -> str:
    try:
        moment = parse_instant(at)
    except ValueError:
        commit = workspace.backend.resolve(at)
        if commit is None:
            raise NotFound(f"{at!r} names no commit here and is no date", hint="gitmem log shows commits") from None
        return commit
    if view.main.commit is None:
        raise NotFound("there is no gitmem memory yet", hint="gitmem init")
    for commit in workspace.backend.log(view.main.commit, first_parent=True):
        seconds = int(parse_commit(workspace.backend.read(commit)[1]).committer.rpartition(">")[2].split()[0])
        if seconds <= moment.timestamp():
            return commit
    raise NotFound(f"gitmem/main did not exist yet on {at}", hint="gitmem log shows when it began")


@dataclass(frozen=True)
class Filters:
    """What `list` and `recall` may ask for; empty does not ask."""

    kinds: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    path: str | None = None
    key: str | None = None
    origins: tuple[str, ...] = ()
    scope: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    valid_at: datetime | None = None
    inbox: bool = False
    limit: int = 50


def listing(workspace: Workspace, filters: Filters) -> Listed:
    """Records by their fields, newest first. Withheld states only when a status is named."""
    view = belief.believed_view(workspace)
    view.require_config()
    index, warnings = _index(view)
    wanted = _filter(view, filters)
    found = index.search(_query(filters, (), "newest"), wanted)
    return _listed(view, found, wanted, warnings)


def recall(workspace: Workspace, words: Sequence[str], filters: Filters, *, phrase: bool = False) -> Listed:
    """What still holds that answers the words, best first."""
    if not any(word.strip() for word in words):
        raise UsageError("recall what?", hint='gitmem recall "redis timeout"; gitmem list shows everything')
    view = belief.believed_view(workspace)
    view.require_config()
    index, warnings = _index(view)
    wanted = visible(view.viewer, at=filters.valid_at or workspace.env.now())
    found = index.search(_query(filters, tuple(words), "relevance", phrase=phrase), wanted)
    return _listed(view, found, wanted, warnings)


def _filter(view: View, filters: Filters) -> Filter:
    unknown = [status for status in filters.statuses if status not in STATUSES]
    if unknown:
        raise UsageError(f"unknown status {', '.join(unknown)}", hint=f"one of {', '.join(STATUSES)}")
    if filters.scope is not None and view.config and filters.scope not in view.config.projects:
        raise UsageError(
            f"this repository's project is {view.config.project}, not {filters.scope!r}", hint="leave --scope out"
        )
    asked = filters.statuses or (("candidate", "quarantined") if filters.inbox else ())
    if asked:
        return withheld_view(view.viewer, asked)
    return visible(view.viewer, at=filters.valid_at, statuses=VISIBLE)


def _query(filters: Filters, words: tuple[str, ...], order: str, *, phrase: bool = False) -> Query:
    return Query(
        texts=words,
        phrase=phrase,
        kinds=filters.kinds,
        tags=filters.tags,
        key=filters.key,
        path=filters.path,
        refs=("inbox",) if filters.inbox else ("main",),
        origins=filters.origins,
        since=filters.since,
        until=filters.until,
        limit=filters.limit,
        order="newest" if order == "newest" else "relevance",
    )


def _index(view: View) -> tuple[SearchIndex, tuple[str, ...]]:
    """The index, caught up when it can be; a busy one is read as it is, and that is said."""
    try:
        return catch_up(view), ()
    except IndexBusy:
        return opened_index(view.workspace), (
            "another process is updating the index: the newest memories may be missing",
        )


def _listed(view: View, found: Answer, wanted: Filter, warnings: tuple[str, ...]) -> Listed:
    items, scores = [], []
    for hit in found.hits:
        ref = MAIN if hit.ref == "main" else INBOX
        memory = view.memory(hit.id, ref)
        if memory is not None and wanted.admits(memory):
            items.append(Found(memory, ref))
            scores.append(hit.score)
    return Listed(tuple(items), found.total, found.searched, warnings, tuple(scores))


def key_value(
    workspace: Workspace, key: str, *, valid_at: datetime | None = None, as_of: str | None = None
) -> list[Memory]:
    """The memories that hold a key: those visible, true at `valid_at` and on record at `as_of`."""
    now = belief.believed_view(workspace)
    now.require_config()
    index, _ = _index(now)
    view = view_at(workspace, as_of)
    wanted = visible(view.viewer, at=valid_at or workspace.env.now())
    held = (view.memory(identifier) for ref, identifier in index.with_key(key) if ref == "main")
    found = [memory for memory in held if memory is not None and memory.key == key and wanted.admits(memory)]
    if not found:
        raise NotFound(f"nothing holds the key {key!r} then", hint=f"gitmem list --key {key} --status superseded")
    return found
