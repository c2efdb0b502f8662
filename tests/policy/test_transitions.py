"""The table of moves, walked whole."""

from __future__ import annotations

import pytest

from gitmem.model.vocabulary import OPS, STATUSES, VISIBLE
from gitmem.policy.transitions import TRANSITIONS, check_move, legal_moves

STATES = (None, *STATUSES)


def test_every_cell_of_the_table() -> None:
    legal = {
        (op, before, after)
        for op in OPS
        for before in STATES
        for after in STATUSES
        if not check_move(op, before, after)
    }
    listed = {
        (op, before, after) for before in STATES for op, to in legal_moves(before).items() for after in to.split("|")
    }
    assert legal == listed
    assert len(legal) > 40


@pytest.mark.parametrize("op", ["create", "import"])
def test_a_new_record_needs_an_operation_that_makes_one(op: str) -> None:
    assert check_move(op, None, "candidate") is None  # type: ignore[arg-type]
    assert check_move(op, "candidate", "candidate") is not None  # type: ignore[arg-type]
    assert check_move("accept", None, "active") is not None


def test_wrong_is_terminal_but_for_a_lift() -> None:
    out = {op: to for op, to in legal_moves("wrong").items() if to != "wrong"}
    assert out == {"lift": "active|candidate"}
    assert all(legal_moves(state).get("reject") == "wrong" for state in STATUSES if state != "wrong")


def test_an_edit_moves_nothing() -> None:
    assert {state: to for state, to in ((s, legal_moves(s).get("edit")) for s in STATUSES) if to} == {
        state: state for state in (*VISIBLE, "candidate", "disputed")
    }


def test_what_is_quarantined_or_proposed_becomes_visible_only_by_acceptance() -> None:
    for state in ("candidate", "quarantined"):
        ways = {op for op, to in legal_moves(state).items() if set(to.split("|")) & VISIBLE.keys()}
        assert ways == {"accept", "merge"}


def test_an_illegal_move_names_the_legal_ones() -> None:
    reason = check_move("lift", "archived", "active")
    assert reason is not None and reason.code == "status.move"
    assert "restore (to active)" in reason.hint
    assert check_move("restore", "archived", "active") is None


def test_unknown_states_and_operations_have_no_moves() -> None:
    assert legal_moves("active") and not legal_moves("levitating")
    assert check_move("merge", "levitating", "active") is not None
    for op in ("policy", "refused"):
        assert op not in TRANSITIONS
        assert check_move(op, "active", "active") is not None  # type: ignore[arg-type]
