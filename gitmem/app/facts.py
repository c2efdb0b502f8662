"""Gathering what the gate needs to know about one change. All I/O of a decision happens here, before it."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Final, Protocol

from gitmem.app.transcripts import Transcripts
from gitmem.app.workspace import Found, View, read_memory
from gitmem.errors import Ambiguous, NotFound
from gitmem.evidence.resolvers import resolve
from gitmem.evidence.sources import Sources
from gitmem.model.claims import claim_digest
from gitmem.model.ids import is_memory_id
from gitmem.model.judgement import Change, Facts, Neighbour, Resolution
from gitmem.model.layout import (
    AUDIENCES_OF,
    HOMES,
    INBOX,
    MAIN,
    MEMORIES,
    PLACES,
    TOMBSTONE_LABELS,
    TOMBSTONES,
    USER,
    memory_of_path,
    tombstone_of_path,
)
from gitmem.model.nouns import Memory, MemoryRef, Proposal, Tombstone
from gitmem.model.records import tombstone_from_bytes
from gitmem.model.vocabulary import VISIBLE, Channel
from gitmem.policy.landing import LEFT_TO_THE_FORGE
from gitmem.policy.near import NEAR, alike, same_title, similarity, texts
from gitmem.policy.visibility import compared, fits
from gitmem.store.objects import empty_tree
from gitmem.store.port import Backend
from gitmem.store.snapshot import Changed, Snapshot, changed_paths, snapshot

if TYPE_CHECKING:
    from gitmem.app.batch import Batch
    from gitmem.recall.search_index import SearchIndex

_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+|\n+")
_ASIDES: Final = 40  # texts of one record that are compared with rejected claims by themselves
_CANDIDATES: Final = 12  # records that the index offers for one comparison
_NOTHING: Final[Mapping[str, Memory]] = {}
_DELTA_LIMIT: Final = 24  # changed records that a write compares by itself before the index has to catch up
_LEAVING: Final = frozenset({MAIN, USER})  # what lands here is read where nothing of this clone's inbox is
# Operations that bring text in or back: their evidence is looked at again, and so are near-duplicates.
JUDGES_TEXT: Final = frozenset({"create", "import", "edit", "accept", "lift", "restore"})


@dataclass(frozen=True, slots=True)
class Claim:
    """One record as the near-duplicate rule sees it. `where`: of `layout.PLACES`, tombstone or batch. `reason`: of a
    rejection."""

    id: str
    kind: str
    title: str
    body: str
    status: str
    where: str
    key: str | None = None
    audience: str = "team"
    reason: str = ""


class Lookup(Protocol):
    """Finds records that may say the same, and who holds a key, in every state."""

    def candidates(self, memory: Memory) -> Iterable[Claim]: ...

    def key_holders(self, key: str) -> Iterable[str]: ...


def gather(
    view: View,
    change: Change,
    lookup: Lookup,
    *,
    batch: Batch | None = None,
    alongside: Mapping[str, Memory] = _NOTHING,
    names: tuple[str, ...] = (),
    channel: Channel | None = None,
    exact_secrets: tuple[str, ...] = (),
    private_store: bool = False,
    ref: str = MAIN,
    proposed: Proposal | None = None,
) -> Facts:
    """The facts about one change. `batch`: records that would be written before it in the same commit;
    `alongside`: all that would be written in it by id, for links.

    `channel` is by which the change came; this process's own unless an event says otherwise. `exact_secrets` are
    this machine's (`secrets_known`): they judge what is written here, never what others wrote, or clones would differ.
    `private_store`: it would land where only its user reads. `ref`: where it would land. `proposed`: who asked for it.
    """
    env = view.workspace.env
    memory = change.after
    came_by = channel or env.channel
    asked = None
    if proposed is not None and came_by == "forge" and change.op in LEFT_TO_THE_FORGE:
        asked = proposed.actor.channel
    judges = change.op in JUDGES_TEXT
    linked = dict(_linked(view, change, alongside))
    return Facts(
        now=env.now(),
        channel=came_by,
        resolutions=resolutions(view, memory, asked or came_by) if judges else _as_they_stand(memory),
        neighbours=tuple(neighbours(memory, lookup, batch)) if judges else (),
        tombstone=_tombstone(view, memory) if judges else None,
        key_holder=_key_holder(view, memory, lookup, batch) if memory.key else None,
        linked={identifier: found.memory for identifier, found in linked.items()},
        names=names,
        exact_secrets=exact_secrets,
        private_store=private_store,
        waiting=frozenset(i for i, found in linked.items() if found.ref == INBOX) if ref in _LEAVING else frozenset(),
        asked=asked,
    )


def _tombstone(view: View, memory: Memory) -> Tombstone | None:
    """The tombstone of exactly this claim, one that stands first: the team's, or that of the store that it is for."""
    audience = memory.scope.audience
    config = view.config
    asked = [(memory.scope.project, HOMES.get(audience, MAIN))]
    if audience != "team" and config is not None:
        asked.insert(0, (config.project, MAIN))
    found = [
        view.tombstone(claim_digest(project, memory.kind, memory.title, memory.body), ref) for project, ref in asked
    ]
    there = [tombstone for tombstone in found if tombstone is not None]
    return next((tombstone for tombstone in there if tombstone.standing), there[0] if there else None)


