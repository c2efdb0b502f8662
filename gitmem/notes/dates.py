"""The date that a heading or a status line says."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

DAY: Final = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH: Final = rf"({'|'.join(_MONTHS)})[a-z]{{0,6}}\.?"
_MONTH_DAY: Final = re.compile(rf"\b{_MONTH} (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})\b", re.IGNORECASE | re.ASCII)
_DAY_MONTH: Final = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)? {_MONTH},? (\d{{4}})\b", re.IGNORECASE | re.ASCII)


def iso_date(text: str) -> str | None:
    """The first date in `text` ("2024-03-01", "Mar 1, 2024", "1 March 2024") as an ISO date; None without one."""
    if found := DAY.search(text):
        year, month, day = int(found[1]), int(found[2]), int(found[3])
    elif found := _MONTH_DAY.search(text):
        year, month, day = int(found[3]), _MONTHS.index(found[1].lower()) + 1, int(found[2])
    elif found := _DAY_MONTH.search(text):
        year, month, day = int(found[3]), _MONTHS.index(found[2].lower()) + 1, int(found[1])
    else:
        return None
    try:
        return date(year, month, day).isoformat()
    except ValueError:  # 2024-13-45 is no date, and what it stands beside is still worth reading
        return None
