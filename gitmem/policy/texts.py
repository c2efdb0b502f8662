"""Every string of a record with the place where it stands, so that a rule over texts misses none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, NamedTuple

from gitmem.model.judgement import Change, Facts
from gitmem.model.vocabulary import VISIBLE


class Text(NamedTuple):
    """`where` is a path such as "evidence[0].quote"; `value` is the string."""

    where: str
    value: str


def texts(thing: Any, where: str = "") -> Iterator[Text]:
    """Every string in `thing`, keys of mappings too, in the order of the fields. Any depth, no recursion."""
    waiting: list[tuple[str, Any]] = [(where, thing)]
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, str):
            yield Text(place, value)
            continue
        children: list[tuple[str, Any]] = []
        names = _fields(value.__class__)
        if names:
            children = [(_below(place, name), getattr(value, name)) for name in names]
        elif isinstance(value, Mapping):
            for number, (key, item) in enumerate(value.items()):
                # A key is a string of the record as well; it stands at the place of its mapping.
                children += [(place, key), (_item(place, key, number), item)]
        elif isinstance(value, (tuple, list)):
            children = [(f"{place}[{number}]", item) for number, item in enumerate(value)]
        waiting.extend(reversed(children))


def strings(thing: Any) -> tuple[list[str], bool]:
    """The values of `texts(thing)` in another order, much faster; True when some of them are in a mapping."""
    found: list[str] = []
    named = False
    waiting = [thing]
    for value in waiting:  # grows on the way
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, (tuple, list)):
            waiting.extend(value)
        elif value.__class__ is dict or isinstance(value, Mapping):
            if value:
                named = True
                waiting.extend(value)
                waiting.extend(value.values())
        else:
            waiting.extend([getattr(value, name) for name in _fields(value.__class__)])
    return found, named


@cache
def _fields(cls: type) -> tuple[str, ...]:
    """The fields of a dataclass; none for any other class."""
    return tuple(field.name for field in fields(cls)) if is_dataclass(cls) else ()


def new_texts(change: Change, facts: Facts) -> list[Text]:
    """The strings that `change` adds: those of the record that were not in it before, the reason, the names.

    A move between states adds next to nothing, so a bad record can always be rejected.
    """
    found = list(texts(change.after))
    if change.before is not None:
        old = frozenset(text.value for text in texts(change.before))
        if change.op in WITHDRAWING:
            found = [text for text in found if text.value not in old]
    return [*found, Text("reason", change.reason), *texts(facts.names, "names")]


# The operations that take belief away. They add no claim, so what the record says is not judged again.
WITHDRAWING = frozenset({"reject", "supersede", "retract", "archive", "dispute", "mark"})


# The states in which a merged record is believed, or waits to be.
_BELIEVED = frozenset({*VISIBLE, "candidate", "quarantined"})


def claims(change: Change) -> bool:
    """True when `change` asks for belief in the record, so that its evidence and its likeness are judged."""
    if change.op == "merge":
        return change.after.status in _BELIEVED
    return change.before is None or (change.op not in WITHDRAWING and change.op != "redact")


def _item(place: str, key: Any, number: int) -> str:
    """The key when it is a plain name; a place is printed, and a foreign key may itself be a secret."""
    plain = isinstance(key, str) and len(key) <= 24 and key.isascii() and key.replace("_", "").isalpha()
    return _below(place, key) if plain else f"{place}[{number}]"


def _below(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name
