from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.model.judgement import Filter
from gitmem.model.nouns import Alternative, FileRef, Scope, Step, Valid
from gitmem.model.vocabulary import STATUSES
from gitmem.recall.document import Document
from gitmem.recall.faults import IndexBusy
from gitmem.recall.query import Query
from gitmem.recall.search_index import SearchIndex
from tests.recall.builders import START, TEAM, ask, document, filled, memory, of_texts

THREE = {"m1": "pool size is 20", "m2": "retry three times", "m3": "pool of workers"}


def listed(index: SearchIndex, seen: Filter | None = None, **more: object) -> list[str]:
    return [f"{h.ref}/{h.id}" for h in index.search(Query(refs=(), limit=1000, **more), seen).hits]  # type: ignore[arg-type]


def test_a_missing_index_is_empty_and_opening_writes_nothing(tmp_path: Path) -> None:
    index = SearchIndex.open(tmp_path / "index")
    answer = index.search(Query(("pool",)), TEAM)
    assert (index.tips, answer.hits, answer.searched, index.count()) == ({}, (), 0, 0)
    assert (index.ids("m"), index.with_key("k"), index.similar("pool", 5)) == ([], [], [])
    assert not (tmp_path / "index").exists()
    index.update([document(memory("m1", "pool"))], [], {"main": "c1"})
    assert ask(index, "pool") == ["m1"]


def test_what_is_written_is_there_for_the_next_process(tmp_path: Path) -> None:
    of_texts(tmp_path, THREE)
    again = SearchIndex.open(tmp_path)
    assert again.tips == {"main": "c1"}
    assert again.count() == 3
    assert sorted(ask(again, "pool")) == ["m1", "m3"]


def test_an_update_puts_replaces_and_removes_at_once(tmp_path: Path) -> None:
    index = of_texts(tmp_path, THREE)
    index.update([document(memory("m2", "never retry"))], [("main", "m1")], {"main": "c2", "inbox": "c9"})
    assert index.tips == {"main": "c2", "inbox": "c9"}
    assert listed(index) == ["main/m3", "main/m2"]
    assert ask(index, "three") == []
    assert ask(index, "never") == ["m2"]


def test_a_failed_update_changes_nothing(tmp_path: Path) -> None:
    index = of_texts(tmp_path, THREE)

    def broken() -> Iterator[Document]:
        yield document(memory("m4", "pool four"))
        raise RuntimeError("the source went away")

    with pytest.raises(RuntimeError):
        index.update(broken(), [("main", "m1")], {"main": "c2"})
    for seen in (index, SearchIndex.open(tmp_path)):
        assert seen.tips == {"main": "c1"}
        assert sorted(listed(seen)) == ["main/m1", "main/m2", "main/m3"]
    index.update([document(memory("m4", "pool four"))], [], {"main": "c2"})
    assert index.count() == 4


def test_a_rebuild_forgets_what_is_not_given(tmp_path: Path) -> None:
    index = of_texts(tmp_path, THREE)
    index.update([document(memory("m9", "only one"))], [], {"main": "c5"}, rebuild=True)
    assert listed(SearchIndex.open(tmp_path)) == ["main/m9"]


def test_rebuilt_and_caught_up_give_the_same_answers(tmp_path: Path) -> None:
    caught = of_texts(tmp_path / "a", THREE)
    caught.update([document(memory("m2", "pool again"), day=1)], [("main", "m3")], {"main": "c2"})
    rebuilt = filled(
        tmp_path / "b", [document(memory("m1", "pool size is 20")), document(memory("m2", "pool again"), day=1)]
    )
    assert listed(caught) == listed(rebuilt)
    assert sorted(ask(caught, "pool size")) == sorted(ask(rebuilt, "pool size"))


def test_a_second_writer_is_told_and_readers_go_on(tmp_path: Path) -> None:
    index = of_texts(tmp_path, THREE)
    other = SearchIndex.open(tmp_path)
    seen: list[list[str]] = []

    def during() -> Iterator[Document]:
        with pytest.raises(IndexBusy):
            other.update([], [], {"main": "c3"})
        seen.append(sorted(ask(SearchIndex.open(tmp_path), "pool")))
        yield document(memory("m4", "pool four"))

    index.update(during(), [], {"main": "c2"})
    assert seen == [["m1", "m3"]]
    with pytest.raises(IndexBusy):  # its difference was made from c1
        other.update([], [], {"main": "c3"})
    assert other.tips == {"main": "c2"}
    other.update([document(memory("m5", "pool five"))], [], {"main": "c3"})
    assert len(ask(other, "pool")) == 4


MANY = [
    memory(f"m{n}", f"word number{n}", status=status, scope=Scope(project, audience), valid=Valid(start, until))
    for n, (status, project, audience, start, until) in enumerate(
        (status, project, audience, start, until)
        for status in (*STATUSES[:5], "unheard-of")
        for project in ("shop", "till")
        for audience in ("team", "private")
        for start, until in ((None, None), ("2026-03-02T10:00:00.5Z", None), (None, "2026-03-02T10:00:00.5Z"))
    )
]


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> SearchIndex:
    return filled(tmp_path_factory.mktemp("many"), map(document, MANY))  # type: ignore[arg-type]