def sources(view: View, channel: Channel) -> Sources:
    """Where evidence may be looked for."""
    location = view.workspace.location

    def cited(prefix: str) -> Memory | None:
        try:
            return view.find(prefix).memory
        except Ambiguous:
            raise
        except NotFound:
            return None

    said = Transcripts(view.workspace)
    return Sources(view.workspace.backend, location.head, location.work_tree, cited, channel, said)


def resolutions(view: View, memory: Memory, channel: Channel) -> tuple[Resolution, ...]:
    """What each reference of a record resolves to now."""
    where = sources(view, channel)
    return tuple(resolve(ref, where) for ref in memory.evidence)


def _as_they_stand(memory: Memory) -> tuple[Resolution, ...]:
    """For a move that takes text out of sight: evidence that has since gone must not keep a memory standing."""
    return tuple(Resolution(ref, "verified", "not looked at again", quoted=None, human=True) for ref in memory.evidence)


def neighbours(memory: Memory, lookup: Lookup, batch: Batch | None = None) -> Iterator[Neighbour]:
    """What says nearly the same as a record, or as a part of it where that was rejected, and what has its title."""
    text = memory.title, memory.body
    sentences, others = _asides(memory)
    asides = [replace(memory, title=aside, body="") for _, aside in others]
    seen = set()
    for claim in chain(
        batch.candidates(memory) if batch else (),
        lookup.candidates(memory),
        *(lookup.candidates(aside) for aside in asides),
    ):
        if claim.id == memory.id or (claim.id, claim.where) in seen:
            continue
        seen.add((claim.id, claim.where))
        if not compared(memory.scope.audience, claim.audience, rejected=claim.status == "wrong"):
            continue
        near, matched = alike(text, (claim.title, claim.body)), "title"
        if claim.status == "wrong" and near < NEAR:
            said = ((similarity(aside, claim.title), where) for where, aside in (*sentences, *others))
            near, matched = max(said, key=lambda one: one[0], default=(near, matched))
        if near >= NEAR or same_title(memory.title, claim.title):
            where = claim.where if claim.where in (*PLACES, "tombstone") else "batch"
            yield Neighbour(
                claim.id, claim.kind, claim.title, claim.body, claim.status, where, near, matched, claim.reason,  # type: ignore[arg-type]
            )  # fmt: skip


