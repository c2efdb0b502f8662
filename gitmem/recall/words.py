"""What a person typed, as terms. Nothing is query syntax: every character is text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

from gitmem.model.frozen import dataclass
from gitmem.model.tokens import tokens
from gitmem.recall.also import groups

MAX_TEXT: Final = 32 * 1024  # characters that are read of a query; a pasted trace is cut, not parsed
MAX_TERMS: Final = 256
# A query of more words than this is pruned to its first line, twice, and the rarest words of the rest that are in
# less than a tenth of the memories (githist, issue title + 1,000 characters: hit@5 44.1 -> 58.8, MRR 39.5 -> 54.0).
LONG_QUERY: Final = 30
RAREST: Final = 20
COMMON: Final = 0.1
FIRST_LINE_WEIGHT: Final = 2.0
PREVIOUS_WEIGHT: Final = 0.5  # of a word that only the request before this one holds

# Words of questions, as tokens. Left out of a query that has other words (githist hit@5 76.0 -> 77.2, LoCoMo turn
# 57.4 -> 62.8).
_QUESTION_WORDS: Final = """
    a about after all also am an and ani are as at be becaus been befor but by can could did do doe for from get had
    has have he her here his how i if in into is it just me more most my no not of on or other our out over own she
    should so some such than that the their them then there these they this those to too under up us use veri was we
    were what when where whi which while who whom will with would you your
"""
QUESTION_WORDS: Final = frozenset(_QUESTION_WORDS.split())
# githist dev hit@1/hit@5/MRR: 66.1/80.1/72.9 when each of n tokens of one word counts in full (`pre-commit` gives
# three), 67.4/80.9/73.7 by n ** -0.25, 67.8/81.4/73.9 by n ** -0.5, which loses 2 points of hit@10 on the rest.
PART_POWER: Final = 0.25


@dataclass(frozen=True)
class Words:
    """The terms of a query with their weights.

    also: for a term others that may stand in its place. flags: command-line flags as written. literal: the query is
    flags and nothing else. phrases: the token runs of each text. raw: the words as typed, for exact matches of paths,
    tags, keys and ids.
    """

    weights: Mapping[str, float]
    also: Mapping[str, tuple[str, ...]]
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
        weights = {**{t: PREVIOUS_WEIGHT * w for t, w in said.items() if t not in QUESTION_WORDS}, **weights}
    shares = _shares(chunks)
    return Words(
        weights={term: weight * shares.get(term, 1.0) for term, weight in weights.items()},
        also={t: others for t in weights if (others := tuple(o for o in groups().get(t, ()) if o not in weights))},
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


def _shares(chunks: list[str]) -> dict[str, float]:
    """What each token of a word counts, where one word gives several."""
    shares: dict[str, float] = {}
    for chunk in chunks:
        parts = dict.fromkeys(tokens(chunk))
        for term in parts:
            shares.setdefault(term, len(parts) ** -PART_POWER)
    return shares


def _weights(text: str, found: list[str], frequency: Callable[[str], int], documents: int) -> dict[str, float]:
    counts = Counter(t for t in found if t not in QUESTION_WORDS) or Counter(found)
    if len(counts) <= LONG_QUERY:
        return dict.fromkeys(counts, 1.0)
    first = [t for t in dict.fromkeys(tokens(text.strip().split("\n", 1)[0])) if t in counts][:LONG_QUERY]
    known = {t: frequency(t) for t in list(counts)[: 8 * MAX_TERMS] if t not in first}
    rare = sorted((t for t, n in known.items() if 0 < n < max(COMMON * documents, 2)), key=lambda t: known[t])
    weights = dict.fromkeys(first, FIRST_LINE_WEIGHT) | dict.fromkeys(rare[:RAREST], 1.0)
    return dict(list(weights.items())[:MAX_TERMS])
