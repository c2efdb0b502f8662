"""Three-way merge of one memory, field by field. Symmetric: it does not matter who merges.

Docs/sharing.md has the table of the fields; `status.py` the order of the states.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from gitmem.model.frozen import dataclass, replace
from gitmem.model.nouns import Alternative, Link, Memory, Step, Valid
from gitmem.model.records import memory_bytes
from gitmem.model.times import parse_instant
from gitmem.model.vocabulary import FILE_LIMIT, ITEM_LIMIT, ORIGIN_RANK, VISIBLE
from gitmem.share.lines import merged_lines, merged_text
from gitmem.share.lists import by_value, canonical, united
from gitmem.share.status import merged_status

_ABSENT: Final = object()  # what the base has where there is no base
_WITHHELD_BY_HAND: Final = frozenset({"wrong", "archived", "superseded"})


@dataclass(frozen=True)
class Side:
    """One side's record. `last`: the newest event of it that the other side does not have; "" when there is none."""

    memory: Memory
    last: str = ""


@dataclass(frozen=True)
class MergedMemory:
    """`apart`: the fields in which the sides could not be made one. Then `lost` is the record of the side that gave
    way, as it was. `winner` is the side whose word stands in such a field, `loser` the other one.
    """

    memory: Memory
    winner: Memory
    loser: Memory
    apart: tuple[str, ...] = ()
    lost: Memory | None = None


def merged_memory(base: Memory | None, ours: Side, theirs: Side, *, base_status: str | None = None) -> MergedMemory:
    """The record with the changes of both sides since `base` (None: they have none in common).

    Where they cannot be made one, the side with the later event has the word, and whoever reads sees that it is
    disputed. `base_status`: the state that both sides last knew, where that is known better than from `base`.
    """
    if ours.last != theirs.last:
        one, other = (ours, theirs) if ours.last > theirs.last else (theirs, ours)
    else:
        one, other = sorted((ours, theirs), key=lambda side: memory_bytes(side.memory), reverse=True)
    return _Merge(base, one.memory, other.memory, base_status).merged()


