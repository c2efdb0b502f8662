"""The search index: derived from git, disposable, never the only place of anything."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from math import ceil
from pathlib import Path
from typing import Any, Final

from gitmem.model.judgement import Filter
from gitmem.model.tokens import tokens
from gitmem.recall.checksums import check_stores
from gitmem.recall.document import TIPS_UID, Document, fields, grams, make_schema, schema_name, uid
from gitmem.recall.faults import IndexBusy, IndexDamaged
from gitmem.recall.query import Clauses, Found, Hit, Query
from gitmem.recall.ranking import CANDIDATES, GRAM_FLOOR, combine
from gitmem.recall.words import MAX_TERMS, Words, runs, words

WRITER_MEMORY: Final = 30_000_000  # bytes; tantivy takes no less than 15 MB
REFS: Final = ("main", "inbox")
_SIMILAR_TERMS: Final = 24  # the rarest words of a text say what it is near to; more only cost time
# The part of them that a similar memory holds. Texts that say the same share at least half of their words
# (tests/policy/near_pairs.py); two that do not share one or two rare ones by chance, and reading those costs time.
_SIMILAR_SHARE: Final = 0.2
_REBUILD = "gitmem reindex builds it again"


class SearchIndex:
    """The index in `folder`, one subfolder a schema. Not for use by two threads at once.

    Opening reads only. A missing, foreign or damaged index is an empty one: `tips` is {} and the next `update`
    builds it. An object shows what it saw when it was opened or last updated, so a long-lived process opens
    again for each question (under 1 ms). One process at a time writes; readers go on meanwhile.
    """

    def __init__(self, folder: Path) -> None:
        self._folder: Final = folder / schema_name()
        self._schema: Final = make_schema()
        self._clauses: Final = Clauses(self._schema)
        self._damaged = False
        self._index: Any = None
        self._searcher: Any = None
        self._tips: Mapping[str, str] = {}
        self._seen: tuple[int, int, int] | None = None
        self._reopen()

    @classmethod
    def open(cls, folder: Path) -> SearchIndex:
        """The index in `folder`, which need not exist."""
        return cls(folder)

    @property
    def tips(self) -> Mapping[str, str]:
        """The commit of each ref that this index shows; written with the data, so never ahead of it."""
        return self._tips

    def is_current(self) -> bool:
        """False when what lies on disk is, or may be, another index than this object shows."""
        return self._index is not None and self._seen == _stamp(self._folder / "meta.json")

    # Writing

    def update(
        self,
        add: Iterable[Document],
        remove: Iterable[tuple[str, str]],
        tips: Mapping[str, str],
        *,
        rebuild: bool = False,
    ) -> None:
        """Make the index show `tips`: put `add` in (in place of what has the same ref and id), take `remove`, pairs of
        ref and id, out. `rebuild` forgets everything first. `add` is read one by one.

        All or nothing. Raises IndexBusy when another process writes, or wrote since this object was opened or
        last updated (then `tips` is already the new value: make the difference again).
        """
        with self._writer_lock():
            before = self._tips
            self._reopen()
            if not rebuild and dict(before) != dict(self._tips):
                raise IndexBusy("the search index was updated by another process", hint="run the command again")
            with self._damage_is_typed():
                writer = (self._index or self._create()).writer(WRITER_MEMORY, 1)
                if rebuild:
                    writer.delete_all_documents()
            try:
                for ref, identifier in remove:
                    writer.delete_documents_by_term("uid", uid(ref, identifier))
                for document in add:
                    self._put(writer, fields(document))
                self._put(writer, {"uid": TIPS_UID, "card": json.dumps(dict(tips), sort_keys=True)})
                with self._damage_is_typed():
                    writer.commit()
            except BaseException:
                writer.rollback()
                raise
            finally:
                # Without it the process ends before small segments are merged, and they pile up.
                writer.wait_merging_threads()
            self._reopen()

    def _put(self, writer: Any, values: Mapping[str, Any]) -> None:
        import tantivy

        with self._damage_is_typed():
            writer.delete_documents_by_term("uid", values["uid"])
            writer.add_document(tantivy.Document(**values))

    @contextmanager
    def _writer_lock(self) -> Iterator[None]:
        """One writer at a time. The kernel frees the lock of a process that died; the file means nothing."""
        import fcntl

        self._folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (self._folder.parent / f"{self._folder.name}.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise IndexBusy("another process is writing the search index", hint="run the command again") from None
            yield

    def _create(self) -> Any:
        """An empty index on disk in place of whatever is there. Under the lock only."""
        import tantivy

        self._folder.mkdir(mode=0o700, exist_ok=True)
        for left in self._folder.iterdir():
            left.unlink()
        return tantivy.Index(self._schema, str(self._folder))

    # Reading

    def search(self, query: Query, seen: Filter | None) -> Found:
        """The memories that `query` asks for and `seen` admits (None: no filter; for the gate and review only).

        Words are found by any of them and ranked; flags alone (`--no-header`) are found as written, by any. Raises
        IndexDamaged when a file of the index turns out to be broken.
        """
        if self._index is None:
            return Found((), 0, 0)
        with self._damage_is_typed():
            passing = self._clauses.must(self._clauses.passing(query, seen))
            searched = self._run(passing, 1).count
            asked = words(query.texts, self._frequency, self._searcher.num_docs)
            if not asked.weights:
                empty = not any(text.strip() for text in query.texts)
                return self._newest(passing, query, searched) if empty else Found((), 0, searched)
            exactly = (*(asked.phrases if query.phrase else ()), *runs(query.phrases))
            if exactly:
                passing = self._clauses.must([passing, *map(self._clauses.phrase, exactly)])
            if query.order == "newest":
                wanted = self._clauses.must([passing, self._clauses.flat(self._text(asked))])
                return self._newest(wanted, query, searched)
            order = self._ranked(asked, passing)
            page = order[query.offset : query.offset + query.limit]
            matched = self._matched([u for u, _ in page], asked)
            hits = (_hit(u, score, tuple(matched[u])) for u, score in page)
            return Found(tuple(hits), len(order), searched)

    def similar(self, text: str, limit: int) -> list[Hit]:
        """Memories in every state and on every ref that share some of the rarest words of `text`. For the gate."""
        if self._index is None:
            return []
        with self._damage_is_typed():
            known = {t: n for t in dict.fromkeys(tokens(text)) if (n := self._frequency(t))}
            rarest = sorted(known, key=lambda t: known[t])[:_SIMILAR_TERMS]
            shared = self._clauses.any_of(
                [self._clauses.term("text", t) for t in rarest], least=max(1, ceil(_SIMILAR_SHARE * len(rarest)))
            )
            scores, _, _ = self._candidates(shared, limit)
            return [_hit(u, score) for u, score in scores.items()]

    def with_key(self, key: str) -> list[tuple[str, str]]:
        """(ref, id) of every memory with this key, in every state."""
        return self._where(self._clauses.one_of("key", [key]))

    def ids(self, prefix: str) -> list[tuple[str, str]]:
        """(ref, id) of every memory whose id starts with `prefix`, in every state, in order of id."""
        if self._index is None or not prefix.isascii():
            return []
        with self._damage_is_typed():
            known = [term for term, _ in self._searcher.terms_with_prefix("id", prefix)]
        return self._where(self._clauses.one_of("id", known))

    def count(self) -> int:
        """The number of memories, in every state and on every ref."""
        return int(self._run(self._clauses.one_of("ref", REFS), 1).count) if self._index is not None else 0

    # Parts

    def _reopen(self) -> None:
        import tantivy

        self._index, self._searcher, self._tips = None, None, {}
        self._seen = _stamp(self._folder / "meta.json")
        if self._damaged or not (self._folder / "meta.json").exists():
            self._damaged = False
            return
        try:
            with self._damage_is_typed():
                check_stores(self._folder)
                self._index = tantivy.Index(self._schema, str(self._folder))
                self._index.config_reader("manual")  # else a thread watches the folder as long as the object lives
                self._searcher = self._index.searcher()
                found = self._run(self._clauses.term("uid", TIPS_UID), 1).hits
                if found:
                    self._tips = json.loads(self._searcher.doc(found[0][1]).get_first("card") or "")
                else:  # made, and the process died before the first update was whole
                    self._index = None
        except IndexDamaged:
            self._damaged = False

    @contextmanager
    def _damage_is_typed(self) -> Iterator[None]:
        """tantivy says ValueError for broken files, and panics (a BaseException) on bytes it never expected."""
        try:
            yield
        except BaseException as error:
            if not isinstance(error, ValueError | OSError) and type(error).__name__ != "PanicException":
                raise
            self._index, self._searcher, self._tips, self._damaged = None, None, {}, True
            raise IndexDamaged(f"the search index in {self._folder} cannot be read: {error}", hint=_REBUILD) from error

    def _run(self, query: Any, limit: int, **kwargs: Any) -> Any:
        return self._searcher.search(query, max(limit, 1), **kwargs)

    def _frequency(self, term: str) -> int:
        return int(self._searcher.doc_freq("text", term))

    def _text(self, asked: Words) -> Any:
        """Any of the words; of a query of flags alone, any of the flags and nothing else."""
        weights = dict.fromkeys(asked.flags, 1.0) if asked.literal else asked.weights
        return self._clauses.any_of(
            [self._clauses.weighted(self._clauses.term("text", t), w) for t, w in weights.items()]
        )

    def _ranked(self, asked: Words, passing: Any) -> list[tuple[str, float]]:
        clauses = self._clauses
        text = self._text(asked)
        lists = [clauses.must([passing, text])]
        pieces = [] if asked.literal else list(dict.fromkeys(grams(asked.weights)))[:MAX_TERMS]
        if pieces:
            alike = [clauses.term("grams", piece) for piece in pieces]
            related = clauses.any_of([text, clauses.any_of(alike, least=-int(-GRAM_FLOOR * len(pieces) // 1))])
            lists.append(clauses.must([passing, clauses.flat(related), clauses.any_of(alike)]))
        else:
            lists.append(None)
        exact = [clauses.one_of(field, asked.raw) for field in ("path", "key", "id")]
        exact.append(clauses.one_of("tag", [word.casefold() for word in asked.raw]))
        exact.append(clauses.one_of("text", asked.flags))
        lists.append(clauses.must([passing, clauses.flat(clauses.any_of(exact), 1.0)]))
        results = [self._candidates(query, CANDIDATES) if query is not None else ({}, {}, {}) for query in lists]
        status = {u: s for _, known, _ in results for u, s in known.items()}
        recorded = {u: r for _, _, times in results for u, r in times.items()}
        return combine(results[0][0], results[1][0], results[2][0], status, recorded)

    def _candidates(self, query: Any, limit: int) -> tuple[dict[str, float], dict[str, str], dict[str, int]]:
        """The best of one query by uid: the score, the state, the time of recording."""
        hits = self._run(query, limit, count=False).hits
        times = self._searcher.fast_field_values("recorded", [address for _, address in hits])
        scores, status, recorded = {}, {}, {}
        for (score, address), time in zip(hits, times, strict=True):
            document = self._searcher.doc(address)
            name, state = document.get_first("uid"), document.get_first("status")
            if time is None or name is None or state is None:
                raise ValueError("a memory without its uid, state or time")
            scores[name], status[name], recorded[name] = float(score), state, int(time)
        return scores, status, recorded

    def _newest(self, query: Any, asked: Query, searched: int) -> Found:
        found = self._run(query, asked.limit, order_by_field="recorded", offset=asked.offset)
        names = [self._searcher.doc(address).get_first("uid") for _, address in found.hits][: asked.limit]
        return Found(tuple(_hit(name, 0.0) for name in names), found.count, searched)

    def _matched(self, uids: list[str], asked: Words) -> dict[str, list[str]]:
        """Which terms of the query each memory holds."""
        matched: dict[str, list[str]] = {name: [] for name in uids}
        page = self._clauses.flat(self._clauses.one_of("uid", uids))
        for term in dict.fromkeys([*asked.flags, *asked.weights]):
            found = self._run(self._clauses.must([page, self._clauses.term("text", term)]), len(uids), count=False)
            for _, address in found.hits:
                name = self._searcher.doc(address).get_first("uid")
                if name not in matched:
                    raise ValueError("a list of memories that points beside them")
                matched[name].append(term)
        return matched

    def _where(self, query: Any) -> list[tuple[str, str]]:
        if self._index is None:
            return []
        with self._damage_is_typed():
            found = self._run(query, self._searcher.num_docs).hits
            pairs = [self._searcher.doc(address).get_first("uid").split("/", 1) for _, address in found]
        return sorted(((ref, identifier) for ref, identifier in pairs), key=lambda pair: (pair[1], pair[0]))


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """What changes when the file is replaced, as every update of the index does."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def _hit(name: str, score: float, matched: tuple[str, ...] = ()) -> Hit:
    ref, _, identifier = name.partition("/")
    return Hit(ref, identifier, score, matched)
