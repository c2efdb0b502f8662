"""The months and days that a question names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timezone
from typing import Final

from gitmem.model.pattern import pattern

_MONTHS: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_ISO: Final = pattern(r"\b((?:19|20)[0-9]{2})-([0-9]{2})(?:-([0-9]{2}))?\b")
_SPELLED: Final = pattern(
    r"\b(?:([0-9]{1,2})(?:st|nd|rd|th)?(?: of)? )?(" + "|".join(_MONTHS) + r")\b(?: ([0-9]{1,2})(?:st|nd|rd|th)?\b)?"
    r"(?:,? ?((?:19|20)[0-9]{2})\b)?"
)

Date = tuple[int | None, int, int | None]


def named_dates(query: str) -> Iterator[Date]:
    """(year, month, day) of every date in `query` that says at least a month; year and day None when not said.

    `2024-05`, `2024-05-07`, `7 May 2024`, `May 7th, 2024`, `in June`. A bare "may" is a verb more often than not.
    """
    for match in _ISO.finditer(query) if "-" in query else ():
        year, month, day = match.groups()
        if 1 <= int(month) <= 12:
            yield int(year), int(month), int(day) if day else None
    said = query.lower()
    if not any(name in said for name in _MONTHS):
        return  # most questions; the pattern takes a millisecond to compile
    for match in _SPELLED.finditer(said):
        before, name, after, spelled_year = match.groups()
        if name == "may" and not (before or after or spelled_year):
            continue
        day = before or after
        yield int(spelled_year) if spelled_year else None, _MONTHS.index(name) + 1, int(day) if day else None


def agrees(at: datetime | None, date: Date) -> bool:
    """Whether an instant falls on a date; False when it is not known."""
    if at is None:
        return False
    year, month, day = date
    return at.month == month and year in (None, at.year) and day in (None, at.day)


def falls_on(microseconds: int, dates: Iterable[Date]) -> bool:
    """Whether an instant, in Unix microseconds, falls on one of the dates, in UTC."""
    at = datetime.fromtimestamp(microseconds // 1_000_000, timezone.utc)
    return any(agrees(at, date) for date in dates)
