"""What is asked and what is answered, and the clauses that a query and a filter become."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final, Literal

from gitmem.model.frozen import dataclass
from gitmem.model.judgement import Filter
from gitmem.recall.document import OPEN_END, OPEN_START, folders_of, microseconds, plain_path

_FEW: Final = 32  # values up to which single terms are faster than tantivy's set of terms, which walks the dictionary


@dataclass(frozen=True)
class Query:
    """A search. Empty `texts` ask for everything that passes, newest first.

    phrase: each text has to occur word for word; phrases: so have these, beside the texts. kinds, statuses, refs,
    origins: any of them; empty does not ask (`refs` is the accepted branch unless said otherwise). tags: all of
    them. path: memories about that file or folder, about what lies in it, or about a folder that holds it. since,
    until: recorded in [since, until).
    """

    texts: tuple[str, ...] = ()
    phrase: bool = False
    phrases: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    key: str | None = None
    path: str | None = None
    refs: tuple[str, ...] = ("main",)
    origins: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    limit: int = 10
    offset: int = 0
    order: Literal["relevance", "newest"] = "relevance"


@dataclass(frozen=True)
class Hit:
    """One memory that answers. score: about 0 to 2, comparable within one answer only. matched: the terms found."""

    ref: str
    id: str
    score: float
    matched: tuple[str, ...] = ()


@dataclass(frozen=True)
class Found:
    """An answer. total: memories that match (for words: those ranked). searched: memories that were looked at,
    after the filter; 0 says that nothing was searched, which is not the same as nothing known."""

    hits: tuple[Hit, ...]
    total: int
    searched: int


class Clauses:
    """Builds tantivy queries over one schema, term by term."""

    def __init__(self, schema: Any) -> None:
        import tantivy

        self._tantivy: Final = tantivy
        self._schema: Final = schema

    def term(self, field: str, value: str) -> Any:
        return self._tantivy.Query.term_query(self._schema, field, value, index_option="freq")

    def one_of(self, field: str, values: Iterable[str]) -> Any:
        known = sorted(value for value in set(values) if _is_storable(value))
        if not known:
            return self._tantivy.Query.empty_query()
        if len(known) <= _FEW:
            return self.any_of([self.term(field, value) for value in known])
        return self._tantivy.Query.term_set_query(self._schema, field, known)

    def phrase(self, run: tuple[str, ...]) -> Any:
        if len(run) == 1:
            return self.term("text", run[0])
        return self._tantivy.Query.phrase_query(self._schema, "text", list(run))

    def between(self, field: str, low: int, high: int) -> Any:
        """low <= value <= high."""
        return self._tantivy.Query.range_query(
            self._schema, field, self._tantivy.FieldType.Integer, lower_bound=low, upper_bound=high
        )

    def must(self, queries: Iterable[Any]) -> Any:
        return self._tantivy.Query.boolean_query([(self._tantivy.Occur.Must, q) for q in queries])

    def any_of(self, queries: Iterable[Any], least: int = 1) -> Any:
        return self._tantivy.Query.boolean_query(
            [(self._tantivy.Occur.Should, q) for q in queries], minimum_number_should_match=least
        )

    def weighted(self, query: Any, weight: float) -> Any:
        return query if weight == 1.0 else self._tantivy.Query.boost_query(query, weight)

    def flat(self, query: Any, score: float = 0.0) -> Any:
        """`query` with every match worth the same."""
        return self._tantivy.Query.const_score_query(query, score)

    def passing(self, query: Query, seen: Filter | None) -> list[Any]:
        """What every answer has to meet: the filter of the reader, then what the query asks besides words."""
        clauses = [*self._visible(seen), self.one_of("ref", query.refs or ("main", "inbox"))]
        for field, values in (("kind", query.kinds), ("status", query.statuses), ("origin", query.origins)):
            if values:
                clauses.append(self.one_of(field, values))
        clauses += [self.one_of("tag", [tag.casefold()]) for tag in query.tags]
        if query.key is not None:
            clauses.append(self.one_of("key", [query.key]))
        if query.path is not None:
            path = plain_path(query.path)
            clauses.append(self.any_of([self.one_of("under", [path]), self.one_of("path", folders_of(path))]))
        if query.since is not None or query.until is not None:
            low = OPEN_START if query.since is None else microseconds(query.since)
            clauses.append(
                self.between("recorded", low, OPEN_END if query.until is None else microseconds(query.until) - 1)
            )
        return [self.flat(clause) for clause in clauses]

    def _visible(self, seen: Filter | None) -> list[Any]:
        """`Filter.admits`, clause for clause. Empty sets admit nothing."""
        if seen is None:
            return []
        clauses = [
            self.one_of("project", seen.projects),
            self.one_of("audience", seen.audiences),
            self.one_of("status", seen.statuses),
        ]
        if seen.valid_at is not None:
            now = microseconds(seen.valid_at)
            clauses += [self.between("valid_from", OPEN_START, now), self.between("valid_until", now + 1, OPEN_END)]
        return clauses


def _is_storable(value: str) -> bool:
    """False for text with a lone surrogate, which no record and no index can hold."""
    return value.isascii() or not any("\ud800" <= char <= "\udfff" for char in value)
