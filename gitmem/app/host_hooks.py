"""The hooks in the text of a host's configuration: put in and taken out, with every other byte as it was.

Both hosts keep them in JSON of one shape: `{"hooks": {EVENT: [{"hooks": [{"type": "command", "command": …}]}]}}`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from gitmem.model.frozen import dataclass

_SPACE: Final = " \t\r\n"
_DECODER: Final = json.JSONDecoder()


@dataclass(frozen=True)
class Hook:
    """What a host runs at an event; of a tool only for those whose names `matcher` matches. timeout: seconds."""

    event: str
    command: str
    matcher: str = ""
    timeout: int = 5


@dataclass(frozen=True)
class _Span:
    """A value in the text: `start` of its key, or of itself in an array; `at` where it begins, `end` behind it."""

    key: str
    start: int
    at: int
    end: int


Insert = tuple[int, str]  # where in the text as it is by then, and what


def inserts(text: str, hooks: Sequence[Hook]) -> list[Insert]:
    """What puts in each hook whose event has none of its command, to be done in order.

    Raises ValueError saying why the text cannot be read.
    """
    found: list[Insert] = []
    for hook in hooks:
        if (hook.event, hook.command) not in commands(text):
            found.append(_added(text, hook))
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


def without_hooks(text: str, command: str) -> str:
    """`text` without the hooks of `command`, and without what is empty then. Raises ValueError as `with_hooks`."""
    while (span := _hook_of(text, command)) is not None:
        text = _cut(text, span)
    return text


def commands(text: str) -> list[tuple[str, str]]:
    """Event and command of every hook. Raises ValueError when the text is not of the shape that the hosts read."""
    found = []
    for event, groups in _hooks(text).items():
        if not isinstance(groups, list):
            raise ValueError(f"hooks.{event} is no list")
        for group in groups:
            handlers = group.get("hooks") if isinstance(group, dict) else None
            if not isinstance(handlers, list):
                raise ValueError(f"hooks.{event} holds something without a list of hooks")
            named = [handler.get("command") for handler in handlers if isinstance(handler, dict)]
            found += [(event, command) for command in named if isinstance(command, str)]
    return found


def _hooks(text: str) -> dict[str, Any]:
    data = _read(text)
    if not isinstance(data, dict):
        raise ValueError("it is no JSON object")
    hooks = data.get("hooks", {})
    if not isinstance(hooks, dict):
        raise ValueError("hooks is no JSON object")
    return hooks


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


def _added(text: str, hook: Hook) -> Insert:
    event = hook.event
    group: dict[str, Any] = {"matcher": hook.matcher} if hook.matcher else {}
    group["hooks"] = [{"type": "command", "command": hook.command, "timeout": hook.timeout}]
    if not text.strip(_SPACE):
        return 0, json.dumps({"hooks": {event: [group]}}, indent=2, ensure_ascii=False) + "\n"
    hooks = _member(text, _skip(text, 0), "hooks")
    if hooks is None:
        return _last(text, _skip(text, 0), '"hooks": ', {event: [group]}, 1)
    groups = _member(text, hooks.at, event)
    if groups is None:
        return _last(text, hooks.at, f"{json.dumps(event)}: ", [group], 2)
    return _last(text, groups.at, "", group, 3)


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


def _hook_of(text: str, command: str) -> _Span | None:
    """What has to go for the first hook of `command` to be gone: it, or the largest thing that holds nothing else."""
    hooks = _member(text, _skip(text, 0), "hooks") if text.strip(_SPACE) else None
    for event in _items(text, hooks.at) if hooks else ():
        for group in _items(text, event.at):
            handlers = _member(text, group.at, "hooks")
            for handler in _items(text, handlers.at) if handlers else ():
                if hooks and handlers and _is(text, handler, command):
                    around = ((handlers.at, group), (event.at, event), (hooks.at, hooks))
                    return _largest(text, handler, around)
    return None


def _is(text: str, handler: _Span, command: str) -> bool:
    value = json.loads(text[handler.at : handler.end])
    return isinstance(value, dict) and value.get("command") == command


def _largest(text: str, wanted: _Span, around: Sequence[tuple[int, _Span]]) -> _Span:
    for container, outer in around:
        if len(list(_items(text, container))) > 1:
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