@settings(deadline=None)
@given(
    st.builds(
        Filter,
        st.frozensets(st.sampled_from(["shop", "till", "other"])),
        st.frozensets(st.sampled_from(["team", "private"])),
        st.frozensets(st.sampled_from(STATUSES)),
        st.sampled_from([None, *(START + timedelta(seconds=s) for s in (-1, 0, 0.4, 0.5, 0.6, 1))]),
    )
)
def test_the_index_admits_what_the_predicate_admits(many: SearchIndex, seen: Filter) -> None:
    allowed = {f"main/{m.id}" for m in MANY if seen.admits(m)}
    assert set(listed(many, seen)) == allowed
    found = many.search(Query(("word",), limit=1000), seen)
    assert {f"main/{h.id}" for h in found.hits} == allowed
    assert found.searched == len(allowed)


def test_what_can_be_asked_besides_words(tmp_path: Path) -> None:
    cited = FileRef("lib/net/dial.py", "0" * 40, "0" * 40, "0" * 64)
    made = [
        document(memory("k1", "one", kind="decision", tags=("Net", "db"), key="net.timeout"), day=0),
        document(memory("k2", "two", applies_to=("lib/net/**",), tags=("net",)), day=1),
        document(memory("k3", "three", evidence=(cited,), origin="observed"), day=2),
        document(memory("k4", "four", applies_to=("docs/",), status="stale"), day=3),
        document(memory("k5", "five", applies_to=("**/*.py",)), day=4),
        document(memory("k6", "six"), ref="inbox", day=5),
    ]
    index = filled(tmp_path, made)

    def names(**more: object) -> set[str]:
        return {h.id for h in index.search(Query(**more), TEAM).hits}  # type: ignore[arg-type]

    assert names() == {"k1", "k2", "k3", "k4", "k5"}
    assert names(refs=("inbox",)) == {"k6"}
    assert names(kinds=("decision",)) == {"k1"}
    assert names(statuses=("stale", "wrong")) == {"k4"}
    assert names(origins=("observed",)) == {"k3"}
    assert names(tags=("net",)) == {"k1", "k2"}
    assert names(tags=("net", "db")) == {"k1"}
    assert names(key="net.timeout") == {"k1"}
    assert names(key="net.\ud800") == set()
    assert names(path="lib/net/dial.py") == {"k2", "k3", "k5"}
    assert names(path="lib/network") == {"k5"}
    assert names(path="lib") == {"k2", "k3", "k5"}
    assert names(since=START + timedelta(days=1), until=START + timedelta(days=3)) == {"k2", "k3"}
    assert index.with_key("net.timeout") == [("main", "k1")]


def test_without_words_the_newest_come_first_page_by_page(tmp_path: Path) -> None:
    index = of_texts(tmp_path, {f"m{n}": f"note {n}" for n in range(7)})
    pages = [[h.id for h in index.search(Query(limit=3, offset=o), TEAM).hits] for o in (0, 3, 6)]
    assert pages == [["m6", "m5", "m4"], ["m3", "m2", "m1"], ["m0"]]
    assert index.search(Query(("note",), order="newest", limit=2), TEAM).total == 7
    assert ask(index, "note", order="newest", limit=2) == ["m6", "m5"]


def test_a_phrase_is_found_word_for_word(tmp_path: Path) -> None:
    index = of_texts(tmp_path, {"a": "the pool size grew", "b": "size of the pool", "c": "set max_pool size"})
    assert sorted(ask(index, "pool size")) == ["a", "b", "c"]
    assert sorted(ask(index, "pool size", phrase=True)) == ["a", "c"]


def test_every_text_of_a_memory_is_searched(tmp_path: Path) -> None:
    made = memory(
        "m", "alpha", body="bravo", aliases=("charlie",), alternatives=(Alternative("delta", "echo"),), cue="foxtrot",
        steps=(Step("golf"),), claims=("hotel",), groundings=("india",), tags=("juliett",), key="kilo.lima",
    )  # fmt: skip
    index = filled(tmp_path, [document(made)])
    words = "alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima march"
    for word in words.split():
        assert ask(index, word) == ["m"], word
    assert ask(index, "november") == []


def test_a_typo_is_forgiven_and_chance_is_no_answer(tmp_path: Path) -> None:
    index = of_texts(tmp_path, {"m": "the connection is closed", "n": "reaction to the election"})
    assert ask(index, "conection") == ["m"]
    assert ask(index, "fraction") == []


