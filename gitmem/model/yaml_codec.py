"""The YAML of the branch: one canonical writer and the reader of what it writes.

The writer emits a small subset that every YAML reader understands alike: block style, quotes around
whatever another reader might take for a number, a date or a truth value (docs/format.md, "YAML"). Its reader
knows that subset only and gives up on anything else, which goes to the strict reader in `yaml_strict`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from json.encoder import encode_basestring
from typing import Any, Final

from gitmem.errors import CorruptRecord
from gitmem.model.frozen import dataclass
from gitmem.model.text import is_clean, is_forbidden
from gitmem.model.vocabulary import FILE_LIMIT, YAML_DEPTH, YAML_NODES

_PLAIN: Final = re.compile(r"[A-Za-z](?:[A-Za-z _./-]*[A-Za-z])?").fullmatch
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*").fullmatch
RESERVED: Final = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf", "infinity"})
_RESERVED_LENGTH: Final = max(map(len, RESERVED))
INTEGER: Final = re.compile(r"0|-?[1-9][0-9]{0,17}").fullmatch
_INTEGER_LIMIT: Final = 10**18
SURROGATE: Final = re.compile("[\ud800-\udfff]").search
# A reader need not look further than this for the colon after a key (YAML 1.2, 7.4.3).
_KEY_LIMIT: Final = 1000
# Texts that a literal block would not give back: a first line that is empty or indented, a tab at the start of a
# line, a line of spaces, an empty line at the end.
_NO_BLOCK: Final = re.compile(r"\A(?:[ \t\n]|\Z)|\n\t|\n +(?:\n|\Z)|\n\Z").search


@dataclass(frozen=True)
class Parsed:
    """What was read, and the line (1-based) of each value by its path, where the slow reader knows it."""

    data: Any
    lines: Mapping[tuple[str | int, ...], int]


# Writing


def emit(data: Mapping[str, Any]) -> str:
    """Canonical YAML for str, int, bool, None, and mappings and sequences of them. Key order is kept.

    Raises TypeError for any other value and ValueError for data that no reader has to take: nested deeper than
    YAML_DEPTH, more than YAML_NODES values, an integer of 19 digits, a key longer than 1000 characters.
    """
    lines: list[str] = []
    _emit_mapping(data, "", "", 1, lines)
    if len(lines) * 4 > YAML_NODES and _nodes(data) > YAML_NODES:
        raise ValueError(f"more than {YAML_NODES} values")
    lines.append("")
    return "\n".join(lines) if data else "{}\n"


def _emit_mapping(data: Mapping[str, Any], first: str, pad: str, depth: int, lines: list[str]) -> None:
    """`first` stands before the first key, `pad` before the others."""
    if depth > YAML_DEPTH:
        raise ValueError(f"nested deeper than {YAML_DEPTH} levels")
    for key, value in data.items():
        kind = value.__class__
        if kind is str:
            lines.append(f"{first}{_key(key)} {_string(value, pad)}")
        elif value is None:
            lines.append(f"{first}{_key(key)} null")
        else:
            _emit_value(first + _key(key), value, pad, depth, lines)
        first = pad


def _emit_value(head: str, value: Any, pad: str, depth: int, lines: list[str]) -> None:
    """`head` is what the value stands behind, `pad` the indentation of that."""
    if isinstance(value, str):
        lines.append(f"{head} {_string(value, pad)}")
    elif value is None:
        lines.append(f"{head} null")
    elif isinstance(value, Mapping):
        if value:
            lines.append(head)
            _emit_mapping(value, pad + "  ", pad + "  ", depth + 1, lines)
        else:
            lines.append(f"{head} {{}}")
            _check_depth(depth + 1)
    elif isinstance(value, (list, tuple)):
        _check_depth(depth + 1)
        if not value:
            lines.append(f"{head} []")
            return
        lines.append(head)
        pad += "  "
        for item in value:
            if isinstance(item, Mapping) and item:
                _emit_mapping(item, pad + "- ", pad + "  ", depth + 2, lines)
            else:
                _emit_value(pad + "-", item, pad, depth + 1, lines)
    elif isinstance(value, bool):
        lines.append(f"{head} true" if value else f"{head} false")
    elif isinstance(value, int):
        if not -_INTEGER_LIMIT < value < _INTEGER_LIMIT:
            raise ValueError("an integer of more than 18 digits")
        lines.append(f"{head} {value}")
    else:
        raise TypeError(f"YAML of the branch has no {type(value).__name__}")


def _check_depth(depth: int) -> None:
    if depth > YAML_DEPTH:
        raise ValueError(f"nested deeper than {YAML_DEPTH} levels")


def _nodes(value: Any) -> int:
    """How many values and keys there are, the containers counted."""
    if isinstance(value, Mapping):
        return 1 + sum(1 + _nodes(item) for item in value.values())
    return 1 + sum(map(_nodes, value)) if isinstance(value, (list, tuple)) else 1


@lru_cache(maxsize=256)
def _key(key: str) -> str:
    text = key if _PLAIN_KEY(key) and key.lower() not in RESERVED else quoted(key)
    if len(text) > _KEY_LIMIT:
        raise ValueError(f"a key of more than {_KEY_LIMIT} characters")
    return text + ":"


def _is_plain(value: str) -> bool:
    return _PLAIN(value) is not None and (len(value) > _RESERVED_LENGTH or value.lower() not in RESERVED)


def _string(value: str, pad: str) -> str:
    if _is_plain(value):
        return value
    if "\n" in value:
        body = value.removesuffix("\n")
        if _NO_BLOCK(body) is None and is_clean(body):
            lines = [f"{pad}  {line}" if line else "" for line in body.split("\n")]
            return "\n".join(["|-" if len(body) == len(value) else "|", *lines])
    return quoted(value)


def quoted(value: str) -> str:
    """`value` in double quotes, forbidden characters as escapes."""
    text = encode_basestring(value)
    return text if is_clean(text) else "".join(_escaped(char) if is_forbidden(char) else char for char in text)


def _escaped(char: str) -> str:
    code = ord(char)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


# Reading


def parse(raw: bytes, *, name: str = "", limit: int = FILE_LIMIT, nodes: int = YAML_NODES) -> Parsed:
    """Read one YAML document strictly. Raises CorruptRecord naming `name`, the line and what to change.

    `limit` is in bytes; `nodes` bounds the number of values, and so the work of the slow reader.
    """
    if len(raw) > limit:
        raise corrupt(name, f"is {len(raw)} bytes long; the limit is {limit}")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise corrupt(name, f"is not UTF-8 at byte {error.start}") from None
    try:
        return Parsed(_read_canonical(text), {})
    except _NotCanonical:
        from gitmem.model.yaml_strict import read_strict

        data, lines = read_strict(text, name, nodes)
        return Parsed(data, lines)


def value_lines(raw: bytes) -> Mapping[tuple[str | int, ...], int]:
    """The line (1-based) of each value of a text that `parse` took, by its path."""
    from gitmem.model.yaml_strict import read_strict

    return read_strict(raw.decode(), "", YAML_NODES)[1]


def corrupt(name: str, what: str, line: int | None = None) -> CorruptRecord:
    """`what` is wrong with the YAML called `name`; `line` is 1-based."""
    subject = name or "the YAML"
    return CorruptRecord(
        f"{subject}: line {line}: {what}" if line else f"{subject} {what}",
        hint="docs/format.md says what YAML a memory may use",
        details={"name": name, "line": line} if line else {"name": name},
    )


class _NotCanonical(Exception):
    """The text is not what the writer would make of any data. Says nothing about whether it is good YAML."""


# A key with its colon and, after one space, the value.
_ENTRY: Final = re.compile(r"""([A-Za-z_][A-Za-z0-9_-]*|"[^"\\]*(?:\\.[^"\\]*)*"):(?: (.+))?""").fullmatch
_WORDS: Final = {"null": None, "true": True, "false": False}


def _read_canonical(text: str) -> Any:
    """The data of which `emit` makes exactly `text`, comment lines at the top aside; else _NotCanonical.

    Takes time in proportion to the text, whatever the text is.
    """
    lines = text.split("\n")
    if lines.pop() or not is_clean(text):
        raise _NotCanonical
    start, end = 0, len(lines)
    while start < end and lines[start].startswith("#"):
        start += 1
    if end - start > YAML_NODES:
        raise _NotCanonical
    if start + 1 == end and lines[start] == "{}":
        return {}
    lines.append("")
    reading = _Reading(lines, end)
    data, at = reading.mapping(start, "", 1)
    if at != end or (end * 4 > YAML_NODES and _nodes(data) > YAML_NODES):
        raise _NotCanonical
    return data


class _Reading:
    """The methods take the line where a value starts and give the value and the line after it.

    `lines` ends with an empty line that is none of the text, at `end`.
    """

    __slots__ = ("end", "lines")

    def __init__(self, lines: list[str], end: int) -> None:
        self.lines = lines
        self.end = end

    def mapping(self, at: int, pad: str, depth: int) -> tuple[dict[str, Any], int]:
        lines, column = self.lines, len(pad)
        data: dict[str, Any] = {}
        if depth > YAML_DEPTH:
            raise _NotCanonical
        while at < self.end:
            line = lines[at]
            if not line.startswith(pad):
                break
            head, _, rest = line.partition(": ")
            if rest and head[column : column + 1] != '"':
                key = _plain_key(head[column:])
            else:
                key, rest = _unusual_entry(line[column:])
            if key in data:
                raise _NotCanonical
            if not rest:
                data[key], at = self.nested(at + 1, pad + "  ", depth + 1)
            elif rest[0] == "|":
                data[key], at = self.block(at + 1, rest, pad + "  ")
            else:
                data[key] = _scalar(rest, depth)
                at += 1
        if not data:
            raise _NotCanonical
        return data, at

    def nested(self, at: int, pad: str, depth: int) -> tuple[Any, int]:
        if self.lines[at].startswith(pad + "-"):
            return self.sequence(at, pad, depth)
        return self.mapping(at, pad, depth)

    def sequence(self, at: int, pad: str, depth: int) -> tuple[list[Any], int]:
        lines, column, dash, deeper = self.lines, len(pad) + 2, pad + "- ", pad + "  "
        data: list[Any] = []
        if depth > YAML_DEPTH:
            raise _NotCanonical
        while at < self.end:
            line = lines[at]
            item: Any
            if line.startswith(dash):
                if _ENTRY(line, column):
                    lines[at] = deeper + line[column:]
                    item, at = self.mapping(at, deeper, depth + 1)
                elif line.startswith("|", column):
                    item, at = self.block(at + 1, line[column:], deeper)
                else:
                    item = _scalar(line[column:], depth)
                    at += 1
            elif line == pad + "-":
                item, at = self.sequence(at + 1, deeper, depth + 1)
            else:
                break
            data.append(item)
        if not data:
            raise _NotCanonical
        return data, at

    def block(self, at: int, style: str, pad: str) -> tuple[str, int]:
        lines, column, start = self.lines, len(pad), at
        content: list[str] = []
        while at < self.end:
            line = lines[at]
            if len(line) > column and line.startswith(pad):
                content.append(line[column:])
            elif line:
                break
            else:
                content.append(line)
            at += 1
        body = "\n".join(content)
        if _NO_BLOCK(body) is not None or style not in ("|", "|-") or (style == "|-" and at - start < 2):
            raise _NotCanonical
        return body + "\n" if style == "|" else body, at


def _unusual_entry(entry: str) -> tuple[str, str]:
    """A key in quotes, or one with nothing behind it: the key, and what stands behind it on the line."""
    if entry[:1] != '"':
        if entry[-1:] != ":":
            raise _NotCanonical
        return _plain_key(entry[:-1]), ""
    found = _ENTRY(entry)
    if found is None or len(found[1]) > _KEY_LIMIT:
        raise _NotCanonical
    key = _unquoted(found[1])
    if _key(key) != f"{found[1]}:":
        raise _NotCanonical
    return key, found[2] or ""


@lru_cache(maxsize=256)
def _plain_key(word: str) -> str:
    if not _PLAIN_KEY(word) or len(word) > _KEY_LIMIT or word.lower() in RESERVED:
        raise _NotCanonical
    return word


def _scalar(text: str, depth: int) -> Any:
    """`depth` is that of the container which the value is in."""
    if text[:1] == '"':
        value = _unquoted(text)
        if "\\" in text or "\t" in text:
            canonical = _string(value, "") == text
        else:
            canonical = text.find('"', 1) == len(text) - 1 > 0 and not _is_plain(value)
        if not canonical:
            raise _NotCanonical
        return value
    if _is_plain(text):
        return text
    if INTEGER(text):
        return int(text)
    if depth < YAML_DEPTH and text in ("[]", "{}"):
        return [] if text == "[]" else {}
    if text in _WORDS:
        return _WORDS[text]
    raise _NotCanonical


def _unquoted(text: str) -> str:
    """The string that a double-quoted text stands for, where JSON and YAML say the same; the caller checks that the
    writer would quote it so."""
    if "\\" not in text:
        return text[1:-1]
    try:
        value = json.loads(text)
    except ValueError:
        raise _NotCanonical from None
    if not isinstance(value, str) or SURROGATE(value):
        raise _NotCanonical
    return value
