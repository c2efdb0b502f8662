from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import pytest

from gitmem.recall.dates import Date, falls_on, named_dates
from tests.recall.builders import ask, document, filled, memory


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("what broke in March 2026?", [(2026, 3, None)]),
        ("what broke on 2026-03-02", [(2026, 3, 2)]),
        ("since 2026-03 and September 14th, 2025", [(2026, 3, None), (2025, 9, 14)]),
        ("in June it may rain", [(None, 6, None)]),
        ("port 2026 of 192.168.0.1", []),
        ("2026-13-01 and 12026-03-02", []),
        ("no date at all", []),
    ],
)
def test_months_and_days_are_read(text: str, named: list[Date]) -> None:
    assert list(named_dates(text)) == named


def test_an_instant_falls_on_days_of_utc() -> None:
    last = int(datetime(2026, 3, 31, 23, 59, 59, 999999, tzinfo=timezone.utc).timestamp()) * 1_000_000
    assert falls_on(last, [(2026, 3, None)]) and falls_on(last, [(2026, 1, None), (None, 3, 31)])
    assert not falls_on(last, [(2026, 4, None)]) and not falls_on(last, [(2026, 3, 30)])


def test_what_was_recorded_then_comes_first(tmp_path: Path) -> None:
    texts = ("The pool of march", "The pool of april")
    index = filled(tmp_path, [document(memory(text[-5:], text), day=30 * n) for n, text in enumerate(texts)])
    assert ask(index, "the pool March 2026")[0] == "march"
    assert ask(index, "the pool 2026-04-01")[0] == "april"
