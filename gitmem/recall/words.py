"""What a person typed, as terms. Nothing is query syntax: every character is text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from typing import Final

from gitmem.model.frozen import dataclass
from gitmem.model.tokens import tokens

MAX_TEXT: Final = 32 * 1024  # characters that are read of a query; a pasted trace is cut, not parsed
MAX_TERMS: Final = 256
# A query of more words than this is pruned to its first line, twice, and the rarest words of the rest that are in
# less than a tenth of the memories (githist, issue title + 1,000 characters: hit@5 44.1 -> 58.8, MRR 39.5 -> 54.0).
LONG_QUERY: Final = 30
RAREST: Final = 20
COMMON: Final = 0.1
FIRST_LINE_WEIGHT: Final = 2.0
PREVIOUS_WEIGHT: Final = 0.5  # of a word that only the request before this one holds

# Words of questions. Left out of a query that has other words (githist hit@5 76.0 -> 77.2, LoCoMo turn 57.4 -> 62.8).
_QUESTION_WORDS: Final = """
    a about after all also am an and any are as at be because been before being but by can could did do does doing
    for from get gets getting had has have having he her here his how i if in into is it its just me more most my no
    not of on or other our out over own she should so some such than that the their them then there these they this
    those to too under up us use used using very was we were what when where which while who whom why will with
    would you your
"""


@dataclass(frozen=True)
class Words:
    """The terms of a query with their weights.

    flags: command-line flags as written. literal: the query is flags and nothing else. phrases: the token runs of
    each text. raw: the words as typed, for exact matches of paths, tags, keys and ids.
    """

    weights: Mapping[str, float]
    flags: tuple[str, ...]
    literal: bool
    phrases: tuple[tuple[str, ...], ...]
    raw: tuple[str, ...]


def words(
    texts: tuple[str, ...], frequency: Callable[[str], int], documents: int, previous: str | None = None
) -> Words:
    """The terms of `texts`, and lighter ones of the request before them, which a short follow-up leaves unsaid.

    `frequency` gives the number of documents that hold a term, `documents` that of all.
    """
    text = " ".join(texts)[:MAX_TEXT]
    chunks = text.split()
    found = tokens(text)
    flags = tuple(dict.fromkeys(t for t in found if is_flag(t) and frequency(t)))[:MAX_TERMS]
    weights = _weights(text, found, frequency, documents)
    if previous and weights:
        before = previous[:MAX_TEXT]
        said = _weights(before, tokens(before), frequency, documents)
        weights = {**{t: PREVIOUS_WEIGHT * w for t, w in said.items() if t not in question_words()}, **weights}
    return Words(
        weights=weights,
        flags=flags,
        literal=bool(flags) and all(is_flag((tokens(chunk) or [""])[0]) for chunk in chunks),
        phrases=runs(texts),
        raw=tuple(dict.fromkeys(chunk.strip(".,;:!?()[]{}<>\"'`") for chunk in chunks))[:MAX_TERMS],
    )


def runs(texts: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """The token run of each text that has any."""
    return tuple(run for text in texts if (run := tuple(tokens(text[:MAX_TEXT])[:MAX_TERMS])))


def is_flag(token: str) -> bool:
    return token.startswith("-")


@cache
def question_words() -> frozenset[str]:
    """The tokens of the stop list."""
    return frozenset(tokens(_QUESTION_WORDS))


def _weights(text: str, found: list[str], frequency: Callable[[str], int], documents: int) -> dict[str, float]:
    counts = Counter(t for t in found if t not in question_words()) or Counter(found)
    if len(counts) <= LONG_QUERY:
        return dict.fromkeys(counts, 1.0)
    first = [t for t in dict.fromkeys(tokens(text.strip().split("\n", 1)[0])) if t in counts][:LONG_QUERY]
    known = {t: frequency(t) for t in list(counts)[: 8 * MAX_TERMS] if t not in first}
    rare = sorted((t for t, n in known.items() if 0 < n < max(COMMON * documents, 2)), key=lambda t: known[t])
    weights = dict.fromkeys(first, FIRST_LINE_WEIGHT) | dict.fromkeys(rare[:RAREST], 1.0)
    return dict(list(weights.items())[:MAX_TERMS])
