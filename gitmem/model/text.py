"""Which characters text may hold, and how text is shown. The one output escaper is `escape`."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Final

from gitmem.model.pattern import pattern

_ALLOWED_CONTROLS: Final = "\n\t"
# Cc control, Cf format (bidi marks, zero width, tags), Cs surrogate, Co private use, Cn unassigned,
# Zl and Zp line separators that some readers take for a line end.
_FORBIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Letters that show as nothing: variation selectors are Mn, Hangul and halfwidth fillers are Lo, the
# Khmer inherent vowels are Mn, the Braille blank is So, the combining grapheme joiner is Mn.
_INVISIBLE: Final = pattern(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


def is_forbidden(char: str) -> bool:
    """True for a character that no text of a memory may hold (see docs/format.md, "Text")."""
    if " " <= char <= "~":
        return False
    return char not in _ALLOWED_CONTROLS and (
        unicodedata.category(char) in _FORBIDDEN_CATEGORIES or _INVISIBLE.match(char) is not None
    )


def is_clean(text: str) -> bool:
    """True when `text` holds no forbidden character."""
    if not text.isprintable():
        # `isprintable` is false for the forbidden categories, for line feed and tab, and for spaces such as U+00A0.
        text = text.replace("\n", "").replace("\t", "")
        if not text.isprintable():
            return not any(map(is_forbidden, set(text)))
    return text.isascii() or _INVISIBLE.search(text) is None


def forbidden(text: str) -> Iterator[tuple[int, str]]:
    """Each forbidden character with its position."""
    if is_clean(text):
        return
    for position, char in enumerate(text):
        if is_forbidden(char):
            yield position, char


def escape(text: str, *, keep_newlines: bool = False) -> str:
    r"""`text` safe for a terminal: every control, bidi and invisible character as `\u{...}`.

    Newlines and tabs become spaces unless `keep_newlines`.
    """
    if text.isprintable() and is_clean(text):
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


def counted(number: int, thing: str) -> str:
    """`1 fault`, `2 faults`, `3 memories`."""
    many = thing if number == 1 else f"{thing[:-1]}ies" if thing.endswith("ry") else f"{thing}s"
    return f"{number:,} {many}"


def one_line(text: str, width: int) -> str:
    """The first `width` characters of `text` on one line, with an ellipsis when cut."""
    line = " ".join(escape(text).split())
    return line if len(line) <= width else line[: max(width - 1, 0)] + "…"
