"""The months and days that a question names."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Final

from gitmem.model.pattern import pattern

_ISO: Final = pattern(r"(?<![0-9])((?:19|20)[0-9]{2})-(0[1-9]|1[0-2])(?:-(0[1-9]|[12][0-9]|3[01]))?(?![0-9])")
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_SPOKEN: Final = pattern(
    rf"(?i)\b({'|'.join(_MONTHS)})[a-z]*\.?(?:\s+[0-9]{{1,2}}(?:st|nd|rd|th)?,?)?\s+((?:19|20)[0-9]{{2}})\b"
)


def dates_of(text: str) -> tuple[str, ...]:
    """What `text` names, as beginnings of ISO dates: `2026-03-02` or, of a month, `2026-03`."""
    if "20" not in text and "19" not in text:
        return ()
    named = [f"{year}-{month}" + (f"-{day}" if day else "") for year, month, day in _ISO.findall(text)]
    named += [f"{year}-{_MONTHS.index(month[:3].lower()) + 1:02}" for month, year in _SPOKEN.findall(text)]
    return tuple(dict.fromkeys(named))


def falls_on(microseconds: int, dates: tuple[str, ...]) -> bool:
    """Whether an instant, in Unix microseconds, lies in one of the months or on one of the days, in UTC."""
    day = datetime.fromtimestamp(microseconds // 1_000_000, timezone.utc).date().isoformat()
    return day.startswith(dates)
