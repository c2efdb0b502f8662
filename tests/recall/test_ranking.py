"""The order of candidates, apart from any index."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.model.tokens import tokens
from gitmem.model.vocabulary import ORIGIN_RANK, STATUSES, VISIBLE
from gitmem.recall.cards import Ranked
from gitmem.recall.document import OPEN_END, pieces_of
from gitmem.recall.ranking import (
    ENTITY_WEIGHT,
    ORIGIN_WEIGHT,
    PLACE_WEIGHT,
    Candidate,
    Corpus,
    affinity,
    confidence,
    rank,
)
from gitmem.recall.words import Words, words


def candidate(identifier: str, text: str, *names: str, **given: Any) -> Candidate:
    held = " ".join(tokens(text))
    ranked = Ranked(given.pop("ref", "main"), identifier, given.get("since", 0), "0" * 40, names, f" {held} ")
    numbers = {
        "state": 0,
        "origin": 4,
        "recorded": 0,
        "changed": 0,
        "since": 0,
        "until": OPEN_END,
        "review": 0,
        **given,
    }
    return Candidate(ranked, 0, length=held.count(" ") + 1, **numbers)


def corpus_of(candidates: list[Candidate], asked: Words) -> Corpus:
    texts = [one.ranked.words for one in candidates]
    pieces = {piece for term in asked.weights for piece in pieces_of(term)}
    others = [other for found in asked.also.values() for other in found]
    return Corpus(
        documents=len(texts),
        average=sum(one.length for one in candidates) / max(len(texts), 1),
        letters=sum(map(len, texts)) / max(len(texts), 1),
        terms={term: sum(f" {term} " in text for text in texts) for term in (*asked.weights, *others)},
        grams={piece: sum(piece in text for text in texts) for piece in pieces},
        also=asked.also,
    )


def asked_of(text: str, candidates: list[Candidate]) -> Words:
    return words(
        (text,), lambda term: sum(f" {term} " in one.ranked.words for one in candidates), documents=len(candidates)
    )


def ranked(text: str, *candidates: Candidate, places: dict[str, float] | None = None) -> list[str]:
    asked = asked_of(text, list(candidates))
    order = rank(candidates, asked, corpus_of(list(candidates), asked), places or {})
    return [scored.candidate.ranked.id for scored in order]


def sure(text: str, *candidates: Candidate) -> float:
    asked = asked_of(text, list(candidates))
    corpus = corpus_of(list(candidates), asked)
    return confidence(rank(candidates, asked, corpus, {})[0], asked, corpus)


def test_rare_words_more_of_them_and_short_texts_win() -> None:
    common = [candidate(f"c{n}", "pool of workers") for n in range(6)]
    assert ranked("pool zebra", *common, candidate("z", "zebra of workers"))[0] == "z"
    assert ranked("pool size", *common, candidate("both", "pool size"))[0] == "both"
    assert ranked("zebra", candidate("long", "zebra " + "and so on " * 20), candidate("short", "zebra"))[0] == "short"
    assert ranked("zebra", candidate("once", "zebra pen"), candidate("twice", "zebra zebra"))[0] == "twice"


def test_a_mistyped_word_is_found_by_its_pieces() -> None:
    assert ranked("conection", candidate("far", "the colour of paint"), candidate("near", "connection"))[0] == "near"


@pytest.mark.parametrize("better", range(len(STATUSES)))
def test_what_holds_comes_before_what_may_not(better: int) -> None:
    """Each state against the next; what nobody knows counts least, and the states that are withheld do too."""
    first = candidate("a", "pool", state=better + 1)
    second = candidate("b", "pool", state=better, recorded=-1)
    weights = [VISIBLE.get(status, min(VISIBLE.values())) for status in (*STATUSES, "unheard-of")]
    falls = weights[better] > weights[better + 1]
    assert ranked("pool", first, second)[0] == ("b" if falls else "a")
    assert ranked("pool", first, candidate("b", "pool", state=better + 1, recorded=-1))[0] == "a"


def test_who_said_it_breaks_what_is_near() -> None:
    order = sorted(ORIGIN_RANK.values(), reverse=True)
    made = [candidate(f"o{origin}", "pool size", origin=origin, recorded=-origin) for origin in order]
    found = ranked("pool size", *made)
    assert found[-3:] == ["o2", "o1", "o0"] and set(found[:2]) == {"o4", "o3"}
    assert list(ORIGIN_WEIGHT) == sorted(ORIGIN_WEIGHT)
    # No origin hides a much better text.
    better = candidate("better", "pool size", origin=0)
    assert (
        ranked("pool size", better, candidate("worse", "pool of workers and much else beside", origin=4))[0] == "better"
    )


def test_an_exact_name_and_a_place_raise_and_an_age_only_breaks_ties() -> None:
    plain, named = candidate("plain", "pool ink", recorded=1), candidate("named", "pool note", "net")
    assert ranked("pool net", plain, named)[0] == "named"
    assert ranked("pool", plain, named)[0] == "plain"
    here = {"src/pool.py": 1.0}
    twins = [candidate("there", "pool size", "docs/pool.md"), candidate("here", "pool size", "src", recorded=-1)]
    assert ranked("pool size", *twins, places=here)[0] == "here"
    assert ranked("pool size", *twins)[0] == "there"
    assert PLACE_WEIGHT < ENTITY_WEIGHT < 1
    ages = [candidate("old", "pool", recorded=1), candidate("new", "pool", recorded=2)]
    assert ranked("pool", *ages) == ["new", "old"]
    assert (
        ranked("pool size", candidate("old", "pool size", recorded=1), candidate("new", "pool ink", recorded=2))[0]
        == "old"
    )


@pytest.mark.parametrize(
    ("names", "places", "near"),
    [
        (("src/pool.py",), {"src/pool.py": 1.0}, 1.0),
        (("src",), {"src/pool.py": 0.7}, 0.7),
        ((".",), {"src/pool.py": 0.7}, 0.7),
        (("src/pool.py",), {"src": 1.0}, 0.0),  # about a file in the folder, not about the folder
        (("src",), {"SRC/Pool.py": 0.5}, 0.5),
        (("srcs",), {"src/pool.py": 1.0}, 0.0),
        (("a", "b"), {"a/x": 0.2, "b/y": 0.9}, 0.9),
        ((), {"src": 1.0}, 0.0),
        (("src",), {}, 0.0),
    ],
)
def test_how_near_a_memory_is_to_a_place(names: tuple[str, ...], places: dict[str, float], near: float) -> None:
    assert affinity(names, places) == near


def test_confidence_is_the_part_of_the_question_that_is_answered() -> None:
    others = [candidate(f"c{n}", f"colour number{n}") for n in range(9)]
    whole = candidate("w", "the redis pool drops a connection")
    assert sure("redis pool", whole, *others) == 1.0
    half = sure("redis zebra", whole, *others)
    assert 0.2 < half < 0.8
    assert sure("zebra giraffe", whole, *others) == 0.0
    assert 0 < sure("conection", whole, *others) < 0.6  # perhaps mistyped
    assert sure("redis", whole, *others) == 1.0


def test_a_word_that_is_everywhere_is_worth_little_and_never_less_than_nothing() -> None:
    full = Corpus(documents=10, average=3.0, letters=20.0, terms={}, grams={})
    assert full.rarity(10) > 0
    assert full.rarity(1) > full.rarity(5) > full.rarity(10)
    assert full.rarity(12) == full.rarity(10)  # counted while versions came and went


WORD = st.sampled_from(["pool", "size", "retry", "zebra", "net", "poll"])
TEXT = st.lists(WORD, min_size=1, max_size=6).map(" ".join)


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(TEXT, st.integers(0, len(STATUSES)), st.integers(0, 4), st.integers(0, 2)), min_size=1, max_size=8
    ),
    TEXT,
    st.randoms(use_true_random=False),
)
def test_the_order_does_not_depend_on_how_candidates_come(
    drawn: list[tuple[str, int, int, int]], query: str, chance: random.Random
) -> None:
    made = [
        candidate(f"m{n}", text, state=state, origin=origin, recorded=recorded)
        for n, (text, state, origin, recorded) in enumerate(drawn)
    ]
    asked = asked_of(query, made)
    corpus = corpus_of(made, asked)
    order = rank(made, asked, corpus, {})
    shuffled = made[:]
    chance.shuffle(shuffled)
    assert rank(shuffled, asked, corpus, {}) == order
    assert [s.score for s in order] == sorted((s.score for s in order), reverse=True)
    for scored in order:
        assert scored.score == pytest.approx(
            sum(scored.lanes.values())
            * VISIBLE.get((*STATUSES, "unheard-of")[scored.candidate.state], min(VISIBLE.values()))
            * ORIGIN_WEIGHT[scored.candidate.origin],
            abs=1e-6,
        )
        assert set(scored.matched) == {t for t in asked.weights if f" {t} " in scored.candidate.ranked.words}
        assert 0 <= confidence(scored, asked, corpus) <= 1
