"""Drafts as people and agents write them: YAML, JSON, a list of either, or JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from gitmem.errors import CorruptRecord, UsageError
from gitmem.model.nouns import Draft, Memory
from gitmem.model.records import from_data, to_data
from gitmem.model.yaml_codec import emit, parse

INPUT_LIMIT: Final = 16 * 1024 * 1024  # bytes of one draft file with all its drafts

DRAFT_COMMENT: Final = "# yaml-language-server: $schema=./draft.schema.json"


def read_drafts(raw: bytes, *, name: str) -> list[Draft]:
    """Every draft of a file. Raises UsageError with every fault of every draft; nothing is dropped."""
    if len(raw) > INPUT_LIMIT:
        raise UsageError(f"{name} is {len(raw)} bytes long; the limit is {INPUT_LIMIT}", hint="split it")
    raw = raw.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    drafts, faults = [], []
    for label, data, lines in _documents(raw, name):
        found = draft_problems(data, lines)
        if found:
            faults += [f"{label}: {fault}" for fault in found]
        else:
            drafts.append(from_data(Draft, data))
    if faults:
        raise UsageError(
            f"{name} is not a draft: " + "; ".join(faults),
            hint="gitmem schema draft prints the shape; gitmem remember --edit opens a template",
            details={"problems": faults},
        )
    if not drafts:
        raise UsageError(f"{name} holds no draft", hint="gitmem schema draft prints the shape")
    return drafts


def draft_problems(data: Any, lines: Any) -> list[str]:
    """What is wrong with plain data as a draft; an unknown field is a fault."""
    from gitmem.model.read import problems

    if not isinstance(data, dict):
        return ["is not a mapping of fields"]
    return problems(Draft, data, lines, closed=True)


def _documents(raw: bytes, name: str) -> Iterator[tuple[str, Any, Any]]:
    text = raw.lstrip()
    if text[:1] in (b"{", b"["):
        loaded = _json(text)
        if loaded is not None:
            yield from ((label, item, {}) for label, item in _labelled(loaded, name))
            return
    try:
        parsed = parse(raw, name=name, limit=INPUT_LIMIT)
    except CorruptRecord as error:
        raise UsageError(error.message, hint=error.hint, details=error.details) from None
    for number, (label, item) in enumerate(_labelled(parsed.data, name)):
        inner = parsed.lines
        if isinstance(parsed.data, list):
            inner = {path[1:]: line for path, line in parsed.lines.items() if path[0] == number}
        yield label, item, inner


def _labelled(loaded: Any, name: str) -> Iterator[tuple[str, Any]]:
    if isinstance(loaded, list):
        yield from ((f"draft {number}", item) for number, item in enumerate(loaded, 1))
    else:
        yield name, loaded


def _json(text: bytes) -> Any:
    """JSON, or JSON lines as a list; None when it is neither."""
    try:
        return json.loads(text, object_pairs_hook=_pairs)
    except (ValueError, RecursionError):
        pass
    try:
        return [json.loads(line, object_pairs_hook=_pairs) for line in text.split(b"\n") if line.strip()]
    except (ValueError, RecursionError):
        return None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise ValueError("a key stands twice")
    return data


def draft_text(draft: Draft) -> str:
    """A draft as YAML, for an editor, an outbox or a dry run."""
    return emit(to_data(draft))


def draft_of(memory: Memory) -> Draft:
    """The draft that would give this memory again: what an editor opens."""
    shared = {key: value for key, value in to_data(memory).items() if key in _DRAFT_KEYS}
    draft: Draft = from_data(Draft, {**shared, "audience": memory.scope.audience})
    return draft


_DRAFT_KEYS: Final = frozenset(
    {"kind", "title", "body", "aliases", "alternatives", "cue", "steps", "claims", "groundings", "applies_to", "key",
     "tags", "valid", "links", "evidence"}
)  # fmt: skip
