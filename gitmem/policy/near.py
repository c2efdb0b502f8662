"""How nearly two claims say the same. Words decide, but a different number or a denial makes another claim.

NEAR was chosen on the labelled pairs of tests/policy/near_pairs.py: the test there prints the gap between the
least similar restatement and the most similar different claim.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from math import ceil, floor
from typing import Final

from gitmem.model.claims import normalise_claim
from gitmem.model.pattern import pattern


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


NEAR: Final = 0.70
_PLACE: Final = 200  # characters of a heading that a note stood under
_CAPPED: Final = NEAR - 0.01  # the most that two claims with different hard tokens can be alike
_SWAPPED: Final = 2.0  # weight of a word that stands in the place of another
_ADDED: Final = 0.5  # weight of a word that only the longer claim has

_STOP: Final = _set(
    "a an and are as at be been being but by can do does for from had has have if in into is it its of on or our "
    "should so than that the their them then there these they this those to us use used using was we were when "
    "which while will with would you your must need always "
    "al con como cuando de del el ella en es esta este esto hay la las le lo los más mas o para pero por que se ser "
    "si su sus un una uno unos y ya usa usar debe deben siempre"
)
_DENIALS: Final = _set(
    "no not never none without neither nor cannot cant dont doesnt didnt isnt arent wasnt wont shouldnt mustnt "
    "avoid forbidden sin nunca jamás jamas ni tampoco evitar prohibido"
)
# Words that turn a claim into its opposite when one is swapped for the other.
_OPPOSITES: Final = _set(
    "before after above below more less min max minimum maximum first last true false allow deny enable disable "
    "enabled disabled add remove increase decrease raise lower start stop open close upper success failure sync "
    "async read write client server input output public private optional antes después despues "
    "ascending descending passed failed fails passes"
)
_NUMBER_WORDS: Final = {
    word: str(number)
    for number, words in {
        2: "two dos", 3: "three tres", 4: "four cuatro", 5: "five cinco", 6: "six seis", 7: "seven siete",
        8: "eight ocho", 9: "nine nueve", 10: "ten diez", 11: "eleven once", 12: "twelve doce", 15: "fifteen quince",
        20: "twenty veinte", 30: "thirty treinta", 40: "forty cuarenta", 50: "fifty cincuenta", 60: "sixty sesenta",
        70: "seventy setenta", 80: "eighty ochenta", 90: "ninety noventa", 100: "hundred cien",
        1000: "thousand mil",
    }.items()
    for word in words.split()
}  # fmt: skip
_NUMBER: Final = pattern(r"(?:(?<=\s)-|^-)?[0-9]+(?:[.,][0-9]+)*")
_UNIT: Final = re.compile(r"(?<=[0-9])(?=(?:[mun]?s|min|sec|[hdmk]|[kmgt]i?b|px|%)(?:[^a-z0-9]|$))")
_WORD: Final = pattern(r"[^\W\d_]+(?:'[^\W\d_]+)?")
# What a choice decides against: "tabs, not spaces", "uv instead of pip".
_AGAINST: Final = pattern(
    r"(?:,? not|,? no| instead of| rather than|,? never| over| en vez de| en lugar de) (?:an? |the |el |la |los |las )?"
    r"([^\W_][\w.+-]*)"
)
_AUXILIARY: Final = pattern(
    r"(?:^|[\s.;:,])(?:do|does|did|is|are|was|were|be|must|should|shall|will|would|can|could|may|might|has|have|had|it"
    r"|this|that|we|and|but|or|se|es|ya|y|pero|que)$"
)


def similarity(a: str, b: str) -> float:
    """From 0 (nothing shared) to 1 (the same words), the same both ways.

    The symmetric Tversky index (Jimenez, Becerra and Gelbukh, *SEM 2013) over the tokens of both without stop
    words, in any order: shared / (shared + 2 swapped + 0.5 added), where the smaller of the two remainders was
    swapped and the rest of the larger one was added. When the hard tokens (numbers and versions, denials, words
    of opposite meaning, what a choice decides against) are not the same set, the result stays below `NEAR`.
    """
    a, b = _plain(a), _plain(b)
    if a == b:
        return 1.0 if a else 0.0
    left, right = _words(a), _words(b)
    shared = len(left & right)
    alike = measure(shared, len(left) - shared, len(right) - shared)
    return alike if alike < NEAR or _hard(a) == _hard(b) else _CAPPED


def alike(one: tuple[str, str], other: tuple[str, str]) -> float:
    """`similarity` of two claims, each (title, body), as `texts` pairs what they say."""
    return max(similarity(mine, theirs) for mine, theirs in _pairs(texts(*one), texts(*other)))


def texts(title: str, body: str) -> tuple[str, str]:
    """(the whole text, what it says without its place): the second is empty where the body does more than place it.

    A note of a file is read as a title and, as its body, the heading or release that it stood under, an empty line
    and the same words. That heading is no part of the claim when the other side was written without one, and it is
    what tells two notes under different headings apart.
    """
    whole = f"{title}\n{body}"
    place, _, said = body.partition("\n\n")
    if not said or "\n" in place or len(place) > _PLACE:
        return whole, ""
    return whole, said if normalise_claim(said).startswith(normalise_claim(title.rstrip("…"))) else ""


def same_title(one: str, other: str) -> bool:
    """Whether two titles are the same words."""
    return normalise_claim(one) == normalise_claim(other)


def _pairs(one: tuple[str, str], other: tuple[str, str]) -> Iterator[tuple[str, str]]:
    yield one[0], other[0]
    if bool(one[1]) != bool(other[1]):
        yield one[1] or one[0], other[1] or other[0]


def measure(shared: int, left: int, right: int) -> float:
    """How alike two texts are of which `shared` words are in both, `left` and `right` only in one."""
    if not shared:
        return 0.0
    fewer, more = sorted((left, right))
    return shared / (shared + _SWAPPED * fewer + _ADDED * (more - fewer))


def near_sizes(count: int, missing: int) -> range:
    """How many words a text can have that is near one of `count` words and lacks `missing` of these or more.

    With s <= count - missing shared words, and min and max the sizes of the two, s / (s + swapped * (min - s) + added *
    (max - min)) >= NEAR, solved for the size of the other text, when it is the longer one and when it is not.
    """
    shared = (count - missing) * (1 - NEAR + NEAR * _SWAPPED) / NEAR + 1e-9
    longer = (shared - (_SWAPPED - _ADDED) * count) / _ADDED
    most = longer if longer >= count else min((shared - _ADDED * count) / (_SWAPPED - _ADDED), count - 1)
    least = NEAR * _ADDED * count / (1 - NEAR + NEAR * _ADDED) - 1e-9
    return range(max(ceil(least), 1), floor(most) + 1)


def least_shared(count: int, other: int) -> int:
    """How many words a text of `count` words shares with one of `other` words at the least when the two are near.

    Of s / (s + swapped * (min - s) + added * (max - min)) >= NEAR, solved for s.
    """
    fewer, more = sorted((count, other))
    return ceil(NEAR * (_SWAPPED * fewer + _ADDED * (more - fewer)) / (1 - NEAR + NEAR * _SWAPPED) - 1e-9)


def words(text: str) -> frozenset[str]:
    """The words that `similarity` compares."""
    return _words(_plain(text))


def hard_tokens(text: str) -> frozenset[str]:
    """The tokens that must be the same in two texts that are near."""
    return _hard(_plain(text))


# One text is compared with many, and a process that stays compares the latest ones with every new one.
@lru_cache(maxsize=256)
def _plain(text: str) -> str:
    return _plain_numbers(normalise_claim(text))


@lru_cache(maxsize=256)
def _words(text: str) -> frozenset[str]:
    """The tokens that carry the claim; number words as digits. Denials are hard tokens, not words."""
    kept = [
        _NUMBER_WORDS.get(word, word)
        for word in text.replace("'", "").split()
        if (bare := word.strip('.,;:!?()[]"')) not in _STOP and bare not in _DENIALS
    ]
    from gitmem.model.tokens import tokens  # here, because a change without neighbours needs none

    found = frozenset(tokens(" ".join(kept)))
    return found or frozenset(tokens(text))


def _hard(text: str) -> frozenset[str]:
    words = [word.replace("'", "") for word in _WORD.findall(text)]
    hard = set(_NUMBER.findall(text))
    hard |= {_NUMBER_WORDS[word] for word in words if word in _NUMBER_WORDS}
    hard |= {word for word in words if word in _OPPOSITES}
    against = {
        f"against {match[1]}" for match in _AGAINST.finditer(text) if not _AUXILIARY.search(text[: match.start()])
    }
    if any(word in _DENIALS for word in words) or against:
        hard.add("denial")
    return frozenset(hard | against)


def _plain_numbers(text: str) -> str:
    """1,000 is 1000; 300s is 300 s; 3.12 stays 3.12."""
    return _UNIT.sub(" ", re.sub(r"(?<=[0-9]),(?=[0-9]{3}(?:[^0-9]|$))", "", text))
