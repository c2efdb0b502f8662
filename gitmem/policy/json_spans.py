"""JSON with the place of every value: what may be replaced in a line that has to stay JSON."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from gitmem.model.pattern import pattern_of_bytes

_TOKEN: Final = pattern_of_bytes(
    rb"[ \t\r\n]*+(?:(\"(?:[^\"\\]++|\\.)*+\")|(-?[0-9][0-9.eE+-]*|true|false|null|NaN|-?Infinity)|([{}\[\],:]))", 16
)  # 16: re.DOTALL
_BLANK: Final = b" \t\r\n"


@dataclass(frozen=True, slots=True)
class Node:
    """One value at [start, end) of the line, quotes included. `members` has the keys of an object, in order."""

    kind: Literal["object", "array", "string", "other"]
    start: int
    end: int
    members: Sequence[tuple[Node | None, Node]] = field(default=())


def parse(line: bytes) -> list[Node] | None:
    """The JSON values that `line` consists of: one, or several that were glued together. None: it is no JSON.

    Any depth, no recursion; a little more is taken for JSON than the standard does.
    """
    if line.lstrip(_BLANK)[:1] not in (b"{", b"["):
        return None
    roots: list[Node] = []
    open_nodes: list[tuple[int, bool, list[tuple[Node | None, Node]]]] = []  # start, is an object, members
    key: Node | None = None
    wanted = "value"  # value, first (value or end), key, key or end, colon, comma or end
    position, end = 0, len(line.rstrip(_BLANK))
    while position < end:
        match = _TOKEN.match(line, position, end)
        if match is None:
            return None
        position = match.end()
        mark = match[3]
        if mark is None:
            node = Node("string" if match[1] else "other", match.start(match.lastindex or 0), position)
            if wanted in ("key", "first key"):
                if node.kind != "string":
                    return None
                key, wanted = node, "colon"
                continue
            if wanted not in ("value", "first"):
                return None
        elif mark in b"{[":
            if wanted not in ("value", "first"):
                return None
            open_nodes.append((position - 1, mark == b"{", []))
            if mark == b"{":
                # The key that this object belongs to waits on the stack as its first member.
                open_nodes[-1][2].append((key, Node("other", 0, 0)))
                key, wanted = None, "first key"
            else:
                open_nodes[-1][2].append((key, Node("other", 0, 0)))
                key, wanted = None, "first"
            continue
        elif mark in b"}]":
            if not open_nodes or open_nodes[-1][1] != (mark == b"}"):
                return None
            if wanted not in ("comma", "first key" if mark == b"}" else "first"):
                return None
            start, is_object, members = open_nodes.pop()
            key = members[0][0]
            node = Node("object" if is_object else "array", start, position, members[1:])
        elif mark == b":":
            if wanted != "colon":
                return None
            wanted = "value"
            continue
        else:
            if wanted != "comma" or not open_nodes:
                return None
            wanted = "key" if open_nodes[-1][1] else "value"
            continue
        if open_nodes:
            open_nodes[-1][2].append((key, node))
            key, wanted = None, "comma"
        else:
            roots.append(node)
            wanted = "value"
    return roots if roots and not open_nodes else None


def descend(nodes: Sequence[Node]) -> Iterator[Node]:
    """All nodes below `nodes` and these, keys too, in no order."""
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        yield node
        for key, value in node.members:
            if key is not None:
                waiting.append(key)
            waiting.append(value)


def text_of(line: bytes, node: Node) -> str:
    """What a string node says; "" for any other node."""
    if node.kind != "string":
        return ""
    inside = line[node.start + 1 : node.end - 1]
    if b"\\" not in inside:
        return inside.decode("utf-8", "replace")
    try:
        said = json.loads(line[node.start : node.end].decode("utf-8", "replace"), strict=False)
    except ValueError:
        return ""
    return said if isinstance(said, str) else ""


class Scalars:
    """The strings and numbers of a line in order, to find those that a span touches."""

    def __init__(self, roots: Sequence[Node]) -> None:
        self._nodes = sorted((n for n in descend(roots) if n.kind in ("string", "other")), key=lambda n: n.start)
        self._starts = [node.start for node in self._nodes]

    def touched(self, start: int, end: int) -> Iterator[Node]:
        number = max(bisect_right(self._starts, start) - 1, 0)
        while number < len(self._nodes) and self._nodes[number].start < end:
            if self._nodes[number].end > start:
                yield self._nodes[number]
            number += 1
