"""The one predicate: asking for more never shows more."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.model.judgement import Viewer
from gitmem.model.nouns import Scope, Valid
from gitmem.model.vocabulary import AUDIENCES, STATUSES, VISIBLE
from gitmem.policy.visibility import visible, withheld_view
from tests.policy.builders import NOW, memory

VIEWER = Viewer(frozenset({"shop-k3x9qd"}))


def test_only_the_visible_states_are_shown() -> None:
    lens = visible(VIEWER, at=NOW)
    shown = {status for status in (*STATUSES, "levitating") if lens.admits(memory(status=status))}
    assert shown == set(VISIBLE)


def test_asking_for_a_withheld_or_unknown_state_shows_nothing_of_it() -> None:
    lens = visible(VIEWER, at=NOW, statuses=["active", "candidate", "wrong", "levitating"])
    assert lens.statuses == {"active"}
    assert not visible(VIEWER, at=NOW, statuses=["candidate"]).admits(memory(status="candidate"))
    assert lens.admits(memory())


def test_a_viewer_of_no_project_sees_nothing() -> None:
    assert visible(VIEWER, at=None).admits(memory())
    assert not visible(Viewer(frozenset()), at=None).admits(memory())
    assert not withheld_view(Viewer(frozenset()), STATUSES).admits(memory())


def test_other_projects_and_audiences_stay_hidden() -> None:
    lens = visible(VIEWER, at=None)
    assert lens.admits(memory())
    assert not lens.admits(memory(scope=Scope("bank-000000")))
    assert not lens.admits(memory(scope=Scope("shop-k3x9qd", "private")))
    everybody = visible(Viewer(VIEWER.projects, frozenset({*AUDIENCES, "world"})), at=None)
    assert everybody.admits(memory(scope=Scope("shop-k3x9qd", "private")))
    assert not everybody.admits(memory(scope=Scope("shop-k3x9qd", "world")))  # type: ignore[arg-type]


def test_validity_is_asked_only_when_an_instant_is_given() -> None:
    ended = memory(valid=Valid("2026-01-01", "2026-02-01"))
    assert not visible(VIEWER, at=NOW).admits(ended)
    assert visible(VIEWER, at=NOW - timedelta(days=40)).admits(ended)
    assert visible(VIEWER, at=None).admits(ended)


def test_withheld_states_need_their_own_function_and_stay_in_scope() -> None:
    lens = withheld_view(VIEWER, ["candidate", "wrong", "levitating"])
    assert lens.statuses == {"candidate", "wrong"}
    assert lens.admits(memory(status="candidate"))
    assert not lens.admits(memory(status="candidate", scope=Scope("bank-000000")))
    assert not lens.admits(memory(status="active"))


@settings(deadline=None)
@given(st.lists(st.text(max_size=12) | st.sampled_from(STATUSES)), st.sampled_from([*STATUSES, "x"]))
def test_nothing_widens(statuses: list[str], status: str) -> None:
    record = memory(status=status)
    if visible(VIEWER, at=None, statuses=statuses).admits(record):
        assert status in VISIBLE and status in statuses
