"""The blocks of a Markdown page with their line numbers, as far as notes need them. One pass, linear time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

_FENCE: Final = re.compile(r"(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*(?:(`{3,})([^`]*)|(~{3,})(.*))$")
_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_UNDERLINE: Final = re.compile(r" {0,3}(=+|-{3,})[ \t]*$")
_RULE: Final = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$")
_MARKER: Final = re.compile(r"( *)([-*+]|\d{1,9}[.)])(?: +|$)")
_TASK: Final = re.compile(r"\[[ xX]\] +")
_TABLE_RULE: Final = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_TAG: Final = re.compile(r"[ \t]*</?[A-Za-z][^<>]*>[ \t]*$")
_REFERENCE: Final = re.compile(r" {0,3}\[[^\]]{1,200}\]:[ \t]*\S")
_QUOTE: Final = re.compile(r"(?: {0,3}> ?)+(?:\[![A-Za-z]+\][ \t]*)?")


@dataclass(frozen=True, slots=True)
class Entry:
    """One item of a list. `own` and each of `children` are lines without the marker; a child holds its descendants."""

    start: int
    end: int
    own: tuple[str, ...]
    children: tuple[Entry, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join(self.own).strip()


@dataclass(frozen=True, slots=True)
class Block:
    """`lines` are the text: without the marks of a heading, a quote or a fence. `word` is a fence's language."""

    kind: Literal["heading", "paragraph", "code", "table", "list"]
    start: int
    end: int
    lines: tuple[str, ...] = ()
    level: int = 0
    word: str = ""
    ordered: bool = False
    entries: tuple[Entry, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip("\n")


def fence_end(lines: list[str], at: int) -> int | None:
    """The line that closes the fence opened on line `at` (0-based), the last line when none does, None for no fence."""
    if "```" not in lines[at] and "~~~" not in lines[at]:
        return None
    opened = _FENCE.match(lines[at])
    if opened is None:
        return None
    mark = opened[1] or opened[3]
    for index in range(at + 1, len(lines)):
        bare = lines[index].strip(" \t>")
        if len(bare) >= len(mark) and not bare.strip(mark[0]):
            return index
    return len(lines) - 1


def is_markup(line: str) -> bool:
    """True for a line that only lays out the page: a rule, a lone HTML tag, the target of a reference link."""
    return bool(_RULE.match(line) or _TAG.match(line) or _REFERENCE.match(line))


def blocks(lines: list[str]) -> list[Block]:
    """The blocks of a page, in order. Line numbers are 1-based."""
    found: list[Block] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.strip() or (is_markup(line) and not _opens_table(lines, at)):
            at += 1
            continue
        closing = fence_end(lines, at) if not _MARKER.match(_untabbed(line)) else None
        heading = _HEADING.match(line)
        if closing is not None:
            block = _code(lines, at, closing)
        elif heading:
            block = Block("heading", at + 1, at + 1, (_heading_text(line[heading.end() :]),), level=len(heading[1]))
        elif _MARKER.match(_untabbed(line)):
            block = _list(lines, at)
        elif _opens_table(lines, at):
            end = at + 1
            while end < len(lines) and "|" in lines[end]:
                end += 1
            block = Block("table", at + 1, end, tuple(lines[at:end]))
        else:
            block = _paragraph(lines, at)
        found.append(block)
        at = block.end
    return found


def _code(lines: list[str], at: int, closing: int) -> Block:
    opened = _FENCE.match(lines[at])
    words = ((opened[2] or opened[4] or "") if opened else "").split()
    is_closed = closing > at and not lines[closing].strip(" \t>`~")
    inside = lines[at + 1 : closing if is_closed else closing + 1]
    return Block("code", at + 1, closing + 1, tuple(inside), word=words[0].strip("{}.").lower() if words else "")


def _heading_text(text: str) -> str:
    text = text.strip()
    bare = text.rstrip("#")
    return bare.rstrip() if not bare or bare.endswith((" ", "\t")) else text


def _untabbed(line: str) -> str:
    body = line.lstrip(" \t")
    return line[: len(line) - len(body)].expandtabs(4) + body.replace("\t", " ", 1)


def _opens_table(lines: list[str], at: int) -> bool:
    return "|" in lines[at] and at + 1 < len(lines) and "-" in lines[at + 1] and bool(_TABLE_RULE.match(lines[at + 1]))


def _interrupts(lines: list[str], at: int) -> bool:
    line = lines[at]
    marker = _MARKER.match(_untabbed(line))
    return bool(
        not line.strip()
        or _HEADING.match(line)
        or is_markup(line)
        or (marker and (marker[2] in "-*+" or marker[2][:-1] in ("0", "1")) and line.strip() != marker[2])
        or fence_end_opens(line)
        or _opens_table(lines, at)
    )


def fence_end_opens(line: str) -> bool:
    """True for a line that opens a fence."""
    return ("```" in line or "~~~" in line) and bool(_FENCE.match(line))


def _paragraph(lines: list[str], at: int) -> Block:
    end = at + 1
    quoted = bool(_QUOTE.match(lines[at]))
    while end < len(lines):
        under = _UNDERLINE.match(lines[end])
        if under and not quoted:
            level = 1 if under[1][0] == "=" else 2
            return Block("heading", at + 1, end + 1, (" ".join(" ".join(lines[at:end]).split()),), level=level)
        if _interrupts(lines, end) or (not quoted and _QUOTE.match(lines[end])):
            break
        end += 1
    text = tuple(line[m.end() :] if (m := _QUOTE.match(line)) else line.strip() for line in lines[at:end])
    return Block("paragraph", at + 1, end, text)


class _Gathering:
    """An entry of a list while its lines are still coming in."""

    def __init__(self, at: int, marker: re.Match[str]) -> None:
        self.start = self.end = at + 1
        self.indent = len(marker[1])
        self.margin = self.indent + len(marker[2]) + 1
        text = marker.string[marker.end() :]
        self.own = [_TASK.sub("", text, count=1) if text.startswith("[") else text]
        self.children: list[_Gathering] = []

    def add(self, at: int, line: str) -> None:
        """Take one more line, less the indentation of the entry."""
        if line.strip():
            self.end = at + 1
        indent = len(line) - len(line.lstrip(" "))
        self.own.append(line[min(indent, self.margin) :].rstrip())

    def done(self) -> Entry:
        children = tuple(child.done() for child in self.children)
        return Entry(self.start, max([self.end, *(c.end for c in children)]), tuple(self.own), children)


def _list(lines: list[str], at: int) -> Block:
    first = _MARKER.match(_untabbed(lines[at]))
    assert first is not None  # noqa: S101  the caller saw the marker
    base, ordered = len(first[1]), first[2] not in "-*+"
    tops: list[_Gathering] = []
    index, after_blank = at, False
    while index < len(lines):
        line = _untabbed(lines[index])
        if not line.strip():
            after_blank = True
            index += 1
            continue
        indent = len(line) - len(line.lstrip(" "))
        marker = None if _RULE.match(line) else _MARKER.match(line)
        inner = bool(tops) and indent >= base + 2
        if marker and not inner:
            if tops and (marker[2] not in "-*+") != ordered:
                break
            base = min(base, indent)
            tops.append(_Gathering(index, marker))
            current = tops[-1]
        elif marker and (not tops[-1].children or indent <= tops[-1].children[0].indent + 1):
            current = _Gathering(index, marker)
            tops[-1].children.append(current)
        elif not inner and (after_blank or _HEADING.match(line) or is_markup(line) or fence_end_opens(line)):
            break
        else:
            current = tops[-1].children[-1] if tops[-1].children else tops[-1]
            if after_blank:
                current.add(index - 1, "")
            current.add(index, line)
        after_blank = False
        closing = fence_end(lines, index)
        for inside in range(index + 1, (closing or index) + 1):
            current.add(inside, _untabbed(lines[inside]))
        index = max(index, closing or index) + 1
    entries = tuple(top.done() for top in tops)
    return Block("list", at + 1, entries[-1].end, ordered=ordered, entries=entries)
