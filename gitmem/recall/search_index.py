"""The search index: derived from git, disposable, never the only place of anything."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gitmem.model.judgement import Filter
from gitmem.model.records import memory_from_bytes
from gitmem.recall.cards import Cards, CardWriter
from gitmem.recall.checksums import check_stores
from gitmem.recall.clauses import Clauses
from gitmem.recall.document import (
    OPEN_END,
    STATE_UID,
    Document,
    Prepared,
    from_microseconds,
    make_schema,
    prepared,
    schema_name,
    uid,
)
from gitmem.recall.faults import IndexBusy, IndexDamaged
from gitmem.recall.index_state import State, stamp, state_from_text, state_text
from gitmem.recall.positions import Positions, PositionsFile, Step
from gitmem.recall.query import ACCEPTED, Found, Hit, Query, Term
from gitmem.recall.ranking import MEANING_WEIGHT
from gitmem.recall.reader import Reader
from gitmem.recall.writer_lock import writer_lock

if TYPE_CHECKING:
    from gitmem.recall.meaning import Meaning
    from gitmem.recall.semantic import Model

# What tantivy, the cards and numbers that were changed on disk raise.
_BROKEN: Final = (ValueError, OSError, TypeError, ArithmeticError, LookupError, zlib.error)
WRITER_MEMORY: Final = 30_000_000  # bytes; tantivy takes no less than 15 MB
REFS: Final = (*ACCEPTED, "inbox")
_REBUILD = "gitmem reindex builds it again"
_ATTEMPTS: Final = 10  # to open what a writer replaces meanwhile; each loses only to one more whole update


class SearchIndex:
    """The index in `folder`, one subfolder a schema. Not for use by two threads at once.

    Opening reads only. A missing, foreign or damaged index is an empty one: `tips` is {} and the next `update`
    builds it. An object shows what it saw when it was opened or last updated, so a long-lived process opens
    again for each question (under 1 ms). One process at a time writes; readers go on meanwhile.
    """

    def __init__(self, folder: Path, model: Model | None) -> None:
        self._folder: Final = folder / schema_name()
        self._meaning: Final = _meaning(model, self._folder)
        self._schema: Final = make_schema()
        self._clauses: Final = Clauses(self._schema)
        self._damaged = False
        self._index: Any = None
        self._reader: Reader | None = None
        self._positions: PositionsFile | None = None
        self._state = State({})
        self._seen: tuple[int, int, int] | None = None
        self._reopen()

    @classmethod
    def open(cls, folder: Path, model: Model | None = None) -> SearchIndex:
        """The index in `folder`, which need not exist. With a model, meaning is searched beside words."""
        return cls(folder, model)

    @property
    def tips(self) -> Mapping[str, str]:
        """The commit of each ref that this index shows."""
        return self._state.tips

    def leave_out(self, ids: Iterable[str]) -> None:
        """Answer nothing of these memories: they changed since the index was written."""
        self._clauses.left_out = frozenset(ids)

    def is_current(self) -> bool:
        """False when what lies on disk is, or may be, another index than this object shows."""
        return self._index is not None and self._seen == stamp(self._folder / "meta.json")

    def is_learned(self) -> bool:
        """Whether every version has the vector that the model makes of it, or there is no model."""
        return self._meaning is None or self._meaning.covers(self._state.generation, self._state.cards)

    def unlearned(self) -> int:
        """How many versions have no vector yet."""
        if self._meaning is None or self._reader is None:
            return 0
        with self._damage_is_typed():
            return self._reader.behind(self._meaning.covered(self._state.generation))

    @property
    def doubt(self) -> str:
        """Why the last search went by words alone though there is a model; "" when it did not."""
        return self._meaning.doubt if self._meaning else ""

    def positions(self) -> Positions:
        """The first-parent history that this index knows. Raises IndexDamaged."""
        if self._positions is None:
            return Positions()
        with self._damage_is_typed():
            return self._positions.read(self._state.checksum)

    # Writing

    def update(
        self,
        add: Iterable[Document | Prepared],
        remove: Iterable[tuple[str, str]],
        tips: Mapping[str, str],
        *,
        ended: Mapping[str, int] | None = None,
        steps: Sequence[Step] = (),
        kept: int | None = None,
        rebuild: bool = False,
    ) -> None:
        """Make the index show `tips`: put `add` in (in place of what has the same ref, id and `since`) and take
        `remove`, pairs of ref and id, out. `add` is read one by one.

        ended: for a memory of the branch the position at which its open version was replaced or removed. steps: what
        the first-parent history goes on with, after the `kept` first steps (None: all); a version from after those
        is forgotten, and one that ended there stands again. `rebuild` forgets everything first, and has to when
        `languages` of the tips change.

        All or nothing. Raises IndexBusy when another process writes, or wrote since this object was opened or
        last updated (then `tips` is already the new value: make the difference again).
        """
        with writer_lock(self._folder.with_name(f"{self._folder.name}.lock")):
            before = self._state
            self._reopen()
            if not rebuild and before != self._state:
                raise IndexBusy("the search index was updated by another process", hint="run the command again")
            fresh = self._index is None or rebuild
            with self._damage_is_typed():
                history = Positions() if fresh else self.positions()
                writer = (self._index or self._create()).writer(WRITER_MEMORY, 1)
                if rebuild:
                    writer.delete_all_documents()
            kept = len(history) if kept is None else min(kept, len(history))
            rewound = kept < len(history)
            longer = history.with_steps(kept, steps)
            generation = self._newest_generation() + 1 if fresh else self._state.generation
            timeline = 0 if fresh else self._state.timeline + rewound
            replaced = not fresh and self._state.replaced
            spoken = languages_of(tips)
            try:
                with CardWriter(self._beside("cards", generation), 0 if fresh else self._state.cards) as cards:
                    for query in self._clauses.of_each(remove):
                        writer.delete_documents_by_query(query)
                        replaced = True
                    with self._damage_is_typed():
                        moved = [] if fresh else list(self._changed(ended or {}, kept if rewound else None))
                    for version, document in moved:
                        writer.delete_documents_by_term("uid", version)
                        replaced = True
                        if document is not None:
                            self._put(writer, cards, prepared(document, spoken))
                    for one in add:
                        made = one if isinstance(one, Prepared) else prepared(one, spoken)
                        replaced = (not fresh and self._take_out(writer, made.uid)) or replaced
                        self._put(writer, cards, made)
                    cards.close()
                self._write_positions(longer, 0 if fresh or rewound else kept, generation, timeline)
                state = State(
                    dict(tips), generation, timeline, cards.end, len(longer), longer.checksum, longer.oid_size, replaced
                )
                writer.delete_documents_by_term("uid", STATE_UID)
                self._add(writer, {"uid": STATE_UID, "state": state_text(state)})
                with self._damage_is_typed():
                    writer.commit()
            except BaseException:
                with suppress(Exception):  # of an index that is broken; the error that counts is on its way
                    writer.rollback()
                raise
            finally:
                # Without it the process ends before small segments are merged, and they pile up.
                writer.wait_merging_threads()
            self._reopen()
            self._clear()

    def learn(self) -> None:
        """Make the vectors that are missing. Raises IndexBusy as `update` does, IndexDamaged, and MeaningUnavailable
        when the model cannot be loaded."""
        if self._meaning is None or self._reader is None or self.is_learned():
            return
        with writer_lock(self._folder.with_name(f"{self._folder.name}.lock")):
            if not self.is_current():  # what is shown stays what it was
                raise IndexBusy("the search index was updated by another process", hint="run the command again")
            generation, cards = self._state.generation, self._state.cards
            with self._damage_is_typed():
                self._meaning.learn(generation, cards, self._reader.said(self._meaning.covered(generation)))

    def _put(self, writer: Any, cards: CardWriter, document: Prepared) -> None:
        self._add(writer, {**document.values, "card": cards.add(document.card)})

    def _add(self, writer: Any, values: Mapping[str, Any]) -> None:
        import tantivy

        with self._damage_is_typed():
            writer.add_document(tantivy.Document(**values))

    def _take_out(self, writer: Any, name: str) -> bool:
        """Take out the version of this uid; False when there is none."""
        if self._reader is None or not self._reader.count(self._clauses.term("uid", name)):
            return False
        writer.delete_documents_by_term("uid", name)
        return True

    def _changed(self, ended: Mapping[str, int], kept: int | None) -> Iterator[tuple[str, Document | None]]:
        """The versions on the branch whose interval changes, by uid, each with what it becomes."""
        reader, clauses = self._reader, self._clauses
        if reader is None or not (ended or kept is not None):
            return
        wanted = [clauses.must([*clauses.stood(None), clauses.one_of("id", ended)])] if ended else []
        if kept is not None:
            wanted += [clauses.between("since", kept, OPEN_END), clauses.between("until", kept, OPEN_END - 1)]
        for version in reader.numbered(clauses.must([clauses.term("ref", "main"), clauses.any_of(wanted)])):
            since, until = version.numbers["since"], version.numbers["until"]
            name = uid(version.ref, version.id, since)
            if kept is not None and since >= kept:
                yield name, None
                continue
            if kept is not None and kept <= until:
                until = OPEN_END
            until = ended.get(version.id, until) if until == OPEN_END else until
            yield name, Document(
                version.ref, memory_from_bytes(reader.record(version), path=version.id, trusted=True),
                from_microseconds(version.numbers["recorded"]), from_microseconds(version.numbers["changed"]),
                version.blob, since, until, review=version.numbers["review"],
            )  # fmt: skip

    def _create(self) -> Any:
        """An empty index on disk in place of whatever is there. Under the lock only."""
        import shutil

        import tantivy

        if self._folder.is_dir() and not self._folder.is_symlink():
            shutil.rmtree(self._folder)
        else:
            self._folder.unlink(missing_ok=True)
        self._folder.mkdir(mode=0o700)
        return tantivy.Index(self._schema, str(self._folder))

    def _beside(self, name: str, *numbers: int) -> Path:
        """A file of gitmem's own beside those of tantivy."""
        return self._folder / ".".join([name, *map(str, numbers)])

    def _newest_generation(self) -> int:
        names = [path.name.split(".")[1] for path in self._folder.glob("cards.*")]
        return max((int(name) for name in names if name.isdigit()), default=0)

    def _write_positions(self, positions: Positions, kept: int, generation: int, timeline: int) -> None:
        positions.save(self._beside("positions", generation, timeline), kept)

    def _clear(self) -> None:
        """Remove the files of earlier generations; who has one open reads on."""
        state = self._state
        named = {
            self._beside("cards", state.generation),
            self._beside("positions", state.generation, state.timeline),
        }
        for path in [*self._folder.glob("cards.*"), *self._folder.glob("positions.*")]:
            if path not in named:
                path.unlink(missing_ok=True)

    # Reading

    def search(self, query: Query, seen: Filter | None, also: Filter | None = None) -> Found:
        """The versions that `query` asks for and `seen` admits (None: no filter; for the gate and review only), or
        `also`: what gives its place to something else.

        Words are found by any of them and ranked; flags alone (`--no-header`) are found as written, by any. Raises
        IndexDamaged when a file of the index turns out to be broken.
        """
        with self._damage_is_typed():
            return self._reader.search(query, seen, also) if self._reader else Found((), 0, 0)

    def terms(self, query: Query) -> list[Term]:
        """The words that a question is reduced to."""
        with self._damage_is_typed():
            return self._reader.terms(query) if self._reader else []

    def similar(self, text: str, limit: int) -> list[Hit]:
        """Memories in every state and on every ref that share some of the rarest words of `text`. For the gate."""
        with self._damage_is_typed():
            return self._reader.similar(text, limit) if self._reader else []

    def with_key(self, key: str) -> list[tuple[str, str]]:
        """(ref, id) of every memory that has or had this key, in every state."""
        return self._names(self._clauses.one_of("key", [key]))

    def ids(self, prefix: str) -> list[tuple[str, str]]:
        """(ref, id) of every memory whose id starts with `prefix`, in every state, in order of id."""
        if self._reader is None or not prefix.isascii():
            return []
        with self._damage_is_typed():
            known = self._reader.begun("id", prefix)
        return self._names(self._clauses.must([*self._clauses.stood(None), self._clauses.one_of("id", known)]))

    def versions(self, ids: Iterable[str], seen: Filter | None, position: int | None = None) -> list[Hit]:
        """The versions of these memories, of those that were let in, that stood at a position and that `seen` admits,
        as `Query` says it. By id, the newer first."""
        return self._of("id", ids, seen, position)

    def linking(self, links: Iterable[str], seen: Filter | None, position: int | None = None) -> list[Hit]:
        """As `versions`, of memories with one of these links: `solves:<id>` and the like, `cites:<id>` for evidence."""
        return self._of("link", links, seen, position)

    def holding(self, key: str, seen: Filter | None, position: int | None = None) -> list[Hit]:
        """As `versions`, of memories with this key."""
        return self._of("key", [key], seen, position)

    def recorded(self, ids: Iterable[str], before: int = OPEN_END) -> dict[str, datetime]:
        """When memories of the branch were first recorded, of those that stood there before a position."""
        clauses = self._clauses
        earlier = clauses.between("since", 0, before - 1)
        query = clauses.must([clauses.term("ref", "main"), clauses.one_of("id", ids), earlier])
        with self._damage_is_typed():
            found = self._reader.numbered(query) if self._reader else iter(())
            return {version.id: from_microseconds(version.numbers["recorded"]) for version in found}

    def holds(self, blobs: Iterable[str]) -> bool:
        """Whether a version of any time is one of these blobs."""
        with self._damage_is_typed():
            return self._reader is not None and self._reader.count(self._clauses.one_of("blob", blobs)) > 0

    def count(self) -> int:
        """The number of memories, in every state and on every ref."""
        clauses = self._clauses
        with self._damage_is_typed():
            return (
                self._reader.count(clauses.must([*clauses.stood(None), clauses.one_of("ref", REFS)]))
                if self._reader
                else 0
            )

    # Parts

    def _of(self, field: str, values: Iterable[str], seen: Filter | None, position: int | None) -> list[Hit]:
        clauses = self._clauses
        query = [
            clauses.one_of(field, values), clauses.one_of("ref", ACCEPTED), *clauses.on_record(position)
        ]  # fmt: skip
        with self._damage_is_typed():
            query = clauses.must([*query, *clauses.stood(position), *clauses.visible(seen)])
            return self._reader.versions(query) if self._reader else []

    def _names(self, query: Any) -> list[tuple[str, str]]:
        with self._damage_is_typed():
            found = self._reader.versions(query, records=False) if self._reader else []
        return list(dict.fromkeys((hit.ref, hit.id) for hit in sorted(found, key=lambda hit: (hit.id, hit.ref))))

    def _reopen(self) -> None:
        meta = self._folder / "meta.json"
        damaged, self._damaged = self._damaged, False
        for _ in range(_ATTEMPTS):
            self._index, self._reader, self._positions, self._state = None, None, None, State({})
            self._seen = stamp(meta)
            if damaged or self._seen is None:
                return
            try:
                with self._damage_is_typed():
                    self._load()
                return
            except IndexDamaged:
                self._damaged = False
                if self._seen == stamp(meta):  # else a writer replaced it while it was read: what is there now?
                    return

    def _load(self) -> None:
        import tantivy

        check_stores(self._folder)
        index = tantivy.Index(self._schema, str(self._folder))
        index.config_reader("manual")  # else a thread watches the folder as long as the object lives
        searcher = index.searcher()
        found = searcher.search(self._clauses.term("uid", STATE_UID), 1).hits
        if not found:  # made, and the process died before the first update was whole
            return
        state = state_from_text(searcher.doc(found[0][1]).get_first("state") or "")
        cards = Cards(self._beside("cards", state.generation), state.cards)
        beside = self._beside("positions", state.generation, state.timeline)
        # Opened with the rest, so that what was opened before a rebuild goes on answering.
        self._positions = PositionsFile(beside, state.steps, state.oid)
        near = partial(self._meaning.near, generation=state.generation) if self._meaning else None
        weight = self._meaning.weight if self._meaning else MEANING_WEIGHT
        languages = languages_of(state.tips)
        self._reader = Reader(searcher, self._clauses, cards, state.replaced, near, languages, weight)
        self._index, self._state = index, state

    @contextmanager
    def _damage_is_typed(self) -> Iterator[None]:
        """tantivy says ValueError for broken files, and panics (a BaseException) on bytes it never expected."""
        try:
            yield
        except BaseException as error:
            if not isinstance(error, _BROKEN) and type(error).__name__ != "PanicException":
                raise
            self._index, self._reader, self._positions, self._state, self._damaged = None, None, None, State({}), True
            raise IndexDamaged(f"the search index in {self._folder} cannot be read: {error}", hint=_REBUILD) from error


def languages_of(tips: Mapping[str, str]) -> tuple[str, ...]:
    """The languages by whose stems an index is made, which it keeps with its tips: others are another index."""
    return tuple(name for name in tips.get("languages", "").split(",") if name)


def _meaning(model: Model | None, folder: Path) -> Meaning | None:
    if model is None:
        return None
    from gitmem.recall.meaning import Meaning

    return Meaning(model, folder)
