"""Bringing the search index up to what is believed. The index is derived: on any doubt it is built anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Final, NamedTuple

from gitmem.app.beside import Beside, worthwhile
from gitmem.app.facts import record_changes, tombstone_claim
from gitmem.app.ground import expected
from gitmem.app.meaning import model_of
from gitmem.app.review_levels import ReviewLevels
from gitmem.app.state import leave_to_owner, private_folder
from gitmem.app.workspace import View, Workspace
from gitmem.errors import CorruptRecord
from gitmem.model.ids import event_milliseconds
from gitmem.model.layout import (
    LABELS,
    PLACES,
    TOMBSTONE_LABELS,
    USER,
    event_of_path,
    memory_of_path,
    tombstone_of_path,
)
from gitmem.model.nouns import Memory, Scope
from gitmem.model.records import memory_from_bytes, tombstone_from_bytes
from gitmem.policy.visibility import fits
from gitmem.recall.document import OPEN_END, Document, Prepared, prepared
from gitmem.recall.faults import IndexBusy, IndexDamaged
from gitmem.recall.positions import Step
from gitmem.recall.search_index import SearchIndex, languages_of
from gitmem.store.first_parent import FileChange, Made, made
from gitmem.store.port import Backend
from gitmem.store.snapshot import snapshot

_OTHERS: Final = ("inbox", "private", "user")  # what lies beside the branch, of which only the present is indexed
_SAID: Final = ("main", *_OTHERS, "projects", "own", "languages", "signed")
_EARLY: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)


_MANY: Final = 2000  # versions from which a second process pays
_ITS_PART, _OUR_PART = 300, 150  # of each batch; this process reads from git and writes the index meanwhile


class Wanted(NamedTuple):
    """A version to be indexed, not read yet."""

    label: str
    path: str
    blob: str
    recorded: datetime
    changed: datetime
    since: int = 0
    until: int = OPEN_END
    review: int = 0


Read = tuple[Wanted, bytes, bool]  # a version, its bytes, and whether they were verified


def index_folder(workspace: Workspace) -> Path:
    return workspace.location.private / "index"


def opened_index(workspace: Workspace) -> SearchIndex:
    """The index as it is, however far behind."""
    return SearchIndex.open(index_folder(workspace), model_of(workspace.env))


def kept_index(workspace: Workspace) -> SearchIndex:
    """As `opened_index`, for one write after another: opened again only when it is not the same any more."""
    folder = index_folder(workspace)
    index = workspace.indexes.get(folder)
    if index is None or not index.is_current():
        index = workspace.indexes[folder] = SearchIndex.open(folder)
    return index


def changed_since(view: View, index: SearchIndex) -> set[str]:
    """The memories of which the index does not show what is believed now."""
    ids: set[str] = set()
    for label, ref in PLACES.items():
        now, known = view.place(ref), index.tips.get(label, "")
        if known == (now.commit or ""):
            continue
        before = snapshot(now.backend, known) if known and now.backend.resolve(known) is not None else None
        paths = (memory_of_path(changed.path) for changed in record_changes(now.backend, before, now))
        ids.update(path for path in paths if path)
    return ids


def catch_up(view: View, *, rebuild: bool = False) -> SearchIndex:
    """The index after it has seen everything in `view`. Raises IndexBusy when another process holds it."""
    index = opened_index(view.workspace)
    for _ in range(2):
        try:
            return _owned(view, brought_up(view, index, rebuild=rebuild))
        except IndexDamaged:
            rebuild = True  # it is derived: made anew, nothing is lost. The object remembers not to read it again
        except IndexBusy:
            index = opened_index(view.workspace)  # another process may have brought it forward meanwhile
    return _owned(view, brought_up(view, index, rebuild=rebuild))


def _owned(view: View, index: SearchIndex) -> SearchIndex:
    leave_to_owner(private_folder(index_folder(view.workspace)))
    return index


def brought_up(view: View, index: SearchIndex, *, rebuild: bool = False) -> SearchIndex:
    """`index`, wherever it lies, after it has seen everything in `view`. Raises IndexBusy and IndexDamaged."""
    tips = _tips(view)
    known = dict(index.tips)
    if known == tips and not rebuild:
        return index
    rebuild = rebuild or not known or not _follows(view, index, known)
    past = _Past(view, index, None if rebuild else known["main"])
    if past.left:
        rebuild, past = True, _Past(view, index, None)
    removals: list[tuple[str, str]] = []
    before = {} if rebuild else known
    tombs = [tomb for ref in TOMBSTONE_LABELS for tomb in _tombstones(view, ref, before, removals)]
    beside = [one for label in _OTHERS for one in _present(view, label, before, removals)]
    wanted = [*past.versions(None if rebuild else index), *beside]
    index.update(
        chain(tombs, _read(view, wanted)), removals, tips,
        ended=past.ended, steps=past.steps, kept=past.kept, rebuild=rebuild,
    )  # fmt: skip
    return index


def _tips(view: View) -> dict[str, str]:
    """What the index says of itself after this: the commits, what failed at any time (that is never indexed), whose
    memory it is, in which languages it is asked, whether reviews have levels."""
    failed = {path: ",".join(sorted(blobs)) for path, blobs in view.failed.items()}
    viewer = view.viewer
    projects, own = ",".join(sorted(viewer.projects)), ",".join(sorted(viewer.own))
    seen = {label: view.place(ref).commit for label, ref in PLACES.items()}
    policy = view.config
    languages = {"languages": ",".join(policy.languages)} if policy and policy.languages else {}
    signers = {"signed": "yes"} if policy and policy.signers else {}
    return {**expected(seen, failed), "projects": projects, "own": own, **languages, **signers}


def _follows(view: View, index: SearchIndex, known: Mapping[str, str]) -> bool:
    """True when what the index has seen still exists, what failed still fails, nothing that it holds does, words
    are cut as they were, and reviews have levels as they had."""
    policy = view.config
    if languages_of(known) != (policy.languages if policy else ()):
        return False
    if ("signed" in known) != bool(policy and policy.signers):
        return False
    if set(PLACES) - known.keys():
        return False
    for label, ref in PLACES.items():
        now = view.place(ref)
        if known[label] and (now.commit is None or now.backend.resolve(known[label]) is None):
            return False
    judged = {(name, blob) for name, blobs in known.items() if name not in _SAID for blob in blobs.split(",")}
    failed = {(f"failed {path}", blob) for path, blobs in view.failed.items() for blob in blobs}
    return judged <= failed and not index.holds(blob for _, blob in failed - judged)


class _Past:
    """What the first-parent history of the branch says since a commit: which versions stood from when to when."""

    def __init__(self, view: View, index: SearchIndex, known: str | None) -> None:
        self.steps: list[Step] = []
        self.ended: dict[str, int] = {}
        self.kept: int | None = None
        self.left = False  # the index knows nothing that this history goes on from
        self._failed: Final = view.failed
        self._recorded: Final[dict[str, datetime]] = {}
        self._open: Final[dict[str, Wanted]] = {}
        self._closed: Final[list[Wanted]] = []
        self._index: Final = index
        self._levels: Final = ReviewLevels(view, known)
        tip = view.main.commit
        if tip == known:
            return
        if tip is None:  # nothing of the branch is believed any more
            self.kept = 0
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
        events: dict[str, list[FileChange]] = {}
        for change in one.changes:
            if change.new and (event := event_of_path(change.path)):
                subject, at = change.path.rsplit(".", 2)[-2], _instant(event)
                first, last = times.get(subject, (at, at))
                times[subject] = min(first, at), max(last, at)
                events.setdefault(subject, []).append(change)
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
                recorded = self._recorded.setdefault(identifier, first)
                level = self._levels.of_version(events.get(identifier, ()), self._level_before(before, change), change)
                self._open[identifier] = Wanted("main", change.path, change.new, recorded, last, position, review=level)

    def _level_before(self, before: Wanted | None, change: FileChange) -> int:
        """The level of the version that a change replaces; 0 when there is none, and where nobody signs."""
        if before is not None or change.old is None or not self._levels.counted:
            return before.review if before is not None else 0
        known = self._index.versions([memory_of_path(change.path) or ""], None)
        return known[0].review if known else 0

    def versions(self, index: SearchIndex | None) -> Iterator[Wanted]:
        """The new versions. When one was recorded that was there before is known from the index, if any goes on."""
        earlier: dict[str, datetime] = {}
        if index is not None and self.ended:
            earlier = index.recorded(self.ended, OPEN_END if self.kept is None else self.kept)
        for one in (*self._closed, *self._open.values()):
            first = earlier.get(memory_of_path(one.path) or "")
            yield one if first is None else one._replace(recorded=first)


def _present(view: View, label: str, indexed: Mapping[str, str], removals: list[tuple[str, str]]) -> Iterator[Wanted]:
    """What changed in a place beside the branch, whose past is not indexed."""
    now, known = view.place(PLACES[label]), indexed.get(label)
    if (now.commit or "") == (known or ""):
        return
    before = snapshot(now.backend, known) if known else None
    hidden = view.left_out(PLACES[label])
    for changed in record_changes(now.backend, before, now):
        identifier = memory_of_path(changed.path)
        if identifier and known:
            removals.append((label, identifier))
        if identifier and changed.new and changed.path not in hidden:
            names = [name for name in map(event_of_path, now.event_names(identifier)) if name]
            first, last = (_instant(names[0]), _instant(names[-1])) if names else (_EARLY, _EARLY)
            yield Wanted(label, changed.path, changed.new.oid, first, last)


def _tombstones(view: View, ref: str, indexed: Mapping[str, str], removals: list[tuple[str, str]]) -> list[Document]:
    """The rejected claims of one store that stand, as far as they changed."""
    now, known, label = view.place(ref), indexed.get(LABELS[ref]), TOMBSTONE_LABELS[ref]
    if (now.commit or "") == (known or ""):
        return []
    backend = now.backend
    before = snapshot(backend, known) if known else None
    hidden = view.left_out(ref)
    blobs: dict[str, str] = {}
    for changed in record_changes(backend, before, now):
        digest = tombstone_of_path(changed.path)
        if digest and known:
            removals.append((label, digest))
        if digest and changed.new and changed.path not in hidden:
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
            documents.append(Document(label, rejected, at, at, oid))
    return documents


def _read(view: View, wanted: list[Wanted]) -> Iterator[Prepared]:
    """What the index takes of each version. Of many, another process makes the larger part."""
    made = partial(_prepared, languages=view.config.languages if view.config else ())
    theirs = [one for one in wanted if one.label == "user"]
    here = [one for one in wanted if one.label != "user"]
    stores = ((view.place(USER).backend, theirs), (view.workspace.backend, here))
    read = chain.from_iterable(_read_in(view, backend, some) for backend, some in stores if some)
    if len(wanted) < _MANY or not worthwhile():
        return chain.from_iterable(map(made, ([one] for one in read)))
    # Forked now: once the index is written tantivy has threads of its own, and git's answers are read by one.
    return _with_another(Beside(made), made, read)


def _read_in(view: View, backend: Backend, wanted: list[Wanted]) -> Iterator[Read]:
    blobs = backend.read_many(one.blob for one in wanted)
    return ((one, raw, view.trusts(PLACES[one.label])) for one, (_, _, raw) in zip(wanted, blobs, strict=True))


def _with_another(
    other: Beside, made: Callable[[Sequence[Read]], list[Prepared]], read: Iterator[Read]
) -> Iterator[Prepared]:
    try:
        while batch := list(islice(read, _ITS_PART)):
            other.give(batch)
            yield from made(list(islice(read, _OUR_PART)))
            yield from other.take()
    finally:
        other.close()


def _prepared(batch: Sequence[Read], languages: tuple[str, ...]) -> list[Prepared]:
    made = []
    for one, raw, trusted in batch:
        try:
            memory = memory_from_bytes(raw, path=one.path, trusted=trusted)
        except CorruptRecord:
            if one.label == "main":
                raise
            continue  # what a hand put into the inbox and cannot be read is no candidate, and stops no reader
        if memory.id == memory_of_path(one.path) and fits(one.label, memory):
            document = Document(
                one.label, memory, one.recorded, one.changed, one.blob, one.since, one.until, raw, one.review
            )
            made.append(prepared(document, languages))
    return made


def _instant(event: str) -> datetime:
    return datetime.fromtimestamp(event_milliseconds(event) / 1000, timezone.utc)
