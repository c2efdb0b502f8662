"""Three-way merge of lists that are sets with an order: what one side took away is gone, what one added is there."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from gitmem.model.records import to_data

Item = TypeVar("Item")


def united(
    base: Sequence[Item],
    ours: Sequence[Item],
    theirs: Sequence[Item],
    name: Callable[[Item], str],
    settle: Callable[[Item | None, Item, Item], Item],
) -> tuple[Item, ...]:
    """The items that both sides kept and those that either added, each once by its `name`.

    A side that changed nothing yields to the other, order and all. Otherwise what was kept stands in the order of the
    base and what was added stands behind it, sorted by name. `settle` makes one item of two of one name that differ.
    """
    if list(ours) == list(theirs) or list(theirs) == list(base):
        return tuple(ours)
    if list(ours) == list(base):
        return tuple(theirs)
    before, mine, yours = ({name(item): item for item in items} for items in (base, ours, theirs))
    kept = [key for key in before if key in mine and key in yours]
    # What one side changed and the other took away stays: nothing that somebody just said is lost in silence.
    held = {key for key in before if (key in mine) != (key in yours) and mine.get(key, yours.get(key)) != before[key]}
    added = sorted(((mine.keys() | yours.keys()) - before.keys()) | held)
    out = []
    for key in (*kept, *added):
        one, other, old = mine.get(key), yours.get(key), before.get(key)
        if one is None or other is None:
            found = other if one is None else one
            assert found is not None  # noqa: S101 - the key is of one of them
            out.append(found)
        elif one == other or other == old:
            out.append(one)
        elif one == old:
            out.append(other)
        else:
            out.append(settle(old, one, other))
    return tuple(out)


def by_value(item: Any) -> str:
    """A name that is the item itself: two that differ in anything are two items."""
    return item if isinstance(item, str) else canonical(item)


def canonical(item: Any) -> str:
    """One text for one value, in every process."""
    data = item if isinstance(item, dict | list | str | int | None) else to_data(item)
    return json.dumps(data, sort_keys=True, ensure_ascii=True)
