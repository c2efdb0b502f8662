"""The same claim in two stores, as after a promotion: told once, as the team's.

Each is a record of its own, with its own history, and is listed and shown as such; an answer tells what is known.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Final

from gitmem.model.claims import normalise_claim
from gitmem.model.nouns import Memory

_PLACE: Final[Mapping[str, int]] = {"team": 0, "private": 1, "user": 2}


def claim(memory: Memory) -> Hashable:
    """What a memory says, and of what: equal for two that say the same in the same words of the same files."""
    words = normalise_claim(memory.title), normalise_claim(memory.body)
    steps = tuple((step.text, step.done) for step in memory.steps)
    ruled_out = tuple((one.title, one.why) for one in memory.alternatives)
    valid = memory.valid.start, memory.valid.until
    return memory.kind, words, memory.applies_to, memory.cue, steps, ruled_out, valid


def once(memories: Iterable[Memory]) -> list[str]:
    """Ids of what an answer tells of `memories`, in their order: of equal claims the one for the most readers, in the
    place of the first."""
    kept: dict[Hashable, Memory] = {}
    for memory in memories:
        said = claim(memory)
        kept[said] = min(kept.get(said, memory), memory, key=lambda one: _PLACE[one.scope.audience])
    return [memory.id for memory in kept.values()]
