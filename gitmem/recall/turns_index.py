"""The index of what was said in captured sessions: derived, disposable, one folder below the search index.

It holds for each turn the words, who spoke and when, and a card that the caller makes and reads again. It answers which
turns have which words, and how many; ranking is the caller's.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import combinations
from math import fsum
from pathlib import Path
from typing import Any, Final

from gitmem.model.frozen import dataclass, field, shape
from gitmem.model.tokens import tokens, tokens_version
from gitmem.recall.clauses import Clauses
from gitmem.recall.document import OPEN_END, OPEN_START
from gitmem.recall.faults import IndexBusy, IndexDamaged
from gitmem.recall.index_state import stamp
from gitmem.recall.writer_lock import writer_lock

_VERSION: Final = 2
_MEMORY: Final = 60_000_000  # bytes that tantivy's writer may hold
UNTIMED: Final = OPEN_START + 1  # the time of a turn of which none is known
_BROKEN: Final = (ValueError, OSError, TypeError, ArithmeticError, LookupError, zlib.error)
_TIES: Final = 20_000  # turns of one instant that are looked at


@dataclass(frozen=True)
class Indexed:
    """One session in the index. `tip`: the git object that it was made of; `rules`: the version of who spoke.

    `generation` 0: nothing of it is stored. `paths`: the files that its tools named. `fault`: why it cannot be read.
    `spoken`: who spoke, a letter a turn, as the caller spells them; `times`: by letter the first and last known time.
    """

    folder: str
    tip: str
    rules: int
    host: str = ""
    session: str = ""
    generation: int = 0
    paths: tuple[str, ...] = ()
    fault: str = ""
    spoken: str = ""
    times: dict[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """One turn to be indexed, or found. `number`: its place in the session; `at`: Unix microseconds, or `UNTIMED`."""

    folder: str
    number: int
    speaker: str
    at: int
    card: bytes
    text: str = ""


@dataclass(frozen=True)
class Narrowed:
    """Which turns count: of these `folders` (None: all), of a host, by these speakers, low <= time < high.

    `others`: all other speakers that there are; what counts nearly all is found sooner by what it leaves out.
    """

    speakers: tuple[str, ...]
    others: tuple[str, ...]
    host: str | None = None
    folders: tuple[str, ...] | None = None
    low: int | None = None
    high: int | None = None

    @property
    def by_time(self) -> bool:
        return self.low is not None or self.high is not None


class TurnsIndex:
    """The index in `folder`. It shows what it saw when it was opened or last updated; one process at a time writes."""

    def __init__(self, folder: Path) -> None:
        import tantivy

        self._tantivy: Any = tantivy
        self._folder: Final = folder / f"turns-{_VERSION}-{tokens_version()}"
        builder = tantivy.SchemaBuilder()
        for name in ("kind", "folder", "host", "speaker"):
            builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
        for name in ("number", "at"):
            builder.add_integer_field(name, indexed=name == "at", fast=True)
        builder.add_text_field("text", tokenizer_name="whitespace", index_option="basic")
        builder.add_bytes_field("card", stored=True, indexed=False)
        self._schema: Any = builder.build()
        self._clauses: Final = Clauses(self._schema)
        self._index: Any = None
        self._searcher: Any = None
        self._seen: tuple[int, int, int] | None = None
        self.sessions: dict[str, Indexed] = {}
        with suppress(IndexDamaged):
            self._reopen()

    def update(self, changed: Iterable[tuple[Indexed, Iterable[Row]]], removed: Iterable[str]) -> None:
        """Put sessions in, in place of what was there of them, and take others out. All or nothing.

        Raises IndexBusy when another process writes or wrote meanwhile, IndexDamaged, and what `changed` raises.
        """
        with writer_lock(self._folder.with_name(f"{self._folder.name}.lock")):
            if self._seen != stamp(self._folder / "meta.json"):
                self._reopen()
                raise IndexBusy("the index of sessions was updated by another process", hint="run the command again")
            with self._damage_is_typed():
                writer = (self._index or self._create()).writer(_MEMORY, 1)
            try:
                for folder in removed:
                    writer.delete_documents_by_term("folder", folder)
                for session, rows in changed:
                    writer.delete_documents_by_term("folder", session.folder)
                    card = json.dumps({name: getattr(session, name) for name in shape(Indexed).names}).encode()
                    self._add(writer, kind="session", folder=session.folder, card=card)
                    for row in rows:
                        self._add(
                            writer, kind="turn", folder=row.folder, host=session.host, speaker=row.speaker,
                            number=row.number, at=row.at, text=" ".join(dict.fromkeys(tokens(row.text))), card=row.card,
                        )  # fmt: skip
                with self._damage_is_typed():
                    writer.commit()
            except BaseException:
                with suppress(Exception):  # the error that counts is on its way
                    writer.rollback()
                raise
            finally:
                writer.wait_merging_threads()
            self._reopen()

    def drop(self) -> None:
        """Begin anew: what was here is in doubt."""
        with writer_lock(self._folder.with_name(f"{self._folder.name}.lock")):
            self._index = self._create()
            self._reopen()

    # Reading

    def count(self, which: Narrowed, word: str | None = None) -> int:
        """How many turns count, or of these have a word."""
        words = [self._clauses.term("text", word)] if word else [self._clauses.term("kind", "turn")]
        return self._count([*words, *self._counted(which)])

    def untimed(self, which: Narrowed) -> int:
        """How many turns would count if their time were known."""
        return self._count(
            [self._clauses.term("kind", "turn"), *self._of(which), self._clauses.between("at", UNTIMED, UNTIMED)]
        )

    def ends(self, which: Narrowed) -> tuple[int, int] | None:
        """The first and the last time of what counts; None when no time is known."""
        timed = self._clauses.must([*self._counted(which), self._clauses.between("at", UNTIMED + 1, OPEN_END)])
        with self._damage_is_typed():
            order = self._tantivy.Order
            found = [
                self._searcher.search(timed, 1, count=False, order_by_field="at", order=way).hits
                for way in (order.Asc, order.Desc)
            ]
        return (int(found[0][0][0]), int(found[1][0][0])) if found[0] else None

    def found(
        self, which: Narrowed, weights: dict[str, float], least: float, order: dict[str, int], most: int
    ) -> tuple[list[Row], int]:
        """The turns whose words weigh `least` or more, and how many they are; of more than `most` those with every word
        before the others, of each the latest. `order`: of the sessions, for turns of one time."""
        every = [self._clauses.term("text", word) for word in weights]
        counted = self._counted(which)
        enough = [
            self._clauses.must([self._clauses.term("text", word) for word in words])
            for words in _least_sets(weights, least)
        ]
        if not enough:
            return [], 0
        wanted = [*counted, self._clauses.any_of(enough)]
        total = self._count(wanted)
        with self._damage_is_typed():
            if total <= most:
                return self._rows(self._clauses.must(wanted), total, order), total
            best = self._rows(self._clauses.must([*counted, *every]), most, order)
            others = self._clauses.must([*wanted, self._none_of_all(every)])
            return [*best, *self._rows(others, most - len(best), order)], total

    def numbers(self, which: Narrowed, folder: str) -> list[int]:
        """The places of what counts in one session, in order."""
        own = [self._clauses.term("kind", "turn"), self._clauses.term("folder", folder)]
        query = self._clauses.must([*own, *self._counted(which)])
        with self._damage_is_typed():
            hits = self._searcher.search(query, max(self._searcher.num_docs, 1), count=False).hits
            return sorted(self._searcher.fast_field_values("number", [address for _, address in hits]))

    # Parts

    def _of(self, which: Narrowed) -> list[Any]:
        """To be asked with a clause that only turns fulfil."""
        few = len(which.speakers) <= len(which.others)
        clauses = [self._clauses.one_of("speaker", which.speakers)] if few else []
        clauses += [self._clauses.none_of("speaker", which.others)] if which.others and not few else []
        clauses += [self._clauses.term("host", which.host)] if which.host is not None else []
        clauses += [self._clauses.one_of("folder", which.folders)] if which.folders is not None else []
        return clauses

    def _counted(self, which: Narrowed) -> list[Any]:
        clauses = self._of(which)
        if which.by_time:
            low = UNTIMED + 1 if which.low is None else which.low
            clauses.append(self._clauses.between("at", low, OPEN_END if which.high is None else which.high - 1))
        return clauses

    def _none_of_all(self, every: Sequence[Any]) -> Any:
        occur = self._tantivy.Occur
        return self._tantivy.Query.boolean_query(
            [(occur.Must, self._clauses.everything()), (occur.MustNot, self._clauses.must(every))]
        )

    def _count(self, clauses: Sequence[Any]) -> int:
        if self._searcher is None:
            return 0
        with self._damage_is_typed():
            return int(self._searcher.search(self._clauses.must(clauses), 1, count=True).count)

    def _rows(self, query: Any, most: int, order: dict[str, int]) -> list[Row]:
        """The latest `most` turns, those of one time in the order of the sessions."""
        if most <= 0:
            return []
        searcher, latest = self._searcher, self._tantivy.Order.Desc
        hits = searcher.search(query, most + 1, count=False, order_by_field="at", order=latest).hits
        if len(hits) > most:
            last = int(hits[most - 1][0])
            tied = self._clauses.must([query, self._clauses.between("at", last, last)])
            hits = [hit for hit in hits if int(hit[0]) > last]
            hits += [(last, address) for _, address in searcher.search(tied, _TIES, count=False).hits]
        rows = [self._row(int(at), address) for at, address in hits]
        rows.sort(key=lambda row: (-row.at, order.get(row.folder, 0), row.number))
        return rows[:most]

    def _row(self, at: int, address: Any) -> Row:
        card = bytes(self._searcher.doc(address).get_first("card"))
        head, _, rest = card.partition(b"\n")
        folder, number, speaker = json.loads(head)
        return Row(folder, number, speaker, at, rest)

    def _add(self, writer: Any, **values: Any) -> None:
        if values["kind"] == "turn":
            head = json.dumps([values["folder"], values["number"], values["speaker"]]).encode()
            values["card"] = head + b"\n" + values["card"]
        with self._damage_is_typed():
            writer.add_document(self._tantivy.Document(**values))

    def _create(self) -> Any:
        """An empty index on disk in place of whatever is there. Under the lock only."""
        import shutil

        if self._folder.is_dir() and not self._folder.is_symlink():
            shutil.rmtree(self._folder)
        else:
            self._folder.unlink(missing_ok=True)
        self._folder.mkdir(mode=0o700)
        for other in self._folder.parent.glob("turns-*"):  # of another version of gitmem: nobody reads it here any more
            if other.is_dir() and other != self._folder and not other.is_symlink():
                shutil.rmtree(other, ignore_errors=True)
        return self._tantivy.Index(self._schema, str(self._folder))

    def _reopen(self) -> None:
        self._index, self._searcher, self.sessions = None, None, {}
        self._seen = stamp(self._folder / "meta.json")
        if self._seen is None:
            return
        with self._damage_is_typed():
            index = self._tantivy.Index(self._schema, str(self._folder))
            index.config_reader("manual")  # else a thread watches the folder
            self._searcher = index.searcher()
            self._index = index
            known = [_indexed(card) for card in self._cards(self._clauses.term("kind", "session"))]
            self.sessions = {session.folder: session for session in known}

    def _cards(self, query: Any) -> Iterator[bytes]:
        for _, address in self._searcher.search(query, max(self._searcher.num_docs, 1), count=False).hits:
            yield bytes(self._searcher.doc(address).get_first("card"))

    @contextmanager
    def _damage_is_typed(self) -> Iterator[None]:
        """tantivy says ValueError for broken files, and panics (a BaseException) on bytes it never expected."""
        try:
            yield
        except BaseException as error:
            if not isinstance(error, _BROKEN) and type(error).__name__ != "PanicException":
                raise
            self._index, self._searcher, self.sessions = None, None, {}
            raise IndexDamaged(f"the index of sessions in {self._folder} cannot be read: {error}") from error


def _indexed(card: bytes) -> Indexed:
    data = json.loads(card)
    times = {letter: (int(first), int(last)) for letter, (first, last) in data["times"].items()}
    return Indexed(**{**data, "paths": tuple(data["paths"]), "times": times})


def _least_sets(weights: dict[str, float], least: float) -> list[tuple[str, ...]]:
    """The sets of words that weigh enough and of which no smaller set does."""
    found: list[tuple[str, ...]] = []
    for size in range(1, len(weights) + 1):
        for words in combinations(weights, size):
            if fsum(weights[word] for word in words) >= least and not any(set(known) <= set(words) for known in found):
                found.append(words)
    return found
