"""recall, list, key and what they bring, over an index that holds records of every state, project, audience and time:
one may be seen; without a project, none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gitmem.app.ground import Ground
from gitmem.app.read_filters import Filters
from gitmem.app.reading import key_value, listing
from gitmem.app.recalling import Asked, recall
from gitmem.errors import NotFound
from gitmem.model.frozen import replace
from gitmem.model.judgement import Viewer
from gitmem.model.nouns import Memory
from gitmem.model.vocabulary import STATUSES
from tests.app.test_unasked_scope import HIDDEN, memories, stood

__all__ = ["stood"]
SHOP, DEPOT, NOBODY = (Viewer(frozenset(names)) for names in ({"shop"}, {"depot"}, ()))
Stood = Callable[..., Ground]


def records() -> dict[str, Memory]:
    return {name: replace(one, key="thing.key", tags=("t",), body="hidden") for name, one in memories("fact").items()}


def lanes(ground: Ground) -> dict[str, set[str]]:
    """The ids that each way of asking brings, and what belongs beside them."""

    def asked(**how: object) -> set[str]:
        items = recall(ground, Asked(("a thing hidden",), **how)).items  # type: ignore[arg-type]
        return {hit.id for item in items for hit in (item.hit, *(near.hit for near in item.beside))}

    def held() -> set[str]:
        try:
            return {memory.id for memory in key_value(ground, "thing.key")}
        except NotFound:
            return set()

    wide = Filters(limit=1000)
    return {
        "recall": asked(filters=wide),
        "recall --limit 1": asked(filters=Filters(limit=1)),
        "recall --path": asked(filters=replace(wide, path="src/pool.py")),
        "recall --phrase": asked(filters=wide, phrase=True) | asked(filters=replace(wide, tags=("t",))),
        "list": {found.memory.id for found in listing(ground, wide).items},
        "list --path": {found.memory.id for found in listing(ground, replace(wide, path="src")).items},
        "key": held(),
    }  # fmt: skip


def test_one_may_be_seen_by_each_project_and_none_by_nobody(stood: Stood) -> None:
    known = records()
    for viewer, name in ((SHOP, "control"), (DEPOT, "other project")):
        for lane, found in lanes(stood(known, viewer)).items():
            assert found == ({known[name].id} if lane != "recall --phrase" else found & {known[name].id}), lane
    for viewer, refs in ((NOBODY, ("main",)), (SHOP, ("inbox", "tombstone")), (Viewer(frozenset({""})), ("main",))):
        assert not any(lanes(stood(known, viewer, refs)).values())


@pytest.mark.parametrize("audiences", [frozenset(), frozenset({"everybody"}), frozenset({"private"})])
def test_an_audience_that_is_empty_or_unknown_widens_nothing(stood: Stood, audiences: frozenset[str]) -> None:
    known = records()
    assert lanes(stood(known, SHOP))["recall"] == {known["control"].id}
    found = lanes(stood(known, Viewer(frozenset({"shop"}), audiences)))
    own = {known["private"].id} if "private" in audiences else set()
    assert found["recall"] == found["list"] == own


def test_history_shows_what_once_held_and_nothing_else(stood: Stood) -> None:
    known = records()
    names = {"control", "superseded", "wrong", "archived", "disputed", "expired", "not yet"}
    answer = recall(stood(known, SHOP), Asked(("a thing hidden",), Filters(limit=1000), history=True))
    assert {item.hit.id for item in answer.items} == {known[name].id for name in names}
    marks = {item.hit.id: item.earlier for item in answer.items}
    assert [name for name in names if not marks[known[name].id]] == ["control"]
    assert recall(stood(known, NOBODY), Asked(("a thing hidden",), history=True)).items == ()


def test_a_state_that_is_named_is_listed_within_the_scope(stood: Stood) -> None:
    known = records()
    for status in STATUSES:
        found = {one.memory.id for one in listing(stood(known, SHOP), Filters(statuses=(status,), limit=100)).items}
        assert known["other project"].id not in found
        wanted = {"active": {"control", "expired", "not yet"}}.get(status, {status} & HIDDEN.keys())
        assert found == {known[name].id for name in wanted}
    every = {one.memory.id for one in listing(stood(known, SHOP), Filters(statuses=("all",), limit=100)).items}
    outside = {"other project", "private", "user", "a word of tomorrow"}
    assert every == {one.id for name, one in known.items() if name not in outside}
    assert listing(stood(known, NOBODY), Filters(statuses=("all",), limit=100)).items == ()


def test_what_an_abstention_counts_is_of_this_scope(stood: Stood) -> None:
    known = records()
    del known["control"], known["expired"], known["not yet"]
    (one,) = recall(stood(known, SHOP), Asked(("a thing hidden",))).abstained.values()
    assert set(one.withheld) == {"candidate", "quarantined", "disputed", "superseded", "wrong", "archived"}
    assert set(one.withheld.values()) == {1}
    (other,) = recall(stood(known, NOBODY), Asked(("a thing hidden",))).abstained.values()
    assert (other.withheld, other.searched) == ({}, 0)
