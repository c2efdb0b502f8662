"""The words of a text in the pieces of BERT's uncased vocabulary, as its models were taught to read.

The same as the library `tokenizers` makes with that vocabulary, without it: it would bring the client of a hub along.
The vocabulary lies beside this file (Google's BERT, Apache-2.0); `all-MiniLM-L6-v2` reads with the same one.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Final

_VOCABULARY: Final = "bert_uncased.txt"
_BEGIN, _END, _UNKNOWN = "[CLS]", "[SEP]", "[UNK]"
_INSIDE: Final = "##"  # what the vocabulary writes before a piece that does not begin a word
_LONGEST_WORD: Final = 100  # characters; a longer one is unknown
_REMEMBERED: Final = 1 << 16  # words whose pieces are kept for the next time they are met
_NO_SPACE: Final = dict.fromkeys((0x0B, 0x0C, 0x1C, 0x1D, 0x1E, 0x1F, 0x85))  # where str.split would part words
_LEFT_OUT: Final = frozenset({"Cc", "Cf", "Co", "Cs"})
_IDEOGRAPHS: Final = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


class WordPieces:
    """The vocabulary, read once."""

    def __init__(self) -> None:
        """Raises OSError."""
        lines = (Path(__file__).parent / _VOCABULARY).read_text("utf-8").split("\n")
        self._known: Final = {piece: number for number, piece in enumerate(lines) if piece}
        self._pieces: Final = lru_cache(_REMEMBERED)(self._cut)

    def numbers(self, text: str, most: int) -> list[int]:
        """The numbers of the pieces of a text, at most so many, between those of its begin and its end; none of a text
        without words."""
        pieces = list(islice((piece for word in words_of(text) for piece in self._pieces(word)), most - 2))
        return [self._known[_BEGIN], *pieces, self._known[_END]] if pieces else []

    def _cut(self, word: str) -> tuple[int, ...]:
        """The longest piece that a word begins with, then the longest that goes on, and so on."""
        known, found, start = self._known, [], 0
        while start < len(word) <= _LONGEST_WORD:
            before = _INSIDE if start else ""
            ends = (end for end in range(len(word), start, -1) if before + word[start:end] in known)
            end = next(ends, 0)
            if not end:
                return (known[_UNKNOWN],)
            found.append(known[before + word[start:end]])
            start = end
        return tuple(found) if found else (known[_UNKNOWN],)


def words_of(text: str) -> Iterator[str]:
    """Lower case without accents; each mark of punctuation and each ideograph is a word of its own."""
    plain = text
    if not text.isascii():
        spaced = "".join(f" {char} " if _is_ideograph(ord(char)) else char for char in text if char != "\ufffd")
        plain = "".join(c for c in unicodedata.normalize("NFD", spaced) if unicodedata.category(c) != "Mn")
    for run in plain.translate(_NO_SPACE).split():
        word = ""
        for char in run:
            if char.isalnum():
                word += char.lower()  # one by one: of a whole word the last sigma would be another
                continue
            kind = unicodedata.category(char)
            if kind in _LEFT_OUT:
                continue
            if kind[0] == "P" or char.isascii():
                if word:
                    yield word
                yield char
                word = ""
            else:
                word += char.lower()
        if word:
            yield word


def _is_ideograph(point: int) -> bool:
    return any(first <= point <= last for first, last in _IDEOGRAPHS)
