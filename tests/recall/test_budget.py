from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gitmem.recall.budget import Item, estimate, fit

ITEM = st.builds(Item, st.uuids().map(str), st.text(max_size=80), st.text(max_size=20))


def test_what_does_not_fit_in_full_is_named_and_what_cannot_be_named_is_counted() -> None:
    items = [
        Item("a", "x" * 40, "a: x"),
        Item("b", "y" * 400, "b: y"),
        Item("c", "z" * 8, "c: z"),
        Item("d", "w" * 99, "d" * 9),
    ]
    briefing = fit(items, 14)
    assert [i.id for i in briefing.items] == ["a", "c"]
    assert [i.id for i in briefing.pointers] == ["b"]
    assert briefing.omitted == ("d",)
    assert briefing.tokens == 13


def test_the_estimate_is_bytes_by_four_rounded_up() -> None:
    assert [estimate(t) for t in ("", "abcd", "abcde", "語語")] == [0, 1, 2, 2]


@given(st.lists(ITEM, max_size=20), st.integers(0, 60))
def test_nothing_is_lost_and_the_budget_holds(items: list[Item], budget: int) -> None:
    briefing = fit(items, budget)
    names = [i.id for i in briefing.items] + [i.id for i in briefing.pointers] + list(briefing.omitted)
    assert sorted(names) == sorted(i.id for i in items)
    shown = sum(estimate(i.text) for i in briefing.items) + sum(estimate(i.pointer) for i in briefing.pointers)
    assert shown == briefing.tokens <= budget
