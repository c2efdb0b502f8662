"""What two sides of a merge mean for each other, where no single record shows it.

One side rejected what the other says, both gave one key away, both put something else in the place of one record.
What is certain is rejected; all else is disputed: people see it in `gitmem conflicts`, nobody is shown it in recall.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gitmem.app.facts import Claim, neighbours, tombstone_claim
from gitmem.app.verify_view import JudgedView
from gitmem.model.claims import claim_digest
from gitmem.model.nouns import Memory, Tombstone
from gitmem.model.vocabulary import KIND_CLASS, VISIBLE, WAITING
from gitmem.policy.near import NEAR
from gitmem.share.memory import MergedMemory
from gitmem.store.objects import Entry


@dataclass
class Record:
    """One record that the sides have differently: what it becomes, and what the event tells of it.

    `memory` is what it becomes; `raw` the bytes whose layout is kept; `made`: the merge itself made it. `before` and
    `merged` are what the sides had. `has`: what each side has (ours, theirs).
    """

    memory: Memory
    raw: bytes
    entry: Entry
    before: Memory
    merged: Memory | None
    has: tuple[Memory | None, Memory | None]
    reasons: list[str] = field(default_factory=list)
    made: bool = False
    whole: MergedMemory | None = None


def between(records: Mapping[str, Record], ours: JudgedView, theirs: JudgedView, tombstones: Sequence[str]) -> None:
    """Withhold what does not go with what the other side brought. `tombstones`: those that the sides have
    differently."""
    _rejected(records, ours, theirs, tombstones)
    _replaced_twice(records)
    _one_key(records)


def _rejected(records: Mapping[str, Record], ours: JudgedView, theirs: JudgedView, tombstones: Sequence[str]) -> None:
    """What one side says and the other one rejected without having seen it."""
    by_side = [_gained(mine, other, tombstones) for mine, other in ((theirs, ours), (ours, theirs))]
    if not any(by_side):
        return
    projects = {view.config.project for view in (ours, theirs) if view.config is not None}
    projects |= {name for view in (ours, theirs) if view.config is not None for name in view.config.aliases}
    for record in records.values():
        memory = record.memory
        if memory.status not in VISIBLE and memory.status not in WAITING:
            continue
        # Of what side 0 (ours) says, the rejections that came from the other one count, and the other way round.
        for side, gained in enumerate(by_side):
            if record.has[side] is None or _said_beside(record.has[1 - side], memory):
                continue
            if any(claim_digest(name, memory.kind, memory.title, memory.body) in gained for name in projects):
                _mark(record, "wrong", "the other side rejected it")
            elif memory.status in VISIBLE and (near := _near(memory, gained)) is not None:
                _mark(record, "disputed", f"it says nearly what the other side rejected as {near}")


def _gained(view: JudgedView, other: JudgedView, digests: Sequence[str]) -> dict[str, Tombstone]:
    """The claims that `view` rejected and `other` does not know as rejected."""
    found = {}
    for digest in digests:
        tomb, known = view.tombstone(digest), other.tombstone(digest)
        if tomb is not None and tomb.standing and (known is None or not (known.standing or _saw(known, tomb))):
            found[digest] = tomb
    return found


def _saw(lifted: Tombstone, rejected: Tombstone) -> bool:
    """Does the history that ends with a lift hold every rejection of the other one?"""
    return all(entry in lifted.history for entry in rejected.history)


def _said_beside(other: Memory | None, memory: Memory) -> bool:
    """The side that rejected has the same text and shows it: it knew of both."""
    return (
        other is not None
        and other.status in VISIBLE
        and (other.title, other.body, other.kind) == (memory.title, memory.body, memory.kind)
    )


class _Rejections:
    """The claims of some tombstones, for the near-duplicate rule."""

    def __init__(self, tombstones: Mapping[str, Tombstone]) -> None:
        self._claims = [tombstone_claim(tomb) for tomb in tombstones.values() if tomb.title or tomb.body]

    def candidates(self, memory: Memory) -> Iterator[Claim]:
        return iter(self._claims)

    def key_holders(self, key: str) -> Iterator[str]:
        return iter(())


def _near(memory: Memory, gained: Mapping[str, Tombstone]) -> str | None:
    """The id of a rejected memory that says nearly the same, None when there is none."""
    found = (near for near in neighbours(memory, _Rejections(gained)) if near.similarity >= NEAR)
    return min((near.id for near in found if near.kind in (memory.kind, KIND_CLASS.get(memory.kind))), default=None)


def _replaced_twice(records: Mapping[str, Record]) -> None:
    """One memory that each side superseded by another one: which of them is true now, nobody said."""
    for record in records.values():
        mine, yours = (set(has.linked("superseded_by")) if has else set() for has in record.has)
        if not (mine - yours and yours - mine):
            continue
        rivals = [records[i] for i in sorted(mine ^ yours) if i in records and records[i].memory.status in VISIBLE]
        for rival in rivals if len(rivals) > 1 else ():
            _mark(rival, "disputed", f"{record.memory.id} was superseded on both sides")


def _one_key(records: Mapping[str, Record]) -> None:
    """One key that each side gave to another memory."""
    holders: defaultdict[tuple[str, str, str], list[Record]] = defaultdict(list)
    for record in records.values():
        memory = record.memory
        if memory.key is not None and memory.status in VISIBLE:
            holders[memory.key, memory.scope.project, memory.scope.audience].append(record)
    for rivals in holders.values():
        for rival in rivals if len(rivals) > 1 else ():
            others = ", ".join(sorted(other.memory.id for other in rivals if other is not rival))
            _mark(rival, "disputed", f"{others} holds the same key")


def _mark(record: Record, status: str, reason: str) -> None:
    record.memory = replace(record.memory, status=status)
    record.reasons.append(reason)
    record.made = True
