"""related: what is linked to a memory, what holds its key, what it cites, what is about its files or says the like."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gitmem.app.ground import Ground
from gitmem.app.structure import Beside, beside
from gitmem.model.frozen import dataclass
from gitmem.model.nouns import Memory, MemoryRef
from gitmem.policy.visibility import visible
from gitmem.recall.document import paths_of
from gitmem.recall.query import Hit, Query

_ALIKE: Final = 5
_SAME_FILES: Final = 5


@dataclass(frozen=True)
class Related:
    """The memory that was asked about and what belongs to it: links first, likeness last."""

    memory: Memory
    beside: tuple[Beside, ...]


def related(ground: Ground, prefix: str) -> Related:
    """Only what a reader may see, whatever the state of the memory itself. Raises NotFound or Ambiguous."""
    memory = ground.view.find(prefix).memory
    seen = visible(ground.viewer, at=ground.now)
    index = ground.index
    found = {one.hit.id: one for one in beside(index, memory, seen, None, every=True)}

    def add(hits: Iterable[Hit], how: str) -> None:
        for hit in hits:
            if hit.id != memory.id and seen.admits(hit.memory):
                found.setdefault(hit.id, Beside(hit, how))

    add(index.versions([ref.id for ref in memory.evidence if isinstance(ref, MemoryRef)], seen), "cited by it")
    add(index.linking([f"cites:{memory.id}"], seen), "cites it")
    if memory.key is not None:
        add(index.holding(memory.key, seen), f"has its key, {memory.key}")
    for path in sorted(paths_of(memory) - {"."})[:_SAME_FILES]:
        add(index.search(Query(path=path, limit=_SAME_FILES), seen).hits, f"is about {path} too")
    alike = Query((f"{memory.title}\n{memory.body}",), limit=_ALIKE + 1)
    add(index.search(alike, seen).hits, "says something like it")
    return Related(memory, tuple(found.values()))
