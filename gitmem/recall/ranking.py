"""How candidates become one order. Pure: the same candidates and numbers give the same order.

tantivy chooses the candidates; they are scored here, with exact counts. Its own scores count documents that
were replaced and not yet merged away, so that an index that was caught up would rank otherwise than one that was
rebuilt; and its BM25 has fixed parameters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from math import log, log10, sqrt
from typing import Final

from gitmem.model.frozen import dataclass, field
from gitmem.model.vocabulary import STATUSES, VISIBLE
from gitmem.recall.cards import Ranked
from gitmem.recall.dates import falls_on
from gitmem.recall.document import folders_of, pieces_of
from gitmem.recall.words import Words

# Candidates of each list. On githist 100 and 300 find the same (docs/retrieval.md); reading one takes 0.03 ms.
CANDIDATES: Final = 50
# githist dev hit@1/hit@5/MRR with these: 68.2/80.9/74.2; with BM25's usual 1.2 and 0.75: 67.4/80.9/73.7. Flat around.
K1: Final = 1.5
B: Final = 0.6
# githist dev hit@5/MRR: 78.2/68.0 without, 77.6 to 78.6/67.8 to 68.4 from 0.15 to 0.5: flat. With one typo a
# query 0.3 is worth 2 points of MRR, CoSQA hit@5 +3.2.
GRAM_WEIGHT: Final = 0.3
# A memory without any word of the query counts only when it shares this part of the query's 4-grams; less than
# that is chance, and an answer by chance hides that nothing is known.
GRAM_FLOOR: Final = 0.6
# An exact path, tag, key, id or flag, as a part of the top score (LoCoMo speaker match: MRR +4.7 at 0.35; 0.2 to
# 0.35 are alike).
ENTITY_WEIGHT: Final = 0.25
# What the score of a sure answer is of all that was asked, for one word: the scale of `confidence`.
_CERTAIN: Final = 3.0
_COVERED: Final = 0.8  # what the covered part of a long question counts; that of one word or two counts more
# A month or day that the query names and the memory was recorded in (LoCoMo turn: 0.3, MRR +0.7).
DATE_WEIGHT: Final = 0.1
# A memory about the place that the reader works in, or near it: breaks what is nearly a tie, no more.
PLACE_WEIGHT: Final = 0.1
# The cosine of the directions of question and memory, with the extra `gitmem[semantic]`; that of `gitmem[minilm]` has a
# weight of its own. githist dev hit@1/hit@5/
# hit@10/MRR: 68.6/82.2/86.9/74.9 without, 69.1/83.5/86.9/75.3 at 0.3, 69.5/83.9/87.3/75.8 at 0.5, 69.5/83.5/86.9/75.7
# at 0.85.
MEANING_WEIGHT: Final = 0.5
# The nearest of n memories of another project is as near as 0.25 + 0.115 log10(n) for one question in 20 or fewer, from
# 3 memories to 3,000 (githist dev, one in 20 at 3, 10, 30, ...: 0.297, 0.353, 0.442, 0.480, 0.549, 0.604, 0.620 by the
# table of words, 0.309, 0.353, 0.419, 0.508, 0.536, 0.597, 0.607 by MiniLM).
_CHANCE_OF_ONE: Final = 0.25
_CHANCE_GROWS: Final = 0.115
# A memory without any word of the query counts only when it is nearer than this part of that. The confidence in what
# is just as near as that.
MEANING_FLOOR: Final = 0.7
MEANING_SURE: Final = 0.45
# The most that use raises a memory by, as a part of its score: as much as the difference between what was said and what
# was imported, so that it decides between near ones and lets nothing weak overtake. By judgement: no set here has uses.
USE_WEIGHT: Final = 0.06
# What was said by a person or seen outranks what was concluded, imported or read elsewhere, when all else is near.
ORIGIN_WEIGHT: Final = (0.9, 0.94, 0.97, 1.0, 1.0)  # by ORIGIN_RANK: external to human
_STATE_WEIGHT: Final = tuple(VISIBLE.get(status, min(VISIBLE.values())) for status in (*STATUSES, "unknown"))
# What a superseded memory is worth to the one in its place, which may not hold the words any more: by judgement.
REPLACED_WEIGHT: Final = 0.8
_GIVING_PLACE: Final = tuple(
    REPLACED_WEIGHT if status == "superseded" else weight
    for status, weight in zip((*STATUSES, "unknown"), _STATE_WEIGHT, strict=True)
)


@dataclass(frozen=True)
class Candidate:
    """A version that may answer: its numbers from the index and its card. `length`: tokens."""

    ranked: Ranked
    place: int
    length: int
    state: int
    origin: int
    recorded: int
    changed: int
    since: int
    until: int
    review: int


@dataclass(frozen=True)
class Corpus:
    """What is counted over the whole index. documents: versions. average, letters: tokens and characters of one.

    terms, grams: in how many versions each term of the query, one that may stand in its place, or a 4-gram of its
    words occurs. also: as `Words.also`. meaning: what a cosine weighs.
    """

    documents: int
    average: float
    letters: float
    terms: Mapping[str, int]
    grams: Mapping[str, int]
    also: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    meaning: float = MEANING_WEIGHT

    @cached_property
    def worth(self) -> dict[str, float]:
        """How much a term says, by how rare it is."""
        return {term: self.rarity(count) for term, count in self.terms.items()}

    def weight_of(self, term: str) -> float:
        """How much a term of the question asks for: one that nothing holds as much as one that a single memory holds.
        Among a few memories it would outweigh all that is known."""
        return self.rarity(max(self.terms[term], 1))

    @cached_property
    def worth_of_gram(self) -> dict[str, float]:
        return {gram: self.rarity(count) for gram, count in self.grams.items()}

    @cached_property
    def worth_of_other(self) -> dict[tuple[str, str], float]:
        """What a term is worth in the place of another: never more than that one, unless nothing holds that."""
        return {
            (term, other): part * (min(self.worth[term], self.worth[other]) if self.terms[term] else self.worth[other])
            for term, others in self.also.items()
            for other, part in others.items()
        }

    def rarity(self, count: int) -> float:
        """BM25's idf, never negative (Lucene's form): log(1 + (N - n + 0.5) / (n + 0.5))."""
        count = min(count, self.documents)
        return log(1 + (self.documents - count + 0.5) / (count + 0.5))

    @property
    def chance(self) -> float:
        """The cosine that the nearest memory has by chance, now and then."""
        return _CHANCE_OF_ONE + _CHANCE_GROWS * log10(max(self.documents, 1))


@dataclass(frozen=True)
class Scored:
    """A candidate with its score, the parts that it is made of, and the terms of the query that it holds.

    told: its BM25 score by those words alone that say what, not where (`Words.told`).
    """

    candidate: Candidate
    score: float
    lanes: Mapping[str, float]
    matched: tuple[str, ...]
    told: float = 0.0


def rank(
    candidates: Iterable[Candidate],
    asked: Words,
    corpus: Corpus,
    places: Mapping[str, float],
    *,
    giving: bool = False,
    cosines: Mapping[int, float] | None = None,
    used: Mapping[str, float] | None = None,
) -> list[Scored]:
    """Best first: (text/max + 0.3 grams/max + small additions) x the weight of state and origin.

    Equal scores: the newer first, then by id. giving: superseded ones are ranked for what stands in their place.
    cosines: of the meaning, by `Candidate.place`, where it is known. used: by memory, how likely it is needed, 0 to 1.
    """
    rows = [(candidate, *_lexical(candidate, asked, corpus)) for candidate in candidates]
    top_text = max((row[1] for row in rows), default=0.0) or 1.0
    top_grams = max((row[2] for row in rows), default=0.0) or 1.0
    raw = {word.casefold() for word in asked.raw}
    states = _GIVING_PLACE if giving else _STATE_WEIGHT
    scored = []
    for candidate, text, grams, matched, told in rows:
        lanes = {"text": text / top_text, "grams": GRAM_WEIGHT * grams / top_grams}
        if not raw.isdisjoint(candidate.ranked.names):
            lanes["exact"] = ENTITY_WEIGHT
        if places and (near := affinity(candidate.ranked.names, places)):
            lanes["place"] = PLACE_WEIGHT * near
        if asked.dates and falls_on(candidate.recorded, asked.dates):
            lanes["date"] = DATE_WEIGHT
        if cosines and (alike := cosines[candidate.place]) > 0.0:
            lanes["meaning"] = corpus.meaning * alike
        if used and (needed := used.get(candidate.ranked.id)):
            lanes["use"] = USE_WEIGHT * needed * sum(lanes.values())
        score = sum(lanes.values()) * states[candidate.state] * ORIGIN_WEIGHT[candidate.origin]
        scored.append(Scored(candidate, round(score, 6), lanes, matched, told))
    return sorted(scored, key=_order)


def _order(scored: Scored) -> tuple[float, int, str, str, int]:
    ranked = scored.candidate.ranked
    return -scored.score, -scored.candidate.recorded, ranked.ref, ranked.id, -ranked.since


def _lexical(candidate: Candidate, asked: Words, corpus: Corpus) -> tuple[float, float, tuple[str, ...], float]:
    """The scores of words (Robertson and Zaragoza's BM25) and of 4-grams, which terms occur, and `Scored.told`."""
    words = candidate.ranked.words
    split = words.split(" ")
    norm = K1 * (1 - B + B * candidate.length / corpus.average)
    text, told, matched = 0.0, 0.0, []
    for term, weight in asked.weights.items():
        best = 0.0
        if term in words and (count := split.count(term)):
            best = corpus.worth[term] * count * (K1 + 1) / (count + norm)
            matched.append(term)
        for other in asked.also.get(term, ()):
            if other in words and (count := split.count(other)):
                best = max(best, corpus.worth_of_other[term, other] * count * (K1 + 1) / (count + norm))
        if best:
            text += weight * best
            told += asked.told.get(term, 0.0) * best
    matched += [flag for flag in asked.flags if flag not in asked.weights and f" {flag} " in words]
    grams = sum([worth for gram, worth in corpus.worth_of_gram.items() if gram in words])
    return text, grams / (1 + K1 * (1 - B + B * len(words) / corpus.letters)), tuple(matched), told


def affinity(names: Sequence[str], places: Mapping[str, float]) -> float:
    """How near a memory is to the places, 0 to 1: it is about one, or about a folder that holds one."""
    about = set(names)
    best = 0.0
    for place, weight in places.items():
        if weight > best and any(folder in about for folder in folders_of(place.casefold())):
            best = weight
    return best


def confidence(one: Scored, asked: Words, corpus: Corpus) -> float:
    """How surely a memory answers, 0 to 1; what it takes to be shown is `gitmem.app.recalling.SURE`.

    Its BM25 score as a part of what all words of the question are worth, times the square root of their number, since
    half of a long question is seldom held by chance; of a short question the part that it holds, as each word counts
    by how rare it is; and where the meaning is known, that it is near (docs/retrieval.md, "Silence").
    """
    total = sum(told * corpus.weight_of(term) for term, told in asked.told.items())
    if not total:
        return 0.0
    many = max(sum(asked.told.values()), 1.0)
    scored = one.told * sqrt(many) / (total * _CERTAIN)
    covered = _held(one, asked, corpus) / total * (_COVERED + (1 - _COVERED) * 2 / many)
    meant = MEANING_SURE * one.lanes.get("meaning", 0.0) / corpus.meaning / corpus.chance
    return round(min(max(scored, covered, meant), 1.0), 6)


def _held(one: Scored, asked: Words, corpus: Corpus) -> float:
    """What the words are worth that a memory holds. One that is not there counts half when another that may stand in
    its place is, or by the part of its 4-grams that is, above the floor: it may be mistyped."""
    words, held = one.candidate.ranked.words, 0.0
    for term, told in asked.told.items():
        worth = told * corpus.weight_of(term)
        if term in one.matched:
            held += worth
        elif any(f" {other} " in words for other in asked.also.get(term, ())):
            held += worth / 2
        elif pieces := pieces_of(term):
            share = sum(piece in words for piece in pieces) / len(pieces)
            held += worth * share / 2 if share >= GRAM_FLOOR else 0.0
    return held
