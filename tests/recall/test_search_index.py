from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.model.judgement import Filter
from gitmem.model.nouns import Alternative, FileRef, Scope, Step, Valid
from gitmem.model.vocabulary import STATUSES
from gitmem.recall import search_index
from gitmem.recall.document import OPEN_END, Document
from gitmem.recall.faults import IndexBusy, IndexDamaged
from gitmem.recall.positions import Step as Commit
from gitmem.recall.query import EVERY_VERSION, Query
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


@pytest.mark.race
def test_a_writer_killed_in_mid_write_leaves_the_last_whole_update(tmp_path: Path) -> None:
    of_texts(tmp_path, THREE)
    script = (
        "import sys, pathlib\nfrom gitmem.recall.search_index import SearchIndex\n"
        "from tests.recall.builders import document, memory\n"
        "def slow():\n    yield document(memory('m8', 'pool eight'))\n"
        "    print('half', flush=True)\n    sys.stdin.read()\n"
        f"SearchIndex.open(pathlib.Path({str(tmp_path)!r})).update(slow(), [('main', 'm1')], {{'main': 'c2'}})\n"
    )
    pipe = subprocess.PIPE
    child = subprocess.Popen(
        [sys.executable, "-c", script], stdin=pipe, stdout=pipe, text=True, cwd=Path(__file__).resolve().parents[2]
    )
    assert child.stdin is not None and child.stdout is not None
    with child.stdin, child.stdout:
        assert child.stdout.readline() == "half\n"
        index = SearchIndex.open(tmp_path)
        with pytest.raises(IndexBusy):
            index.update([], [], {"main": "c2"})
        child.send_signal(signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL
    assert index.tips == {"main": "c1"}
    assert sorted(ask(SearchIndex.open(tmp_path), "pool")) == ["m1", "m3"]
    index.update([document(memory("m9", "pool nine"))], [], {"main": "c2"})
    assert len(ask(index, "pool")) == 3


@pytest.mark.parametrize("suffix", [".json", ".idx", ".term", ".store", ".fast", ".fieldnorm", ".pos"])
@pytest.mark.parametrize("damage", ["cut", "gone"])
def test_a_damaged_index_is_built_again(tmp_path: Path, suffix: str, damage: str) -> None:
    of_texts(tmp_path, THREE)
    (victim,) = (f for f in tmp_path.rglob(f"*{suffix}") if not f.name.startswith("."))
    content = victim.read_bytes()
    victim.unlink()  # never in place: the index that wrote it may still have it mapped
    if damage == "cut":
        victim.write_bytes(content[:9])
    index = SearchIndex.open(tmp_path)
    with suppress(IndexDamaged):
        assert index.search(Query(("pool size",), phrase=True), TEAM).searched == 0
    assert index.tips == {}
    index.update([document(memory("m1", "pool"))], [], {"main": "c2"}, rebuild=True)
    assert listed(SearchIndex.open(tmp_path)) == ["main/m1"]


@pytest.mark.parametrize("suffix", [".idx", ".term", ".store", ".fast", ".fieldnorm"])
def test_flipped_bytes_raise_nothing_but_a_typed_error(tmp_path: Path, suffix: str) -> None:
    of_texts(tmp_path, {f"m{n}": f"pool size {n} word{n % 7}" for n in range(60)})
    (victim,) = tmp_path.rglob(f"*{suffix}")
    whole = victim.read_bytes()
    for position in range(0, len(whole), max(len(whole) // 40, 1)):
        victim.unlink()
        victim.write_bytes(whole[:position] + bytes([whole[position] ^ 0x55]) + whole[position + 1 :])
        index = SearchIndex.open(tmp_path)
        try:
            index.search(Query(("pool size word3",)), TEAM)
            index.search(Query(), TEAM)
        except IndexDamaged:
            assert index.tips == {}
    victim.unlink()
    victim.write_bytes(whole)
    assert SearchIndex.open(tmp_path).search(Query(("pool",), limit=5), TEAM).total == 60


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


# Versions. A history is written as it would be caught up: position by position.


def commits(*numbers: int) -> list[Commit]:
    return [Commit(f"{number:02x}" * 20, 1000 + number) for number in numbers]


def version(identifier: str, title: str, since: int, until: int = OPEN_END, **given: Any) -> Document:
    return replace(document(memory(identifier, title, **given)), since=since, until=until, blob=f"{since:040x}")


def storied(folder: Path) -> SearchIndex:
    """Positions 0 to 3: `a` came at 1 and was changed at 3, `b` came at 1 and went at 2."""
    index = SearchIndex.open(folder)
    first = [version("a", "pool one", 1), version("b", "pool bee", 1, key="k.b")]
    index.update(first, [], {"main": "c1"}, steps=commits(0, 1))
    index.update([], [], {"main": "c2"}, ended={"b": 2}, steps=commits(2))
    index.update([version("a", "pool two", 3, key="k.a")], [], {"main": "c3"}, ended={"a": 3}, steps=commits(3))
    return index


def stood(index: SearchIndex, position: int | None = None) -> list[tuple[str, int, int, str]]:
    """What is told of the versions at a position: by id and by search the same."""
    told = [(h.id, h.since, h.until, h.memory.title) for h in index.versions(["a", "b", "c"], None, position)]
    for query in (Query(position=position, limit=99), Query(("pool",), position=position, limit=99)):
        assert sorted((h.id, h.since, h.until, h.memory.title) for h in index.search(query, None).hits) == sorted(told)
    return told


def test_as_of_a_position_what_stood_there_is_found(tmp_path: Path) -> None:
    index = storied(tmp_path)
    one, two = ("a", 1, 3, "pool one"), ("a", 3, OPEN_END, "pool two")
    bee = ("b", 1, 2, "pool bee")
    assert stood(index, 0) == []
    assert stood(index, 1) == [one, bee]
    assert stood(index, 2) == [one]
    assert stood(index, 3) == stood(index) == [two]
    assert stood(index, EVERY_VERSION) == [two, one, bee]
    assert [hit.current for hit in index.versions(["a"], None, EVERY_VERSION)] == [True, False]
    assert [hit.memory.title for hit in index.search(Query(("one",), position=2), TEAM).hits] == ["pool one"]
    assert index.search(Query(("one",)), TEAM).hits == ()
    assert (index.count(), index.ids("a"), index.ids("b")) == (1, [("main", "a")], [])
    assert index.with_key("k.b") == [("main", "b")] and index.with_key("k.a") == [("main", "a")]
    positions = index.positions()
    assert [positions.commit(n)[:2] for n in range(len(positions))] == ["00", "01", "02", "03"]
    assert set(index.recorded(["a", "b", "c"])) == {"a", "b"}
    assert set(index.recorded(["a", "b"], 1)) == set()


def test_a_filter_holds_at_every_position(tmp_path: Path) -> None:
    index = SearchIndex.open(tmp_path)
    made = [version("a", "pool", 0, 1), version("a", "pool", 1, status="wrong")]
    index.update(made, [], {"main": "c1"}, steps=commits(0, 1))
    assert [h.since for h in index.search(Query(("pool",), position=0), TEAM).hits] == [0]
    assert index.search(Query(("pool",), position=1), TEAM).hits == ()
    assert [h.since for h in index.search(Query(("pool",), position=EVERY_VERSION), TEAM).hits] == [0]
    assert len(index.search(Query(("pool",), position=EVERY_VERSION), None).hits) == 2
    assert len(index.versions(["a"], TEAM, 0)) == 1 and index.versions(["a"], TEAM, 1) == []


def test_a_branch_that_went_another_way_forgets_what_came_after(tmp_path: Path) -> None:
    index = storied(tmp_path)
    # From position 1 on: `c` comes, `b` is changed; what happened to them at 2 and 3 never was.
    new = [version("c", "pool sea", 2), version("b", "pool bees", 3)]
    index.update(new, [], {"main": "d3"}, ended={"b": 3}, steps=commits(12, 13), kept=2)
    again = SearchIndex.open(tmp_path)
    for one in (index, again):
        assert stood(one) == [
            ("a", 1, OPEN_END, "pool one"), ("b", 3, OPEN_END, "pool bees"), ("c", 2, OPEN_END, "pool sea"),
        ]  # fmt: skip
        assert stood(one, 2) == [
            ("a", 1, OPEN_END, "pool one"),
            ("b", 1, 3, "pool bee"),
            ("c", 2, OPEN_END, "pool sea"),
        ]
        assert [one.positions().commit(n)[:2] for n in range(4)] == ["00", "01", "0c", "0d"]
    # Back to before anything, and on.
    again.update([], [], {"main": ""}, kept=0)
    assert (stood(again, EVERY_VERSION), len(again.positions()), again.count()) == ([], 0, 0)
    again.update([version("a", "pool new", 0)], [], {"main": "e"}, steps=commits(7))
    assert stood(again) == [("a", 0, OPEN_END, "pool new")]


def test_what_was_replaced_counts_no_more(tmp_path: Path) -> None:
    """Scores, and how many versions hold a word, as if the index had been made at once."""
    others = [version(f"c{n}", f"sea number{n}", 0) for n in range(12)]
    caught = SearchIndex.open(tmp_path / "caught")
    caught.update([version("a", "pool old", 0), *others], [], {"main": "c0"}, steps=commits(0))
    for n in range(1, 6):
        made = [replace(version("a", f"pool size {n}", n), blob=f"{n:040x}")]
        caught.update(made, [], {"main": f"c{n}"}, ended={"a": n}, steps=commits(n))
    caught.update([document(memory("i", "pool inbox"), ref="inbox")], [], {"main": "c5", "inbox": "i1"})
    caught.update([document(memory("i", "pool again"), ref="inbox")], [("inbox", "i")], {"main": "c5", "inbox": "i2"})
    texts = ["pool old", *(f"pool size {n}" for n in range(1, 6))]
    rows = [version("a", text, n, n + 1 if n < 5 else OPEN_END) for n, text in enumerate(texts)]
    made_at_once = SearchIndex.open(tmp_path / "once")
    made_at_once.update(
        [*rows, *others, document(memory("i", "pool again"), ref="inbox")], [], {"main": "c5", "inbox": "i2"},
        steps=commits(*range(6)),
    )  # fmt: skip
    for text in ("pool", "size 3", "sea", "old", "pol"):
        for position in (None, EVERY_VERSION, 3):
            query = Query((text,), position=position, refs=(), limit=50)
            found = caught.search(query, None)
            assert found == made_at_once.search(query, None)
            assert found.hits or (text, position) != ("pool", None)


# Concurrency and damage.


def test_what_was_opened_before_a_rebuild_goes_on_answering(tmp_path: Path) -> None:
    storied(tmp_path)
    before = SearchIndex.open(tmp_path)
    writer = SearchIndex.open(tmp_path)
    for number in range(3):
        writer.update([version("z", "other", 0)], [], {"main": f"d{number}"}, steps=commits(9), rebuild=True)
        writer.update([], [], {"main": f"e{number}"}, kept=0, steps=commits(9, 8))
    assert not before.is_current() and before.tips == {"main": "c3"}
    assert stood(before, 1) == [("a", 1, 3, "pool one"), ("b", 1, 2, "pool bee")]
    assert len(before.positions()) == 4 and before.positions().commit(3)[:2] == "03"
    assert before.with_key("k.b") == [("main", "b")]
    assert [path.name for path in sorted(tmp_path.rglob("cards.*"))] == ["cards.4"]
    assert len(list(tmp_path.rglob("positions.*"))) == 1


@pytest.mark.parametrize("moment", ["check_stores", "Cards", "PositionsFile"])
@pytest.mark.parametrize("way", ["rebuild", "rewind", "update"])
def test_who_opens_while_a_writer_swaps_sees_the_one_or_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str, way: str
) -> None:
    """The state is read, and then the files that it names are gone."""
    storied(tmp_path)
    writer = SearchIndex.open(tmp_path)
    really, opened = getattr(search_index, moment), []

    def swapped(*given: Any) -> Any:
        opened.append(given)
        if len(opened) == 1:
            if way == "rebuild":
                writer.update([version("a", "pool anew", 0)], [], {"main": "d"}, steps=commits(9), rebuild=True)
            elif way == "rewind":
                writer.update([], [], {"main": "d"}, kept=2)
            else:
                writer.update([version("c", "pool sea", 4)], [], {"main": "d"}, steps=commits(4))
        return really(*given)

    monkeypatch.setattr(search_index, moment, swapped)
    index = SearchIndex.open(tmp_path)
    assert opened
    assert index.tips in ({"main": "d"}, {"main": "c3"})
    assert len(index.positions()) > 0 and index.search(Query(("pool",)), TEAM).hits
    monkeypatch.undo()
    assert SearchIndex.open(tmp_path).tips == {"main": "d"}


def test_an_index_that_never_rests_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storied(tmp_path)
    writer, tries = SearchIndex.open(tmp_path), []

    def swapped(folder: Path) -> None:
        tries.append(folder)
        monkeypatch.undo()
        writer.update([], [], {"main": f"d{len(tries)}"})
        monkeypatch.setattr(search_index, "check_stores", swapped)
        raise ValueError("replaced")

    monkeypatch.setattr(search_index, "check_stores", swapped)
    assert SearchIndex.open(tmp_path).tips == {}
    assert 1 < len(tries) < 50
    monkeypatch.undo()
    assert SearchIndex.open(tmp_path).tips == {"main": f"d{len(tries)}"}


BESIDE = ["cards.*", "positions.*"]


def victim_of(folder: Path, pattern: str) -> Path:
    (victim,) = folder.rglob(pattern)
    return victim


@pytest.mark.parametrize("pattern", [*BESIDE, "meta.json"])
@pytest.mark.parametrize("damage", ["gone", "emptied", "cut", "folder"])
def test_a_file_that_is_not_whole_makes_an_empty_index(tmp_path: Path, pattern: str, damage: str) -> None:
    assert storied(tmp_path).tips  # the control
    victim = victim_of(tmp_path, pattern)
    content = victim.read_bytes()
    victim.unlink()
    if damage == "folder":
        victim.mkdir()
    elif damage != "gone":
        victim.write_bytes(content[: len(content) // 2] if damage == "cut" else b"")
    index = SearchIndex.open(tmp_path)
    assert (index.tips, index.count(), len(index.positions())) == ({}, 0, 0)
    assert index.search(Query(("pool",)), TEAM).searched == 0
    index.update([version("a", "pool", 0)], [], {"main": "n"}, steps=commits(5))
    assert stood(SearchIndex.open(tmp_path)) == [("a", 0, OPEN_END, "pool")]


@pytest.mark.parametrize("pattern", [*BESIDE, "*.idx", "*.term", "*.fast", "*.store", "*.pos"])
@pytest.mark.parametrize("damage", ["flipped", "garbage"])
def test_an_update_of_a_damaged_index_is_typed_and_the_next_one_builds_it(
    tmp_path: Path, pattern: str, damage: str
) -> None:
    for part in range(3):
        folder = tmp_path / str(part)
        index = SearchIndex.open(folder)
        made = [version(f"m{n}", f"pool size {n} word{n % 7}", 0) for n in range(40)]
        index.update(made, [], {"main": "c0"}, steps=commits(0))
        victim = victim_of(folder, pattern)
        whole = victim.read_bytes()
        at = len(whole) * (2 * part + 1) // 6
        victim.unlink()
        victim.write_bytes(
            b"\xff" * len(whole) if damage == "garbage" else whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :]
        )
        index = SearchIndex.open(folder)
        add, every = version("m1", "pool new", 1), {f"m{n}": 1 for n in range(40)}
        try:
            if index.tips:
                assert len(index.positions()) == 1
                index.update([add], [], {"main": "c1"}, ended=every, steps=commits(1))
        except IndexDamaged:
            assert index.tips == {}
        index.update([add], [], {"main": "c1"}, steps=commits(0, 1), rebuild=True)
        assert SearchIndex.open(folder).count() == 1
        assert [h.memory.title for h in SearchIndex.open(folder).search(Query(("new",)), TEAM).hits] == ["pool new"]


def test_a_card_that_was_flipped_is_noticed_by_whoever_reads_it(tmp_path: Path) -> None:
    made = [version("a", "pool one", 1, 3), version("b", "pool bee", 1, 2, key="k.b"), version("a", "pool two", 3)]
    SearchIndex.open(tmp_path).update(made, [], {"main": "c3"}, steps=commits(0, 1, 2, 3))
    victim = victim_of(tmp_path, "cards.*")
    whole = victim.read_bytes()
    victim.unlink()
    victim.write_bytes(whole[:40] + bytes([whole[40] ^ 1]) + whole[41:])
    reads: list[Callable[[SearchIndex], object]] = [
        lambda index: index.search(Query(("pool",), position=1), TEAM),
        lambda index: index.search(Query(position=EVERY_VERSION), None),
        lambda index: index.versions(["a", "b"], None, EVERY_VERSION),
        lambda index: index.recorded(["a", "b"]),
        lambda index: index.with_key("k.b") and index.versions(["a", "b"], None, 1),
        lambda index: index.update([], [], {"main": "x"}, kept=0),
        lambda index: index.update([], [], {"main": "x"}, kept=1, ended={"a": 1}, steps=commits(7)),
    ]
    for read in reads:
        index = SearchIndex.open(tmp_path)
        assert index.tips == {"main": "c3"}
        assert index.search(Query(("two",)), TEAM).hits  # what is whole still answers
        with pytest.raises(IndexDamaged, match="checksum"):
            read(index)
        assert (index.tips, index.search(Query(("two",)), TEAM).hits) == ({}, ())
    assert SearchIndex.open(tmp_path).tips == {"main": "c3"}  # nothing half-written


def test_where_nothing_can_be_written_the_index_is_busy(tmp_path: Path) -> None:
    storied(tmp_path / "index")
    index = SearchIndex.open(tmp_path / "index")
    (lock,) = (tmp_path / "index").glob("*.lock")
    lock.unlink()
    lock.mkdir()  # root may write anywhere, but not into a folder
    with pytest.raises(IndexBusy, match="cannot be written"):
        index.update([], [], {"main": "x"})
    assert index.tips == {"main": "c3"} and stood(index)
    lock.rmdir()
    index.update([], [], {"main": "x"})
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(IndexBusy, match="cannot be written"):
        SearchIndex.open(tmp_path / "file").update([], [], {"main": "x"})


def test_whatever_lies_where_the_index_belongs_is_put_away(tmp_path: Path) -> None:
    storied(tmp_path)
    folder = next(path for path in tmp_path.iterdir() if path.is_dir())
    shutil.rmtree(folder)
    folder.write_bytes(b"no folder")
    index = SearchIndex.open(tmp_path)
    assert index.tips == {}
    index.update([version("a", "pool", 0)], [], {"main": "n"}, steps=commits(5))
    assert len(stood(SearchIndex.open(tmp_path))) == 1


def test_a_status_that_nobody_knows_can_be_ranked(tmp_path: Path) -> None:
    index = filled(tmp_path, [document(memory("a", "pool", status="unheard-of")), document(memory("b", "pool"))])
    assert ask(index, "pool", None) == ["b", "a"]
    assert ask(index, "pool") == ["b"]


def test_what_the_index_holds_is_known_by_its_blob(tmp_path: Path) -> None:
    index = storied(tmp_path)
    assert index.holds([f"{1:040x}"]) and index.holds(["f" * 40, f"{3:040x}"])
    assert not index.holds(["f" * 40]) and not index.holds([])
    assert not SearchIndex.open(tmp_path / "none").holds([f"{1:040x}"])
