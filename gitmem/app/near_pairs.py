"""Memories of one store that say nearly the same, in pairs: the one that rests on more, and the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from gitmem.app.claim_set import ClaimSet
from gitmem.app.facts import Claim, claim_of
from gitmem.model.nouns import Memory
from gitmem.model.vocabulary import KIND_CLASS, ORIGIN_RANK, VISIBLE
from gitmem.policy.near import NEAR, alike

if TYPE_CHECKING:
    from gitmem.app.use import Used

# What was done is told as often as it was: work and changes.
_CLASSES: Final = frozenset({"claim", "problem", "solution", "failed_tactic"})


class _Row(NamedTuple):
    """What is held of one memory, of very many. rank: the one that rests on more first."""

    rank: tuple[int, int, int, str]
    claim: Claim
    linked: frozenset[str]


def near_pairs(memories: Iterable[Memory], used: Mapping[str, Used]) -> Iterator[tuple[str, str]]:
    """(id of the one to keep, id of the other), each other one once. Those that somebody told apart are none, nor what
    replaces the other. `memories` are read once, and of each only what it says is held."""
    known = ClaimSet()
    by_id: dict[str, _Row] = {}
    for row in sorted(_row(memory, used) for memory in memories if _stands(memory)):
        claim = row.claim
        near = [
            (-alike((claim.title, claim.body), (other.title, other.body)), other.id)
            for other in known.candidates(claim)
            if _comparable(row, by_id[other.id])
        ]
        best = min(near, default=(0.0, ""))
        if -best[0] >= NEAR:
            yield best[1], claim.id
            continue
        known.add(claim)
        by_id[claim.id] = row


def _stands(memory: Memory) -> bool:
    return memory.status in VISIBLE and memory.kind != "change" and KIND_CLASS.get(memory.kind) in _CLASSES


def _row(memory: Memory, used: Mapping[str, Used]) -> _Row:
    row = used.get(memory.id)
    credit = len(row.credits) if row else 0
    rank = -ORIGIN_RANK.get(memory.origin, 0), -credit, -len(memory.evidence), memory.id
    return _Row(rank, claim_of(memory, "main"), frozenset(link.to for link in memory.links))


def _comparable(row: _Row, other: _Row) -> bool:
    same_class = KIND_CLASS[row.claim.kind] == KIND_CLASS[other.claim.kind]
    return same_class and not {row.claim.id, other.claim.id} & (row.linked | other.linked)
