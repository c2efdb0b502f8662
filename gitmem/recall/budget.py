"""Fitting an answer to a number of tokens."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gitmem.model.frozen import dataclass

BYTES_PER_TOKEN: Final = 4  # a rule of thumb for English and code; an estimate, never a promise


@dataclass(frozen=True)
class Item:
    """One memory as text: `text` in full and `pointer`, the one line that names it when there is no room."""

    id: str
    text: str
    pointer: str


@dataclass(frozen=True)
class Briefing:
    """items: shown in full. pointers: shown as one line. omitted: ids left out for want of room.

    tokens: the estimate for what is shown.
    """

    items: tuple[Item, ...]
    pointers: tuple[Item, ...]
    omitted: tuple[str, ...]
    tokens: int


def estimate(text: str) -> int:
    """About how many tokens a model takes for `text`: its bytes in UTF-8 by four, rounded up."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def fit(items: Iterable[Item], budget: int) -> Briefing:
    """`items`, best first, into `budget` tokens: each in full if there is room left, else as a pointer, else not."""
    shown: list[Item] = []
    pointers: list[Item] = []
    omitted: list[str] = []
    left = budget
    for item in items:
        for text, place in ((item.text, shown), (item.pointer, pointers)):
            if estimate(text) <= left:
                left -= estimate(text)
                place.append(item)
                break
        else:
            omitted.append(item.id)
    return Briefing(tuple(shown), tuple(pointers), tuple(omitted), budget - left)