class _Merge:
    """One merge: `one` has the word where both cannot be had."""

    def __init__(self, base: Memory | None, one: Memory, other: Memory, base_status: str | None) -> None:
        self.base = base
        self.one = one
        self.other = other
        self.base_status = base_status or (base.status if base else None)
        self.apart: list[str] = []

    def merged(self) -> MergedMemory:
        one, other = self.one, self.other
        if one == other:
            return MergedMemory(one, one, other)
        changes: dict[str, Any] = {
            name: self._list(name, settle)
            for name, settle in (
                ("aliases", None), ("tags", None), ("claims", None), ("groundings", None), ("applies_to", None),
                ("evidence", None), ("alternatives", _alternatives), ("links", _links),
            )
        }  # fmt: skip
        changes["steps"] = self._steps()
        changes["cue"] = self._value("cue")
        changes["valid"] = self._valid()
        changes["scope"] = replace(one.scope, audience=self._value("audience", lambda memory: memory.scope.audience))
        changes["extra"] = self._extra()
        title, body = self._value("title"), self._body()
        status = merged_status(
            self.base_status, one.status, other.status, ours_says=self._says(one), theirs_says=self._says(other)
        )
        lost = other
        holder = self._holder(status)
        if holder is not None:
            title, body = holder.title, holder.body
            lost = other if holder is one else one
            self.apart = [name for name in self.apart if name not in ("title", "body")]
            self.apart += [name for name in ("title", "body") if getattr(lost, name) != getattr(holder, name)]
        elif self.apart and status in VISIBLE:
            status = "disputed"
        changes.update(title=title, body=body, status=status, origin=self._origin(title, body))
        memory = replace(one, **changes)
        if not _fits(memory):
            self.apart.append("size")
            memory = replace(holder or one, status=status if status not in VISIBLE else "disputed")
        return MergedMemory(memory, one, other, tuple(self.apart), lost if self.apart else None)

    def _holder(self, status: str) -> Memory | None:
        """The side that took the record out of sight while the other changed what it says."""
        if status not in _WITHHELD_BY_HAND or self.one.status == self.other.status:
            return None
        holder, editor = (self.one, self.other) if self.one.status == status else (self.other, self.one)
        changed = self._says(editor) and (holder.title, holder.body) != (editor.title, editor.body)
        return holder if changed else None

    def _says(self, side: Memory) -> bool:
        """Did this side change what the record says?"""
        return self.base is None or (side.title, side.body) != (self.base.title, self.base.body)

    def _value(self, name: str, of: Callable[[Memory], Any] | None = None) -> Any:
        get = of or (lambda memory: getattr(memory, name))
        one, other = get(self.one), get(self.other)
        base = get(self.base) if self.base is not None else _ABSENT
        if one == other or other == base:
            return one
        if one == base:
            return other
        self.apart.append(name)
        return one

    def _body(self) -> str:
        before = len(self.apart)
        body: str = self._value("body")
        if len(self.apart) == before or self.base is None:
            return body
        text = merged_text(self.base.body, self.one.body, self.other.body)
        if text is None:
            return body
        self.apart.pop()
        return text

    def _list(self, name: str, settle: _Keyed | None) -> tuple[Any, ...]:
        one, other = getattr(self.one, name), getattr(self.other, name)
        base = getattr(self.base, name) if self.base is not None else ()
        found = united(
            base, one, other, settle.name if settle else by_value, settle.settle if settle else lambda _, x, __: x
        )
        if len(found) > ITEM_LIMIT:
            self.apart.append(name)
            return tuple(one)
        return found

    def _steps(self) -> tuple[Step, ...]:
        """Steps stand in an order, so they are merged as lines are; done is done."""
        base = self.base.steps if self.base is not None else ()
        sides = [base, self.one.steps, self.other.steps]
        texts = merged_lines(*([step.text for step in steps] for steps in sides))
        known = [{step.text: step for step in steps} for steps in sides]
        distinct = all(len(by_text) == len(steps) for by_text, steps in zip(known, sides, strict=True))
        if texts is None or len(texts) > ITEM_LIMIT or not distinct or len(set(texts)) != len(texts):
            return tuple(self._value("steps"))
        return tuple(_step(*(by_text.get(text) for by_text in known)) for text in texts)

    def _valid(self) -> Valid:
        """Each bound by itself; both changed gives the narrower time, for what is shown then both sides agree with."""
        base = self.base.valid if self.base is not None else None
        start = _bound(
            base.start if base else None, self.one.valid.start, self.other.valid.start, base is None, latest=True
        )
        until = _bound(
            base.until if base else None, self.one.valid.until, self.other.valid.until, base is None, latest=False
        )
        if start is not None and until is not None and _before(until, start):
            return self._value("valid")  # type: ignore[no-any-return]
        return replace(self.one.valid, start=start, until=until)

    def _origin(self, title: str, body: str) -> Any:
        """Where the text comes from; of two texts in one, the origin that is trusted less."""
        sides = [side for side in (self.one, self.other) if self._says(side)]
        if len(sides) == 1:
            return sides[0].origin if (title, body) == (sides[0].title, sides[0].body) else self._lower()
        if (title, body) == (self.one.title, self.one.body) and sides:
            return self.one.origin
        return self._lower() if sides else self._unsaid()

    def _unsaid(self) -> Any:
        base = self.base.origin if self.base is not None else None
        if base in (self.one.origin, self.other.origin):
            return self.other.origin if base == self.one.origin else self.one.origin
        return self._lower()

    def _lower(self) -> Any:
        return min(self.one.origin, self.other.origin, key=lambda origin: ORIGIN_RANK.get(origin, -1))

    def _extra(self) -> Mapping[str, Any]:
        base = self.base.extra if self.base is not None else {}
        names = sorted({*base, *self.one.extra, *self.other.extra})
        out = {}
        for name in names:
            old, mine, yours = (extra.get(name, _ABSENT) for extra in (base, self.one.extra, self.other.extra))
            value = mine if mine == yours or yours == old else yours if mine == old else mine
            if value is not _ABSENT:
                out[name] = value
        return out


@dataclass(frozen=True)
class _Keyed:
    """A list whose items have a name of their own, and how two items of one name become one."""

    name: Callable[[Any], str]
    settle: Callable[[Any, Any, Any], Any]


def _greater(_: Any, one: Any, other: Any) -> Any:
    return max(one, other, key=canonical)


def _link_name(link: Link) -> str:
    return f"{link.type} {link.to}"


def _alternative_name(alternative: Alternative) -> str:
    return alternative.title


_alternatives: Final = _Keyed(_alternative_name, _greater)
_links: Final = _Keyed(_link_name, _greater)


def _step(base: Step | None, one: Step | None, other: Step | None) -> Step:
    if one is None or other is None:
        found = one or other or base
        assert found is not None  # noqa: S101 - its text is of one of them
        return found
    if one == other or other == base:
        return one
    return other if one == base else replace(one, done=one.done or other.done)


def _bound(base: str | None, one: str | None, other: str | None, no_base: bool, *, latest: bool) -> str | None:
    if one == other or (other == base and not no_base):
        return one
    if one == base and not no_base:
        return other
    bounds = sorted((text for text in (one, other) if text is not None), key=_instant)
    return bounds[-1 if latest else 0]


def _before(until: str, start: str) -> bool:
    return _instant(until) <= _instant(start)


def _instant(text: str) -> tuple[int, str, str]:
    """A key that orders instants; what is none comes first, as text."""
    try:
        return 1, parse_instant(text).isoformat(), text
    except ValueError:
        return 0, "", text


def _fits(memory: Memory) -> bool:
    try:
        return len(memory_bytes(memory)) <= FILE_LIMIT
    except ValueError:
        return False
