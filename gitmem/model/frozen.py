"""Frozen dataclasses that start fast.

`dataclasses.dataclass` compiles six methods for every class, which was most of the time that importing the
nouns took. Here the methods are shared functions; `fields`, `replace` and `is_dataclass` work as always. Type
checkers see the standard decorator.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen: bool) -> Callable[[type], type]:
        """As `dataclasses.dataclass(frozen=True)`; there is no other kind."""
        if not frozen:
            raise TypeError("these dataclasses are frozen")
        return _made


def _made(cls: Any) -> Any:
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False)(cls)
    made.__init__ = _initialiser(made)
    made.__eq__ = _equal
    made.__hash__ = _hash
    made.__repr__ = _repr
    made.__setattr__ = _refuse_setting
    made.__delattr__ = _refuse_deleting
    return made


def _initialiser(cls: Any) -> Callable[..., None]:
    fields = dataclasses.fields(cls)
    names = tuple(field.name for field in fields)
    known = frozenset(names)
    defaults = {field.name: field.default for field in fields if field.default is not dataclasses.MISSING}
    factories = [(f.name, f.default_factory) for f in fields if f.default_factory is not dataclasses.MISSING]
    required = [name for name in names if name not in defaults and name not in dict(factories)]
    number = len(names)

    def __init__(self: Any, /, *values: Any, **named: Any) -> None:
        state = self.__dict__
        state.update(defaults)
        if values:
            given = len(values)
            if given > number:
                raise TypeError(f"{cls.__name__} takes {number} fields, not {given}")
            if named and not named.keys().isdisjoint(names[:given]):
                raise TypeError(f"{cls.__name__} was given a field twice")
            state.update(zip(names, values))  # noqa: B905 - the lengths differ
        if named:
            if not known.issuperset(named):
                raise TypeError(f"{cls.__name__} has no field {min(named.keys() - known)!r}")
            state.update(named)
        if len(state) != number:
            for name, factory in factories:
                if name not in state:
                    state[name] = factory()
        if len(state) != number:
            raise TypeError(f"{cls.__name__} needs the field {next(n for n in required if n not in state)!r}")

    return __init__


def replace(record: T, /, **changes: Any) -> T:
    """As `dataclasses.replace`, for the classes of this module: a copy with other values in some fields."""
    made = object.__new__(record.__class__)
    state = vars(made)
    state.update(vars(record))
    state.update(changes)
    if len(state) != len(vars(record)):
        raise TypeError(f"{record.__class__.__name__} has no field {min(changes.keys() - vars(record).keys())!r}")
    return made


def _equal(self: Any, other: Any) -> Any:
    return self.__dict__ == other.__dict__ if other.__class__ is self.__class__ else NotImplemented


def _hash(self: Any) -> int:
    state = self.__dict__
    return hash(tuple(state[field.name] for field in dataclasses.fields(self)))


def _repr(self: Any) -> str:
    shown = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self))
    return f"{self.__class__.__qualname__}({shown})"


def _refuse_setting(self: Any, name: str, value: Any) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deleting(self: Any, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