def test_state_weighs_more_than_words_and_age_only_breaks_ties(tmp_path: Path) -> None:
    made = [
        document(memory("stale", "pool size", status="stale"), day=5),
        document(memory("old", "pool size"), day=1),
        document(memory("new", "pool size"), day=2),
        document(memory("maybe", "pool size", status="maybe_stale"), day=9),
    ]
    assert ask(filled(tmp_path, made), "pool size") == ["new", "old", "maybe", "stale"]


def test_an_exact_tag_path_or_id_raises_a_memory(tmp_path: Path) -> None:
    made = [
        document(memory("zz1", "cache note", tags=("cache",))),
        document(memory("zz2", "cache cache", applies_to=("lib/io.py",))),
    ]
    index = filled(tmp_path, made)
    assert ask(index, "cache")[0] == "zz1"
    assert ask(index, "cache lib/io.py")[0] == "zz2"
    assert ask(index, "zz2") == ["zz2"]


def test_a_hit_says_which_words_it_holds(tmp_path: Path) -> None:
    hits = of_texts(tmp_path, THREE).search(Query(("the pool sizes --x",)), TEAM).hits
    assert {h.id: set(h.matched) for h in hits} == {"m1": {"pool", "size"}, "m3": {"pool"}}


def test_near_duplicates_are_found_in_every_state_and_on_every_ref(tmp_path: Path) -> None:
    made = [
        document(memory("m1", "retry the connect three times", status="wrong")),
        document(memory("m2", "retry connecting three times", status="candidate"), ref="inbox"),
        document(memory("m3", "paint it blue")),
    ]
    index = filled(tmp_path, made)
    assert {(h.ref, h.id) for h in index.similar("we retry connects three times", 10)} == {
        ("main", "m1"),
        ("inbox", "m2"),
    }
    assert index.similar("\ud800 !", 10) == []
    assert ask(index, "retry connect") == []  # a reader sees neither


def test_the_likest_of_many_that_share_common_words_come_first(tmp_path: Path) -> None:
    rest = " ".join(f"word{n}" for n in range(20))
    long = {f"l{n}": f"fix the tests on windows, tests on windows fix {rest}" for n in range(60)}
    index = of_texts(tmp_path, {**long, "near": "fix failing windows test with bytes"})
    assert "near" in {hit.id for hit in index.similar("Fix tests on windows", 3)}


def test_ids_by_prefix_are_those_still_there(tmp_path: Path) -> None:
    index = of_texts(tmp_path, {"abcd1": "a", "abcd2": "b", "abce1": "c"})
    assert index.ids("abcd") == [("main", "abcd1"), ("main", "abcd2")]
    index.update([document(memory("abcd2", "b"), ref="inbox")], [("main", "abcd1")], {"main": "c2"})
    assert index.ids("abcd") == [("inbox", "abcd2"), ("main", "abcd2")]
    assert index.ids("zz") == []


def test_a_long_question_is_cut_to_its_first_line_and_rare_words(tmp_path: Path) -> None:
    filler = " ".join(f"common{n}" for n in range(40))
    texts = {f"f{n}": f"{filler} number{n}" for n in range(30)} | {"m": "the zebra cache overflows", "t": "giraffe"}
    index = of_texts(tmp_path, texts)
    found = ask(index, f"zebra overflows\n{filler} giraffe", limit=2)
    assert found == ["m", "t"]


def test_writing_reads_the_documents_one_by_one(tmp_path: Path) -> None:
    alive: list[int] = []

    def stream() -> Iterator[Document]:
        for n in range(50):
            alive.append(n)
            yield document(memory(f"m{n}", f"note {n}"))

    index = SearchIndex.open(tmp_path)
    index.update(stream(), [], {"main": "c1"})
    assert len(alive) == index.count() == 50


def test_the_reader_without_filter_is_the_only_one_who_sees_a_candidate(tmp_path: Path) -> None:
    index = filled(tmp_path, [document(memory("c", "pool", status="candidate")), document(memory("a", "pool"))])
    assert ask(index, "pool") == ["a"]
    assert sorted(ask(index, "pool", None)) == ["a", "c"]
    assert ask(index, "pool", replace(TEAM, statuses=frozenset({"candidate"}))) == ["c"]


def test_of_hundreds_that_are_equally_near_the_newest_come_first(tmp_path: Path) -> None:
    """However the index came to be: made at once, or in parts of which some were put anew."""
    made = [
        replace(document(memory(f"m{n:03}", f"pool number{n:03}")), recorded=START + timedelta(minutes=n))
        for n in range(260)
    ]
    once, parts = filled(tmp_path / "once", made), SearchIndex.open(tmp_path / "parts")
    parts.update([document(memory(one.memory.id, "pool of old")) for one in made[:200]], [], {"main": "c0"})
    for number, start in enumerate(range(0, 260, 65)):
        parts.update(reversed(made[start : start + 65]), [], {"main": f"c{number}"})
    newest = [f"m{n:03}" for n in range(259, 249, -1)]
    for index in (once, parts):
        assert ask(index, "pool") == newest
        assert ask(index, "pools", order="newest") == newest
        assert ask(index, "number017 pool")[0] == "m017"
