"""Bringing the search index up to what is believed. The index is derived: on any doubt it is built anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Final

from gitmem.app.facts import record_changes, tombstone_claim
from gitmem.app.state import leave_to_owner, private_folder
from gitmem.app.workspace import View, Workspace
from gitmem.model.ids import event_milliseconds
from gitmem.model.layout import EVENTS, INBOX, MAIN, event_of_path, memory_of_path, tombstone_of_path
from gitmem.model.nouns import Memory, Scope
from gitmem.model.records import memory_from_bytes, tombstone_from_bytes
from gitmem.recall.document import Document
from gitmem.recall.faults import IndexBusy, IndexDamaged
from gitmem.recall.search_index import SearchIndex
from gitmem.store.snapshot import Snapshot, snapshot

_LABELS: Final[Mapping[str, str]] = {MAIN: "main", INBOX: "inbox"}
_MANY: Final = 2000  # changed records from which the times of all are read in one walk
Times = tuple[datetime, datetime]


def index_folder(workspace: Workspace) -> Path:
    return workspace.location.private / "index"


def opened_index(workspace: Workspace) -> SearchIndex:
    """The index as it is, however far behind."""
    return SearchIndex.open(index_folder(workspace))


def kept_index(workspace: Workspace) -> SearchIndex:
    """As `opened_index`, for one write after another: opened again only when it is not the same any more."""
    folder = index_folder(workspace)
    index = workspace.indexes.get(folder)
    if index is None or not index.is_current():
        index = workspace.indexes[folder] = SearchIndex.open(folder)
    return index


def catch_up(view: View, *, rebuild: bool = False) -> SearchIndex:
    """The index after it has seen everything in `view`. Raises IndexBusy when another process holds it."""
    try:
        return _caught_up(view, rebuild)
    except IndexDamaged:
        return _caught_up(view, True)  # it is derived: made anew, nothing is lost
    except IndexBusy:
        return _caught_up(view, rebuild)  # another process may have brought it forward meanwhile


def _caught_up(view: View, rebuild: bool) -> SearchIndex:
    index = opened_index(view.workspace)
    tips = {"main": view.main.commit or "", "inbox": view.inbox.commit or "", "hidden": _hidden(view)}
    known = dict(index.tips)
    if known == tips and not rebuild:
        return index
    rebuild = rebuild or not known or known.get("hidden", "") != tips["hidden"] or not _follows(view, known)
    removals: list[tuple[str, str]] = []
    documents = _documents(view, {} if rebuild else known, removals)
    index.update(documents, removals, tips, rebuild=rebuild)
    leave_to_owner(private_folder(index_folder(view.workspace)))
    return index


def _hidden(view: View) -> str:
    return ",".join(sorted(view.quarantined))


def _follows(view: View, known: Mapping[str, str]) -> bool:
    """True when what the index has seen still exists, so that a tree comparison tells the difference."""
    backend = view.workspace.backend
    return all(not known.get(label) or backend.resolve(known[label]) is not None for label in _LABELS.values())


def _documents(view: View, known: Mapping[str, str], removals: list[tuple[str, str]]) -> Iterator[Document]:
    """What changed since `known`; what is gone is put into `removals` before the first document is given."""
    backend = view.workspace.backend
    wanted: list[tuple[str, str, str]] = []  # label, path, blob
    for ref, snap in ((MAIN, view.main), (INBOX, view.inbox)):
        label = _LABELS[ref]
        before = snapshot(backend, known[label]) if known.get(label) else None
        for changed in record_changes(backend, before, snap):
            hidden = ref == MAIN and changed.path in view.quarantined
            name = memory_of_path(changed.path) or tombstone_of_path(changed.path) or ""
            if changed.new is None or hidden:
                removals.append((label if memory_of_path(changed.path) else "tombstone", name))
            elif ref == MAIN or memory_of_path(changed.path):
                wanted.append((label, changed.path, changed.new.oid))
    return _read(view, wanted)


def _read(view: View, wanted: list[tuple[str, str, str]]) -> Iterator[Document]:
    times = {label: _times(snap, len(wanted)) for label, snap in (("main", view.main), ("inbox", view.inbox))}
    blobs = view.workspace.backend.read_many(oid for _, _, oid in wanted)
    for (label, path, oid), (_, _, raw) in zip(wanted, blobs, strict=True):
        if tombstone_of_path(path):
            tomb = tombstone_from_bytes(raw, path=path, trusted=True)
            if tomb.standing:
                claim = tombstone_claim(tomb)
                rejected = Memory(
                    id=tomb.digest, kind="fact", title=claim.title, body=claim.body, status="wrong",
                    scope=Scope(tomb.project), origin="inferred",
                )  # fmt: skip
                at = _instant(tomb.history[-1].event)
                yield Document(ref="tombstone", memory=rejected, recorded=at, changed=at, blob=oid)
            continue
        memory = memory_from_bytes(raw, path=path, trusted=label == "main" or view.inbox_own)
        recorded, changed = times[label](memory.id)
        yield Document(ref=label, memory=memory, recorded=recorded, changed=changed, blob=oid)


class _times:
    """When a memory was first and last written, by the ids of its events."""

    def __init__(self, snap: Snapshot, asked: int) -> None:
        self._snap = snap
        self._all = _all_times(snap) if asked >= _MANY else None

    def __call__(self, identifier: str) -> Times:
        if self._all is not None:
            return self._all.get(identifier, _UNTOLD)
        names = [event_of_path(path) for path in self._snap.event_names(identifier)]
        events = [name for name in names if name]
        return (_instant(events[0]), _instant(events[-1])) if events else _UNTOLD


def _all_times(snap: Snapshot) -> dict[str, Times]:
    bounds: dict[str, tuple[str, str]] = {}
    for path, _ in snap.walk(EVENTS):
        event, _, subject = path.rsplit("/", 1)[-1].removesuffix(".json").partition(".")
        first, last = bounds.get(subject, (event, event))
        bounds[subject] = (min(first, event), max(last, event))
    return {subject: (_instant(first), _instant(last)) for subject, (first, last) in bounds.items()}


def _instant(event: str) -> datetime:
    return datetime.fromtimestamp(event_milliseconds(event) / 1000, timezone.utc)


_UNTOLD: Final[Times] = (datetime(1970, 1, 1, tzinfo=timezone.utc),) * 2
