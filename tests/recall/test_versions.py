"""What stood when: versions, and the positions between which each did."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gitmem.recall.document import OPEN_END
from gitmem.recall.query import EVERY_VERSION, Query
from gitmem.recall.search_index import SearchIndex
from tests.recall.builders import (
    TEAM,
    commits,
    document,
    memory,
    stood,
    storied,
    version,
)


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


def test_a_word_that_is_gone_is_not_what_a_mistyped_one_meant(tmp_path: Path) -> None:
    gone = [f"socke{letter}" for letter in "abcdefghijklmnop"]
    index = SearchIndex.open(tmp_path)
    index.update(
        [version("a", " ".join(gone), 0), version("b", "sockex waits", 0)], [], {"main": "c0"}, steps=commits(0)
    )
    index.update([version("a", "nothing of it", 0)], [], {"main": "c1"}, steps=commits(1))
    assert gone[3] not in index.versions(["a"], None)[0].memory.title
    found = index.search(Query(("sockez",)), TEAM)
    assert [hit.id for hit in found.hits] == ["b"]
    anew = SearchIndex.open(tmp_path / "anew")
    made = [version("a", "nothing of it", 0), version("b", "sockex waits", 0)]
    anew.update(made, [], {"main": "c1"}, steps=commits(0, 1))
    assert anew.search(Query(("sockez",)), TEAM) == found
