"""Records to bytes and back: memories, tombstones, the config and events.

`*_bytes` are canonical: the same record always gives the same bytes. Reading with `trusted=True` skips the
check of types and is meant for bytes that were verified before (docs/architecture.md, "Belief").
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Final

from gitmem.errors import CorruptRecord
from gitmem.model import nouns
from gitmem.model.layout import SCHEMA_COMMENT
from gitmem.model.nouns import Config, Draft, Event, EvidenceRef, Memory, Tombstone
from gitmem.model.vocabulary import FORMAT
from gitmem.model.yaml_codec import emit, parse

# The order of keys in a file. A field in `_OPTIONAL` is left out at its default.
_ORDER: Final[Mapping[Any, tuple[str, ...]]] = {
    Memory: (
        "format", "id", "kind", "title", "body", "aliases", "alternatives", "cue", "steps", "claims", "groundings",
        "status", "scope", "applies_to", "key", "tags", "valid", "origin", "links", "evidence",
    ),
    Draft: (
        "kind", "title", "body", "aliases", "alternatives", "cue", "steps", "claims", "groundings", "audience",
        "applies_to", "key", "tags", "valid", "links", "evidence",
    ),
    Event: (
        "format", "id", "at", "op", "memory", "status_from", "status_to", "before", "after", "reason", "actor",
        "gate", "writer", "prev", "proposed",
    ),
    Tombstone: ("format", "digest", "project", "kind_class", "title", "body", "history"),
    Config: ("format", "project", "aliases", "review", "evidence", "unobservable"),
    nouns.FileRef: ("path", "lines", "blob", "commit", "sha256", "quote", "role"),
    nouns.TestRef: ("path", "case", "outcome", "blob", "commit", "sha256", "quote", "role"),
    nouns.CommitRef: ("commit", "patch", "sha256", "quote", "role"),
    nouns.HumanRef: ("quote", "sha256", "role"),
}  # fmt: skip
_OPTIONAL: Final = frozenset(
    {"aliases", "alternatives", "cue", "steps", "claims", "groundings", "why", "lines", "quote", "patch", "blob",
     "commit", "host", "session", "proposed"}
)  # fmt: skip
_RENAMED: Final[Mapping[Any, Mapping[str, str]]] = {
    nouns.Valid: {"start": "from"},
    Event: {"status_from": "from", "status_to": "to"},
}
_NESTED: Final[Mapping[str, Any]] = {
    "scope": nouns.Scope, "valid": nouns.Valid, "span": nouns.Span, "actor": nouns.Actor, "gate": nouns.GateRecord,
    "prev": nouns.Previous, "proposed": nouns.Proposal,
}  # fmt: skip
_NESTED_LISTS: Final[Mapping[tuple[Any, str], Any]] = {
    **{(cls, "alternatives"): nouns.Alternative for cls in (Memory, Draft)},
    **{(cls, "steps"): nouns.Step for cls in (Memory, Draft)},
    **{(cls, "links"): nouns.Link for cls in (Memory, Draft)},
    (Tombstone, "history"): nouns.TombstoneEntry,
}
_WITH_EVIDENCE: Final = (Memory, Draft)


def digest(data: bytes) -> str:
    """SHA-256 in lower-case hexadecimal."""
    return hashlib.sha256(data).hexdigest()


@cache
def _keys(cls: Any) -> tuple[tuple[str, str, bool], ...]:
    """(field, key in the file, may be left out) in file order."""
    names = [f.name for f in fields(cls) if f.name != "extra"]
    ordered = _ORDER.get(cls, tuple(names))
    renamed = _RENAMED.get(cls, {})
    return tuple((name, renamed.get(name, name), name in _OPTIONAL) for name in ordered)


def to_data(record: Any) -> dict[str, Any]:
    """A record as plain data, keys in file order, unknown fields last."""
    data: dict[str, Any] = {}
    if isinstance(record, EvidenceRef):
        data["type"] = record.type
    for name, key, optional in _keys(record.__class__):
        value = getattr(record, name)
        if optional and (value is None or value == ()):
            continue
        data[key] = _plain(value)
    data.update(record.extra)
    return data


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return to_data(value) if is_dataclass(value) else value


def from_data(cls: Any, data: Mapping[str, Any]) -> Any:
    """Build a record of plain data without checking types. Raises KeyError or TypeError on a wrong shape."""
    known = {key: name for name, key, _ in _keys(cls)}
    values: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for key, value in data.items():
        name = known.get(key)
        if name is None:
            extra[key] = value
        else:
            values[name] = _from_plain(cls, name, value)
    return cls(**values, extra=extra)


def _from_plain(cls: Any, name: str, value: Any) -> Any:
    if name in _NESTED and isinstance(value, Mapping):
        return from_data(_NESTED[name], value)
    if isinstance(value, list):
        if (cls, name) in _NESTED_LISTS:
            return tuple(from_data(_NESTED_LISTS[cls, name], item) for item in value)
        if name == "evidence" and cls in _WITH_EVIDENCE:
            return tuple(evidence_from_data(item) for item in value)
        return tuple(value)
    if cls is Config and name == "evidence":
        return {kind: tuple(types) for kind, types in value.items()}
    return value


def evidence_from_data(item: Any) -> Any:
    """One reference of plain data; a short form (a string of a draft) stays as it is."""
    if isinstance(item, str):
        return item
    rest = dict(item)
    return from_data(nouns.EVIDENCE_CLASSES[rest.pop("type")], rest)


def memory_bytes(memory: Memory) -> bytes:
    return f"{SCHEMA_COMMENT}\n{emit(to_data(memory))}".encode()


def memory_from_bytes(raw: bytes, *, path: str = "", trusted: bool = False) -> Memory:
    memory: Memory = _read(Memory, raw, path, trusted)
    return memory


def tombstone_bytes(tombstone: Tombstone) -> bytes:
    return emit(to_data(tombstone)).encode()


def tombstone_from_bytes(raw: bytes, *, path: str = "", trusted: bool = False) -> Tombstone:
    tombstone: Tombstone = _read(Tombstone, raw, path, trusted)
    return tombstone


def config_bytes(config: Config) -> bytes:
    return emit(to_data(config)).encode()


def config_from_bytes(raw: bytes, *, path: str = "", trusted: bool = False) -> Config:
    config: Config = _read(Config, raw, path, trusted)
    return config


def event_bytes(event: Event) -> bytes:
    return (json.dumps(to_data(event), ensure_ascii=True, separators=(",", ":")) + "\n").encode()


def event_from_bytes(raw: bytes, *, path: str = "", trusted: bool = False) -> Event:
    """An event file. Duplicate keys and bytes that are not the canonical form are CorruptRecord."""
    try:
        data = json.loads(raw, object_pairs_hook=_no_duplicates)
        if not isinstance(data, dict):
            raise ValueError("is not an object")
    except (ValueError, RecursionError) as error:
        raise CorruptRecord(f"{path or 'the event'} is not valid JSON: {error}", hint=_HAND) from None
    event: Event = _build(Event, data, path, trusted, {})
    if not trusted and event_bytes(event) != raw:
        raise CorruptRecord(f"{path or 'the event'} is not in canonical form", hint=_HAND)
    return event


_HAND: Final = "events are written by gitmem only; restore the file from history"


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        raise ValueError("a key stands twice")
    return data


def _read(cls: Any, raw: bytes, path: str, trusted: bool) -> Any:
    parsed = parse(raw, name=path)
    if not isinstance(parsed.data, dict):
        raise CorruptRecord(f"{path or 'the file'} is not a mapping of fields", hint="docs/format.md shows one")
    return _build(cls, parsed.data, path, trusted, parsed.lines)


def _build(cls: Any, data: dict[str, Any], path: str, trusted: bool, lines: Mapping[Any, int]) -> Any:
    found = data.get("format")
    if isinstance(found, int) and found > FORMAT:
        raise CorruptRecord(
            f"{path or 'the record'} has format {found}; this gitmem knows formats up to {FORMAT}",
            hint="upgrade gitmem to read it; it is left as it is",
            details={"format": found},
        )
    if not trusted:
        from gitmem.model.read import problems

        found_problems = problems(cls, data, lines)
        if found_problems:
            raise CorruptRecord(
                f"{path or 'the record'}: " + "; ".join(found_problems),
                hint="gitmem schema memory prints the shape",
                details={"problems": found_problems},
            )
    return from_data(cls, data)


def edited_bytes(old: bytes, new: Memory) -> bytes:
    """The bytes of `new`, keeping the comments and the layout of a file that a person wrote.

    A file in canonical form is written canonically. The result always reads as `new`.
    """
    try:
        before = memory_from_bytes(old, trusted=True)
        if memory_bytes(before) == old:
            return memory_bytes(new)
    except (CorruptRecord, KeyError, TypeError):
        return memory_bytes(new)
    edited = _round_trip(old, to_data(before), to_data(new))
    try:
        same = memory_from_bytes(edited, trusted=True) == new
    except (CorruptRecord, KeyError, TypeError):
        same = False
    return edited if same else memory_bytes(new)


def _round_trip(old: bytes, before: dict[str, Any], after: dict[str, Any]) -> bytes:
    from io import StringIO

    from ruamel.yaml import YAML

    yaml = YAML(typ="rt")
    yaml.preserve_quotes = True
    yaml.width = 4096
    yaml.indent(mapping=2, sequence=4, offset=2)
    document = yaml.load(old.decode())
    for key in before.keys() - after.keys():
        del document[key]
    for key, value in after.items():
        if key not in before or before[key] != value:
            # The canonical writer decides on quotes; ruamel alone would write 12e4567 bare.
            document[key] = yaml.load(emit({key: value}))[key]
    out = StringIO()
    yaml.dump(document, out)
    return out.getvalue().encode()


def texts(record: Any) -> Iterable[tuple[str, str]]:
    """Every string of a record with the place it stands at, such as "evidence.0.quote"; keys of extras too."""
    return _texts(to_data(record), "")


def _texts(value: Any, where: str) -> Iterable[tuple[str, str]]:
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            inner = f"{where}.{key}" if where else str(key)
            yield inner, str(key)
            yield from _texts(item, inner)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _texts(item, f"{where}.{number}")
