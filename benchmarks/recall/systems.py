"""What is measured: gitmem's own search and the baselines beside it, each as `build(texts) -> ask(question) -> ids`."""

from __future__ import annotations

import importlib.util
import re
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from metrics import DEPTH

from gitmem.model.nouns import Memory, Scope
from gitmem.recall.document import Document
from gitmem.recall.query import Query
from gitmem.recall.search_index import SearchIndex

WORD = re.compile(r"\w+")
Ask = Callable[[str], list[str]]


@dataclass(frozen=True)
class Text:
    """One thing to be found."""

    id: str
    title: str
    body: str
    date: datetime

    @property
    def whole(self) -> str:
        return f"{self.title}\n{self.body}"


def documents(texts: Sequence[Text]) -> list[Document]:
    """`texts` as accepted memories of one project."""
    return [
        Document(
            "main", Memory(t.id, "change", t.title, "active", Scope("bench"), "human", body=t.body), t.date, t.date, ""
        )
        for t in texts
    ]


def gitmem(texts: Sequence[Text]) -> Ask:
    folder = tempfile.TemporaryDirectory(prefix="gitmem-bench-")
    index = SearchIndex.open(Path(folder.name))
    index.update(documents(texts), [], {"main": "bench"})

    def ask(question: str, _kept: object = folder) -> list[str]:
        return [hit.id for hit in index.search(Query((question,), limit=DEPTH), None).hits]

    return ask


def ripgrep_and(texts: Sequence[Text]) -> Ask:
    """`rg -il WORD` piped into itself for every word: texts that hold all words of the question, the newest first."""
    known = sorted(((t.date, t.id, t.whole.lower()) for t in texts), reverse=True)

    def ask(question: str) -> list[str]:
        words = set(WORD.findall(question.lower()))
        return [name for _, name, whole in known if words and all(word in whole for word in words)][:DEPTH]

    return ask


def counted(texts: Sequence[Text]) -> Ask:
    """Texts by the number of different words that they share with the question, the newest first among equals."""
    known = [(t.date, t.id, frozenset(WORD.findall(t.whole.lower()))) for t in texts]

    def ask(question: str) -> list[str]:
        words = set(WORD.findall(question.lower()))
        scored = sorted(((len(words & held), date, name) for date, name, held in known), reverse=True)
        return [name for count, _, name in scored[:DEPTH] if count]

    return ask


def tantivy_with(analyzer: str) -> Callable[[Sequence[Text]], Ask]:
    def build(texts: Sequence[Text]) -> Ask:
        import tantivy

        builder = tantivy.SchemaBuilder()
        builder.add_text_field("id", stored=True, tokenizer_name="raw")
        builder.add_text_field("text", tokenizer_name=analyzer, index_option="freq")
        schema = builder.build()
        index = tantivy.Index(schema)
        writer = index.writer(50_000_000, 1)
        for t in texts:
            writer.add_document(tantivy.Document(id=t.id, text=t.whole))
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        searcher = index.searcher()
        split = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple()).filter(tantivy.Filter.remove_long(40))
        split = split.filter(tantivy.Filter.lowercase())
        analyse = (split.filter(tantivy.Filter.stemmer("english")) if analyzer == "en_stem" else split).build().analyze

        def ask(question: str) -> list[str]:
            terms = dict.fromkeys(analyse(question))
            query = tantivy.Query.boolean_query(
                [(tantivy.Occur.Should, tantivy.Query.term_query(schema, "text", term, "freq")) for term in terms]
            )
            return [searcher.doc(address).get_first("id") for _, address in searcher.search(query, DEPTH).hits]

        return ask

    return build


def fts5(texts: Sequence[Text]) -> Ask:
    """SQLite FTS5 with its Porter stemmer, any word, by bm25(): the search of most local memory servers."""
    base = sqlite3.connect(":memory:")
    base.execute("CREATE VIRTUAL TABLE texts USING fts5(id UNINDEXED, whole, tokenize = 'porter unicode61')")
    base.executemany("INSERT INTO texts VALUES (?, ?)", [(t.id, t.whole) for t in texts])

    def ask(question: str) -> list[str]:
        words = " OR ".join(f'"{word}"' for word in dict.fromkeys(WORD.findall(question.lower())))
        rows = (
            base.execute("SELECT id FROM texts WHERE whole MATCH ? ORDER BY rank LIMIT ?", (words, DEPTH))
            if words
            else ()
        )
        return [row[0] for row in rows]

    return ask


def bm25s_peer(texts: Sequence[Text]) -> Ask:
    """bm25s as its front page shows it: English stop list, Snowball stems, Lucene's BM25."""
    import bm25s
    import Stemmer

    stemmer = Stemmer.Stemmer("english")
    index = bm25s.BM25()
    index.index(
        bm25s.tokenize([t.whole for t in texts], stopwords="en", stemmer=stemmer, show_progress=False),
        show_progress=False,
    )

    def ask(question: str) -> list[str]:
        terms = bm25s.tokenize([question], stopwords="en", stemmer=stemmer, show_progress=False)
        if not terms.vocab:
            return []
        found, scores = index.retrieve(terms, k=min(DEPTH, len(texts)), show_progress=False)
        return [texts[number].id for number, score in zip(found[0], scores[0], strict=True) if score > 0]

    return ask


SYSTEMS: dict[str, Callable[[Sequence[Text]], Ask]] = {
    "gitmem": gitmem,
    "ripgrep_and": ripgrep_and,
    "counted": counted,
    "tantivy_default": tantivy_with("default"),
    "tantivy_en_stem": tantivy_with("en_stem"),
    "fts5_porter": fts5,
    "bm25s": bm25s_peer,
}
# pip install bm25s==0.3.16; not needed otherwise, so it is no dependency of the project.
MISSING = () if importlib.util.find_spec("bm25s") else ("bm25s",)
