"""Three-way merge of texts by lines, as `diff3 -m` and `git merge-file` do it, or no merge at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

_LIMIT: Final = 1000  # lines of two texts that are compared; a body has 8,000 characters, and hostile ones cost time


class _Hunk(NamedTuple):
    """Lines [start, end) of the base that a side made into `lines`."""

    start: int
    end: int
    lines: tuple[str, ...]


def merged_text(base: str, ours: str, theirs: str) -> str | None:
    """The text with the changes of both sides, or None when they touch: the same lines, or lines side by side.

    Equal changes are made once. Symmetric: `merged_text(b, x, y) == merged_text(b, y, x)`.
    """
    lines = merged_lines(base.split("\n"), ours.split("\n"), theirs.split("\n"))
    return None if lines is None else "\n".join(lines)


def merged_lines(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> list[str] | None:
    """As `merged_text`, for items that are compared whole. None for more than `_LIMIT` on both sides."""
    if max(len(ours), len(theirs)) + len(base) > _LIMIT:
        return None
    mine, yours = _hunks(base, ours), _hunks(base, theirs)
    out: list[str] = []
    at = 0
    while mine or yours:
        group = _touching(mine, yours)
        if group is None:
            return None
        out += base[at : group.start]
        out += group.lines
        at = group.end
    return [*out, *base[at:]]


def _touching(mine: list[_Hunk], yours: list[_Hunk]) -> _Hunk | None:
    """The next change, taken out of the lists of those who made it; None when two changes meet and differ."""
    if not mine or not yours:
        return (mine or yours).pop(0)
    one, other = mine[0], yours[0]
    if one == other:
        mine.pop(0)
        return yours.pop(0)
    if one.start <= other.end and other.start <= one.end:
        return None
    return (mine if one.start < other.start else yours).pop(0)


def _hunks(base: Sequence[str], side: Sequence[str]) -> list[_Hunk]:
    from difflib import SequenceMatcher

    codes = SequenceMatcher(None, base, side, autojunk=False).get_opcodes()
    return [_Hunk(b1, b2, tuple(side[s1:s2])) for tag, b1, b2, s1, s2 in codes if tag != "equal"]
