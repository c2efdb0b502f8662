"""Memories of one store that say nearly the same, in pairs: the one that rests on more, and the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from gitmem.app.claim_set import ClaimSet
from gitmem.app.facts import claim_of
from gitmem.model.nouns import Memory
from gitmem.model.vocabulary import KIND_CLASS, ORIGIN_RANK, VISIBLE
from gitmem.policy.near import NEAR, alike

if TYPE_CHECKING:
    from gitmem.app.use import Used

_CLASSES: Final = frozenset(
    {"claim", "problem", "solution", "failed_tactic"}
)  # what was done is told as often as it was


def near_pairs(memories: Iterable[Memory], used: Mapping[str, Used]) -> Iterator[tuple[Memory, Memory]]:
    """(kept, other), each other one once. Those that somebody told apart are none, nor what replaces the other."""

    def rests_on(memory: Memory) -> tuple[int, int, int, str]:
        row = used.get(memory.id)
        credit = len(row.credits) if row else 0
        return -ORIGIN_RANK.get(memory.origin, 0), -credit, -len(memory.evidence), memory.id

    known = ClaimSet()
    by_id: dict[str, Memory] = {}
    standing = (m for m in memories if m.status in VISIBLE and KIND_CLASS.get(m.kind) in _CLASSES)
    for memory in sorted(standing, key=rests_on):
        near = [
            (-alike((memory.title, memory.body), (claim.title, claim.body)), claim.id)
            for claim in known.candidates(memory)
            if _alike(memory, by_id[claim.id])
        ]
        best = min(near, default=(0.0, ""))
        if -best[0] >= NEAR:
            yield by_id[best[1]], memory
            continue
        known.add(claim_of(memory, "main"))
        by_id[memory.id] = memory


def _alike(memory: Memory, other: Memory) -> bool:
    linked = {link.to for link in memory.links} | {link.to for link in other.links}
    return KIND_CLASS[memory.kind] == KIND_CLASS[other.kind] and not {memory.id, other.id} & linked
