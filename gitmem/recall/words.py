"""What a person typed, as terms. Nothing is query syntax: every character is text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import pairwise
from typing import Final

from gitmem.model.frozen import dataclass
from gitmem.model.tokens import tokens
from gitmem.recall.also import groups
from gitmem.recall.dates import Date, named_dates

MAX_TEXT: Final = 32 * 1024  # characters that are read of a query; a pasted trace is cut, not parsed
MAX_TERMS: Final = 256
# A query of more words than this is pruned to the first ones of its first line and, at a part of their weight, the
# rarest words of the rest that are in less than a tenth of the memories. githist, 1,000 characters of the same
# project's text behind the question: MRR 55.5 -> 67.6, on its own line hit@5 69.7 -> 75.6 (docs/retrieval.md).
LONG_QUERY: Final = 30
HEAD: Final = 16
RAREST: Final = 20
COMMON: Final = 0.1
REST_WEIGHT: Final = 0.25
REPEATED_WEIGHT: Final = 1.5  # of a word that a short query holds twice (githist hit@5 +0.4)
PREVIOUS_WEIGHT: Final = 0.5  # of a word that only the request before this one holds

# Words of questions, as tokens. Left out of a query that has other words (githist hit@5 76.0 -> 77.2, LoCoMo turn
# 57.4 -> 62.8).
_QUESTION_WORDS: Final = """
    a about after all also am an and ani are as at be becaus been befor but by can could did do doe for from get had
    has have he her here his how i if in into is it just me more most my no not of on or other our out over own she
    should so some such than that the their them then there these they this those to too under up us use veri was we
    were what when where whi which while who whom will with would you your
"""
# A short form gives two tokens, its letters and what stands before the apostrophe: don't, dont and don.
_SHORT_FORMS: Final = """
    arent aren cannot cant couldnt couldn didnt didn doesnt doesn dont don hadnt hadn hasnt hasn havent haven ill im
    isnt isn ive ll re shouldnt shouldn theyr ve wasnt wasn werent weren weve won wont wouldnt wouldn youd youll youv
