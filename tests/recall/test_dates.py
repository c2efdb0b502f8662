from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import pytest

from gitmem.recall.dates import dates_of, falls_on
from tests.recall.builders import ask, document, filled, memory


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("what broke in March 2026?", ("2026-03",)),
        ("what broke on 2026-03-02", ("2026-03-02",)),
        ("since 2026-03 and Sept. 14th, 2025", ("2026-03", "2025-09")),
        ("port 2026 of 192.168.0.1", ()),
        ("2026-13-01 and 12026-03-02", ()),
        ("no date at all", ()),
    ],
)
def test_months_and_days_are_read(text: str, named: tuple[str, ...]) -> None:
    assert dates_of(text) == named


def test_an_instant_falls_on_days_of_utc() -> None:
    last = int(datetime(2026, 3, 31, 23, 59, 59, 999999, tzinfo=timezone.utc).timestamp()) * 1_000_000
    assert falls_on(last, ("2026-03",)) and falls_on(last, ("2026-01", "2026-03-31"))
    assert not falls_on(last, ("2026-04",)) and not falls_on(last, ("2026-03-30",))


def test_what_was_recorded_then_comes_first(tmp_path: Path) -> None:
    texts = ("The pool of march", "The pool of april")
    index = filled(tmp_path, [document(memory(text[-5:], text), day=30 * n) for n, text in enumerate(texts)])
    assert ask(index, "the pool 2026-03-02")[0] == "march"
    assert ask(index, "the pool 2026-04-01")[0] == "april"
