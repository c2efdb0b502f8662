"""Drafts as people and agents write them: YAML, JSON, a list of either, or JSON lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from gitmem.errors import CorruptRecord, UsageError
from gitmem.model.nouns import Draft, Memory
from gitmem.model.records import from_data, to_data
from gitmem.model.strict_json import UnclearError, strict_json
from gitmem.model.yaml_codec import emit, parse

INPUT_LIMIT: Final = 16 * 1024 * 1024  # bytes of one draft file with all its drafts
# YAML is for drafts that people write; the reader of hand-written YAML is slow.
YAML_LIMIT: Final = 512 * 1024
YAML_DRAFT_NODES: Final = 10_000
_YAML_HINT: Final = "docs/format.md says what YAML is read; many drafts are better written as JSON lines"

DRAFT_COMMENT: Final = "# yaml-language-server: $schema=./draft.schema.json"


def read_drafts(raw: bytes, *, name: str) -> list[Draft]:
    """Every draft of a file. Raises UsageError with every fault of every draft; nothing is dropped."""
    if len(raw) > INPUT_LIMIT:
        raise UsageError(f"{name} is {len(raw)} bytes long; the limit is {INPUT_LIMIT}", hint="split it")
    raw = raw.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    drafts, faults = [], []
    for label, data, lines in _documents(raw, name):
        found = [data.message] if isinstance(data, _Fault) else draft_problems(data, lines)
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


@dataclass(frozen=True)
class _Fault:
    """Stands where a draft should be."""

    message: str


def _documents(raw: bytes, name: str) -> Iterator[tuple[str, Any, Any]]:
    """Each draft with what to call it and the lines of its values."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is not UTF-8 at byte {error.start}", hint="save it as UTF-8") from None
    if text.lstrip()[:1] in ("{", "["):
        found = _json(text, name)
        if found is not None:
            yield from ((label, item, {}) for label, item in found)
            return
    try:
        parsed = parse(raw, name=name, limit=YAML_LIMIT, nodes=YAML_DRAFT_NODES)
    except CorruptRecord as error:
        raise UsageError(error.message, hint=_YAML_HINT, details=error.details) from None
    if not isinstance(parsed.data, list):
        if parsed.data is not None:
            yield name, parsed.data, parsed.lines
        return
    lines: list[dict[Any, int]] = [{} for _ in parsed.data]
    for path, line in parsed.lines.items():
        lines[path[0]][path[1:]] = line  # type: ignore[index]
    yield from ((f"draft {number}", item, lines[number - 1]) for number, item in enumerate(parsed.data, 1))


def _json(text: str, name: str) -> list[tuple[str, Any]] | None:
    """The drafts of JSON or of JSON lines with what to call each; None when the text may be YAML."""
    try:
        loaded = strict_json(text)
    except UnclearError as error:
        return [(name, _Fault(str(error)))]
    except (ValueError, RecursionError):
        pass
    else:
        if isinstance(loaded, list):
            return [(f"draft {number}", item) for number, item in enumerate(loaded, 1)]
        return [(name, loaded)]
    lines = [(f"line {number}", line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    items = [(label, _loaded_line(line)) for label, line in lines]
    # Flow YAML starts with a bracket too, but none of its lines is a whole JSON object.
    return items if any(isinstance(item, dict) for _, item in items) else None


def _loaded_line(line: str) -> Any:
    try:
        return strict_json(line)
    except (ValueError, RecursionError) as error:
        return _Fault(f"is not JSON: {error}")


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
