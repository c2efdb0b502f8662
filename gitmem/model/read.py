"""The check of foreign data against the nouns, with pydantic. Loaded only where data is foreign."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import cache
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError, create_model

from gitmem.model import nouns
from gitmem.model.nouns import Draft, Memory
from gitmem.model.records import _NESTED, _NESTED_LISTS, _keys
from gitmem.model.text import one_line

_EVIDENCED = (Memory, Draft)
_STRICT = ConfigDict(strict=True, extra="allow")
_CLOSED = ConfigDict(strict=True, extra="forbid")


@cache
def model(cls: Any, *, closed: bool = False) -> Any:
    """The pydantic model that has the fields of the noun `cls` under the names they have in a file.

    `closed` refuses unknown fields: a draft with a misspelt field is a mistake, a stored record with one
    comes from a newer gitmem.
    """
    from typing import get_type_hints

    hints = get_type_hints(cls)
    defaults = {f.name: f for f in fields(cls)}
    shape: dict[str, Any] = {}
    for name, key, _ in _keys(cls):
        kind: Any = hints[name]
        if name in _NESTED:
            nested = model(_NESTED[name], closed=closed)
            kind = nested | None if defaults[name].default is None else nested
        elif (cls, name) in _NESTED_LISTS:
            kind = _tuple_of(model(_NESTED_LISTS[cls, name], closed=closed))
        elif name == "evidence" and cls in _EVIDENCED:
            kind = _tuple_of(evidence_union(closed, short=cls is Draft))
        spec = defaults[name]
        default = spec.default if spec.default is not MISSING else ... if spec.default_factory is MISSING else None
        if spec.default_factory is not MISSING:
            shape[key] = (kind, _field(default_factory=_empty(kind, spec.default_factory)))
        else:
            shape[key] = (kind, default)
    return create_model(cls.__name__, __config__=_CLOSED if closed else _STRICT, __doc__=cls.__doc__, **shape)


def _tuple_of(kind: Any) -> Any:
    return tuple[kind, ...]


def _field(**kwargs: Any) -> Any:
    from pydantic import Field

    return Field(**kwargs)


def _empty(kind: Any, factory: Any) -> Any:
    return kind if isinstance(kind, type) and hasattr(kind, "model_fields") else factory


@cache
def evidence_union(closed: bool, *, short: bool) -> Any:
    """The union of all reference types, told apart by `type`; with `short` also the string forms of drafts."""
    from typing import Annotated, Literal, Union

    from pydantic import Field

    members = []
    for kind, cls in nouns.EVIDENCE_CLASSES.items():
        base = model(cls, closed=closed)
        tagged: dict[str, Any] = {"type": (Literal[kind], ...)}
        members.append(create_model(cls.__name__, __base__=base, **tagged))
    union: Any = Annotated[Union[tuple(members)], Field(discriminator="type")]  # noqa: UP007
    return Union[str, union] if short else union  # noqa: UP007


@cache
def _adapter(cls: Any, closed: bool) -> TypeAdapter[Any]:
    return TypeAdapter(model(cls, closed=closed))


def problems(cls: Any, data: Mapping[str, Any], lines: Mapping[Any, int], *, closed: bool = False) -> list[str]:
    """What is wrong with `data` as a `cls`, one sentence a fault, with the line where it is known."""
    try:
        # JSON mode is strict about scalars and still takes lists for tuples and objects for records.
        _adapter(cls, closed).validate_json(json.dumps(data), strict=True)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        # A reference that is not a string was meant in full: what keeps it from being a short form is noise.
        return [_sentence(fault, lines) for fault in faults if not _short_form(fault["loc"])]
    except (TypeError, ValueError, RecursionError) as error:
        return [f"cannot be read: {error}"]
    return []


def _short_form(loc: tuple[str | int, ...]) -> bool:
    return len(loc) == 3 and loc[0] == "evidence" and isinstance(loc[1], int) and loc[2] == "str"


def _place(loc: tuple[str | int, ...]) -> tuple[str | int, ...]:
    """Where a fault lies in the file: pydantic's place without the names of the union's members."""
    if loc[:1] != ("evidence",) or len(loc) < 3 or not isinstance(loc[1], int):
        return loc
    rest = loc[2:]
    if str(rest[0]).startswith("tagged-union"):
        rest = rest[1:]
    if rest and rest[0] in nouns.EVIDENCE_CLASSES:
        rest = rest[1:]
    return (*loc[:2], *rest)


def _sentence(fault: Any, lines: Mapping[Any, int]) -> str:
    place = _place(fault["loc"])
    shown = ".".join(one_line(str(step), 80) for step in place) or "the record"
    known = place
    while known and known not in lines:
        known = known[:-1]
    line = f" (line {lines[known]})" if known in lines else ""
    if fault["type"] == "extra_forbidden":
        return f"{shown}{line}: is not a field of this format"
    return f"{shown}{line}: {fault['msg'][0].lower()}{fault['msg'][1:]}"
