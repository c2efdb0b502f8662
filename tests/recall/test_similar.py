"""What the gate is offered for comparison: whatever says the same is among it, what shares a word or two is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitmem.recall.search_index import SearchIndex
from tests.policy.near_pairs import DIFFERENT, SAME
from tests.recall.builders import of_texts

OTHERS = {f"n{number}": pair[0] for number, pair in enumerate(DIFFERENT)}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> SearchIndex:
    texts = {f"s{number}": pair[0] for number, pair in enumerate(SAME)}
    return of_texts(tmp_path_factory.mktemp("index"), {**OTHERS, **texts})


@pytest.mark.parametrize("number", range(len(SAME)))
def test_a_restatement_is_offered(index: SearchIndex, number: int) -> None:
    offered = {hit.id for hit in index.similar(SAME[number][1], 12)}
    twins = {f"s{other}" for other, pair in enumerate(SAME) if pair[0] == SAME[number][0]}
    assert offered & twins


def test_a_text_that_shares_one_word_in_ten_is_not_offered(tmp_path: Path) -> None:
    said = "The nightly build of the pool failed because its socket limit was reached after the proxy restarted"
    found = of_texts(
        tmp_path,
        {"m1": f"{said}; seen twice", "m2": "A socket is opened when somebody signs in with a badge at the front door"},
    )
    assert [hit.id for hit in found.similar(said, 12)] == ["m1"]
