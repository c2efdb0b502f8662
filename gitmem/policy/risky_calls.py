"""Calls of tools whose answer is secret whatever it looks like: key stores, secret files, the environment.

The answer is replaced whole. What counts as a call, its input and its answer is told by the names of the fields
that the hosts use, not by the host, so a new host mostly needs nothing here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from gitmem.policy.json_spans import Node, parse, text_of
from gitmem.policy.secret_sources import is_risky_command, is_risky_path

MARK: Final = b"[gitmem:removed "  # how every marker begins

_IDS: Final = frozenset(
    {"id", "call_id", "callID", "callId", "tool_use_id", "toolUseId", "toolUseID", "toolCallId", "tool_call_id"}
)
_INPUTS: Final = frozenset({
    "input", "arguments", "args", "rawInput", "parameters", "command", "cmd", "commandLine", "CommandLine",
    "script", "action",
    "file_path", "filePath", "path", "absolute_path", "AbsolutePath", "target_file", "targetFile", "filename",
    "tool_input",
})  # fmt: skip
# Of an input that is an object, the fields that say what is run or read; not what a text is about.
_SAYING: Final = _INPUTS | {"code", "argv", "commands", "file", "uri", "notebook_path", "paths"}
_OUTPUTS: Final = frozenset({
    "output", "content", "result", "results", "response", "stdout", "stderr", "aggregated_output", "aggregatedOutput",
    "formatted_output", "formattedOutput",
    "toolUseResult", "tool_response", "resultDisplay", "returnDisplay", "metadata",
    "detailedContent", "contents", "originalFile", "structuredPatch", "data", "text", "preview", "display", "details",
    "old_string", "new_string", "oldString", "newString", "file_text", "new_str", "old_str",
})  # fmt: skip
# Copies of an answer that stand elsewhere in the record that holds it.
_COPIES: Final = frozenset({"toolUseResult", "tool_response", "details"})
# Words of the host inside an answer, which it needs to read its own record.
_HOSTS: Final = _IDS | {"type", "name", "role", "kind", "status", "tool", "toolName", "uuid", "timestamp", "mimeType"}
_INNER: Final = _INPUTS | {"state", "function", "data"}  # what below a call still speaks of it
_SHORTEST_ID: Final = 5
# A host that numbers its steps gives calls no ids: the answer is the next step of the model that calls nothing.
_STEP: Final = "step_index"
NEXT_STEP: Final = "next step"


@dataclass(frozen=True)
class Stubs:
    """What a line says about risky calls.

    `spans`: insides of strings to be replaced; `calls`: ids of calls whose answer is on a later line; `answered`:
    the answer that is waited for without an id is in this line.
    """

    spans: Sequence[tuple[int, int]]
    calls: Sequence[str]
    answered: bool = False


def stubs(line: bytes, roots: Sequence[Node], awaited: Collection[str]) -> Stubs:
    """What of a line is the answer of a risky call: of one in this line, or of one whose id is awaited."""
    spans: set[tuple[int, int]] = set()
    calls: dict[str, None] = {}
    stepped = False
    for root in roots:
        top = {text_of(line, key): value for key, value in root.members if key is not None}
        answers_any = False
        if NEXT_STEP in awaited and _STEP in top and _is_answer(line, top):
            stepped = True
            spans.update(span for name in _OUTPUTS & top.keys() for span in _insides(line, top[name]))
        waiting: list[tuple[Node, tuple[str, ...]]] = [(root, ())]
        while waiting:
            node, above = waiting.pop()
            if node.kind != "object":
                waiting += [(value, above) for _, value in node.members]
                continue
            fields = [(text_of(line, key) if key else "", value) for key, value in node.members]
            ids = tuple(text_of(line, value) for key, value in fields if key in _IDS)
            ids = tuple(call for call in ids if len(call) >= _SHORTEST_ID) or above
            risky = any(key in _INPUTS and _is_risky(line, key, value) for key, value in fields)
            if risky:
                calls.update(dict.fromkeys(ids or ((NEXT_STEP,) if _STEP in top else ())))
            answers = any(call in awaited for call in ids)
            answers_any = answers_any or answers
            for key, value in fields:
                if key in awaited or ((risky or answers) and key in _OUTPUTS and not (risky and key in _INPUTS)):
                    spans.update(_insides(line, value))
                waiting.append((value, ids if key in _INNER else ()))
        if answers_any:
            spans.update(span for name in _COPIES & top.keys() for span in _insides(line, top[name]))
    return Stubs(sorted(spans), list(calls), stepped)


def _is_answer(line: bytes, top: Mapping[str, Node]) -> bool:
    source = top.get("source")
    return "tool_calls" not in top and source is not None and text_of(line, source) == "MODEL"


def _insides(line: bytes, node: Node) -> Iterator[tuple[int, int]]:
    """The insides of the string values at or below `node`; keys, words of the host and markers stay."""
    waiting = [node]
    while waiting:
        at = waiting.pop()
        if at.kind == "string" and at.end - at.start > 2 and not line.startswith(MARK, at.start + 1):
            yield at.start + 1, at.end - 1
        waiting += [value for key, value in at.members if key is None or text_of(line, key) not in _HOSTS]


def _is_risky(line: bytes, name: str, node: Node) -> bool:
    return any(is_risky_command(said) or is_risky_path(said) for said in _said(line, name, node))


def _said(line: bytes, name: str, node: Node) -> Iterator[str]:
    """The commands and paths in the input of a call. A list of words is a command; a string may be JSON again."""
    if node.kind == "string":
        text = text_of(line, node)
        inner = text.encode("utf-8", "replace")
        roots = parse(inner) if name in ("arguments", "input", "args") else None
        if roots is None:
            yield text
        else:
            for root in roots:
                yield from _fields_said(inner, root)
    elif node.kind == "array":
        yield " ".join(text_of(line, value) for _, value in node.members[:64])
        for _, value in node.members[:64]:
            if value.kind == "object":
                yield from _fields_said(line, value)
    elif node.kind == "object":
        yield from _fields_said(line, node)


def _fields_said(line: bytes, node: Node) -> Iterator[str]:
    for key, value in node.members:
        if key is None or text_of(line, key) not in _SAYING:
            continue
        if value.kind == "string":
            yield text_of(line, value)
        elif value.kind == "array":
            words = [text_of(line, word) for _, word in value.members[:64]]
            yield " ".join(words)
            yield from words
        elif value.kind == "object":
            yield from (text_of(line, inner) for _, inner in value.members if inner.kind == "string")
