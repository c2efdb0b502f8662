"""Records to bytes and back: memories, tombstones, the config and events.

`*_bytes` are canonical: the same record always gives the same bytes. Reading with `trusted=True` skips the
check of types and is meant for bytes that were verified before (docs/architecture.md, "Belief").
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, Final

from gitmem.errors import CorruptRecord
from gitmem.model import nouns
from gitmem.model.frozen import dataclass, shape
from gitmem.model.layout import SCHEMA_COMMENT
from gitmem.model.nouns import Config, Draft, Event, Memory, Tombstone
from gitmem.model.vocabulary import FILE_LIMIT, FORMAT
from gitmem.model.yaml_codec import emit, parse, value_lines

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
        "gate", "writer", "prev", "proposed", "merged",
    ),
    Tombstone: ("format", "digest", "project", "kind_class", "title", "body", "history"),
    Config: ("format", "project", "aliases", "review", "evidence", "unobservable", "approvals", "languages", "signers"),
    nouns.FileRef: ("path", "lines", "symbol", "blob", "commit", "sha256", "quote", "role"),
    nouns.TestRef: ("path", "case", "outcome", "blob", "commit", "sha256", "quote", "role"),
    nouns.CommitRef: ("commit", "patch", "sha256", "quote", "role"),
    nouns.HumanRef: ("quote", "sha256", "role"),
}  # fmt: skip
_OPTIONAL: Final = frozenset(
    {"aliases", "alternatives", "cue", "steps", "claims", "groundings", "why", "lines", "symbol", "quote", "patch",
     "blob", "commit", "host", "session", "proposed", "merged", "reason", "approvals", "languages",
     "signers"}
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
    (Config, "signers"): nouns.Signer,
}
_WITH_EVIDENCE: Final = (Memory, Draft)
_LISTS: Final = frozenset({"aliases", "claims", "groundings", "applies_to", "tags", "evidence", "languages"})


def digest(data: bytes) -> str:
    """SHA-256 in lower-case hexadecimal."""
    import hashlib  # a read needs none, and it loads a large library

    return hashlib.sha256(data).hexdigest()


@cache
def _keys(cls: Any) -> tuple[tuple[str, str, bool], ...]:
    """(field, key in the file, may be left out) in file order."""
    ordered = _ORDER.get(cls) or tuple(name for name in shape(cls).names if name != "extra")
    renamed = _RENAMED.get(cls, {})
    return tuple((name, renamed.get(name, name), name in _OPTIONAL) for name in ordered)


@dataclass(frozen=True)
class _Shape:
    """How one class is read and written: worked out once, because every record of a search passes here.

    known: for a key in the file, the field and what makes the value of plain data (None: nothing to make).
    """

    known: Mapping[str, tuple[str, Callable[[Any], Any] | None]]
    required: frozenset[str]
    defaults: Mapping[str, Any]
    factories: tuple[tuple[str, Callable[[], Any]], ...]
    keys: tuple[tuple[str, str, bool], ...]
    type: str | None


@cache
def _shape(cls: Any) -> _Shape:
    known = {key: (name, _maker(cls, name)) for name, key, _ in _keys(cls)}
    own = shape(cls)
    factories = tuple((name, make) for name, make in own.factories.items() if name != "extra")
    kind = cls.type if cls in nouns.EVIDENCE_CLASSES.values() else None
    return _Shape(known, frozenset(own.required), own.defaults, factories, _keys(cls), kind)


def _maker(cls: Any, name: str) -> Callable[[Any], Any] | None:
    if name in _NESTED:
        nested = _NESTED[name]
        return lambda value: None if value is None else from_data(nested, value)
    if (cls, name) in _NESTED_LISTS:
        listed = _NESTED_LISTS[cls, name]
        return lambda value: tuple([from_data(listed, item) for item in _list(value)])
    if name == "evidence":
        if cls in _WITH_EVIDENCE:
            return lambda value: tuple([evidence_from_data(item) for item in _list(value)])
        if cls is Config:
            return _types_of_kinds
    return (lambda value: tuple(_list(value))) if name in _LISTS else None


def _types_of_kinds(value: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, Mapping):
        raise TypeError("evidence is a mapping of kinds")
    return {kind: tuple(_list(types)) for kind, types in value.items()}


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("a list of values is needed")
    return value


def to_data(record: Any) -> dict[str, Any]:
    """A record as plain data, keys in file order, unknown fields last."""
    shape = _shape(record.__class__)
    data: dict[str, Any] = {} if shape.type is None else {"type": shape.type}
    values = record.__dict__
    for name, key, optional in shape.keys:
        value = values[name]
        if value.__class__ is str:
            data[key] = value
        elif not (optional and (value is None or value == ())):
            data[key] = _plain(value)
    data.update(record.extra)
    return data


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return to_data(value)


def from_data(cls: Any, data: Mapping[str, Any]) -> Any:
    """Build a record of plain data without checking types.

    Raises TypeError or KeyError on a wrong shape.
    """
    if data.__class__ is not dict and not isinstance(data, Mapping):
        raise TypeError(f"{cls.__name__} is made of a mapping of fields")
    shape = _shape(cls)
    record = object.__new__(cls)
    values = record.__dict__
    values.update(shape.defaults)
    known = shape.known
    extra: dict[str, Any] = {}
    for key, value in data.items():
        found = known.get(key)
        if found is None:
            extra[key] = value
        else:
            name, make = found
            values[name] = value if make is None else make(value)
    for name, factory in shape.factories:
        if name not in values:
            values[name] = factory()
    if not shape.required <= values.keys():
        raise TypeError(f"{cls.__name__} needs the field {min(shape.required - values.keys())!r}")
    values["extra"] = extra
    return record


def evidence_from_data(item: Any) -> Any:
    """One reference of plain data; a short form (a string of a draft) stays as it is."""
    if isinstance(item, str):
        return item
    if not isinstance(item, Mapping):
        raise TypeError("a reference is made of a mapping of fields")
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


_compact: Final = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode


def event_bytes(event: Event) -> bytes:
    return (_compact(to_data(event)) + "\n").encode()


def event_from_bytes(raw: bytes, *, path: str = "", trusted: bool = False) -> Event:
    """An event file. Duplicate keys, numbers that JSON does not have, and bytes that are not the canonical form are
    CorruptRecord."""
    from gitmem.model.strict_json import strict_json  # a read of memories needs none

    subject = path or "the event"
    if len(raw) > FILE_LIMIT:
        raise CorruptRecord(f"{subject} is {len(raw)} bytes long; the limit is {FILE_LIMIT}", hint=_HAND)
    try:
        data = strict_json(raw.decode())
        if not isinstance(data, dict):
            raise ValueError("is not an object")
    except (ValueError, RecursionError) as error:
        raise CorruptRecord(f"{subject} is not valid JSON: {error}", hint=_HAND) from None
    event: Event = _build(Event, data, path, trusted, dict)
    if not trusted:
        try:
            canonical = event_bytes(event) == raw
        except RecursionError:
            canonical = False
        if not canonical:
            raise CorruptRecord(f"{subject} is not in canonical form", hint=_HAND)
    return event


_HAND: Final = "events are written by gitmem only; restore the file from history"


def _read(cls: Any, raw: bytes, path: str, trusted: bool) -> Any:
    parsed = parse(raw, name=path)
    if not isinstance(parsed.data, dict):
        raise CorruptRecord(f"{path or 'the file'} is not a mapping of fields", hint="docs/format.md shows one")
    return _build(cls, parsed.data, path, trusted, lambda: parsed.lines or value_lines(raw))


def _build(cls: Any, data: dict[str, Any], path: str, trusted: bool, lines: Callable[[], Mapping[Any, int]]) -> Any:
    found = data.get("format", FORMAT)
    if type(found) is int and found != FORMAT:
        newer = found > FORMAT
        raise CorruptRecord(
            f"{path or 'the record'} has format {found}; this gitmem knows formats up to {FORMAT}",
            hint="upgrade gitmem to read it; it is left as it is" if newer else f"write format: {FORMAT}",
            details={"format": found},
        )
    if not trusted:
        from gitmem.model.read import problems

        if problems(cls, data, {}):
            found_problems = problems(cls, data, lines())
            raise CorruptRecord(
                f"{path or 'the record'}: " + "; ".join(found_problems),
                hint="gitmem schema memory prints the shape",
                details={"problems": found_problems},
            )
    try:
        return from_data(cls, data)
    except (KeyError, TypeError) as error:  # only what was trusted and should not have been
        raise CorruptRecord(f"{path or 'the record'} cannot be read: {error}", hint="gitmem verify") from None


def edited_bytes(old: bytes, new: Memory) -> bytes:
    """The bytes of `new`, keeping the comments and the layout of a file that a person wrote.

    A file in canonical form is written canonically. The result always reads as `new`. Raises CorruptRecord when
    `old` is of a newer format: such a file is never rewritten.
    """
    try:
        before = memory_from_bytes(old, trusted=True)
    except CorruptRecord as error:
        if error.details.get("format", 0) > FORMAT:
            raise
        return memory_bytes(new)
    canonical = memory_bytes(new)
    if memory_bytes(before) == old:
        return canonical

    from gitmem.model.edit import edited_text

    text = edited_text(old.decode(), to_data(before), to_data(new))
    if text is None:
        return canonical
    edited = text.encode()
    try:
        same = memory_from_bytes(edited, trusted=True) == new
    except CorruptRecord:
        same = False
    return edited if same else canonical


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