"""
QUESTION_WORDS: Final = frozenset((_QUESTION_WORDS + _SHORT_FORMS).split())
# githist dev hit@1/hit@5/MRR: 66.1/80.1/72.9 when each of n tokens of one word counts in full (`pre-commit` gives
# three), 67.4/80.9/73.7 by n ** -0.25, 67.8/81.4/73.9 by n ** -0.5, which loses 2 points of hit@10 on the rest.
PART_POWER: Final = 0.25
# What a word is worth that stands in the place of another (`gitmem.recall.also`): githist MRR +0.8, CoSQA hit@10
# +2.4; 0.5 to 0.8 are alike. A word that no memory holds may be mistyped: the words that are one edit away count
# nearly in full (githist with one typo a question: hit@5 74.9 -> 77.0, MRR +2.2).
ALSO_WEIGHT: Final = 0.6
SPELT_WEIGHT: Final = 0.8
JOINED_WEIGHT: Final = 0.8  # of two words that a memory holds as one (CoSQA MRR +0.6)
_SIGNS: Final = "#@$-."
SPELLED: Final = 4  # letters of the shortest word that is taken for a mistyped one
_MOST_SPELT: Final = 8


@dataclass(frozen=True)
class Words:
    """The terms of a query with their weights.

    told: the same without those that say where and not what, and without words that nothing holds with their sign.
    also: for a term others that may stand in its place, with what part of it they are worth. head: the terms that
    matter most, all of a short query. flags: command-line flags as written. literal: the query is
    flags and nothing else. phrases: the token runs of each text. raw: the words as typed, for exact matches of paths,
    tags, keys and ids. dates: months and days that are named (`gitmem.recall.dates`).
    """

    weights: Mapping[str, float]
    told: Mapping[str, float]
    also: Mapping[str, Mapping[str, float]]
    head: tuple[str, ...]
    flags: tuple[str, ...]
    literal: bool
    phrases: tuple[tuple[str, ...], ...]
    raw: tuple[str, ...]
    dates: tuple[Date, ...] = ()


def words(
    texts: tuple[str, ...],
    frequency: Callable[[str], int],
    documents: int,
    previous: str | None = None,
    begun: Callable[[str], Iterable[str]] = lambda prefix: (),
    aside: Iterable[str] = (),
    languages: tuple[str, ...] = (),
) -> Words:
    """The terms of `texts`, and lighter ones of the request before them, which a short follow-up leaves unsaid.

    `frequency` gives the number of documents that hold a term, `documents` that of all, `begun` the terms of the
    index that begin so, `aside` words of the texts that say where, `languages` those by whose stems it was made.
    """
    cut = partial(tokens, languages=languages)
    text = " ".join(texts)[:MAX_TEXT]
    chunks = text.split()
    found = cut(text)
    flags = tuple(dict.fromkeys(t for t in found if is_flag(t) and frequency(t)))[:MAX_TERMS]
    weights = _weights(text, found, frequency, documents, cut)
    if previous and weights:
        before = previous[:MAX_TEXT]
        said = _weights(before, cut(before), frequency, documents, cut)
        weights = {**{t: PREVIOUS_WEIGHT * w for t, w in said.items() if t not in QUESTION_WORDS}, **weights}
    parts = _parts(chunks, cut)
    where = frozenset(cut(" ".join(aside)))
    mere = _mere_signs(found, frequency)
    head = tuple(term for term, weight in weights.items() if weight >= 1.0) or tuple(weights)
    weights = {term: weight * parts.get(term, 1) ** -PART_POWER for term, weight in weights.items()}
    return Words(
        weights=weights,
        told={term: weight for term, weight in weights.items() if term not in where | mere} or weights,
        also=_also(head, chunks, weights, frequency, begun, cut),
        head=head,
        flags=flags,
        literal=bool(flags) and all(is_flag((cut(chunk) or [""])[0]) for chunk in chunks),
        phrases=runs(texts, languages),
        raw=tuple(dict.fromkeys(chunk.strip(".,;:!?()[]{}<>\"'`") for chunk in chunks))[:MAX_TERMS],
        dates=tuple(named_dates(text)),
    )


def runs(texts: tuple[str, ...], languages: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """The token run of each text that has any."""
    return tuple(run for text in texts if (run := tuple(tokens(text[:MAX_TEXT], languages)[:MAX_TERMS])))


def is_flag(token: str) -> bool:
    return token.startswith("-")


def _mere_signs(found: Iterable[str], frequency: Callable[[str], int]) -> frozenset[str]:
    """The tokens that nothing holds with the sign before them: `#sockets`, where `sockets` may be known."""
    return frozenset(term for term in set(found) if term[0] in _SIGNS and not frequency(term))


def _parts(chunks: list[str], cut: Callable[[str], list[str]]) -> dict[str, int]:
    """Of each token, how many the word gives that it comes from."""
    parts: dict[str, int] = {}
    for chunk in chunks:
        found = dict.fromkeys(cut(chunk))
        for term in found:
            parts.setdefault(term, len(found))
    return parts


def _also(
    head: tuple[str, ...],
    chunks: list[str],
    asked: Mapping[str, float],
    frequency: Callable[[str], int],
    begun: Callable[[str], Iterable[str]],
    cut: Callable[[str], list[str]],
) -> dict[str, dict[str, float]]:
    """For each term that matters what may stand in its place; for two words in a row what they are as one: `file name`
    is asked of a memory about `filename`."""
    found = {term: _others(term, asked, frequency, begun) for term in head}
    for one, two in pairwise(chunks):
        if one.isalpha() and two.isalpha() and len(chunks) <= LONG_QUERY:
            joined = cut(one + two)[0]
            if joined not in asked and frequency(joined):
                for term in (cut(one)[0], cut(two)[0]):
                    if term in found:
                        found[term][joined] = JOINED_WEIGHT
    return {term: others for term, others in found.items() if others}


def _others(
    term: str, asked: Mapping[str, float], frequency: Callable[[str], int], begun: Callable[[str], Iterable[str]]
) -> dict[str, float]:
    """Terms that may stand in the place of one; for one that nothing holds, terms that are spelt nearly so."""
    found = {other: ALSO_WEIGHT for other in groups().get(term, ()) if other not in asked and frequency(other)}
    if len(term) >= SPELLED and term.isalpha() and not frequency(term):
        near = (
            other
            for start in {term[:2], term[1::-1]}
            for other in begun(start)
            if one_edit(term, other) and frequency(other)
        )
        found.update((other, SPELT_WEIGHT) for other in sorted(near)[:_MOST_SPELT] if other not in asked)
    return found


def one_edit(one: str, two: str) -> bool:
    """True when a letter more, less or other, or two swapped neighbours, make one word of the other."""
    if one == two or abs(len(one) - len(two)) > 1 or not two.isalpha():
        return False
    short, long = sorted((one, two), key=len)
    at = next((n for n, letter in enumerate(short) if letter != long[n]), len(short))
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    return short[at + 1 :] == long[at + 1 :] or short[at : at + 2][::-1] + short[at + 2 :] == long[at:]


def _weights(
    text: str,
    found: list[str],
    frequency: Callable[[str], int],
    documents: int,
    cut: Callable[[str], list[str]],
) -> dict[str, float]:
    counts = Counter(t for t in found if t not in QUESTION_WORDS) or Counter(found)
    if len(counts) <= LONG_QUERY:
        return {term: REPEATED_WEIGHT if count > 1 else 1.0 for term, count in counts.items()}
    first = [t for t in dict.fromkeys(cut(text.strip().split("\n", 1)[0])) if t in counts][:HEAD]
    known = {t: frequency(t) for t in list(counts)[: 8 * MAX_TERMS] if t not in first}
    rare = sorted((t for t, n in known.items() if 0 < n < max(COMMON * documents, 2)), key=lambda t: known[t])
    weights = dict.fromkeys(first, 1.0) | dict.fromkeys(rare[:RAREST], REST_WEIGHT)
    return dict(list(weights.items())[:MAX_TERMS])
