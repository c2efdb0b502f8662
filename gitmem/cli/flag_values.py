"""What stands behind a flag, read: a word of a closed list, a date, a number. Knows nothing of Typer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from gitmem.errors import UsageError


def known(
    words: Mapping[str, Any] | Sequence[str], values: list[str] | None, flag: str, more: str = ""
) -> tuple[str, ...]:
    """The values of a flag that takes words of a closed list. Raises UsageError that names the list."""
    for value in values or ():
        if value not in words:
            hint = f"one of {', '.join(words)}" + (f"; {more}" if more else "")
            raise UsageError(f"{flag}: there is no {value!r}", hint=hint)
    return tuple(values or ())


def instant(text: str | None, flag: str) -> datetime | None:
    """A date or time of a flag."""
    from gitmem.model.times import parse_instant

    if text is None:
        return None
    try:
        return parse_instant(text)
    except ValueError as error:
        raise UsageError(f"{flag}: {error}", hint=f"{flag} 2026-03-02 means 00:00 UTC of that day") from None


def number(text: str | int, flag: str, least: int, most: int) -> int:
    """A whole number of a flag."""
    try:
        value = int(text)
    except ValueError:
        value = least - 1
    if not least <= value <= most:
        raise UsageError(f"{flag}: {text} is no number from {least} to {most:,}", hint=f"{flag} 10")
    return value