def _asides(memory: Memory) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Where else a rejected claim could come back: the sentences of a body, and the other texts that say something,
    each with the name of its field.

    What a decision ruled out, a problem and a tactic that failed may well say what was rejected.
    """
    if memory.kind in ("problem", "failed_tactic"):
        return [], []
    sentences = [("body", part) for part in _SENTENCE.split(memory.body) if part.count(" ") >= 2][:_ASIDES]
    if memory.body:
        sentences.append(("title", memory.title))
    lists = {
        "aliases": memory.aliases, "cue": (memory.cue or "",), "steps": tuple(step.text for step in memory.steps),
        "claims": memory.claims, "groundings": memory.groundings,
    }  # fmt: skip
    others = [(name, text) for name, items in lists.items() for text in items if text]
    return sentences, others[:_ASIDES]


def claim_of(memory: Memory, where: str) -> Claim:
    return Claim(
        memory.id, memory.kind, memory.title, memory.body, memory.status, where, memory.key, memory.scope.audience
    )


def tombstone_claim(tombstone: Tombstone, audience: str = "team") -> Claim:
    """A standing tombstone as a record that was found wrong, of the store for `audience`."""
    return Claim(
        tombstone.history[-1].memory, tombstone.kind_class, tombstone.title, tombstone.body, "wrong", "tombstone",
        audience=audience, reason=tombstone.history[-1].reason,
    )  # fmt: skip


def _key_holder(view: View, memory: Memory, lookup: Lookup, batch: Batch | None) -> Memory | None:
    """Another live memory with the same key, project and audience."""
    key = memory.key or ""
    before = batch.with_key(key) if batch else ()
    home = HOMES.get(memory.scope.audience, MAIN)
    stored = ((batch.get(i) if batch else None) or view.memory(i, home) for i in lookup.key_holders(key))
    for holder in (*before, *stored):
        if (
            holder is not None
            and holder.id != memory.id
            and holder.key == memory.key
            and holder.status in VISIBLE
            and holder.scope.project == memory.scope.project
            and holder.scope.audience == memory.scope.audience
        ):
            return holder
    return None


def _linked(view: View, change: Change, alongside: Mapping[str, Memory]) -> Iterator[tuple[str, Found]]:
    """What the record names, each with where it lies; what is written with it comes where it does."""
    wanted = {link.to for link in change.after.links}
    wanted |= {ref.id for ref in change.after.evidence if isinstance(ref, MemoryRef)}
    for identifier in wanted:
        if identifier in alongside:
            yield identifier, Found(alongside[identifier], MAIN)
        elif is_memory_id(identifier) and (found := view.anywhere(identifier)) is not None:
            yield identifier, found


class IndexOnly:
    """What the search index offers, read at one view."""

    def __init__(self, view: View, index: SearchIndex, stale: Container[tuple[str, str]] = frozenset()) -> None:
        self._view = view
        self._index = index
        self._stale = stale
        self._latest: tuple[str, list[Claim]] = ("", [])

    def candidates(self, memory: Memory) -> Sequence[Claim]:
        whole, said = texts(memory.title, memory.body)
        if self._latest[0] != whole:  # a retry asks first, then the gate
            found = list(self._similar(whole))
            self._latest = whole, [*found, *self._similar(said)] if said else found
        return self._latest[1]

    def _similar(self, text: str) -> Iterator[Claim]:
        from gitmem.recall.faults import IndexDamaged

        try:
            hits = self._index.similar(text, _CANDIDATES)
        except IndexDamaged:
            from gitmem.app.catch_up import catch_up

            self._index = catch_up(self._view, rebuild=True)
            hits = self._index.similar(text, _CANDIDATES)
        for hit in hits:
            if (hit.ref, hit.id) in self._stale:
                continue
            if hit.ref in TOMBSTONE_LABELS.values():
                home = next(ref for ref, label in TOMBSTONE_LABELS.items() if label == hit.ref)
                tomb = self._view.tombstone(hit.id, home)
                if tomb is not None and tomb.standing:
                    yield tombstone_claim(tomb, AUDIENCES_OF[home])
            elif (found := self._view.memory(hit.id, PLACES[hit.ref])) is not None:
                yield claim_of(found, hit.ref)

    def key_holders(self, key: str) -> Iterator[str]:
        yield from (identifier for _, identifier in self._index.with_key(key))


class IndexLookup:
    """The search index for what it has seen, and a direct comparison for what changed since.

    When too much changed, the index catches up first.
    """

    def __init__(self, view: View) -> None:
        from gitmem.app.catch_up import catch_up, kept_index
        from gitmem.recall.faults import IndexBusy

        self._view = view
        self._index = kept_index(view.workspace)
        self._fresh, self._stale = self._delta(_DELTA_LIMIT)
        if len(self._fresh) > _DELTA_LIMIT:
            try:
                self._index = catch_up(view)
                self._fresh, self._stale = self._delta(_DELTA_LIMIT)
            except IndexBusy:  # a write never waits for the index: what it has not seen is compared one by one
                self._fresh, self._stale = self._delta(None)
        self._indexed = IndexOnly(view, self._index, self._stale)

    def _delta(self, limit: int | None) -> tuple[list[Claim], set[tuple[str, str]]]:
        """Records that the index has not seen, and (ref, id) of those it has in an older form.

        Stops once there are more than `limit`.
        """
        claims: list[Claim] = []
        stale: set[tuple[str, str]] = set()
        for label, ref in PLACES.items():
            hidden = self._view.left_out(ref)
            for path, raw in _changed_records(self._view.place(ref), self._index.tips.get(label)):
                if limit is not None and len(claims) > limit:
                    return claims, stale
                identifier = memory_of_path(path)
                if identifier:
                    stale.add((label, identifier))
                if raw is None or path in hidden:
                    continue
                if identifier:
                    memory = read_memory(raw, path, self._view.trusts(ref))
                    if fits(label, memory):
                        claims.append(claim_of(memory, label))
                elif ref != INBOX and (tomb := tombstone_from_bytes(raw, path=path, trusted=True)).standing:
                    claims.append(tombstone_claim(tomb, AUDIENCES_OF[ref]))
        return claims, stale

    def candidates(self, memory: Memory) -> Iterator[Claim]:
        yield from self._fresh
        yield from self._indexed.candidates(memory)

    def key_holders(self, key: str) -> Iterator[str]:
        yield from (claim.id for claim in self._fresh if claim.key == key)
        yield from (identifier for _, identifier in self._index.with_key(key))


def _changed_records(now: Snapshot, indexed: str | None) -> Iterator[tuple[str, bytes | None]]:
    """Paths of memories and tombstones that differ between an indexed commit and now, with today's bytes."""
    if (now.commit or "") == (indexed or ""):
        return
    backend = now.backend
    known = indexed is not None and indexed != "" and backend.resolve(indexed) is not None
    for changed in record_changes(backend, snapshot(backend, indexed) if indexed and known else None, now):
        yield changed.path, backend.read(changed.new.oid)[1] if changed.new else None


def record_changes(backend: Backend, before: Snapshot | None, now: Snapshot) -> Iterator[Changed]:
    """The memories and tombstones that differ between two snapshots; the events are not walked."""
    for folder in (MEMORIES, TOMBSTONES):
        old, new = before.entry(folder) if before else None, now.entry(folder)
        empty = empty_tree(backend.object_format)
        for changed in changed_paths(backend, old.oid if old else None, new.oid if new else empty):
            path = f"{folder}/{changed.path}"
            if memory_of_path(path) or tombstone_of_path(path):
                yield changed._replace(path=path)


index_lookup: Callable[[View], Lookup] = IndexLookup
