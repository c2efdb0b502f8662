"""Bringing the search index up to what is believed. The index is derived: on any doubt it is built anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from itertools import chain
from pathlib import Path
from typing import Final, NamedTuple

from gitmem.app.facts import record_changes, tombstone_claim
from gitmem.app.state import leave_to_owner, private_folder
from gitmem.app.workspace import View, Workspace
from gitmem.model.ids import event_milliseconds
from gitmem.model.layout import event_of_path, memory_of_path, tombstone_of_path
from gitmem.model.nouns import Memory, Scope
from gitmem.model.records import memory_from_bytes, tombstone_from_bytes
from gitmem.recall.document import OPEN_END, Document
from gitmem.recall.faults import IndexBusy, IndexDamaged
from gitmem.recall.positions import Step
from gitmem.recall.search_index import SearchIndex
from gitmem.store.first_parent import Made, made
from gitmem.store.snapshot import snapshot

_LABELS: Final = ("main", "inbox")
_EARLY: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)


class Wanted(NamedTuple):
    """A version to be indexed, not read yet."""

    label: str
    path: str
    blob: str
    recorded: datetime
    changed: datetime
    since: int = 0
    until: int = OPEN_END


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
    tips = {"main": view.main.commit or "", "inbox": view.inbox.commit or "", **_hidden(view)}
    known = dict(index.tips)
    if known == tips and not rebuild:
        return index
    rebuild = rebuild or not known or not _follows(view, known, tips)
    past = _Past(view, index, None if rebuild else known["main"])
    if past.left:
        rebuild, past = True, _Past(view, index, None)
    removals: list[tuple[str, str]] = []
    tombs = _tombstones(view, None if rebuild else known["main"], removals)
    wanted = [*past.versions(index), *_inbox(view, None if rebuild else known["inbox"], removals)]
    index.update(
        chain(tombs, _read(view, wanted)), removals, tips,
        ended=past.ended, steps=past.steps, kept=past.kept, rebuild=rebuild,
    )  # fmt: skip
    leave_to_owner(private_folder(index_folder(view.workspace)))
    return index


def _hidden(view: View) -> dict[str, str]:
    """What of the branch failed verification, at any time: those versions are never indexed."""
    return {f"failed {path}": ",".join(sorted(blobs)) for path, blobs in view.failed.items()}


def _follows(view: View, known: Mapping[str, str], tips: Mapping[str, str]) -> bool:
    """True when what the index has seen still exists, and what it took as good then still is.

    A fault found without a new commit is one of a version that was indexed.
    """
    backend = view.workspace.backend
    judged = {name: value for name, value in known.items() if name not in _LABELS}
    same = judged == {name: value for name, value in tips.items() if name not in _LABELS}
    kept = known["main"] != tips["main"] and judged.items() <= tips.items()
    return (same or kept) and all(not known[label] or backend.resolve(known[label]) is not None for label in _LABELS)


class _Past:
    """What the first-parent history of the branch says since a commit: which versions stood from when to when."""

    def __init__(self, view: View, index: SearchIndex, known: str | None) -> None:
        self.steps: list[Step] = []
        self.ended: dict[str, int] = {}
        self.kept: int | None = None
        self.left = False  # the index knows nothing that this history goes on from
        self._failed: Final = view.failed
        self._open: Final[dict[str, Wanted]] = {}
        self._closed: Final[list[Wanted]] = []
        tip = view.main.commit
        if tip is None or tip == known:
            return
        positions = index.positions()
        for number, one in enumerate(made(view.workspace.location, tip, known)):
            if number == 0:
                # The history that is indexed may have become a side of a merge: it is left where both still agree.
                found = positions.find(one.parent) if one.parent and known else None
                self.kept = 0 if found is None else found + 1
                self.left = bool(known) and found is None
            self._take(one, (self.kept or 0) + number)
        if not self.steps:  # the branch went back
            found = positions.find(tip)
            self.kept = 0 if found is None else found + 1
            self.left = found is None

    def _take(self, one: Made, position: int) -> None:
        self.steps.append(Step(one.commit, one.at))
        committed = datetime.fromtimestamp(one.at, timezone.utc)
        times: dict[str, tuple[datetime, datetime]] = {}
        for change in one.changes:
            if change.new and (event := event_of_path(change.path)):
                subject, at = change.path.rsplit(".", 2)[-2], _instant(event)
                first, last = times.get(subject, (at, at))
                times[subject] = min(first, at), max(last, at)
        for change in one.changes:
            identifier = memory_of_path(change.path)
            if identifier is None:
                continue
            before = self._open.pop(identifier, None)
            if before is not None:
                self._closed.append(before._replace(until=position))
            elif change.old is not None:
                self.ended.setdefault(identifier, position)
            if change.new is not None and change.new not in self._failed.get(change.path, ()):
                first, last = times.get(identifier, (committed, committed))
                recorded = before.recorded if before else first
                self._open[identifier] = Wanted("main", change.path, change.new, recorded, last, position)

    def versions(self, index: SearchIndex) -> Iterator[Wanted]:
        """The new versions. What was recorded before they came is known from the index."""
        fresh = [*self._closed, *self._open.values()]
        earlier = index.recorded(self.ended) if self.ended else {}
        for one in fresh:
            first = earlier.get(memory_of_path(one.path) or "")
            yield one if first is None else one._replace(recorded=first)


def _inbox(view: View, known: str | None, removals: list[tuple[str, str]]) -> Iterator[Wanted]:
    """What changed in the inbox, which has no past worth asking for."""
    before = snapshot(view.workspace.backend, known) if known else None
    if view.inbox.commit == known:
        return
    for changed in record_changes(view.workspace.backend, before, view.inbox):
        identifier = memory_of_path(changed.path)
        if identifier and changed.new is None:
            removals.append(("inbox", identifier))
        elif identifier and changed.new:
            names = [name for name in map(event_of_path, view.inbox.event_names(identifier)) if name]
            first, last = (_instant(names[0]), _instant(names[-1])) if names else (_EARLY, _EARLY)
            yield Wanted("inbox", changed.path, changed.new.oid, first, last)


def _tombstones(view: View, known: str | None, removals: list[tuple[str, str]]) -> list[Document]:
    """The rejected claims that stand, as far as they changed."""
    backend = view.workspace.backend
    before = snapshot(backend, known) if known else None
    blobs: dict[str, str] = {}
    for changed in record_changes(backend, before, view.main):
        digest = tombstone_of_path(changed.path)
        if digest and known:
            removals.append(("tombstone", digest))
        if digest and changed.new and changed.path not in view.quarantined:
            blobs[changed.path] = changed.new.oid
    documents = []
    for (path, oid), (_, _, raw) in zip(blobs.items(), backend.read_many(blobs.values()), strict=True):
        tomb = tombstone_from_bytes(raw, path=path, trusted=True)
        if tomb.standing:
            claim, at = tombstone_claim(tomb), _instant(tomb.history[-1].event)
            rejected = Memory(
                id=tomb.digest, kind="fact", title=claim.title, body=claim.body, status="wrong",
                scope=Scope(tomb.project), origin="inferred",
            )  # fmt: skip
            documents.append(Document("tombstone", rejected, at, at, oid))
    return documents


def _read(view: View, wanted: list[Wanted]) -> Iterator[Document]:
    blobs = view.workspace.backend.read_many(one.blob for one in wanted)
    for one, (_, _, raw) in zip(wanted, blobs, strict=True):
        memory = memory_from_bytes(raw, path=one.path, trusted=one.label == "main" or view.inbox_own)
        yield Document(one.label, memory, one.recorded, one.changed, one.blob, one.since, one.until)


def _instant(event: str) -> datetime:
    return datetime.fromtimestamp(event_milliseconds(event) / 1000, timezone.utc)
