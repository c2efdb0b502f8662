"""Reading one state of the search index: candidates from tantivy, cards for what they say."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from math import ceil
from typing import TYPE_CHECKING, Any, Final

from gitmem.model.frozen import dataclass, replace
from gitmem.model.judgement import Filter
from gitmem.model.records import memory_from_bytes
from gitmem.model.tokens import tokens
from gitmem.recall.cards import Cards, Ranked, first_place
from gitmem.recall.clauses import Clauses
from gitmem.recall.document import NUMBER_FIELDS, OPEN_END, gram_term, newest, pieces_of, said_by, uid
from gitmem.recall.query import Found, Hit, Query, Term
from gitmem.recall.ranking import (
    CANDIDATES,
    GRAM_FLOOR,
    MEANING_FLOOR,
    MEANING_WEIGHT,
    Candidate,
    Corpus,
    Scored,
    confidence,
    rank,
)
from gitmem.recall.words import MAX_TERMS, Words, runs, words

if TYPE_CHECKING:
    from gitmem.recall.vectors import Nearness

_SIMILAR_TERMS: Final = 24  # the rarest words of a text say what it is near to; more only cost time
# The part of them that a similar memory holds. Texts that say the same share at least half of their words
# (tests/policy/near_pairs.py); two that do not share one or two rare ones by chance, and reading those costs time.
_SIMILAR_SHARE: Final = 0.2
# A text of so few words may have them in common with very many, so more are looked at and the likest come first. Of
# 331 lines that say nearly what one of 20,000 commit messages says, 12 in the order of the index held it for 319, and
# the likest 12 for 330.
_FEW_TERMS: Final = 10
_LOOKED_AT_OF_FEW: Final = 300
# Versions that are near in meaning are looked up so many at once, until half of CANDIDATES pass the filter or so many
# were looked at. Looking one up takes 0.03 ms.
_LOOKED_UP: Final = 100
_MOST_LOOKED_AT: Final = 2000
_RANKED_NUMBERS: Final = (
    "card", "length", "state_rank", "origin_rank", "recorded", "changed", "since", "until", "review",
)  # fmt: skip


@dataclass(frozen=True)
class Version:
    """The numbers of one version in the index, by the names of `NUMBER_FIELDS`, and its card's."""

    ref: str
    id: str
    blob: str
    numbers: Mapping[str, int]


