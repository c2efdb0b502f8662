"""Changing a file that a person laid out: only the lines of what changed are written anew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gitmem.model.yaml_codec import emit, quoted


@dataclass(frozen=True)
class _Entry:
    """One field of the file. `lead` are the blank and comment lines above it; `node` is its value in ruamel's tree."""

    lead: list[str]
    lines: list[str]
    node: Any
    start: int


def edited_text(text: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> str | None:
    """`text`, which reads as `before`, made to read as `after`; None when its layout does not allow that.

    Kept: comments (but for those inside a value that is replaced), the order, quotes and layout of all that did not
    change, the items of a list that only grew. The caller checks that the result reads as it should.
    """
    laid_out = _entries(text)
    if laid_out is None:
        return None
    entries, tail = laid_out
    out: dict[str, list[str]] = {}
    for key, entry in entries.items():
        if before.get(key) == after.get(key):  # `cue: null` stands in neither
            out[key] = entry.lead + entry.lines
        elif key not in after:
            out[key] = entry.lead
        else:
            out[key] = entry.lead + _changed(key, entry, before.get(key), after[key])
    order = list(out)
    place = 0
    for key, value in after.items():
        if key in out:
            place = order.index(key) + 1
        elif key not in before or before[key] != value:
            out[key] = _emitted(key, value)
            order.insert(place, key)
            place += 1
    return "\n".join([line for key in order for line in out[key]] + tail)


def _entries(text: str) -> tuple[dict[str, _Entry], list[str]] | None:
    """The fields in the order of the file, and the lines after the last."""
    from ruamel.yaml import YAML
    from ruamel.yaml.nodes import MappingNode

    root = YAML(typ="safe", pure=True).compose(text)
    if not isinstance(root, MappingNode) or root.flow_style or not root.value:
        return None
    lines = text.split("\n")
    starts = [key.start_mark.line for key, _ in root.value]
    if any(key.start_mark.column for key, _ in root.value):
        return None
    entries: dict[str, _Entry] = {}
    done = 0
    for number, (key, node) in enumerate(root.value):
        start = starts[number]
        end = _trimmed(lines, start + 1, starts[number + 1] if number + 1 < len(starts) else len(lines))
        entries[key.value] = _Entry(lines[done:start], lines[start:end], node, start)
        done = end
    return entries, lines[done:]


def _trimmed(lines: list[str], start: int, end: int) -> int:
    """`end` moved up over blank lines, comments at the margin and the mark of the document's end."""
    while end > start and (not lines[end - 1].strip() or lines[end - 1].startswith(("#", "..."))):
        end -= 1
    return end


def _changed(key: str, entry: _Entry, old: Any, new: Any) -> list[str]:
    from ruamel.yaml.nodes import ScalarNode, SequenceNode

    node = entry.node
    if isinstance(old, list) and isinstance(new, list) and isinstance(node, SequenceNode) and not node.flow_style:
        kept = len(old)
        if kept and new[:kept] == old and node.value:
            dash = entry.lines[node.start_mark.line - entry.start].index("-")
            return entry.lines + [_shifted(line, dash - 2) for line in _emitted(key, new[kept:])[1:]]
    made = _emitted(key, new)
    if isinstance(node, ScalarNode) and len(entry.lines) == 1:
        comment = entry.lines[0][node.end_mark.column :].strip()
        if comment.startswith("#"):
            # Behind a value without quotes the reader would refuse it.
            return [f"{key}: {quoted(new)}  {comment}"] if isinstance(new, str) else [comment, *made]
    return made


def _emitted(key: str, value: Any) -> list[str]:
    return emit({key: value}).split("\n")[:-1]


def _shifted(line: str, by: int) -> str:
    if not line:
        return line
    return " " * by + line if by >= 0 else line[-by:]
