"""What belongs beside a hit: the solutions of a problem, what replaced a superseded memory, what contradicts it.

Everything passes the same filter as the hits; a link never widens what a reader may see.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from gitmem.app.drifts import drifts
from gitmem.app.ground import Ground
from gitmem.model.frozen import dataclass, replace
from gitmem.model.judgement import Filter
from gitmem.model.nouns import Memory
from gitmem.recall.query import Hit
from gitmem.recall.search_index import SearchIndex

_REPLACEMENTS: Final = 8  # steps of a chain of supersessions that are followed
_BESIDE: Final = 6  # memories that one hit may bring
# How a link reads from its other end, and which of the two ends brings the other into an answer.
_BACK: Final = {"solves": "solved by", "tried_for": "failed for it", "contradicts": "contradicted by"}
_FORTH: Final = {
    "solves": "solves", "tried_for": "was tried for", "contradicts": "contradicts", "derived_from": "derived from",
}  # fmt: skip
_ALSO_BACK: Final = {
    "derived_from": "gave rise to", "relates_to": "related from", "differs_from": "told apart from",
    "supersedes": "superseded by", "superseded_by": "supersedes",
}  # fmt: skip
_ALSO_FORTH: Final = {
    "relates_to": "relates to", "differs_from": "differs from", "supersedes": "supersedes",
    "superseded_by": "superseded by",
}  # fmt: skip


@dataclass(frozen=True)
class Beside:
    """A memory that a hit brings. how: as it reads after the hit, such as "solved by". drifts: for each reference of
    an answer what became of it at HEAD; empty where nobody looked."""

    hit: Hit
    how: str
    drifts: tuple[str, ...] = ()

    @property
    def answers(self) -> bool:
        """Whether it is what helps: without it, the hit that it belongs to tells only half."""
        return self.how == _BACK["solves"]


def beside(
    index: SearchIndex, memory: Memory, seen: Filter, position: int | None, *, every: bool = False
) -> list[Beside]:
    """What belongs beside `memory`, at most a handful; `every`: over links of every type."""
    return beside_each(index, [memory], seen, position, every=every)[0]


def beside_each(
    index: SearchIndex, memories: Sequence[Memory], seen: Filter, position: int | None, *, every: bool = False
) -> list[list[Beside]]:
    """As `beside`, for each of `memories`, with two looks into the index for all of them."""
    forth = {**_FORTH, **(_ALSO_FORTH if every else {})}
    back = {**_BACK, **(_ALSO_BACK if every else {})}
    targets = {link.to for memory in memories for link in memory.links if link.type in forth}
    there = {hit.id: hit for hit in _seen(index.versions(targets, seen, position), seen)} if targets else {}
    asked = [f"{kind}:{memory.id}" for memory in memories for kind in back]
    linking: dict[str, list[Hit]] = {memory.id: [] for memory in memories}
    for hit in _seen(index.linking(asked, seen, position), seen):
        for to in {link.to for link in hit.memory.links if link.type in back} & linking.keys():
            linking[to].append(hit)
    order = [*back.values(), *forth.values()]
    groups = []
    for memory in memories:
        found = {
            link.to: Beside(there[link.to], forth[link.type])
            for link in memory.links
            if link.type in forth and link.to in there
        }
        for hit in linking[memory.id]:
            how = next(back[link.type] for link in hit.memory.links if link.to == memory.id and link.type in back)
            if hit.id != memory.id:
                found.setdefault(hit.id, Beside(hit, how))
        ranked = sorted(found.values(), key=lambda one: (order.index(one.how), -one.hit.recorded, one.hit.id))
        groups.append(ranked if every else ranked[:_BESIDE])
    return groups


def around(
    ground: Ground, memories: Sequence[Memory], seen: Filter, position: int | None
) -> list[tuple[tuple[Beside, ...], tuple[str, ...]]]:
    """For each memory of an answer what belongs beside it, each pair once, and what became of the lines that it
    cites; the latter of what answers it too."""
    groups = beside_each(ground.index, memories, seen, position)
    fresh = list(_without_repetition(zip((memory.id for memory in memories), groups, strict=True)))
    answers = [near.hit.memory for group in fresh for near in group if near.answers]
    gone = drifts(ground, [*memories, *answers])
    theirs = iter(gone[len(memories) :])
    return [
        (tuple(replace(near, drifts=next(theirs)) if near.answers else near for near in group), lost)
        for group, lost in zip(fresh, gone, strict=False)
    ]


def replacement(index: SearchIndex, memory: Memory, seen: Filter, position: int | None) -> Hit | None:
    """What stands in the place of a superseded memory, the last of a chain; None when a reader may not see it."""
    following = list(memory.linked("superseded_by"))
    for _ in range(_REPLACEMENTS):
        found = index.versions(following, None, position)
        shown = next((hit for hit in found if seen.admits(hit.memory)), None)
        gone = (hit.memory for hit in found if hit.memory.status == "superseded")
        following = [to for one in gone for to in one.linked("superseded_by")]
        if shown is not None or not following:
            return shown
    return None


def _without_repetition(groups: Iterable[tuple[str, Sequence[Beside]]]) -> Iterator[list[Beside]]:
    """Each pair once in an answer: for each hit, by id, what it brings that no hit before it was told to belong to."""
    told: set[frozenset[str]] = set()
    for identifier, group in groups:
        fresh = [one for one in group if frozenset((identifier, one.hit.id)) not in told]
        told.update(frozenset((identifier, one.hit.id)) for one in fresh)
        yield fresh


def _seen(hits: Iterable[Hit], seen: Filter) -> Iterator[Hit]:
    yield from (hit for hit in hits if seen.admits(hit.memory))
