"""Near-duplicates among many records at once, in memory: for bulk import and for verification.

Prefix filtering (Chaudhuri, Ganti, Kaushik 2006; Bayardo, Ma, Srikant 2007): the words of a text are taken from the
rarest on; a record that has none of the first k lacks k words, and then only some sizes of it can still be near, in
the end none. Which, follows from the measure: see `gitmem.policy.near.near_sizes`. And of those looked at, a near one
has at least as many as `gitmem.policy.near.least_shared` leaves no room for among the others. A word of very many
records is looked up by the sizes that can still be near, so that little is looked at. Only where more than
`_MOST` texts would have to be looked at for one, because a few words make up very many records, are the most common
words left out.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Final

from gitmem.app.facts import Claim, claim_of
from gitmem.model.nouns import Memory
from gitmem.policy.near import NEAR, hard_tokens, least_shared, measure, near_sizes, texts, words

_COMMON: Final = 1000  # the records with a word of more texts than this are listed by their size too
_MOST: Final = 20_000


class ClaimSet:
    """Records by id and where they lie, with an inverted list of their words. All are numbered as they come."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str], tuple[int, ...]] = {}
        self._claims: dict[int, Claim] = {}
        self._words: dict[int, tuple[int, ...]] = {}
        self._hard: dict[int, frozenset[str]] = {}
        self._placed: dict[int, bool] = {}  # of a claim that `texts` finds two texts of: whether this is the second
        self._sizes = array("I")
        self._vocabulary: dict[str, int] = {}
        self._with_word: list[array[int]] = []
        self._by_size: dict[int, dict[int, array[int]]] = {}  # of the common words
        self._with_key: defaultdict[str, set[str]] = defaultdict(set)
        self._saying: dict[int, int] = {}
        self._next = 0

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, claim: Claim) -> None:
        """Put a record in, in place of an older form of it."""
        self.remove(claim.where, claim.id)
        whole, said = texts(claim.title, claim.body)
        numbers = [self._held(claim, whole)]
        if said:
            numbers.append(self._held(claim, said))
            self._placed.update(zip(numbers, (False, True), strict=True))
        self._numbers[claim.where, claim.id] = tuple(numbers)
        self._saying[_said(claim)] = numbers[0]
        if claim.key:
            self._with_key[claim.key].add(claim.id)

    def _held(self, claim: Claim, text: str) -> int:
        """The number of one text of a record, which its words lead to from here on."""
        number, self._next = self._next, self._next + 1
        self._claims[number] = claim
        spoken = _words_of(text)
        self._sizes.append(len(spoken))
        held = []
        for word in spoken:
            code = self._vocabulary.setdefault(word, len(self._vocabulary))
            if code == len(self._with_word):
                self._with_word.append(array("I"))
            self._with_word[code].append(number)
            if len(self._with_word[code]) > _COMMON:
                self._list_by_size(code)
            held.append(code)
        self._words[number] = tuple(held)
        return number

    def _list_by_size(self, code: int) -> None:
        """List the latest text with a common word by its size, or all of them when the word has just become one."""
        lists = self._by_size.setdefault(code, {})
        for number in self._with_word[code][-1:] if lists else self._with_word[code]:
            lists.setdefault(self._sizes[number], array("I")).append(number)

    def remove(self, where: str, identifier: str) -> None:
        """Take a record out. Its number stays in the lists, where it names nothing."""
        for number in self._numbers.pop((where, identifier), ()):
            claim = self._claims.pop(number)
            del self._words[number]
            self._hard.pop(number, None)
            self._placed.pop(number, None)
            if claim.key:
                self._with_key[claim.key].discard(identifier)

    def candidates(self, memory: Memory | Claim) -> Iterator[Claim]:
        """The other records whose words are near, each once; the last word is the gate's."""
        if not self._claims:
            return
        whole, said = texts(memory.title, memory.body)
        found = [n for n in self._near(whole, memory.id) if not (said and self._placed.get(n))]
        if said:
            found += [n for n in self._near(said, memory.id) if n not in self._placed]
        told = set()
        for claim in map(self._claims.__getitem__, found):
            if (claim.where, claim.id) not in told:
                told.add((claim.where, claim.id))
                yield claim

    def _near(self, text: str, identifier: str) -> Iterator[int]:
        """The numbers of the texts that are near this one, which is of the record `identifier`."""
        spoken = _words_of(text)
        known = sorted(
            (len(self._with_word[code]), code) for word in spoken if (code := self._vocabulary.get(word)) is not None
        )
        holders: list[array[int]] = []
        looked = rare = len(spoken) - len(known)  # words that no record has are the rarest of all
        for count, code in known:
            if not (near := _sizes_near(len(spoken), looked)):
                break
            if count > _COMMON:
                lists = [sized for size, sized in self._by_size[code].items() if size in near]
                if sum(map(len, chain(holders, lists))) > _MOST:
                    break
                holders += lists
            else:
                holders.append(self._with_word[code])
                rare += 1
            looked += 1
        wanted = _sizes_near(len(spoken), 0)
        least = _least_hits(len(spoken), rare)
        enough, start, sizes = min(least, default=1), wanted.start, self._sizes
        seen = [
            n
            for n, count in Counter(chain.from_iterable(holders)).items()
            if count >= enough and sizes[n] in wanted and count >= least[sizes[n] - start]
        ]
        mine = {code for _, code in known}
        hard = None
        for number in sorted(seen):
            if (claim := self._claims.get(number)) is None or claim.id == identifier:
                continue
            theirs = self._words[number]
            shared = len(mine.intersection(theirs))
            if measure(shared, len(spoken) - shared, len(theirs) - shared) < NEAR:
                continue
            if hard is None:
                hard = hard_tokens(text)
            if hard == self._hard_tokens(number):
                yield number

    def _hard_tokens(self, number: int) -> frozenset[str]:
        """Of one record, found once: where few words make all records, each is near to very many."""
        if number not in self._hard:
            claim = self._claims[number]
            self._hard[number] = hard_tokens(texts(claim.title, claim.body)[self._placed.get(number, False)])
        return self._hard[number]

    def same(self, memory: Memory) -> Claim | None:
        """A record that says word for word what `memory` says, as the same kind."""
        claim = self._claims.get(self._saying.get(_said(memory), -1))
        return claim if claim is not None and says_the_same(claim, memory) else None

    def key_holders(self, key: str) -> Iterable[str]:
        return tuple(self._with_key.get(key, ()))


