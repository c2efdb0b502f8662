from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.recall.budget import NAMING, Fit, estimate, fit

COSTS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 10)), max_size=20)
WAYS = st.lists(st.integers(0, 60), min_size=1, max_size=3).map(lambda found: sorted(found, reverse=True))
SEVERAL = st.lists(st.builds(lambda ways, name: (*ways, name), WAYS, st.integers(0, 10)), max_size=12)


def test_what_does_not_fit_in_full_is_named_and_the_rest_is_left_out() -> None:
    costs = [(10, 2), (100, 2), (2, 2), (25, 3)]
    assert fit(costs, None) == Fit(4, 0, 137, (0, 0, 0, 0))
    assert fit(costs, 17) == Fit(1, 3, 17, (0,))
    assert fit(costs, 16) == Fit(1, 2, 14, (0,))  # in order: what comes behind takes no room of what comes before
    assert fit(costs, 1) == Fit(0, 0, 0, ())


def test_each_is_told_in_the_fullest_way_that_there_is_room_for() -> None:
    costs = [(30, 10, 2), (30, 10, 2)]
    assert fit(costs, None) == Fit(2, 0, 60, (0, 0))
    assert fit(costs, 60) == Fit(2, 0, 60, (0, 0))
    assert fit(costs, 59) == Fit(2, 0, 40, (0, 1))
    assert fit(costs, 31) == Fit(2, 0, 20, (1, 1))  # the line that names the next is kept room for
    assert fit(costs, 12) == Fit(1, 1, 12, (1,))


def test_room_for_naming_the_rest_is_kept_but_not_more_than_a_part() -> None:
    costs = [(10, 5), (10, 5), (10, 5)]
    assert fit(costs, 20) == Fit(1, 2, 20, (0,))
    assert NAMING < 0.5
    assert fit([(10, 5)] * 100, 100).full == 8


def test_the_estimate_is_bytes_by_four_rounded_up() -> None:
    assert [estimate(t) for t in ("", "abcd", "abcde", "語語")] == [0, 1, 2, 2]


@given(COSTS, st.integers(0, 120))
def test_the_budget_holds_and_the_order_is_kept(costs: list[tuple[int, int]], budget: int) -> None:
    found = fit(costs, budget)
    assert found.full + found.named <= len(costs)
    shown = sum(whole for whole, _ in costs[: found.full])
    named = sum(name for _, name in costs[found.full : found.full + found.named])
    assert shown + named == found.tokens <= budget


@settings(deadline=None)
@given(SEVERAL, st.integers(0, 200))
def test_the_budget_holds_however_many_ways_there_are(costs: list[tuple[int, ...]], budget: int) -> None:
    found = fit(costs, budget)
    assert len(found.ways) == found.full
    shown = sum(ways[way] for ways, way in zip(costs, found.ways, strict=False))
    named = sum(ways[-1] for ways in costs[found.full : found.full + found.named])
    assert shown + named == found.tokens <= budget
    assert all(way < len(ways) - 1 for ways, way in zip(costs, found.ways, strict=False))
