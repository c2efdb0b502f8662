"""One rule of time: instants are UTC, intervals are [from, until), in every zone of the machine (case B100)."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.model.times import format_instant, holds_at, parse_instant

SHARED = Path(__file__).parents[3] / "shared/cases/bugs/B100"


@pytest.fixture(autouse=True, params=["UTC", "Asia/Kolkata", "America/New_York"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", request.param)
        time.tzset()
        yield request.param
    time.tzset()


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2026-03-02", "2026-03-02T00:00:00Z"),
        ("2026-03-02T10:00", "2026-03-02T10:00:00Z"),
        ("2026-03-02 10:00:00", "2026-03-02T10:00:00Z"),
        ("2026-03-02T10:00:00Z", "2026-03-02T10:00:00Z"),
        ("2026-03-02T10:00:00+05:30", "2026-03-02T04:30:00Z"),
        ("2026-03-02T10:00:00-0500", "2026-03-02T15:00:00Z"),
        ("2026-03-02T10:00:00.25Z", "2026-03-02T10:00:00.250000Z"),
        ("2024-02-29", "2024-02-29T00:00:00Z"),
        ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"),
    ],
)
def test_what_a_date_means(text: str, utc: str) -> None:
    moment = parse_instant(text)
    assert moment.tzinfo is timezone.utc
    assert format_instant(moment) == utc


@pytest.mark.parametrize(
    "text",
    ["2026-02-30", "2025-02-29", "2026-13-01", "2026-03-02T24:00:00Z", "2026-03-02T10:60", "2026-3-2", "20260302",
     "2026-W10-1", "yesterday", "", "2026-03-02T10", "2026-03-02\n", "２０２６-03-02", "2026-03-02T10:00:00+24:00",
     "0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59-05:00", "0000-01-01", " 2026-03-02", "2026-03-02t10:00z"],
)  # fmt: skip
def test_what_is_no_date_is_refused_by_name(text: str) -> None:
    assert parse_instant("2026-02-28")
    with pytest.raises(ValueError, match="is not a date"):
        parse_instant(text)


def test_an_instant_without_a_zone_is_none() -> None:
    assert format_instant(datetime(2026, 3, 2, tzinfo=timezone.utc)) == "2026-03-02T00:00:00Z"
    with pytest.raises(ValueError, match="zone"):
        format_instant(datetime(2026, 3, 2))


@settings(deadline=None)
@given(st.datetimes(min_value=datetime(1, 1, 3), max_value=datetime(9999, 12, 29), timezones=st.timezones()))
def test_an_instant_comes_back(moment: datetime) -> None:
    assert parse_instant(format_instant(moment)) == moment.astimezone(timezone.utc)


TABLE = {
    "memories": [
        {"id": "a", "valid_from": "2026-01-01T00:00:00Z", "valid_to": "2026-06-01T00:00:00+05:30"},
        {"id": "b", "valid_from": "2026-06-01T00:00:00+05:30", "valid_to": None},
        {"id": "c", "valid_from": "2026-11-30", "valid_to": None},
        {"id": "d", "valid_from": None, "valid_to": "2026-01-01T00:00:00"},
    ],
    "as_of": [
        {"at": "2025-12-31T23:59:59Z", "must": ["d"], "must_not": ["a", "b", "c"]},
        {"at": "2026-01-01T00:00:00Z", "must": ["a"], "must_not": ["b", "c", "d"]},
        {"at": "2026-05-31T18:29:59Z", "must": ["a"], "must_not": ["b"]},
        {"at": "2026-05-31T18:30:00Z", "must": ["b"], "must_not": ["a"]},
        {"at": "2026-11-29T23:59:59Z", "must": ["b"], "must_not": ["a", "c"]},
        {"at": "2026-11-30T00:00:00Z", "must": ["b", "c"], "must_not": ["a"]},
    ],
}


@pytest.mark.parametrize(
    "table", [TABLE, *(json.loads(path.read_text()) for path in SHARED.glob("times.json"))], ids=str
)
def test_intervals_are_closed_at_the_start_and_open_at_the_end(table: dict[str, list[dict[str, str]]]) -> None:
    for question in table["as_of"]:
        moment = parse_instant(question["at"])
        there = {m["id"] for m in table["memories"] if holds_at(m["valid_from"], m["valid_to"], moment)}
        assert there >= set(question["must"])
        assert not there & set(question["must_not"])


def test_an_empty_interval_never_holds() -> None:
    moment = parse_instant("2026-03-02")
    assert holds_at("2026-03-02", None, moment)
    assert not holds_at("2026-03-02", "2026-03-02", moment)
    assert not holds_at(None, "2026-03-02", moment)
    assert holds_at(None, "2026-03-02", moment - timedelta(microseconds=1))
