"""The records that one commit brings, as each of them sees those judged before it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from gitmem.app.facts import Claim, claim_of
from gitmem.model.nouns import Memory

if TYPE_CHECKING:
    from gitmem.app.claim_set import ClaimSet

_FEW: Final = 24  # records that are compared one by one; more get an inverted list


class Batch:
    """Grows by `add`; nothing is copied, so a batch of any length is judged in linear time."""

    def __init__(self) -> None:
        self._memories: dict[str, Memory] = {}
        self._set: ClaimSet | None = None

    def add(self, memory: Memory) -> None:
        self._memories[memory.id] = memory
        if self._set is not None:
            self._set.add(claim_of(memory, "batch"))

    def get(self, identifier: str) -> Memory | None:
        return self._memories.get(identifier)

    def candidates(self, memory: Memory) -> Iterable[Claim]:
        """Records that may say nearly what `memory` says."""
        if len(self._memories) <= _FEW:
            return [claim_of(other, "batch") for other in self._memories.values()]
        if self._set is None:
            from gitmem.app.claim_set import claims_of

            self._set = claims_of(self._memories.values(), "batch")
        return self._set.candidates(memory)

    def with_key(self, key: str) -> Iterable[Memory]:
        return (memory for memory in self._memories.values() if memory.key == key)
