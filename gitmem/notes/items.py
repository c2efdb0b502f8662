"""What the readers of notes hand on: an item of a file, and how its title is made.

An item is a bullet, a short paragraph, a procedure, a decision record or a changelog entry. Every item
becomes a `Note` or a `Skipped`, so a caller can show counts that add up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from gitmem.model.nouns import Alternative, Draft
from gitmem.model.vocabulary import Kind

TITLE_WIDTH: Final = 100  # characters; a title is a pointer, the body holds the whole
_LOOK: Final = 1200  # characters of an item that a title or a kind is judged by

# Markup goes only where its neighbours are no word characters, so every word of a title is a word of the file.
_LINK: Final = re.compile(r"(?<![\w)\]])!?\[([^\]\[]{1,200})\]\([^()\s]{0,500}\)(?![\w\[])")
_STRONG: Final = re.compile(r"(?<![\w*])\*\*([^*]{1,300})\*\*(?![\w*])")
_BULLET: Final = re.compile(r"(\S)[ \t]*\n[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_SENTENCE_END: Final = re.compile(r"[.!?](?=\s)|[。！？]")
_ABBREVIATION: Final = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|no)|\d)\.$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Note:
    """A draft read from `source`; `lines` is "12" or "40-58", 1-based and inclusive.

    `remark`: why it is of another kind than a reader may expect; mostly empty.
    """

    draft: Draft
    source: str
    lines: str
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """An item that was not taken, and why. `lines` is empty when the whole file is meant."""

    source: str
    lines: str
    why: str


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that a file says, on lines `start` to `end`.

    `text` is what the title is cut from; `context` (a heading, a release) tells it from an item with the
    same title.
    """

    kind: Kind
    text: str
    body: str
    start: int
    end: int
    context: str = ""
    tags: tuple[str, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    valid_from: str | None = None
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Unread:
    """Lines `start` to `end` that hold no item to take, and why."""

    start: int
    end: int
    why: str


def without_emoji_style(text: str) -> str:
    """`text` less the mark that asks for a sign's coloured form: the one invisible character that people type."""
    return text.replace("\ufe0f", "")


def span(start: int, end: int) -> str:
    """The lines as evidence writes them: "12" or "40-58"."""
    return str(start) if start == end else f"{start}-{end}"


def plain(text: str) -> str:
    """The beginning of `text` on one line, without link targets, bold marks and the marks of inner bullets."""
    line = " ".join(_BULLET.sub(_joint, text[:_LOOK].strip()).split())
    return _STRONG.sub(r"\1", _LINK.sub(r"\1", line)).strip()


def _joint(bullet: re.Match[str]) -> str:
    return f"{bullet[1]} " if bullet[1] in ":.;,!?" else f"{bullet[1]}; "


def cut(text: str, width: int) -> str:
    """`text` in at most `width` characters: whole, else up to a sentence's end, else up to a word's end."""
    if len(text) <= width:
        return text
    ends = [match.end() for match in _SENTENCE_END.finditer(text, 0, width + 1) if match.end() <= width]
    for end in reversed(ends):
        if end >= width // 4 and not _ABBREVIATION.search(text, max(0, end - 8), end):
            return text[:end]
    space = text.rfind(" ", width // 4, width)
    return text[: space if space > 0 else width - 1].rstrip(" ,;:") + "…"


def title_of(text: str) -> str:
    """The title of an item that says `text`."""
    title = cut(plain(text), TITLE_WIDTH)
    return title[:-1] if title.endswith((".", ":")) and not title.endswith("..") else title
