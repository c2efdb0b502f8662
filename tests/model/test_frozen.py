"""The frozen dataclasses behave as the standard ones; a copy is made without going through the initialiser."""

from __future__ import annotations

import dataclasses

import pytest

from gitmem.model.frozen import replace
from gitmem.model.nouns import Link, Scope, Step


def test_a_record_is_made_of_fields_by_place_and_by_name() -> None:
    assert Link("relates_to", "a").why is None
    assert Link("relates_to", to="a", why="b") == Link(type="relates_to", to="a", why="b")
    assert Step("x").extra == {}
    assert Step("x").extra is not Step("x").extra


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ((), {}),
        (("relates_to",), {}),
        (("relates_to", "a", "b", {}, "too many"), {}),
        (("relates_to", "a"), {"to": "b"}),
        (("relates_to", "a"), {"other": "b"}),
        ((), {"type": "relates_to", "other": "b"}),
        ((), {"type": "relates_to", "to": "a", "other": "b"}),
    ],
)
def test_other_fields_than_it_has_are_refused(given: tuple[str, ...], named: dict[str, str]) -> None:
    with pytest.raises(TypeError, match="Link"):
        Link(*given, **named)  # type: ignore[arg-type]


def test_a_copy_differs_in_what_it_was_told() -> None:
    old = Scope("shop", extra={"a": 1})
    new = replace(old, audience="user")
    assert new == dataclasses.replace(old, audience="user")
    assert old == Scope("shop", extra={"a": 1})
    assert hash(replace(Step("x"), extra=())) == hash(Step("x", extra=()))  # type: ignore[arg-type]
    with pytest.raises(dataclasses.FrozenInstanceError):
        new.audience = "team"  # type: ignore[misc]
    with pytest.raises(TypeError, match="has no field 'colour'"):
        replace(old, colour="red")
