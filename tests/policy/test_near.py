"""Restatements are found, other claims are not, and NEAR lies between them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.policy.near import NEAR, similarity
from tests.policy.near_pairs import DIFFERENT, SAME


def test_there_are_enough_pairs_and_near_parts_them() -> None:
    assert len(SAME) + len(DIFFERENT) >= 40
    least_same = min(similarity(a, b) for a, b in SAME)
    most_different = max(similarity(a, b) for a, b in DIFFERENT)
    assert most_different < NEAR <= least_same, f"{most_different:.2f} < {NEAR} <= {least_same:.2f}"


@pytest.mark.parametrize(("a", "b"), SAME)
def test_a_restatement_is_near(a: str, b: str) -> None:
    assert similarity(a, b) >= NEAR


@pytest.mark.parametrize(("a", "b"), DIFFERENT)
def test_another_claim_is_not(a: str, b: str) -> None:
    assert similarity(a, b) < NEAR


def test_look_alike_letters_and_case_do_not_hide_a_restatement() -> None:
    assert similarity("Retry the redis connect", "RETRY the r\u0435dis c\u043enn\u0435ct") == 1.0
    assert similarity("Retry the redis connect", "Retry the mysql query") < NEAR


def test_numbers_are_compared_as_numbers() -> None:
    assert similarity("the limit is 1,000 rows", "the limit is 1000 rows") >= NEAR
    assert similarity("the limit is 1,000 rows", "the limit is 1,001 rows") < NEAR
    assert similarity("python 3.1 is used here", "python 3.10 is used here") < NEAR


@settings(deadline=None)
@given(st.text(max_size=60), st.text(max_size=60))
def test_it_is_symmetric_and_bounded(a: str, b: str) -> None:
    assert 0.0 <= similarity(a, b) <= 1.0
    assert similarity(a, b) == similarity(b, a)


@settings(deadline=None)
@given(st.lists(st.sampled_from(["redis", "pool", "socket", "retry", "timeout", "worker"]), min_size=1), st.randoms())
def test_the_order_of_words_does_not_count(words: list[str], random: object) -> None:
    shuffled = list(words)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert similarity(" ".join(words), " ".join(shuffled)) == 1.0
