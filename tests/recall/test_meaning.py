"""Search by meaning, with a model of a few words: what is done with the real one is measured in benchmarks/recall."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from gitmem.model.judgement import Filter
from gitmem.model.nouns import Scope, Valid
from gitmem.recall import meaning, reader
from gitmem.recall.document import Document
from gitmem.recall.faults import IndexBusy, MeaningUnavailable
from gitmem.recall.positions import Step
from gitmem.recall.query import EVERY_VERSION, Query
from gitmem.recall.ranking import MEANING_WEIGHT
from gitmem.recall.search_index import SearchIndex
from gitmem.recall.writer_lock import writer_lock
from tests.recall.builders import START, TEAM, ask, document, filled, memory, of_texts
from tests.recall.meant import Concepts

THREE = {"m1": "an automobile in the garage", "m2": "an invoice in the drawer", "m3": "water under the bridge"}


def learned(folder: Path, model: Concepts | None = None) -> SearchIndex:
    index = SearchIndex.open(folder, model or Concepts())
    index.learn()
    return index


def head(folder: Path) -> Path:
    (found,) = folder.glob("*/vectors.json")
    return found


def rows(folder: Path) -> Path:
    (found,) = folder.glob("*/vectors.[0-9]*")
    return found


def test_what_means_the_same_is_found_without_a_common_word(tmp_path: Path) -> None:
    words = of_texts(tmp_path, THREE)
    index = learned(tmp_path)
    for question, found in (("fast vehicle", "m1"), ("payment", "m2"), ("ocean", "m3")):
        assert ask(index, question) == [found] and ask(words, question) == []
    (hit,) = index.search(Query(("payment",)), TEAM).hits
    assert (hit.matched, hit.lanes) == ((), {"text": 0.0, "grams": 0.0, "meaning": MEANING_WEIGHT})
    assert index.is_learned() and not index.doubt


def test_words_and_meaning_add_up(tmp_path: Path) -> None:
    of_texts(tmp_path, {"m1": "the vehicle stalls", "m2": "the engine stalls", "m3": "the automobile stalls in water"})
    index = learned(tmp_path)
    assert ask(index, "car stalls") == ["m1", "m3", "m2"]
    assert ask(index, "engine stalls")[0] == "m2"


def test_a_word_that_no_memory_holds_weighs_less_than_one_that_is_as_rare(tmp_path: Path) -> None:
    others = {f"o{n}": "a garage" for n in range(20)}
    of_texts(tmp_path, {"m1": "the car in a garage", "m2": "the invoice in a garage", **others})
    index = learned(tmp_path)
    near = {hit.id: hit.lanes["meaning"] for hit in index.search(Query(("car payment",)), TEAM).hits}
    assert near["m1"] > near["m2"] > 0.0  # nothing says payment, which is an invoice


def test_near_is_an_answer_and_far_is_none(tmp_path: Path) -> None:
    of_texts(tmp_path, THREE)
    index = learned(tmp_path)
    near, far = index.search(Query(("physician",)), TEAM), index.search(Query(("car",)), TEAM)
    assert near.hits == () and near.confidence == 0.0 and near.searched == 3
    assert far.hits and far.confidence > 0.45


def test_without_a_model_nothing_is_written(tmp_path: Path) -> None:
    index = of_texts(tmp_path, THREE)
    index.learn()
    assert index.is_learned() and not list(tmp_path.glob("*/vectors*"))
    learned(tmp_path)
    assert list(tmp_path.glob("*/vectors*"))


HIDDEN = {
    "of another project": memory("h1", "automobile", scope=Scope("elsewhere")),
    "for another audience": memory("h2", "automobile", scope=Scope("shop", "lead")),
    "superseded": memory("h3", "automobile", status="superseded"),
    "rejected": memory("h4", "automobile", status="wrong"),
    "archived": memory("h5", "automobile", status="archived"),
    "a candidate": memory("h6", "automobile", status="candidate"),
    "expired": memory("h7", "automobile", valid=Valid(until="2026-03-01")),
    "not yet true": memory("h8", "automobile", valid=Valid(start="2026-09-01")),
}


@pytest.mark.parametrize("why", HIDDEN)
def test_nothing_that_is_hidden_is_found_by_its_meaning(tmp_path: Path, why: str) -> None:
    shown = replace(TEAM, valid_at=START + timedelta(days=3))
    filled(tmp_path, [document(HIDDEN[why]), document(memory("m1", "a vehicle"))])
    index = learned(tmp_path)
    assert ask(index, "car", shown) == ["m1"]
    assert sorted(ask(index, "car", None)) == [HIDDEN[why].id, "m1"]  # the control: only the filter hid it


def test_an_empty_scope_sees_nothing_and_no_candidate_of_the_inbox_is_found(tmp_path: Path) -> None:
    filled(tmp_path, [document(memory("m1", "a vehicle")), document(memory("m2", "an automobile"), ref="inbox")])
    index = learned(tmp_path)
    assert ask(index, "car") == ["m1"] and ask(index, "car", refs=("main", "inbox")) != ["m1"]
    assert ask(index, "car", Filter(frozenset(), frozenset(), frozenset(), None)) == []


@pytest.mark.parametrize(
    "asked", [{"kinds": ("decision",)}, {"tags": ("red",)}, {"statuses": ("stale",)}, {"key": "k"}, {"phrase": True}]
)
def test_what_is_asked_besides_words_holds_for_meaning_too(tmp_path: Path, asked: dict[str, object]) -> None:
    of_texts(tmp_path, THREE)
    index = learned(tmp_path)
    assert ask(index, "car") == ["m1"]
    assert ask(index, "car", **asked) == []


def test_flags_are_found_as_they_are_written_and_not_by_meaning(tmp_path: Path) -> None:
    of_texts(tmp_path, {"m1": "pass --car to the tool", "m2": "an automobile"})
    index = learned(tmp_path)
    assert ask(index, "--car") == ["m1"]
    assert sorted(ask(index, "car")) == ["m1", "m2"]


def test_many_nearer_ones_that_are_hidden_do_not_crowd_out_one_that_is_not(tmp_path: Path) -> None:
    hidden = [document(memory(f"h{n}", "automobile", scope=Scope("elsewhere"))) for n in range(250)]
    filled(tmp_path, [*hidden, document(memory("m1", "vehicle by the sea"))])
    assert ask(learned(tmp_path), "car") == ["m1"]


def test_looking_ends_somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hidden = [document(memory(f"h{n}", "automobile", scope=Scope("elsewhere"))) for n in range(30)]
    filled(tmp_path, [*hidden, document(memory("m1", "vehicle by the sea"))])
    index = learned(tmp_path)
    monkeypatch.setattr(reader, "_LOOKED_UP", 10)
    assert ask(index, "car") == ["m1"]
    monkeypatch.setattr(reader, "_MOST_LOOKED_AT", 20)
    assert ask(index, "car") == []


def version(identifier: str, text: str, since: int, **ends: int) -> Document:
    return replace(document(memory(identifier, text), day=since), since=since, **ends)


def test_each_version_has_its_meaning_at_its_time(tmp_path: Path) -> None:
    steps = [Step(f"{n:040x}", n) for n in range(2)]
    index = SearchIndex.open(tmp_path, Concepts())
    index.update([version("m1", "an automobile", 0)], [], {"main": "c1"}, steps=steps[:1])
    index.learn()
    assert ask(index, "vehicle") == ["m1"]
    index.update([version("m1", "a payment", 1)], [], {"main": "c2"}, ended={"m1": 1}, steps=steps[1:])
    assert not index.is_learned()
    index.learn()
    assert ask(index, "vehicle") == [] and ask(index, "money") == ["m1"]
    assert ask(index, "vehicle", position=0) == ["m1"] and ask(index, "money", position=0) == []
    assert ask(index, "vehicle", position=EVERY_VERSION) == ["m1"]


def test_what_was_taken_out_or_put_anew_is_not_found_by_what_it_meant(tmp_path: Path) -> None:
    of_texts(tmp_path, THREE)
    index = learned(tmp_path)
    index.update([document(memory("m2", "an ocean"))], [("main", "m1")], {"main": "c2"})
    for _ in range(2):  # before the new one is learned, and after
        assert ask(index, "car") == [] and ask(index, "money") == []
        index.learn()
    assert sorted(ask(index, "sea")) == ["m2", "m3"]


def test_learned_bit_by_bit_and_at_once_give_the_same_answers(tmp_path: Path) -> None:
    texts = {
        f"m{n}": f"{a} and {b}" for n, (a, b) in enumerate([("car", "sea"), ("fast", "sea"), ("money", "car")] * 4)
    }
    index = SearchIndex.open(tmp_path / "a", Concepts())
    for day, (name, text) in enumerate(texts.items()):
        index.update([document(memory(name, text), day=day)], [], {"main": name})
        if day % 3:
            index.learn()
    index.learn()
    of_texts(tmp_path / "b", texts)
    for question in ("automobile", "quick ocean", "invoice", "vehicle water"):
        first, second = (i.search(Query((question,)), TEAM) for i in (index, learned(tmp_path / "b")))
        assert [(h.id, h.score, h.lanes) for h in first.hits] == [(h.id, h.score, h.lanes) for h in second.hits]
        assert first.hits


def test_only_what_is_new_is_embedded(tmp_path: Path) -> None:
    of_texts(tmp_path, THREE)
    model = Concepts()
    index = learned(tmp_path, model)
    index.update([document(memory("m4", "a quick one"))], [], {"main": "c2"})
    index.learn()
    index.learn()
    assert model.embedded == 4
    assert ask(SearchIndex.open(tmp_path, model), "speedy") == ["m4"]


def test_learning_that_was_stopped_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meaning, "_AT_ONCE", 2)
    of_texts(tmp_path, {**THREE, "m4": "a physician", "m5": "quick"})
    model = Stops(after=3)
    with pytest.raises(KeyboardInterrupt):
        learned(tmp_path, model)
    index = SearchIndex.open(tmp_path, Concepts())
    assert not index.is_learned() and ask(index, "car") == ["m1"] and ask(index, "doctor") == []
    again = Concepts()
    assert ask(learned(tmp_path, again), "doctor") == ["m4"]
    assert again.embedded == 3 + 1  # two were kept, and the question


class Stops(Concepts):
    def __init__(self, after: int) -> None:
        super().__init__()
        self._after = after

    def embed(self, texts):  # type: ignore[no-untyped-def]
        for direction in super().embed(texts):
            if self.embedded > self._after:
                raise KeyboardInterrupt
            yield direction


@pytest.mark.parametrize("other", [Concepts(stamp="concepts 2"), Concepts(4, stamp="concepts of 4")])
def test_vectors_of_another_model_are_never_compared(tmp_path: Path, other: Concepts) -> None:
    of_texts(tmp_path, THREE)
    learned(tmp_path)
    before = rows(tmp_path)
    index = SearchIndex.open(tmp_path, other)
    assert not index.is_learned() and ask(index, "car") == []
    index.learn()
    assert ask(index, "car") == ["m1"]
    assert rows(tmp_path) != before and not before.exists()  # who has it open reads what was written
    assert json.loads(head(tmp_path).read_text())["stamp"] == other.stamp


def test_a_rebuilt_index_forgets_the_vectors_of_the_old_one(tmp_path: Path) -> None:
    of_texts(tmp_path, THREE)
    index = learned(tmp_path)
    index.update([document(memory("m9", "water"))], [], {"main": "c2"}, rebuild=True)
    assert not index.is_learned() and ask(index, "ocean") == [] and ask(index, "car") == []
    index.learn()
    assert ask(index, "ocean") == ["m9"] and ask(index, "car") == []


def damage_a_row(folder: Path) -> None:
    data = bytearray(rows(folder).read_bytes())
    data[-1] ^= 1
    rows(folder).write_bytes(data)


def cut_the_rows(folder: Path) -> None:
    rows(folder).write_bytes(rows(folder).read_bytes()[:-1])


def remove_the_rows(folder: Path) -> None:
    rows(folder).unlink()


@pytest.mark.parametrize("harm", [damage_a_row, cut_the_rows, remove_the_rows])
def test_broken_vectors_leave_words_and_are_made_again(tmp_path: Path, harm: Callable[[Path], None]) -> None:
    of_texts(tmp_path, THREE)
    learned(tmp_path)
    harm(tmp_path)
    index = SearchIndex.open(tmp_path, Concepts())
    assert ask(index, "car garage") == ["m1"]
    assert "vectors" in index.doubt and not index.is_learned()
    index.learn()
    assert ask(index, "car") == ["m1"] and not index.doubt


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"stamp": "concepts 1"}', None])
def test_a_head_that_says_nothing_counts_for_nothing(tmp_path: Path, text: str | None) -> None:
    of_texts(tmp_path, THREE)
    learned(tmp_path)
    if text is None:
        head(tmp_path).unlink()
    else:
        head(tmp_path).write_text(text)
    index = SearchIndex.open(tmp_path, Concepts())
    assert not index.is_learned() and ask(index, "car") == []
    index.learn()
    assert ask(index, "car") == ["m1"]


def test_a_head_ahead_of_its_rows_is_not_believed(tmp_path: Path) -> None:
    of_texts(tmp_path, THREE)
    learned(tmp_path)
    told = json.loads(head(tmp_path).read_text())
    head(tmp_path).write_text(json.dumps({**told, "rows": 10**9}))
    index = SearchIndex.open(tmp_path, Concepts())
    assert ask(index, "automobile garage") == ["m1"] and index.doubt
    index.learn()
    assert ask(index, "car") == ["m1"]


def test_what_a_killed_writer_left_behind_the_rows_is_overwritten(tmp_path: Path) -> None:
    of_texts(tmp_path, THREE)
    index = learned(tmp_path)
    with rows(tmp_path).open("ab") as file:
        file.write(b"x" * 1000)
    assert ask(SearchIndex.open(tmp_path, Concepts()), "car") == ["m1"]
    index.update([document(memory("m4", "quick"))], [], {"main": "c2"})
    index.learn()
    assert ask(index, "fast") == ["m4"] and ask(index, "car") == ["m1"] and not index.doubt


def test_a_model_that_cannot_be_loaded_leaves_words(tmp_path: Path) -> None:
    of_texts(tmp_path, THREE)
    learned(tmp_path)
    index = SearchIndex.open(tmp_path, Concepts(broken=True))
    assert ask(index, "automobile") == ["m1"] and index.doubt == "the model is broken"
    index.update([document(memory("m4", "quick"))], [], {"main": "c2"})
    with pytest.raises(MeaningUnavailable, match="the model is broken"):
        index.learn()
    assert ask(index, "quick") == ["m4"]


def test_one_process_learns_at_a_time(tmp_path: Path) -> None:
    of_texts(tmp_path, THREE)
    index = SearchIndex.open(tmp_path, Concepts())
    (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
    with writer_lock(tmp_path / f"{folder.name}.lock"), pytest.raises(IndexBusy):
        index.learn()
    assert ask(index, "automobile") == ["m1"]
    index.learn()
    assert ask(index, "car") == ["m1"]


def test_an_index_that_is_behind_is_not_learned_for_another(tmp_path: Path) -> None:
    of_texts(tmp_path, THREE)
    behind = SearchIndex.open(tmp_path, Concepts())
    SearchIndex.open(tmp_path).update([document(memory("m4", "quick"))], [], {"main": "c2"})
    with pytest.raises(IndexBusy):
        behind.learn()
    assert behind.tips == {"main": "c1"}
    assert ask(learned(tmp_path), "fast") == ["m4"]


def test_nothing_is_imported_without_a_model(tmp_path: Path) -> None:
    of_texts(tmp_path, THREE)

    def loaded(*lines: str) -> set[str]:
        code = [
            "import sys", "from pathlib import Path", "from gitmem.recall.search_index import SearchIndex",
            "from gitmem.recall.query import Query", "from tests.recall.meant import Concepts",
            *lines, f"index = SearchIndex.open(Path({str(tmp_path)!r}), model)",
            "index.learn()", "index.search(Query(('car',)), None)", "print(*sys.modules)",
        ]  # fmt: skip
        done = subprocess.run([sys.executable, "-c", "\n".join(code)], capture_output=True, text=True, check=True)
        return set(done.stdout.split())

    without = loaded("model = None")
    assert not without & {"numpy", "tokenizers", "wordllama", "gitmem.recall.meaning", "gitmem.recall.vectors"}
    assert loaded("model = Concepts()") >= {"numpy", "gitmem.recall.meaning", "gitmem.recall.vectors"}


def test_the_nearest_come_first_and_unknown_cards_are_not_near() -> None:
    import numpy

    from gitmem.recall.vectors import Nearness

    near = Nearness(numpy.array([3, 5, 9], numpy.uint64), numpy.array([0.5, -0.2, 0.75], numpy.float32))
    assert near.above(0.5) == [9, 3] and near.above(-1.0) == [9, 3, 5]
    assert near.of([3, 4, 5, 9, 10]) == {3: 0.5, 4: 0.0, 5: -0.2, 9: 0.75, 10: 0.0}
    assert near.of([]) == {}
