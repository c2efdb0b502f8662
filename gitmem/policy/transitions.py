"""Which operation may move a memory from which state to which: one table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gitmem.model.judgement import Reason
from gitmem.model.vocabulary import STATUSES, VISIBLE, Op

_SHOWN: Final = tuple(VISIBLE)
_NEW: Final = "new"  # stands for "there is no record yet"
Moves = Mapping[str, tuple[str, ...]]


def _each(states: tuple[str, ...], *to: str) -> Moves:
    return dict.fromkeys(states, to)


def _stay(states: tuple[str, ...]) -> Moves:
    return {state: (state,) for state in states}


# `wrong` is terminal but for a lift. A merge carries what was decided elsewhere, so it may reach any state; only
# out of `wrong` it leads nowhere. A redaction removes text and moves nothing.
TRANSITIONS: Final[Mapping[Op, Moves]] = {
    "create": _each((_NEW,), "active", "candidate"),
    "import": _each((_NEW,), "active", "candidate", "quarantined"),
    "edit": _stay((*_SHOWN, "candidate", "disputed")),
    "accept": _each(("candidate", "quarantined"), "active"),
    "reject": _each(tuple(s for s in STATUSES if s != "wrong"), "wrong"),
    "supersede": _each((*_SHOWN, "disputed"), "superseded"),
    "retract": _each((*_SHOWN, "candidate", "quarantined", "disputed"), "archived"),
    "archive": _each(_SHOWN, "archived"),
    "restore": _each(("archived", "disputed", "maybe_stale", "stale"), "active"),
    "dispute": _each(_SHOWN, "disputed"),
    "mark": {"active": ("maybe_stale", "stale"), "maybe_stale": ("stale",)},
    "lift": {"wrong": ("active", "candidate")},  # a candidate that was rejected waits again
    "merge": {**_each((_NEW, *(s for s in STATUSES if s != "wrong")), *STATUSES), "wrong": ("wrong",)},
    "redact": _stay(STATUSES),
}


def legal_moves(status: str | None) -> Mapping[Op, str]:
    """What may be done to a memory of this state (None: there is none yet), and the state that it leads to.

    Where an operation may lead to several, they are joined by "|". An unknown state has no moves.
    """
    state = _NEW if status is None else status
    return {op: "|".join(moves[state]) for op, moves in TRANSITIONS.items() if state in moves}


def check_move(op: Op, before: str | None, after: str) -> Reason | None:
    """None when `op` may move a memory from `before` to `after`; else why not, with the moves there are."""
    if after in TRANSITIONS.get(op, {}).get(_NEW if before is None else before, ()):
        return None
    named = "a memory that does not exist yet" if before is None else f"a memory that is {_known(before)}"
    legal = ", ".join(f"{name} (to {to})" for name, to in legal_moves(before).items()) or "nothing"
    return Reason(
        code="status.move",
        message=f"{_known_op(op)} cannot move {named} to {_known(after)}",
        hint=f"from here: {legal}",
        where="status",
    )


def _known(status: str) -> str:
    return status if status in STATUSES else "an unknown state"


def _known_op(op: Op) -> str:
    return op if op in TRANSITIONS else "this operation"
