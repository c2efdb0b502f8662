"""The strict reader: YAML as people write it, refusing whatever two readers could read differently.

Loaded only for text that is not in canonical form. docs/format.md, "YAML", lists what is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml import events as ev
from ruamel.yaml.error import YAMLError

from gitmem.errors import CorruptRecord
from gitmem.model.text import forbidden, one_line
from gitmem.model.vocabulary import YAML_DEPTH
from gitmem.model.yaml_codec import INTEGER, RESERVED, SURROGATE, corrupt

Path = tuple[str | int, ...]

# Plain text that YAML 1.1 or 1.2 readers take for something else than a string.
_AMBIGUOUS: Final = re.compile(
    r"""(?ix) y|n|yes|no|on|off|=|<<|
    [-+]?0[xob][0-9a-f_]+|
    [-+]?(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9_]+)(?:e[-+]?[0-9]+)?|
    [-+]?\.(?:inf|nan)|
    [-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?|
    [0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt\ \t].*)?"""
).fullmatch
_NULL: Final = ("", "~", "null", "Null", "NULL")
_TRUTH: Final = ("true", "True", "TRUE", "false", "False", "FALSE")
# What is left of a line where a value should be and a comment is.
_VALUE_OF_COMMENT: Final = re.compile(r"[ \t]*[-?:,\[{][-?:,\[{ \t]*[ \t]#").match


def read_strict(text: str, name: str, nodes: int) -> tuple[Any, Mapping[Path, int]]:
    """The data of one document and the line of each value. Raises CorruptRecord."""
    for position, char in forbidden(text):
        line = text.count("\n", 0, position) + 1
        raise corrupt(name, f"holds the character U+{ord(char):04X}, which is not allowed", line)
    reading = _Reading(name, text.split("\n"), nodes)
    try:
        for event in YAML(typ="safe", pure=True).parse(text):
            reading.take(event)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        problem = getattr(error, "problem", None) or str(error).split("\n")[0]
        what = f"not valid YAML, {one_line(problem, 200)}; quote the value"
        if mark is None:
            raise corrupt(name, f"is {what}") from None
        raise corrupt(name, what, mark.line + 1) from None
    except CorruptRecord:
        raise
    except Exception as error:  # the parser lets bare errors out, such as ValueError for "\UFFFFFFFF"
        raise corrupt(name, f"is not valid YAML: {type(error).__name__}") from None
    return reading.root, reading.lines


class _Reading:
    """Makes plain data of YAML events, refusing what is not in the subset."""

    def __init__(self, name: str, source: list[str], limit: int) -> None:
        self.name = name
        self.source = source
        self.limit = limit
        self.nodes = self.documents = 0
        self.root: Any = None
        self.lines: dict[Path, int] = {}
        # Each open container with the key that waits for its value there (None: a key comes next).
        self.stack: list[tuple[Any, list[str]]] = []
        self.path: list[str | int] = []
        self.end = (0, 0)  # line and column behind the last event, both from 0

    def take(self, event: Any) -> None:
        self.judge(event)
        self.end = (event.end_mark.line, event.end_mark.column)

    def judge(self, event: Any) -> None:
        if isinstance(event, (ev.StreamStartEvent, ev.StreamEndEvent, ev.DocumentEndEvent)):
            return
        if isinstance(event, ev.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                raise self.fault(event, "a second document begins")
            if event.version is not None or event.tags:
                raise self.fault(event, "directives (%) are not allowed")
            return
        if isinstance(event, ev.AliasEvent):
            raise self.fault(event, "aliases (*) are not allowed; quote the value")
        if isinstance(event, (ev.MappingEndEvent, ev.SequenceEndEvent)):
            self.stack.pop()
            if self.path:
                self.path.pop()
            return
        self.nodes += 1
        if self.nodes > self.limit:
            raise self.fault(event, f"more than {self.limit} values")
        if event.anchor is not None:
            raise self.fault(event, "anchors (&) are not allowed; quote the value")
        if event.ctag is not None and str(event.ctag) not in ("", "None"):
            raise self.fault(event, "tags (!) are not allowed; quote the value")
        if isinstance(event, ev.ScalarEvent):
            self.scalar(event)
        else:
            self.open(event, {} if isinstance(event, ev.MappingStartEvent) else [])

    def open(self, event: Any, container: Any) -> None:
        if len(self.stack) >= YAML_DEPTH:
            raise self.fault(event, f"nested deeper than {YAML_DEPTH} levels")
        if self.at_key():
            raise self.fault(event, "a key must be a word; quote the value")
        step = self.step()
        self.place(event, container)
        self.path.extend(step)
        self.stack.append((container, []))

    def scalar(self, event: Any) -> None:
        if not self.at_key():
            self.place(event, self.plain(event) if event.style is None else self.written(event))
            return
        key = self.written(event)
        container, waiting = self.stack[-1]
        if event.style is None and (_AMBIGUOUS(key) or key.lower() in RESERVED or key in _NULL):
            shown = one_line(key, 40)
            raise self.fault(event, f"the key {shown!r} is read differently by different programs; quote it")
        if key in container:
            raise self.fault(event, f"the key {one_line(key, 40)!r} stands twice")
        container[key] = None
        waiting.append(key)

    def place(self, event: Any, value: Any) -> None:
        if not self.stack:
            self.root = value
            return
        where = (*self.path, *self.step())
        # The parser places an empty value before what comes next.
        empty = value is None and event.start_mark.index == event.end_mark.index
        self.lines[where] = (self.end[0] if empty else event.start_mark.line) + 1
        container, waiting = self.stack[-1]
        if isinstance(container, list):
            container.append(value)
        else:
            container[waiting.pop()] = value

    def at_key(self) -> bool:
        return bool(self.stack) and isinstance(self.stack[-1][0], dict) and not self.stack[-1][1]

    def step(self) -> Path:
        """The last step of the path of the value that comes next: its key or its number."""
        if not self.stack:
            return ()
        container, waiting = self.stack[-1]
        return (len(container),) if isinstance(container, list) else (waiting[0],)

    def written(self, event: Any) -> str:
        text: str = event.value
        if SURROGATE(text):
            raise self.fault(event, "half of a character (\\ud800 to \\udfff) is not allowed; write the character")
        return text

    def plain(self, event: Any) -> Any:
        """The value of an unquoted scalar."""
        text: str = event.value
        comment = self.comment_behind(event) if text else self.comment_instead(event)
        if comment is not None:
            what = "text after # would be lost; quote the value or put the comment on a line of its own"
            raise self.fault(event, what, comment + 1)
        if text in _NULL:
            return None
        if text in _TRUTH:
            return text.lower() == "true"
        if INTEGER(text):
            return int(text)
        if _AMBIGUOUS(text):
            shown = one_line(text, 40)
            quoted = json.dumps(shown, ensure_ascii=False)
            raise self.fault(event, f"{shown!r} is read differently by different programs; quote it: {quoted}")
        return text

    def comment_behind(self, event: Any) -> int | None:
        """The line (from 0) of a comment that follows the value."""
        end = event.end_mark
        follows = end.line < len(self.source) and self.source[end.line][end.column :].lstrip().startswith("#")
        return end.line if follows else None

    def comment_instead(self, event: Any) -> int | None:
        """The line of a comment where the value should be: `key: #12 is fixed`.

        The parser places an empty value before what comes next, so the text since the last event is looked at.
        """
        (first, column), last = self.end, event.start_mark.line
        between = [self.source[first][column:], *self.source[first + 1 : last + 1]]
        return next((first + number for number, line in enumerate(between) if _VALUE_OF_COMMENT(line)), None)

    def fault(self, event: Any, what: str, line: int | None = None) -> CorruptRecord:
        place = ".".join(str(step) for step in self._place_named())
        shown = f"{one_line(place, 80)}: {what}" if place else what
        return corrupt(self.name, shown, line or event.start_mark.line + 1)

    def _place_named(self) -> Iterator[str | int]:
        yield from self.path
        if not self.at_key():
            yield from self.step()
