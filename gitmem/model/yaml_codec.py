"""The YAML of the branch: one canonical writer and one strict reader.

The writer emits a small subset that every YAML reader understands alike: block style, quotes around
whatever another reader might take for a number, a date or a truth value. The reader takes what people
write by hand as well, but refuses whatever two readers could read differently (docs/format.md, "YAML").
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gitmem.errors import CorruptRecord
from gitmem.model.text import forbidden, is_forbidden
from gitmem.model.vocabulary import FILE_LIMIT, YAML_DEPTH, YAML_NODES

_PLAIN: Final = re.compile(r"[A-Za-z](?:[A-Za-z _./-]*[A-Za-z])?")
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_RESERVED: Final = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf"})
_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
# Plain text that YAML 1.1 or 1.2 readers take for something else than a string.
_AMBIGUOUS: Final = re.compile(
    r"""(?ix) y|n|yes|no|on|off|=|<<|
    [-+]?[0-9][0-9_]*|[-+]?0[xob][0-9a-f_]+|
    [-+]?(?:[0-9][0-9_]*)?\.?[0-9][0-9_]*(?:\.[0-9_]*)?(?:e[-+]?[0-9]+)?|[-+]?[0-9][0-9_]*\.(?:e[-+]?[0-9]+)?|
    [-+]?\.(?:inf|nan)|
    [-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?|
    [0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt\ ].*)?"""
)


@dataclass(frozen=True, slots=True)
class Parsed:
    """What was read, and the line (1-based) of each value by its path, where the slow reader knows it."""

    data: Any
    lines: Mapping[tuple[str | int, ...], int]


def emit(data: Mapping[str, Any]) -> str:
    """Canonical YAML for str, int, bool, None, and mappings and sequences of them. Key order is kept."""
    lines: list[str] = []
    _emit_mapping(data, 0, lines)
    return "\n".join(lines) + "\n" if lines else "{}\n"


def _emit_mapping(data: Mapping[str, Any], depth: int, lines: list[str], first: str | None = None) -> None:
    for key, value in data.items():
        indent = "  " * depth if first is None else first
        first = None
        _emit_value(f"{indent}{_key(key)}:", value, depth, lines)


def _emit_value(head: str, value: Any, depth: int, lines: list[str]) -> None:
    if isinstance(value, Mapping):
        if value:
            lines.append(head)
            _emit_mapping(value, depth + 1, lines)
        else:
            lines.append(f"{head} {{}}")
    elif isinstance(value, Sequence) and not isinstance(value, str):
        if not value:
            lines.append(f"{head} []")
            return
        lines.append(head)
        indent = "  " * (depth + 1)
        for item in value:
            if isinstance(item, Mapping) and item:
                _emit_mapping(item, depth + 2, lines, first=f"{indent}- ")
            else:
                _emit_value(f"{indent}-", item, depth + 1, lines)
    else:
        lines.append(f"{head} {_scalar(value, depth)}")


def _key(key: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) and key.lower() not in _RESERVED else _quoted(key)


def _scalar(value: Any, depth: int) -> str:
    if isinstance(value, str):
        if _PLAIN.fullmatch(value) and value.lower() not in _RESERVED:
            return value
        if "\n" in value and _fits_block(value):
            indent = "  " * (depth + 1)
            style = "|" if value.endswith("\n") else "|-"
            return "\n".join([style, *(indent + line if line else "" for line in value.removesuffix("\n").split("\n"))])
        return _quoted(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    raise TypeError(f"YAML of the branch has no {type(value).__name__}")


def _fits_block(value: str) -> bool:
    """True when a literal block gives the same text back in every reader."""
    lines = value.removesuffix("\n").split("\n")
    return (
        bool(lines[0].strip())
        and bool(lines[-1].strip())
        and not any(line[:1] in (" ", "\t") and (line is lines[0] or not line.strip()) for line in lines)
        and not any(line.startswith("\t") for line in lines)
        and next(forbidden(value), None) is None
    )


def _quoted(value: str) -> str:
    text = json.dumps(value, ensure_ascii=False)
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(char) if char > "~" and is_forbidden(char) else char for char in text)


def _escaped(char: str) -> str:
    code = ord(char)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def parse(raw: bytes, *, name: str = "", limit: int = FILE_LIMIT) -> Parsed:
    """Read one YAML document strictly. Raises CorruptRecord naming `name`, the line and what to change."""
    if len(raw) > limit:
        raise _corrupt(name, f"is {len(raw)} bytes long; the limit is {limit}")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _corrupt(name, f"is not UTF-8 at byte {error.start}") from None
    fast = _parse_canonical(text)
    return fast if fast is not None else _parse_strict(text, name)


def _parse_canonical(text: str) -> Parsed | None:
    """The fast path: what the Rust reader gives is believed only when the writer makes the same text of it.

    The comments at the top are left out of the comparison.
    """
    import ryaml

    head = 0
    while text.startswith("#", head):
        head = text.find("\n", head) + 1
        if not head:
            return None
    try:
        data: Any = ryaml.loads(text)  # type: ignore[attr-defined]
        canonical = isinstance(data, dict) and emit(data) == text[head:]
    except Exception:  # whatever this reader cannot take, the strict one judges
        return None
    return Parsed(data, {}) if canonical and next(forbidden(text), None) is None else None


def _parse_strict(text: str, name: str) -> Parsed:
    for position, char in forbidden(text):
        at = text.count("\n", 0, position) + 1
        raise _corrupt(name, f"line {at} holds the character U+{ord(char):04X}, which is not allowed", at)

    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        return _build(YAML(typ="safe", pure=True).parse(text), text.split("\n"), name)
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        line: int | None = mark.line + 1 if mark is not None else None
        problem = getattr(error, "problem", None) or str(error).split("\n")[0]
        where = f"line {line}: " if line else ""
        raise _corrupt(name, f"is not valid YAML: {where}{problem}; quote the value", line) from None
    except RecursionError:
        raise _corrupt(name, f"is nested deeper than {YAML_DEPTH} levels") from None


def _build(events: Any, source: list[str], name: str) -> Parsed:
    """Make plain data of YAML events, refusing what is not in the subset."""
    from ruamel.yaml import events as ev

    lines: dict[tuple[str | int, ...], int] = {}
    stack: list[tuple[Any, list[Any]]] = []  # container, [pending key] or []
    path: list[str | int] = []
    root: list[Any] = []
    nodes = documents = 0

    def fail(event: Any, what: str) -> CorruptRecord:
        line = event.start_mark.line + 1
        return _corrupt(name, f"line {line}: {what}", line)

    def place(event: Any, value: Any) -> None:
        if not stack:
            root.append(value)
            return
        container, pending = stack[-1]
        if isinstance(container, list):
            container.append(value)
            lines[(*path, len(container) - 1)] = event.start_mark.line + 1
        elif not pending:
            if not isinstance(value, str):
                raise fail(event, "a key must be a word; quote it")
            if value in container:
                raise fail(event, f"the key {value!r} stands twice")
            container[value] = None
            pending.append(value)
        else:
            key = pending.pop()
            container[key] = value
            lines[(*path, key)] = event.start_mark.line + 1

    for event in events:
        if isinstance(event, ev.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise fail(event, "a second document begins")
            continue
        if isinstance(event, (ev.StreamStartEvent, ev.StreamEndEvent, ev.DocumentEndEvent)):
            continue
        if isinstance(event, ev.AliasEvent):
            raise fail(event, "aliases (*) are not allowed; quote the value")
        if isinstance(event, (ev.MappingEndEvent, ev.SequenceEndEvent)):
            stack.pop()
            if path:
                path.pop()
            continue
        nodes += 1
        if nodes > YAML_NODES:
            raise fail(event, f"more than {YAML_NODES} values")
        if event.anchor is not None:
            raise fail(event, "anchors (&) are not allowed; quote the value")
        tag = event.ctag if hasattr(event, "ctag") else event.tag
        if tag is not None and str(tag) not in ("", "None"):
            raise fail(event, "tags (!) are not allowed; quote the value")
        if isinstance(event, ev.ScalarEvent):
            key_expected = bool(stack) and isinstance(stack[-1][0], dict) and not stack[-1][1]
            place(event, _plain(event, source, fail, key_expected) if event.style is None else event.value)
            continue
        if len(stack) >= YAML_DEPTH:
            raise fail(event, f"nested deeper than {YAML_DEPTH} levels")
        container: Any = {} if isinstance(event, ev.MappingStartEvent) else []
        if stack:
            parent, pending = stack[-1]
            if isinstance(parent, dict) and not pending:
                raise fail(event, "a key must be a word")
            step: str | int = pending[0] if isinstance(parent, dict) else len(parent)
            place(event, container)
            path.append(step)
        else:
            place(event, container)
        stack.append((container, []))
    return Parsed(root[0] if root else None, lines)


def _plain(event: Any, source: list[str], fail: Any, is_key: bool) -> Any:
    """The value of an unquoted scalar."""
    text: str = event.value
    end = event.end_mark
    rest = source[end.line][end.column :].lstrip() if end.line < len(source) else ""
    if rest.startswith("#") and not is_key and text:
        raise fail(event, "text after # would be lost; quote the value or put the comment on a line of its own")
    if is_key:
        if _AMBIGUOUS.fullmatch(text) or text.lower() in _RESERVED or text in ("", "~"):
            raise fail(event, f"the key {text!r} is read differently by different programs; quote it")
        return text
    if text in ("", "~", "null", "Null", "NULL"):
        return None
    if text in ("true", "True", "TRUE", "false", "False", "FALSE"):
        return text.lower() == "true"
    if _INTEGER.fullmatch(text):
        return int(text)
    if _AMBIGUOUS.fullmatch(text):
        raise fail(event, f"{text!r} is read differently by different programs; quote it: {json.dumps(text)}")
    return text


def _corrupt(name: str, what: str, line: int | None = None) -> CorruptRecord:
    return CorruptRecord(
        f"{name or 'the YAML'}: {what}" if what.startswith("line") else f"{name or 'the YAML'} {what}",
        hint="docs/format.md says what YAML a memory may use",
        details={"name": name, "line": line} if line else {"name": name},
    )
