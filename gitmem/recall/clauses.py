"""The clauses that a query and a filter become: built term by term, so that nothing typed is query syntax."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from gitmem.model.judgement import Filter
from gitmem.recall.document import NOW, OPEN_END, OPEN_START, folders_of, microseconds, plain_path
from gitmem.recall.query import ACCEPTED, EVERY_VERSION, Query

_FEW: Final = 32  # values up to which single terms are faster than tantivy's set of terms, which walks the dictionary

_OWN: Final = frozenset({"user"})  # the audience whose records are of the projects of the user's own store


class Clauses:
    """Builds tantivy queries over one schema, term by term."""

    def __init__(self, schema: Any) -> None:
        import tantivy

        self._tantivy: Final = tantivy
        self._schema: Final = schema
        self.left_out: frozenset[str] = frozenset()  # ids of memories that changed since the index was written

    def term(self, field: str, value: str) -> Any:
        return self._tantivy.Query.term_query(self._schema, field, value, index_option="freq")

    def one_of(self, field: str, values: Iterable[str]) -> Any:
        known = sorted(value for value in set(values) if _is_storable(value))
        if not known:
            return self._tantivy.Query.empty_query()
        if len(known) <= _FEW:
            return self.any_of([self.term(field, value) for value in known])
        return self._tantivy.Query.term_set_query(self._schema, field, known)

    def none_of(self, field: str, values: Iterable[str]) -> Any:
        occur = self._tantivy.Occur
        return self._tantivy.Query.boolean_query(
            [(occur.Must, self.everything()), (occur.MustNot, self.one_of(field, values))]
        )

    def of_each(self, names: Iterable[tuple[str, str]]) -> Iterator[Any]:
        """Every version of each memory, by ref and id."""
        for ref, identifier in names:
            yield self.must([self.term("ref", ref), self.term("id", identifier)])

    def phrase(self, run: tuple[str, ...]) -> Any:
        if len(run) == 1:
            return self.term("text", run[0])
        return self._tantivy.Query.phrase_query(self._schema, "text", list(run))

    def between(self, field: str, low: int, high: int) -> Any:
        """low <= value <= high."""
        return self._tantivy.Query.range_query(
            self._schema, field, self._tantivy.FieldType.Integer, lower_bound=low, upper_bound=high
        )

    def must(self, queries: Iterable[Any], should: Iterable[Any] = ()) -> Any:
        """All of `queries`; those of `should` only add to the score."""
        occur = self._tantivy.Occur
        return self._tantivy.Query.boolean_query(
            [*((occur.Must, q) for q in queries), *((occur.Should, q) for q in should)]
        )

    def everything(self) -> Any:
        return self._tantivy.Query.all_query()

    def any_of(self, queries: Iterable[Any], least: int = 1) -> Any:
        return self._tantivy.Query.boolean_query(
            [(self._tantivy.Occur.Should, q) for q in queries], minimum_number_should_match=least
        )

    def weighted(self, query: Any, weight: float) -> Any:
        return query if weight == 1.0 else self._tantivy.Query.boost_query(query, weight)

    def flat(self, query: Any, score: float = 0.0) -> Any:
        """`query` with every match worth the same."""
        return self._tantivy.Query.const_score_query(query, score)

    def passing(self, query: Query, seen: Filter | None, also: Filter | None = None) -> list[Any]:
        """What every answer has to meet: the filter of the reader, then what the query asks besides words."""
        admitted = self.visible(seen)
        if also is not None and seen is not None:
            admitted = [self.any_of([self.must(admitted), self.must(self.visible(also))])]
        clauses = [
            *admitted,
            self.one_of("ref", query.refs or (*ACCEPTED, "inbox")),
            *self.stood(query.position),
            *self.on_record(query.position),
        ]
        for field, values in (("kind", query.kinds), ("status", query.statuses), ("origin", query.origins)):
            if values:
                clauses.append(self.one_of(field, values))
        clauses += [self.one_of("tag", [tag.casefold()]) for tag in query.tags]
        if query.key is not None:
            clauses.append(self.one_of("key", [query.key]))
        if query.only is not None:
            clauses.append(self.one_of("id", [query.only]))
        if query.path is not None:
            path = plain_path(query.path)
            names = [*folders_of(path), *query.called]
            clauses.append(self.any_of([self.one_of("under", [path]), self.one_of("path", names)]))
        if query.about:
            clauses.append(self.one_of("path", query.about))
        if query.after is not None:
            clauses.append(self.between("since", query.after + 1, OPEN_END))
        if query.upto is not None:
            clauses.append(self.between("since", 0, query.upto))
        if query.since is not None or query.until is not None:
            low = OPEN_START if query.since is None else microseconds(query.since)
            clauses.append(
                self.between("recorded", low, OPEN_END if query.until is None else microseconds(query.until) - 1)
            )
        return [self.flat(clause) for clause in clauses]

    def stood(self, position: int | None) -> list[Any]:
        """Versions that stand now, or stood at a position; none of a memory that is left out."""
        spared = [self.none_of("id", self.left_out)] if self.left_out else []
        if position is None:
            return [self.term("current", NOW), *spared]
        if position == EVERY_VERSION:
            return spared
        return [self.between("since", 0, position), self.between("until", position + 1, OPEN_END), *spared]

    def on_record(self, position: int | None) -> list[Any]:
        """What lies beside the branch has no place in its history: it is there now, and ever, and at no position."""
        return [] if position in (None, EVERY_VERSION) else [self.one_of("ref", ("main", "inbox"))]

    def visible(self, seen: Filter | None) -> list[Any]:
        """`Filter.admits`, clause for clause. Empty sets admit nothing."""
        if seen is None:
            return []
        clauses = [
            self.any_of(
                [
                    self.must([self.one_of("project", seen.projects), self.one_of("audience", seen.audiences - _OWN)]),
                    self.must([self.one_of("project", seen.own), self.one_of("audience", seen.audiences & _OWN)]),
                ]
            ),
            self.one_of("status", seen.statuses),
        ]
        if seen.valid_at is not None:
            now = microseconds(seen.valid_at)
            clauses += [self.between("valid_from", OPEN_START, now), self.between("valid_until", now + 1, OPEN_END)]
        return clauses


def _is_storable(value: str) -> bool:
    """False for text with a lone surrogate, which no record and no index can hold."""
    return value.isascii() or not any("\ud800" <= char <= "\udfff" for char in value)
