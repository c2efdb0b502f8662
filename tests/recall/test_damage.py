"""Writers that swap or die, disks that lie, and files that are not whole: an index is derived, and says so."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from gitmem.recall import search_index
from gitmem.recall.document import OPEN_END
from gitmem.recall.faults import IndexBusy, IndexDamaged
from gitmem.recall.query import EVERY_VERSION, Query
from gitmem.recall.search_index import SearchIndex
from tests.recall.builders import (
    TEAM,
    ask,
    commits,
    document,
    filled,
    memory,
    of_texts,
    stood,
    storied,
    version,
)

THREE = {"m1": "pool size is 20", "m2": "retry three times", "m3": "pool of workers"}


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
    assert ask(SearchIndex.open(tmp_path), "pool") == ["m1"]


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
        SearchIndex.open(tmp_path / "file/index").update([], [], {"main": "x"})


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
