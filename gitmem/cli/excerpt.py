"""The piece of a long text that is shown for a match."""

from __future__ import annotations

import re
from typing import Final

from gitmem.model.text import one_line

_WIDTH: Final = 200  # characters
_BEFORE: Final = 50  # of these, before the match
_PLACES: Final = 2000  # places of words that are compared
_STEM: Final = 4  # letters of a word by which another form of it is found


def excerpt(text: str, words: str) -> str:
    """The start of `text`, or where the most of `words` stand together when that lies further on, on one line."""
    line = " ".join(text.split())
    stems = {word.casefold()[: max(_STEM, len(word) - 2)] for word in re.findall(r"\w+", words) if len(word) > 1}
    if len(line) <= _WIDTH or not stems:
        return one_line(line, _WIDTH)
    any_of = re.compile("|".join(map(re.escape, sorted(stems, key=len, reverse=True))), re.IGNORECASE)
    found = [
        (match.start(), match[0].casefold()) for match, _ in zip(any_of.finditer(line), range(_PLACES), strict=False)
    ]
    best, most, first = 0, 0, 0
    for last, (place, _) in enumerate(found):
        while place - found[first][0] > _WIDTH - _BEFORE:
            first += 1
        if (held := len({word for _, word in found[first : last + 1]})) > most:
            best, most = found[first][0], held
    if best <= _WIDTH - _BEFORE:
        return one_line(line, _WIDTH)
    start = line.find(" ", best - _BEFORE, best) + 1 or best
    return one_line("…" + line[start : start + _WIDTH * 2], _WIDTH)
