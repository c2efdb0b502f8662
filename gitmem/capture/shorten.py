"""Long strings of a long line, cut before they are decoded: a picture of 20 MB costs 20 MB, not 120."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from typing import Final

from gitmem.model.frozen import dataclass
from gitmem.model.pattern import pattern_of_bytes

LONG_LINE: Final = 2 * 1024 * 1024  # bytes; shorter lines are decoded as they are
KEPT: Final = 256 * 1024  # bytes of a string that are kept

# Possessive, so that nothing is remembered for backtracking.
_INSIDE: Final = pattern_of_bytes(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', 16)


@dataclass(frozen=True)
class Shortened:
    """A line with cuts: `places` are offsets in `data`, in order, `removed` the bytes cut out before each."""

    data: bytes
    places: tuple[int, ...] = ()
    removed: tuple[int, ...] = ()

    def origin(self, offset: int) -> int:
        """The offset in the uncut line of a place in `data` outside strings."""
        before = bisect_left(self.places, offset)
        return offset + (self.removed[before - 1] if before else 0)


def shortened(line: bytes) -> Shortened:
    """`line` with each JSON string over 256 KiB cut, when the line is over 2 MiB. Linear, also on hostile bytes."""
    if len(line) <= LONG_LINE:
        return Shortened(line)
    pieces: list[bytes] = []
    places: list[int] = []
    cuts: list[int] = []
    copied = size = 0
    opening = line.find(b'"')
    while opening >= 0:
        inside = _INSIDE.match(line, opening + 1)
        end = inside.end() if inside else len(line)
        if end >= len(line) or line[end] != 0x22:
            break  # a string without an end: no JSON, as it stands
        if end - opening > KEPT:
            stop = _boundary(line, opening + 1, opening + 1 + KEPT)
            pieces.append(line[copied:stop])
            size += stop - copied
            places.append(size)
            cuts.append(end - stop)
            copied = end
        opening = line.find(b'"', end + 1)
    pieces.append(line[copied:])
    return Shortened(b"".join(pieces), tuple(places), tuple(accumulate(cuts)))


def _boundary(line: bytes, first: int, stop: int) -> int:
    """The last place up to `stop` that is in the middle of neither an escape nor a UTF-8 sequence."""
    escape = line.rfind(b"\\", max(first, stop - 12), stop)
    if escape >= 0:
        while escape > first and line[escape - 1] == 0x5C:
            escape -= 1
        return escape
    for _ in range(3):
        if stop > first and line[stop] & 0xC0 == 0x80:
            stop -= 1
    return stop
