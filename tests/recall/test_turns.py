from __future__ import annotations

from datetime import datetime, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.recall.dates import named_dates
from gitmem.recall.turns import TurnInfo, named_speaker, rank_sessions, rank_turns


def turn(session: str, position: int, speaker: str = "Ada", month: int = 5) -> TurnInfo:
    when = datetime(2024, month, 7, 9, 30, tzinfo=timezone.utc)
    return TurnInfo(f"{session}.{position}", session, position, speaker, when)


TALK = [turn("a", n) for n in range(5)] + [turn("b", n, "Grace", 6) for n in range(5)]


def test_a_hit_brings_its_neighbours_and_nothing_farther() -> None:
    ranked = dict(rank_turns({"a.2": 7.0}, TALK, "pool"))
    assert list(ranked) == ["a.2", "a.1", "a.3"]
    assert ranked["a.2"] > ranked["a.1"] == ranked["a.3"] > 0


def test_neighbours_end_with_their_session() -> None:
    assert [name for name, _ in rank_turns({"a.4": 1.0}, TALK, "pool")] == ["a.4", "a.3"]
    assert [name for name, _ in rank_turns({"b.0": 1.0}, TALK, "pool")] == ["b.0", "b.1"]


def test_a_session_with_more_hits_lifts_its_turns() -> None:
    assert rank_turns({"a.0": 1.0, "b.0": 1.0}, TALK, "pool")[0][0] == "a.0"  # as they come
    assert rank_turns({"a.0": 1.0, "b.0": 1.0, "b.4": 0.9}, TALK, "pool")[0][0] == "b.0"


def test_the_speaker_who_is_named_is_preferred() -> None:
    scores = {"a.0": 1.0, "b.0": 0.8}
    assert rank_turns(scores, TALK, "what did she say of the pool")[0][0] == "a.0"
    assert rank_turns(scores, TALK, "what did Grace say of the pool")[0][0] == "b.0"
    assert rank_turns(scores, TALK, "what did Grace tell Ada of the pool")[0][0] == "a.0"  # both: no help


def test_the_date_that_is_named_is_preferred() -> None:
    scores = {"a.0": 1.0, "b.0": 0.9}
    assert rank_turns(scores, TALK, "pool")[0][0] == "a.0"
    assert rank_turns(scores, TALK, "pool in June 2024")[0][0] == "b.0"
    assert rank_sessions(scores, TALK, "pool")[0][0] == "a"
    assert rank_sessions(scores, TALK, "pool in June 2024")[0][0] == "b"
    assert rank_sessions(scores, TALK, "pool in June 2023")[0][0] == "a"


def test_one_sure_turn_is_worth_more_than_many_weak_ones() -> None:
    assert rank_sessions({"a.0": 1.0, **{f"b.{n}": 0.3 for n in range(5)}}, TALK, "pool")[0][0] == "a"
    assert rank_sessions({"a.0": 1.0, **{f"b.{n}": 0.8 for n in range(3)}}, TALK, "pool")[0][0] == "b"


def test_nothing_found_is_nothing() -> None:
    assert rank_turns({}, TALK, "Grace in June 2024") == []
    assert rank_sessions({"elsewhere": 1.0}, TALK, "pool") == []
    assert rank_turns({"a.0": 1.0}, TALK, "pool")  # the control


@pytest.mark.parametrize(
    ("query", "dates"),
    [
        ("since 2024-05", [(2024, 5, None)]),
        ("on 2024-05-07", [(2024, 5, 7)]),
        ("on 7 May 2024", [(2024, 5, 7)]),
        ("on May 7th, 2024", [(2024, 5, 7)]),
        ("in june", [(None, 6, None)]),
        ("between 3rd of July and 4 August", [(None, 7, 3), (None, 8, 4)]),
        ("what may be the reason", []),
        ("the mayor marched in 2024", []),
        ("build 2024-13", []),
    ],
)
def test_dates_of_a_query(query: str, dates: list[tuple[int | None, int, int | None]]) -> None:
    assert list(named_dates(query)) == dates


def test_speakers_of_a_query() -> None:
    assert named_speaker("what did the user ask", {"user", "assistant"}) == "user"
    assert named_speaker("did ada lovelace agree", {"Ada Lovelace", "Ada Byron"}) == "Ada Lovelace"
    assert named_speaker("did anybody agree", {"Ada Lovelace", ""}) is None


@settings(deadline=None)
@given(
    st.dictionaries(st.sampled_from([t.id for t in TALK]), st.just(0.0) | st.floats(0.01, 1e3)),
    st.floats(0.1, 1e3),
    st.text(),
)
def test_the_unit_of_the_scores_does_not_matter(scores: dict[str, float], unit: float, query: str) -> None:
    found = rank_turns(scores, TALK, query)
    assert [s for _, s in found] == sorted((s for _, s in found), reverse=True)
    again = rank_turns({name: score * unit for name, score in scores.items()}, TALK, query)
    assert dict(again) == pytest.approx(dict(found), abs=2e-6)
    assert {name.split(".")[0] for name, s in scores.items() if s} == {s for s, _ in rank_sessions(scores, TALK, query)}
