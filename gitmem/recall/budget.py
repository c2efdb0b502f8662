"""Fitting an answer to a number of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gitmem.model.frozen import dataclass

BYTES_PER_TOKEN: Final = 4  # a rule of thumb for English and code; an estimate, never a promise
NAMING: Final = 0.2  # of a budget, at most: kept for naming what does not fit in full


@dataclass(frozen=True)
class Fit:
    """Of items in order, best first: so many in full, so many of the next on one line; the rest does not fit.

    tokens: the estimate for what is shown. ways: for each one in full which way it is told, from 0, the fullest.
    """

    full: int
    named: int
    tokens: int
    ways: tuple[int, ...]


def estimate(text: str) -> int:
    """About how many tokens a model takes for `text`: its bytes in UTF-8 by four, rounded up."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def fit(costs: Sequence[tuple[int, ...]], budget: int | None) -> Fit:
    """`costs`: for each item the tokens of it in full, in one way or in several, the fullest first, and at the end of
    the line that names it. None is no limit.

    Each is told in the fullest way that there is room for. The order is kept: a small item far down does not take the
    room of a better one before it.
    """
    if budget is None:
        return Fit(len(costs), 0, sum(ways[0] for ways in costs), (0,) * len(costs))
    spent = 0
    chosen: list[int] = []
    naming = sum(ways[-1] for ways in costs)
    for ways in costs:
        naming -= ways[-1]
        left = budget - spent - min(naming, int(NAMING * budget))
        way = next((number for number, tokens in enumerate(ways[:-1]) if tokens <= left), None)
        if way is None:
            break
        chosen.append(way)
        spent += ways[way]
    named = 0
    for ways in costs[len(chosen) :]:
        if spent + ways[-1] > budget:
            break
        named, spent = named + 1, spent + ways[-1]
    return Fit(len(chosen), named, spent, tuple(chosen))
