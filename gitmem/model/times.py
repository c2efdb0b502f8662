"""Time. One rule: an instant is an aware UTC datetime; intervals are [from, until).

A date alone means 00:00 UTC of that day; a time without zone means UTC.
"""

from __future__ import annotations

from datetime import datetime, timezone
from functools import lru_cache

from gitmem.model.pattern import pattern

# The hour 24 is left out: newer Pythons take it, older ones do not.
_SHAPE = pattern(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:[T ](?:[01][0-9]|2[0-3]):[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)


@lru_cache(maxsize=1024)
def parse_instant(text: str) -> datetime:
    """The instant that an ISO 8601 date or time names. Raises ValueError naming the text."""
    if not _SHAPE.fullmatch(text):
        raise ValueError(f"{text[:40]!r} is not a date like 2026-03-02 or a time like 2026-03-02T10:00:00Z")
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=timezone.utc) if moment.tzinfo is None else moment.astimezone(timezone.utc)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{text!r} is not a date: {error}") from None


@lru_cache(maxsize=16)
def format_instant(moment: datetime) -> str:
    """`2026-03-02T10:00:00Z`; microseconds only when there are some. Raises ValueError for a time without a zone."""
    if moment.tzinfo is None:
        raise ValueError("an instant has a zone")
    return moment.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")


def holds_at(start: str | None, until: str | None, moment: datetime) -> bool:
    """True when `moment` lies in [start, until); a missing end is open."""
    return (start is None or parse_instant(start) <= moment) and (until is None or moment < parse_instant(until))
