"""Frozen dataclasses that start fast.

`dataclasses` takes longer to import than all the nouns together (it imports `inspect`), and compiles six methods for
every class. Here the methods are shared functions, and what `dataclasses.fields`, `replace` and `is_dataclass` look
for is made when somebody looks. Type checkers see the standard decorator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

T = TypeVar("T")
NEEDED: Final = object()  # the default of a field that has none


class _Factory:
    """The value of a class attribute that says how a default is made."""

    def __init__(self, make: Callable[[], Any], rest: dict[str, Any]) -> None:
        self.make = make
        self.rest = rest


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
else:

    def dataclass(*, frozen: bool) -> Callable[[type], type]:
        """As `dataclasses.dataclass(frozen=True)`; there is no other kind."""
        if not frozen:
            raise TypeError("these dataclasses are frozen")
        return _made

    def field(*, default_factory: Callable[[], Any], **rest: Any) -> Any:
        """As `dataclasses.field(default_factory=...)`."""
        return _Factory(default_factory, rest)


class Shape:
    """The fields of a class in order; defaults: values by name; factories: what makes a default, by name."""

    def __init__(self, cls: Any) -> None:
        own: dict[str, Any] = {}
        for base in reversed(cls.__mro__):
            own.update({name: base.__dict__.get(name, NEEDED) for name in _annotated(base)})
        self.names: Final = tuple(own)
        self.defaults: Final = {n: v for n, v in own.items() if v is not NEEDED and not isinstance(v, _Factory)}
        self.factories: Final = {n: v.make for n, v in own.items() if isinstance(v, _Factory)}
        self.markers: Final = {n: v for n, v in own.items() if isinstance(v, _Factory)}
        self.required: Final = tuple(n for n in own if n not in self.defaults and n not in self.factories)


def shape(cls: Any) -> Shape:
    """The fields of a class of this module."""
    found: Shape = cls.__gitmem_shape__
    return found


def _annotated(cls: Any) -> list[str]:
    """The annotations of a class itself that are fields. They are text: `from __future__ import annotations`."""
    said = vars(cls).get("__annotations__", {})
    return [name for name, kind in said.items() if not kind.startswith("ClassVar")]


def _made(cls: Any) -> Any:
    found = Shape(cls)
    for name in found.markers:
        if name in cls.__dict__:
            delattr(cls, name)
    cls.__gitmem_shape__ = found
    cls.__match_args__ = found.names  # type: ignore[misc]
    cls.__dataclass_fields__ = _OnDemand("__dataclass_fields__")
    cls.__dataclass_params__ = _OnDemand("__dataclass_params__")
    cls.__init__ = _initialiser(cls, found)
    cls.__eq__ = _equal
    cls.__hash__ = _hash
    cls.__repr__ = _repr
    cls.__setattr__ = _refuse_setting
    cls.__delattr__ = _refuse_deleting
    return cls


class _OnDemand:
    """A class attribute of `dataclasses`, made by it the first time that it is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: Any) -> Any:
        import dataclasses

        asked = next(cls for cls in owner.__mro__ if cls.__dict__.get(self._name) is self)
        known: Shape = asked.__gitmem_shape__
        body: dict[str, Any] = {"__annotations__": {}, "__module__": asked.__module__}
        for base in reversed(asked.__mro__):
            body["__annotations__"].update(vars(base).get("__annotations__", {}))
        body.update(known.defaults)
        for name, marker in known.markers.items():
            body[name] = dataclasses.field(default_factory=marker.make, **marker.rest)
        plain: Any = dataclasses.dataclass(init=False, repr=False, eq=False)(type(asked.__name__, (), body))
        for name in ("__dataclass_fields__", "__dataclass_params__"):
            setattr(asked, name, getattr(plain, name))
        return getattr(asked, self._name)


def _initialiser(cls: Any, found: Shape) -> Callable[..., None]:
    names, defaults, required = found.names, found.defaults, found.required
    known = frozenset(names)
    factories = tuple(found.factories.items())
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
    values, state = record.__dict__, made.__dict__
    for name in shape(record.__class__).names:  # without what a cached property has kept
        state[name] = values[name]
    state.update(changes)
    if len(state) != len(shape(record.__class__).names):
        unknown = min(changes.keys() - set(shape(record.__class__).names))
        raise TypeError(f"{record.__class__.__name__} has no field {unknown!r}")
    return made


def _equal(self: Any, other: Any) -> Any:
    if other.__class__ is not self.__class__:
        return NotImplemented
    return _values(self) == _values(other)


def _values(record: Any) -> tuple[Any, ...]:
    state = record.__dict__
    return tuple([state[name] for name in record.__gitmem_shape__.names])


def _hash(self: Any) -> int:
    return hash(_values(self))


def _repr(self: Any) -> str:
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in shape(self.__class__).names)
    return f"{self.__class__.__qualname__}({shown})"


def _refuse_setting(self: Any, name: str, value: Any) -> None:
    raise _frozen(f"cannot assign to field {name!r}")


def _refuse_deleting(self: Any, name: str) -> None:
    raise _frozen(f"cannot delete field {name!r}")


def _frozen(message: str) -> AttributeError:
    from dataclasses import FrozenInstanceError

    return FrozenInstanceError(message)
