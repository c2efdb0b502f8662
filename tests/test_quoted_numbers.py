"""The numbers in docs/retrieval.md are those of the runs that are kept in docs/measured."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def checker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_numbers", ROOT / "benchmarks/recall/check_numbers.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_quoted_number_was_measured(checker: ModuleType) -> None:
    numbers = checker.measured(ROOT / "docs/measured")
    text = (ROOT / "docs/retrieval.md").read_text()
    assert list(checker.faults(text, numbers)) == []
    assert len(checker.QUOTED.findall(text)) > 50  # the document does quote


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("hit@5 is <!-- run.ours.hit5 -->77.8 today", None),
        ("<!-- run.ours.hit5 -->78 of a hundred", None),
        ("<!-- run.n -->29,460 memories", None),
        ("hit@5 is <!-- run.ours.hit5 -->77.9 today", "quoted as 77.9 and was measured as 77.8"),
        ("<!-- run.theirs.hit5 -->77.8", "nothing measured is called run.theirs.hit5"),
        ("<!-- run.ours -->77.8", "nothing measured is called run.ours"),
        ("| 0.3 grams | <!-- run.ours.hit5 -->77.8 |", None),
        ("| ours | <!-- run.ours.hit5 -->77.8 | 81.2 |", "81.2 stands in a row of measured numbers without a name"),
    ],
)
def test_what_is_found_wrong(checker: ModuleType, line: str, fault: str | None) -> None:
    found = list(checker.faults(line, {"run": {"ours": {"hit5": 77.76}, "n": 29460}}))
    assert [f.partition(": ")[2] for f in found] == ([] if fault is None else [found[0].partition(": ")[2]])
    assert fault is None or fault in found[0]


def test_numbers_are_put_in_place(checker: ModuleType) -> None:
    numbers = {"run": {"ours": {"hit5": 77.76}, "n": 29460}}
    text = "<!-- run.ours.hit5 -->0.0 and <!-- run.n -->0 and <!-- run.gone -->1.5"
    assert checker.written(text, numbers) == (
        "<!-- run.ours.hit5 -->77.8 and <!-- run.n -->29,460 and <!-- run.gone -->1.5"
    )
