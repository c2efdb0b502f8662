"""How much a verdict is worth, and what may be let in several at once: computed from what is known, never stored."""

from __future__ import annotations

from typing import Any

import pytest

from gitmem.model.judgement import Decision, Reason
from gitmem.model.nouns import Actor, Link
from gitmem.policy.review import review_level, self_approval, weighty
from tests.policy.builders import OTHER, facts, file_ref, move, neighbour, verified


@pytest.mark.parametrize(
    ("reviewer", "proposer", "level"),
    [
        (Actor("terminal"), Actor("agent"), 0),
        (Actor("terminal"), None, 0),
        (Actor("forge"), Actor("agent"), 0),
        (Actor("agent"), Actor("agent"), 0),
        (Actor("terminal", "ana"), Actor("agent"), 1),
        (Actor("terminal", "ana"), Actor("terminal", "ben"), 1),
        (Actor("terminal", "ana"), Actor("terminal", "ana"), 0),
        (Actor("terminal"), Actor("terminal", "ana"), 0),
    ],
)
def test_the_level_of_a_review(reviewer: Actor, proposer: Actor | None, level: int) -> None:
    found = review_level(reviewer, proposer)
    assert " a agent" not in found.label and "(a agent" not in found.label
    assert found.level == level and found.label.startswith("unproven" if level == 0 else "keyed")


def test_a_self_approval_is_told_only_where_two_can_be_told_apart() -> None:
    assert self_approval(Actor("terminal", "ana"), Actor("agent", "ana"))
    assert not self_approval(Actor("terminal", "ana"), Actor("agent", "ben"))
    assert not self_approval(Actor("terminal"), Actor("terminal")) and not self_approval(Actor("terminal", "ana"), None)


ADMIT = Decision("admit", (), "inferred")
REFUSE = Decision("refuse", (Reason("duplicate", "", ""),), "inferred")


def test_an_addition_that_nothing_speaks_against_is_of_low_risk() -> None:
    change = move("accept", "candidate", "active")
    assert weighty(change, facts(change), ADMIT) == ()


@pytest.mark.parametrize(
    ("fields", "known", "said"),
    [
        ({"kind": "convention"}, {}, "a convention tells readers what to do"),
        ({"kind": "decision"}, {}, "a decision tells readers what to do"),
        ({"key": "pool.size"}, {}, "it holds a key"),
        ({"origin": "external"}, {}, "its origin is external"),
        ({"origin": "imported"}, {}, "its origin is imported"),
        ({"links": (Link("supersedes", OTHER),)}, {}, "it replaces or contradicts another memory"),
        ({"links": (Link("contradicts", OTHER),)}, {}, "it replaces or contradicts another memory"),
        ({}, {"neighbours": (neighbour(),)}, "something says nearly the same"),
        ({}, {"neighbours": (neighbour(status="wrong", where="tombstone"),)}, "something says nearly the same"),
        ({}, {"resolutions": (verified(file_ref(), state="unobservable"),)}, "not all of its evidence stands"),
        ({"evidence": (file_ref(role="contradicts"),)}, {}, "some of its evidence speaks against it"),
    ],
)
def test_whatever_asks_for_thought_is_decided_alone(fields: dict[str, Any], known: dict[str, Any], said: str) -> None:
    change = move("accept", "candidate", "active", **fields)
    assert weighty(change, facts(change, **known), ADMIT) == (said,)


def test_what_the_gate_refuses_is_decided_alone() -> None:
    change = move("accept", "candidate", "active")
    assert weighty(change, facts(change), REFUSE) == ("the gate refuses it today",)
