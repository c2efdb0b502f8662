"""The hooks in the text of a host's configuration: put in and taken out, with every other byte as it was.

All hosts keep them in JSON, as lists by event in one member of the file. `Shape` says how one hook is written there:
with a group around it, as `{"hooks": {EVENT: [{"hooks": [{"type": "command", "command": …}]}]}}`, or without.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from gitmem.model.frozen import dataclass

_SPACE: Final = " \t\r\n"
_DECODER: Final = json.JSONDecoder()
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


@dataclass(frozen=True)
class Hook:
    """What a host runs at an event; of a tool only for those whose names `matcher` matches. timeout: seconds."""

    event: str
    command: str
    matcher: str = ""
    timeout: int = 5


@dataclass(frozen=True)
class Shape:
    """How a host writes hooks down.

    grouped: each hook stands in a group, which holds its matcher. section: the member with the events. inside: what
    else stands there, in a section of our own. version: the file has to have one, or nothing of it is read. command,
    timeout: the names of these keys. second: how much a second is in the host's unit. typed: a hook says its type.
    """

    grouped: bool = True
    section: str = "hooks"
    inside: Mapping[str, Any] = _NOTHING
    version: bool = False
    command: str = "command"
    timeout: str = "timeout"
    second: int = 1
    typed: bool = True

    def written(self, hook: Hook) -> dict[str, Any]:
        """The hook as it stands in the list of its event."""
        matcher = {"matcher": hook.matcher} if hook.matcher else {}
        kind = {"type": "command"} if self.typed else {}
        handler = {**kind, self.command: hook.command, self.timeout: hook.timeout * self.second}
        return {**matcher, "hooks": [handler]} if self.grouped else {**handler, **matcher}

    def file(self, events: Mapping[str, Any]) -> dict[str, Any]:
        """A whole file with these lists by event."""
        return {**({"version": 1} if self.version else {}), self.section: {**self.inside, **events}}

    def command_of(self, handler: Any) -> str | None:
        found = handler.get(self.command, handler.get("command")) if isinstance(handler, dict) else None
        return found if isinstance(found, str) else None


GROUPED: Final = Shape()  # Claude Code and who followed it


@dataclass(frozen=True)
class _Span:
    """A value in the text: `start` of its key, or of itself in an array; `at` where it begins, `end` behind it."""

    key: str
    start: int
    at: int
    end: int


Insert = tuple[int, str]  # where in the text as it is by then, and what


def inserts(text: str, hooks: Sequence[Hook], shape: Shape = GROUPED) -> list[Insert]:
    """What puts in each hook whose event has none of its command, to be done in order.

    Raises ValueError saying why the text cannot be read.
    """
    found: list[Insert] = []
    for hook in hooks:
        if (hook.event, hook.command) not in commands(text, shape):
            if shape.version and text.strip(_SPACE) and "version" not in _read(text):
                found.append(_last(text, _skip(text, 0), '"version": ', 1, 1))
                text = with_inserts(text, found[-1:])
            found.append(_added(text, hook, shape))
            text = with_inserts(text, found[-1:])
    return found


def with_inserts(text: str, wanted: Sequence[Insert]) -> str:
    for at, piece in wanted:
        text = text[:at] + piece + text[at:]
    return text


def without_inserts(text: str, places: Sequence[tuple[int, int]]) -> str:
    """`text` before insertions of these lengths at these places."""
    for at, length in reversed(places):
        text = text[:at] + text[at + length :]
    return text


def without_hooks(text: str, command: str, shape: Shape = GROUPED) -> str:
    """`text` without the hooks of `command`, and without what is empty then. Raises ValueError as `inserts`."""
    while (span := _hook_of(text, command, shape)) is not None:
        text = _cut(text, span)
    return text


def commands(text: str, shape: Shape = GROUPED) -> list[tuple[str, str]]:
    """Event and command of every hook. Raises ValueError when the text is not of the shape that the host reads."""
    found = []
    for event, groups in _events(text, shape).items():
        if not isinstance(groups, list):
            raise ValueError(f"{shape.section}.{event} is no list")
        for group in groups:
            handlers = group.get("hooks", None if shape.grouped else [group]) if isinstance(group, dict) else None
            if not isinstance(handlers, list):
                wanted = "something without a list of hooks" if shape.grouped else "something that is no hook"
                raise ValueError(f"{shape.section}.{event} holds {wanted}")
            named = [shape.command_of(handler) for handler in handlers]
            found += [(event, command) for command in named if command is not None]
    return found


def _events(text: str, shape: Shape) -> dict[str, Any]:
    data = _read(text)
    if not isinstance(data, dict):
        raise ValueError("it is no JSON object")
    events = data.get(shape.section, {})
    if not isinstance(events, dict):
        raise ValueError(f"{shape.section} is no JSON object")
    version = data.get("version", 0 if events else 1)
    if shape.version and (not isinstance(version, int) or version < 1):
        raise ValueError("it has hooks and no version, so its host reads none of them")
    return {event: groups for event, groups in events.items() if event not in shape.inside}


def _read(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_without_twins) if text.strip(_SPACE) else {}
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _added(text: str, hook: Hook, shape: Shape) -> Insert:
    event, entry = hook.event, shape.written(hook)
    if not text.strip(_SPACE):
        return 0, json.dumps(shape.file({event: [entry]}), indent=2, ensure_ascii=False) + "\n"
    section = _member(text, _skip(text, 0), shape.section)
    if section is None:
        key = f"{json.dumps(shape.section)}: "
        return _last(text, _skip(text, 0), key, {**shape.inside, event: [entry]}, 1)
    groups = _member(text, section.at, event)
    if groups is None:
        return _last(text, section.at, f"{json.dumps(event)}: ", [entry], 2)
    return _last(text, groups.at, "", entry, 3)


def _last(text: str, container: int, key: str, value: Any, depth: int) -> Insert:
    """What makes `value` the last item of the object or array at `container`, laid out as its neighbours."""
    unit = _indent(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    items = list(_items(text, container))
    margin = _margin(text, items[0].start) if items else unit * depth
    if margin is None:
        return items[-1].end, f", {key}{json.dumps(value, ensure_ascii=False)}"
    lines = json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", newline + margin)
    piece = f"{newline}{margin}{key}{lines}"
    if items:
        return items[-1].end, f",{piece}"
    has_line = "\n" in text[container : _skip(text, container + 1)]
    return container + 1, piece if has_line else f"{piece}{newline}{unit * (depth - 1)}"


def _indent(text: str) -> str:
    found = re.search(r"\{\r?\n([ \t]+)\"", text)
    return found[1] if found else "  "


def _margin(text: str, start: int) -> str | None:
    """What stands before `start` on its line; None when that is not only space."""
    before = text[:start].rpartition("\n")
    return before[2] if before[1] and not before[2].strip(" \t") else None


def _hook_of(text: str, command: str, shape: Shape) -> _Span | None:
    """What has to go for the first hook of `command` to be gone: it, or the largest thing that holds nothing else."""
    section = _member(text, _skip(text, 0), shape.section) if text.strip(_SPACE) else None
    if section is None:
        return None
    for event in _items(text, section.at):
        outer = ((event.at, event), (section.at, section))
        for group in _items(text, event.at):
            handlers = _member(text, group.at, "hooks") if text[group.at] == "{" else None
            if handlers is None and not shape.grouped and _is(text, group, command, shape):
                return _largest(text, group, outer, shape)
            for handler in _items(text, handlers.at) if handlers else ():
                if handlers and _is(text, handler, command, shape):
                    return _largest(text, handler, ((handlers.at, group), *outer), shape)
    return None


def _is(text: str, handler: _Span, command: str, shape: Shape) -> bool:
    return shape.command_of(json.loads(text[handler.at : handler.end])) == command


def _largest(text: str, wanted: _Span, around: Sequence[tuple[int, _Span]], shape: Shape) -> _Span:
    for container, outer in around:
        if len([item for item in _items(text, container) if item.key not in shape.inside]) > 1:
            break
        wanted = outer
    return wanted


def _cut(text: str, span: _Span) -> str:
    """`text` without an item, and without the comma that it needed."""
    before = text[: span.start].rstrip(_SPACE)
    after = text[span.end :].lstrip(_SPACE)
    if before.endswith(","):
        return before[:-1] + text[span.end :]
    if after.startswith(","):
        return text[: span.start] + after[1:].lstrip(_SPACE)
    return before + after


def _member(text: str, container: int, key: str) -> _Span | None:
    return next((item for item in _items(text, container) if item.key == key), None)


def _items(text: str, container: int) -> Iterator[_Span]:
    """The members of the object, or the elements of the array, that begins at `container`."""
    is_object = text[container] == "{"
    if text[container] not in "{[":
        return
    at = _skip(text, container + 1)
    while text[at] not in "}]":
        start, key = at, ""
        if is_object:
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        begin = at
        _, at = _DECODER.raw_decode(text, at)
        yield _Span(key, start, begin, at)
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    while text[at] in _SPACE:
        at += 1
    return at
