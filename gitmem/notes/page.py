"""A Markdown file as its reader sees it: no front matter, no comments, no blocks that a tool wrote."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from gitmem.notes.items import Unread, without_emoji_style
from gitmem.notes.markdown import fence_end

_KEY: Final = re.compile(r"([A-Za-z_][\w -]{0,60}):(?:[ \t]+(.*))?$")
_BEGIN: Final = frozenset({"begin", "start", ">>>"})
_END: Final = frozenset({"end", "stop", "<<<"})
# Marks that tell a formatter to keep off; what lies between them was written by a person.
_PRAGMAS: Final = frozenset({"prettier", "markdownlint", "textlint", "vale", "cspell", "eslint", "rumdl"})


@dataclass(frozen=True, slots=True)
class Page:
    """`lines` keep their places: what is hidden is blank. `front` is the front matter, each key with its values."""

    lines: list[str]
    front: dict[str, tuple[str, ...]]
    unread: list[Unread]


def lines_of(text: str) -> list[str]:
    """The lines as git counts them: ended by LF, a CR before it, a byte order mark and emoji styles dropped."""
    lines = without_emoji_style(text.removeprefix("\ufeff")).split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def page_of(text: str) -> Page:
    """The page that `text` holds. Front matter that is not closed or not understood stays text, and is named."""
    lines = lines_of(text)
    unread: list[Unread] = []
    front, length, fault = _front_matter(lines)
    if fault:
        unread.append(Unread(1, 1, fault))
    else:
        lines[:length] = [""] * length
    marks = _hide_comments(lines, unread)
    _hide_managed(lines, marks, unread)
    return Page(lines, front, unread)


def _front_matter(lines: list[str]) -> tuple[dict[str, tuple[str, ...]], int, str]:
    """(values, number of lines, what is wrong with it)."""
    if not lines or lines[0].rstrip() != "---":
        return {}, 0, ""
    close = next((at for at in range(1, len(lines)) if lines[at].rstrip() in ("---", "...")), None)
    if close is None:
        return {}, 0, "front matter is not closed; read as text"
    raw: dict[str, list[str]] = {}
    key = None
    for line in lines[1:close]:
        found = _KEY.match(line)
        if found:
            key = found[1].strip()
            raw[key] = [(found[2] or "").strip()]
        elif key is not None and line.startswith((" ", "\t", "- ")):
            raw[key].append(line.strip())
        elif line.strip() and not line.startswith("#"):
            return {}, 0, "front matter is not `key: value` lines; read as text"
    return {name: _values(parts) for name, parts in raw.items()}, close + 1, ""


def _values(parts: list[str]) -> tuple[str, ...]:
    head, rest = parts[0], parts[1:]
    if head.startswith("[") or (rest and rest[0].startswith("[") and not head):
        flow = " ".join(parts).strip().removeprefix("[").removesuffix("]")
        return tuple(_unquoted(value) for value in split_commas(flow))
    if not head and rest and rest[0].startswith("-"):
        return tuple(value for part in rest if (value := _unquoted(part.removeprefix("-").strip())))
    if head in (">", "|", ">-", "|-", ">+", "|+"):
        head = ""
    value = _unquoted(" ".join([head, *rest]).strip())
    return (value,) if value else ()


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


def split_commas(text: str) -> Iterable[str]:
    """The parts of `text` between the commas that stand outside braces and quotes."""
    part: list[str] = []
    depth, quote = 0, ""
    for char in text:
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "{}":
            depth = max(0, depth + (1 if char == "{" else -1))
        elif char == "," and not depth:
            if value := "".join(part).strip():
                yield value
            part = []
            continue
        part.append(char)
    if value := "".join(part).strip():
        yield value


def _hide_comments(lines: list[str], unread: list[Unread]) -> list[tuple[int, str]]:
    """Blank every HTML comment outside code. Gives the text of each mark a tool could have left, with its line."""
    marks: list[tuple[int, str]] = []
    closable = True
    at = 0
    while at < len(lines):
        closing = fence_end(lines, at)
        if closing is not None:
            at = closing + 1
            continue
        bare = lines[at].strip(" \t#/")
        if bare.startswith((">>>", "<<<")):
            marks.append((at, bare))
        kept: list[str] = []
        visible: list[str] = []
        position, ticks, held, first, last = 0, 0, 0, at, at
        while closable and (begin := lines[last].find("<!--", position)) >= 0:
            ticks += lines[last].count("`", position, begin)
            if ticks % 2:  # inside a code span
                kept.append(lines[last][position : begin + 4])
                position = begin + 4
                continue
            end_line, end = last, lines[last].find("-->", begin + 4)
            while end < 0 and end_line + 1 < len(lines):
                end_line += 1
                end = lines[end_line].find("-->")
            if end < 0:
                closable = False
                break
            kept += [lines[last][position:begin], " "]
            if end_line == last:
                inside = lines[last][begin + 4 : end]
            else:
                inside = "\n".join([lines[last][begin + 4 :], *lines[last + 1 : end_line], lines[end_line][:end]])
                visible += ["".join(kept).rstrip(), *[""] * (end_line - last - 1)]
                kept, ticks = [], 0
            marks.append((last, inside))
            held += 1
            last, position = end_line, end + 3
        if held:
            visible.append("".join([*kept, lines[last][position:]]).rstrip())
            lines[first : last + 1] = visible
            if not any(visible) and not any(_mark(inside) for _, inside in marks[-held:]):
                unread.append(Unread(first + 1, last + 1, "an HTML comment"))
        at = last + 1
    return marks


def _mark(inside: str) -> tuple[bool, str] | None:
    """(does it open, the name of the block) for a comment that begins or ends a managed block."""
    words = [word for word in re.split(r"[\s:_\-]+", inside[:200].strip(" \t\n#/*-").lower()) if word]
    if not words or words[0] in _PRAGMAS:
        return None
    for edge, name in ((words[0], words[1:2]), (words[-1], words[:1])):
        if edge in _BEGIN or edge in _END:
            return edge in _BEGIN, "".join(name) if len(words) > 1 else ""
    return None


def _hide_managed(lines: list[str], marks: list[tuple[int, str]], unread: list[Unread]) -> None:
    """Blank what lies between the begin and end marks of a tool; our own block, without its end, to the last line."""
    opened: dict[str, int] = {}
    ranges: list[tuple[int, int, str]] = []
    for at, inside in marks:
        mark = _mark(inside)
        if mark is None:
            continue
        opens, name = mark
        if opens:
            opened.setdefault(name, at)
        elif name in opened:
            ranges.append((opened.pop(name), at, name))
    if "gitmem" in opened:
        ranges.append((opened["gitmem"], len(lines) - 1, "gitmem"))
    merged: list[tuple[int, int, bool]] = []
    for start, end, name in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]), merged[-1][2] or name == "gitmem")
        else:
            merged.append((start, end, name == "gitmem"))
    hidden: set[int] = set()
    for start, end, _ in merged:
        lines[start : end + 1] = [""] * (end + 1 - start)
        hidden.update(range(start + 1, end + 2))
    unread[:] = [part for part in unread if part.start not in hidden]
    unread += [
        Unread(start + 1, end + 1, "gitmem's own block" if ours else "a block that a tool keeps")
        for start, end, ours in merged
    ]