class Reader:
    """One searcher with its cards. tantivy's errors come out as they are; `SearchIndex` gives them a type."""

    def __init__(
        self,
        searcher: Any,
        clauses: Clauses,
        cards: Cards,
        replaced: bool,
        near: Callable[[Sequence[str], Words, Corpus], Nearness | None] | None = None,
        languages: tuple[str, ...] = (),
        weight: float = MEANING_WEIGHT,
    ) -> None:
        """near: how near every card is in meaning to a question, where that is known; weight: of that.
        languages: of `tokens`."""
        self._searcher: Final = searcher
        self._clauses: Final = clauses
        self._cards: Final = cards
        self._near: Final = near
        self._languages: Final = languages
        self._weight: Final = weight
        self._replaced: Final = replaced  # whether tantivy's own counts include versions that are gone

    def search(self, query: Query, seen: Filter | None, also: Filter | None) -> Found:
        passing = self._clauses.must(self._clauses.passing(query, seen, also))
        if not any(text.strip() for text in query.texts):
            return self._newest(passing, query)
        searched = self.count(passing)
        asked = self._asked(query)
        if not asked.weights:
            return Found((), 0, searched)
        exactly = (*(asked.phrases if query.phrase else ()), *runs(query.phrases, self._languages))
        if exactly:
            passing = self._clauses.must([passing, *map(self._clauses.phrase, exactly)])
        if query.order == "newest":
            wanted = self._clauses.must([passing, self._clauses.flat(self._text(asked))])
            return replace(self._newest(wanted, query), searched=searched)
        corpus = self._corpus(asked)
        candidates = list(self._candidates(asked, passing, corpus))
        cosines: dict[int, float] = {}
        asking = (query.previous or "", *query.texts)
        if self._near and query.meaning and not asked.literal and (near := self._near(asking, asked, corpus)):
            candidates += self._alike(near, passing, corpus.chance, {candidate.place for candidate in candidates})
            cosines = near.of([candidate.place for candidate in candidates])
        order = rank(candidates, asked, corpus, query.places, giving=also is not None, cosines=cosines, used=query.used)
        page = order[query.offset : query.offset + query.limit]
        hits = tuple(self._hit(scored, confidence(scored, asked, corpus)) for scored in page)
        return Found(hits, len(order), searched, max((hit.confidence for hit in hits), default=0.0))

    def terms(self, query: Query) -> list[Term]:
        asked = self._asked(query)
        return [Term(term, weight, self.frequency(term)) for term, weight in asked.weights.items()]

    def similar(self, text: str, limit: int) -> list[Hit]:
        clauses = self._clauses
        known = {t: n for t in dict.fromkeys(tokens(text)) if (n := self.frequency(t))}
        rarest = sorted(known, key=lambda t: known[t])[:_SIMILAR_TERMS]
        least = max(1, ceil(_SIMILAR_SHARE * len(rarest)))
        shared = clauses.any_of([clauses.term("text", t) for t in rarest], least=least)
        wanted = clauses.must([*map(clauses.flat, clauses.stood(None)), shared])
        few = len(known) <= _FEW_TERMS
        hits = self._run(wanted, max(limit, _LOOKED_AT_OF_FEW) if few else limit, count=False).hits
        cards = self._searcher.fast_field_values("card", [address for _, address in hits])
        ranked = [(score, self._cards.ranked(place)) for (score, _), place in zip(hits, cards, strict=True)]
        if len(ranked) > limit:
            ranked.sort(key=lambda one: _jaccard(known.keys(), one[1]), reverse=True)
        return [Hit(card.ref, card.id, float(score)) for score, card in ranked[:limit]]

    def versions(self, query: Any, *, records: bool = True) -> list[Hit]:
        """Every version that a query finds, by id, ref and then the newer first."""
        hits = [self._hit_of(version, records) for version in self.numbered(query)]
        return sorted(hits, key=lambda hit: (hit.id, hit.ref, -hit.since))

    def numbered(self, query: Any) -> Iterator[Version]:
        """Every version that a query finds, with all of its numbers, in no order."""
        addresses = [address for _, address in self._run(query, self._searcher.num_docs, count=False).hits]
        columns = [self._searcher.fast_field_values(name, addresses) for name in NUMBER_FIELDS]
        for row in zip(*columns, strict=True):
            numbers = dict(zip(NUMBER_FIELDS, row, strict=True))
            card = self._cards.ranked(numbers["card"])
            yield Version(card.ref, card.id, card.blob, numbers)

    def said(self, covered: int) -> Iterator[tuple[int, str]]:
        """The place and the text of every version whose card begins at or behind a byte, by place."""
        wanted = self._behind(covered)
        addresses = [address for _, address in self._run(wanted, self._searcher.num_docs, count=False).hits]
        for place in sorted(self._searcher.fast_field_values("card", addresses)):
            if raw := self._cards.record(place):
                yield place, "\n".join(said_by(memory_from_bytes(raw, trusted=True)))

    def behind(self, covered: int) -> int:
        """How many versions `said` would give."""
        return self.count(self._behind(covered))

    def record(self, version: Version) -> bytes:
        return self._cards.record(version.numbers["card"])

    def begun(self, field: str, prefix: str) -> list[str]:
        """The terms of a field that begin so."""
        return [term for term, _ in self._searcher.terms_with_prefix(field, prefix)]

    def count(self, query: Any) -> int:
        return int(self._run(query, 1).count)

    def frequency(self, term: str) -> int:
        """In how many versions of the index a token occurs."""
        return self._frequency("text", term)

    # Parts

    def _behind(self, covered: int) -> Any:
        return self._clauses.between("card", first_place(covered), OPEN_END)

    def _frequency(self, field: str, term: str) -> int:
        if self._replaced:
            return self.count(self._clauses.term(field, term))
        return int(self._searcher.doc_freq(field, term))

    def _run(self, query: Any, limit: int, **kwargs: Any) -> Any:
        return self._searcher.search(query, max(limit, 1), **kwargs)

    def _asked(self, query: Query) -> Words:
        return words(
            query.texts,
            self.frequency,
            self._documents(),
            query.previous,
            lambda start: self.begun("text", start),
            query.aside,
            self._languages,
        )

    def _documents(self) -> int:
        return max(int(self._searcher.num_docs) - 1, 0)  # without the state

    def _corpus(self, asked: Words) -> Corpus:
        pieces = [] if asked.literal else list(dict.fromkeys(p for word in asked.head for p in pieces_of(word)))
        mean = {name: {"avg": {"field": name}} for name in ("length", "letters")}
        average = self._searcher.aggregate(self._clauses.everything(), mean)
        terms = [*asked.weights, *(other for others in asked.also.values() for other in others)]
        return Corpus(
            documents=self._documents(),
            average=float(average["length"]["value"] or 1.0),
            letters=float(average["letters"]["value"] or 1.0),
            terms={term: self.frequency(term) for term in terms},
            grams={piece: self._frequency("grams", gram_term(piece)) for piece in pieces[:MAX_TERMS]},
            also=asked.also,
            meaning=self._weight,
        )

    def _text(self, asked: Words) -> Any:
        """Any of the words; of a query of flags alone, any of the flags and nothing else."""
        weights = dict.fromkeys(asked.flags, 1.0) if asked.literal else _with_others(asked)
        return self._clauses.any_of(
            [self._clauses.weighted(self._clauses.term("text", t), w) for t, w in weights.items()]
        )

    def _candidates(self, asked: Words, passing: Any, corpus: Corpus) -> Iterator[Candidate]:
        clauses = self._clauses
        text = self._text(asked)
        lists = [clauses.must([passing, text])]
        alike = [clauses.term("grams", gram_term(piece)) for piece, count in corpus.grams.items() if count]
        if alike:
            floor = -int(-GRAM_FLOOR * len(corpus.grams) // 1)
            related = clauses.any_of([text, clauses.any_of(alike, least=floor)])
            lists.append(clauses.must([passing, clauses.flat(related), clauses.any_of(alike)]))
        exact = [clauses.one_of(field, asked.raw) for field in ("path", "key", "id")]
        exact.append(clauses.one_of("tag", [word.casefold() for word in asked.raw]))
        exact.append(clauses.one_of("text", asked.flags))
        # Among many that bear the name, those that say something of the rest.
        lists.append(clauses.must([passing, clauses.flat(clauses.any_of(exact))], should=[text]))
        hits = [hit for query in lists for hit in self._run(query, CANDIDATES, count=False).hits]
        if len(asked.weights) == 1:
            # Many are equally near one word. tantivy takes those that lie first in it; the newest are meant.
            newest_of = clauses.must([passing, clauses.flat(text)])
            hits += self._run(newest_of, CANDIDATES, count=False, order_by_field="newest").hits
        found = {(address.segment_ord, address.doc): address for _, address in hits}
        yield from self._read(list(found.values()))

    def _alike(self, near: Nearness, passing: Any, chance: float, known: Collection[int]) -> Iterator[Candidate]:
        """The nearest versions that pass, looked up as all others are, of those that no word has brought."""
        clauses, passed = self._clauses, 0
        places = near.above(MEANING_FLOOR * chance)[:_MOST_LOOKED_AT]
        for start in range(0, len(places), _LOOKED_UP):
            batch = frozenset(places[start : start + _LOOKED_UP])
            names = [uid(card.ref, card.id, card.since) for card in map(self._cards.ranked, batch)]
            query = clauses.must([passing, clauses.flat(clauses.one_of("uid", names))])
            addresses = [address for _, address in self._run(query, len(batch), count=False).hits]
            # A version that was put anew has another card; what the old one said is not what is found.
            found = [candidate for candidate in self._read(addresses) if candidate.place in batch]
            yield from (candidate for candidate in found if candidate.place not in known)
            passed += len(found)
            if passed >= CANDIDATES // 2:
                return

    def _read(self, addresses: Sequence[Any]) -> Iterator[Candidate]:
        columns = [self._searcher.fast_field_values(name, addresses) for name in _RANKED_NUMBERS]
        for place, *numbers in zip(*columns, strict=True):
            yield Candidate(self._cards.ranked(place), place, *numbers)

    def _newest(self, query: Any, asked: Query) -> Found:
        found = self._run(query, asked.limit, order_by_field="newest", offset=asked.offset)
        page = sorted(self._read([address for _, address in found.hits][: asked.limit]), key=_newest_first)
        return Found(tuple(self._hit(Scored(candidate, 0.0, {}, ())) for candidate in page), found.count, found.count)

    def _hit(self, scored: Scored, sure: float = 0.0) -> Hit:
        one = scored.candidate
        return Hit(
            one.ranked.ref, one.ranked.id, scored.score, scored.matched, self._cards.record(one.place),
            one.since, one.until, one.recorded, one.changed, scored.lanes, sure, one.review,
        )  # fmt: skip

    def _hit_of(self, version: Version, records: bool) -> Hit:
        numbers = version.numbers
        return Hit(
            version.ref, version.id, record=self.record(version) if records else b"", since=numbers["since"],
            until=numbers["until"], recorded=numbers["recorded"], changed=numbers["changed"], review=numbers["review"],
        )  # fmt: skip


def _newest_first(candidate: Candidate) -> tuple[int, str]:
    name = uid(candidate.ranked.ref, candidate.ranked.id, candidate.since)
    return -newest(candidate.recorded, name), name


def _with_others(asked: Words) -> dict[str, float]:
    """The terms of a question and, lighter, those that may stand in their place."""
    others = {o: part * asked.weights[t] for t, found in asked.also.items() for o, part in found.items()}
    return {**others, **asked.weights}


def _jaccard(spoken: Set[str], card: Ranked) -> float:
    """How much of the words of both is in both."""
    held = set(card.words.split())
    return len(spoken & held) / len(spoken | held)