@lru_cache(maxsize=256)
def _least_hits(count: int, looked: int) -> tuple[int, ...]:
    """For each size of a text that can be near one of `count` words: how many of the `looked` rarest of these it has,
    when no common one is counted.

    It shares `least_shared` words, of which no more than the others can be among those not looked at.
    """
    return tuple(max(looked - count + least_shared(count, size), 1) for size in near_sizes(count, 0))


_sizes_near: Final = lru_cache(maxsize=4096)(near_sizes)
# A record is looked up in one set or two, and then added to one.
_LATEST: Final[dict[str, frozenset[str]]] = {}
_KEPT: Final = 4


def _words_of(text: str) -> frozenset[str]:
    found = _LATEST.get(text)
    if found is None:
        found = words(text)
        words_are(text, found)
    return found


def words_are(text: str, found: frozenset[str]) -> None:
    """Have the words of a text ready that is looked up next: `policy.near.words` found them elsewhere."""
    if len(_LATEST) == _KEPT:
        _LATEST.clear()
    _LATEST[text] = found


def says_the_same(claim: Claim, memory: Memory) -> bool:
    return (claim.title, claim.body, claim.kind) == (memory.title, memory.body, memory.kind)


def _said(record: Claim | Memory) -> int:
    return hash((record.title, record.body, record.kind))


def claims_of(memories: Iterable[Memory], where: str) -> ClaimSet:
    """A set of all of `memories`."""
    made = ClaimSet()
    for memory in memories:
        made.add(claim_of(memory, where))
    return made
