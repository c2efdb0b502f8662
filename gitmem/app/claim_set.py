"""Near-duplicates among many records at once, in memory: for bulk import and for verification.

Prefix filtering (Chaudhuri, Ganti, Kaushik 2006; Bayardo, Ma, Srikant 2007): two token sets with a Jaccard
similarity of at least t share one of the |x| - ceil(t |x|) + 1 rarest tokens of either.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from heapq import nlargest
from math import ceil
from typing import Final

from gitmem.app.facts import Claim, claim_of
from gitmem.model.nouns import Memory
from gitmem.model.tokens import tokens
from gitmem.policy.near import NEAR

_OFFERED: Final = 12  # candidates offered for one comparison, those that share most first
_COMMON: Final = 2000  # a token of more records than this is too common to name a near-duplicate


class ClaimSet:
    """Records by id and where they lie, with an inverted list of their tokens."""

    def __init__(self) -> None:
        self._claims: dict[tuple[str, str], Claim] = {}
        self._with_token: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
        self._with_key: defaultdict[str, set[str]] = defaultdict(set)

    def __len__(self) -> int:
        return len(self._claims)

    def add(self, claim: Claim) -> None:
        """Put a record in, in place of an older form of it."""
        name = (claim.where, claim.id)
        self.remove(*name)
        self._claims[name] = claim
        for token in _words(claim.title, claim.body):
            self._with_token[token].add(name)
        if claim.key:
            self._with_key[claim.key].add(claim.id)

    def remove(self, where: str, identifier: str) -> None:
        claim = self._claims.pop((where, identifier), None)
        if claim is None:
            return
        for token in _words(claim.title, claim.body):
            self._with_token[token].discard((where, identifier))
        if claim.key:
            self._with_key[claim.key].discard(identifier)

    def candidates(self, memory: Memory) -> Iterator[Claim]:
        words = sorted(_words(memory.title, memory.body), key=lambda word: (len(self._with_token.get(word, ())), word))
        prefix = words[: len(words) - ceil(NEAR * len(words)) + 1]
        shared: Counter[tuple[str, str]] = Counter()
        for word in prefix:
            names = self._with_token.get(word, ())
            if len(names) <= _COMMON:
                shared.update(names)
        for name, _ in nlargest(_OFFERED, shared.items(), key=lambda item: (item[1], item[0])):
            yield self._claims[name]

    def key_holders(self, key: str) -> Iterable[str]:
        return tuple(self._with_key.get(key, ()))


def _words(title: str, body: str) -> set[str]:
    return set(tokens(f"{title}\n{body}"))


def claims_of(memories: Iterable[Memory], where: str) -> ClaimSet:
    """A set of all of `memories`."""
    made = ClaimSet()
    for memory in memories:
        made.add(claim_of(memory, where))
    return made
