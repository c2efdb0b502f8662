"""Which characters text may hold, and how text is shown. The one output escaper is `escape`."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

_ALLOWED_CONTROLS: Final = "\n\t"
_CLEAN: Final = re.compile(r"[\n\t -~]*")
# Cc control, Cf format (bidi marks, zero width, tags), Cs surrogate, Co private use, Cn unassigned,
# Zl and Zp line separators that some readers take for a line end.
_FORBIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Letters that show as nothing: variation selectors are Mn, Hangul and halfwidth fillers are Lo, the
# Khmer inherent vowels are Mn, the Braille blank is So, the combining grapheme joiner is Mn.
_INVISIBLE: Final = frozenset(
    [*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0), 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C,
     0x180D, 0x180F, 0x2800, 0x3164, 0xFFA0]
)  # fmt: skip


def is_forbidden(char: str) -> bool:
    """True for a character that no text of a memory may hold (see docs/format.md, "Text")."""
    if " " <= char <= "~":
        return False
    return char not in _ALLOWED_CONTROLS and (
        unicodedata.category(char) in _FORBIDDEN_CATEGORIES or ord(char) in _INVISIBLE
    )


def forbidden(text: str) -> Iterator[tuple[int, str]]:
    """Each forbidden character with its position."""
    if _CLEAN.fullmatch(text):
        return
    for position, char in enumerate(text):
        if is_forbidden(char):
            yield position, char


def escape(text: str, *, keep_newlines: bool = False) -> str:
    r"""`text` safe for a terminal: every control, bidi and invisible character as `\u{...}`.

    Newlines and tabs become spaces unless `keep_newlines`.
    """
    if text.isascii() and text.isprintable():
        return text
    out = []
    for char in text:
        if char in _ALLOWED_CONTROLS:
            out.append(char if keep_newlines else " ")
        elif is_forbidden(char):
            out.append(f"\\u{{{ord(char):x}}}")
        else:
            out.append(char)
    return "".join(out)


def one_line(text: str, width: int) -> str:
    """The first `width` characters of `text` on one line, with an ellipsis when cut."""
    line = " ".join(escape(text).split())
    return line if len(line) <= width else line[: max(width - 1, 0)] + "…"
