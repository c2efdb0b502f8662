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

    tokens: the estimate for what is shown.
    """

    full: int
    named: int
    tokens: int


def estimate(text: str) -> int:
    """About how many tokens a model takes for `text`: its bytes in UTF-8 by four, rounded up."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def fit(costs: Sequence[tuple[int, int]], budget: int | None) -> Fit:
    """`costs`: for each item the tokens of it in full and of the line that names it. None is no limit.

    The order is kept: a small item far down does not take the room of a better one before it.
    """
    if budget is None:
        return Fit(len(costs), 0, sum(full for full, _ in costs))
    full = spent = 0
    naming = sum(name for _, name in costs)
    for whole, name in costs:
        naming -= name
        if spent + whole + min(naming, int(NAMING * budget)) > budget:
            break
        full, spent = full + 1, spent + whole
    named = 0
    for _, name in costs[full:]:
        if spent + name > budget:
            break
        named, spent = named + 1, spent + name
    return Fit(full, named, spent)
