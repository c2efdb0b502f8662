"""Three-way merge of one memory: laws that hold for any two edits, and what becomes of each field."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.model.nouns import HumanRef, Link, Memory, Scope, Step, Valid
from gitmem.model.vocabulary import STATUSES, VISIBLE
from gitmem.share.memory import MergedMemory, Side, merged_memory
from gitmem.share.status import LATTICE, merged_status

BASE = Memory(
    id="7k3q9dxwm2ab",
    kind="plan",
    title="Move the pool",
    status="active",
    scope=Scope("shop-k3x9qd"),
    origin="human",
    body="one\ntwo\nthree\nfour\nfive",
    tags=("a", "b"),
    steps=(Step("dig"), Step("fill")),
    links=(Link("relates_to", "2m8r4cvte9hk"),),
    evidence=(HumanRef("so it is", "0" * 64),),
)
_words = st.sampled_from(["", "x", "y", "one\ntwo", "one\n2\nthree\nfour\nfive", "one\ntwo\nthree\nfour\n5"])
_tags = st.lists(st.sampled_from("abcdef"), unique=True, max_size=4).map(tuple)
_instants = st.sampled_from([None, "2026-01-01", "2026-02-01", "2026-03-01T10:00:00Z"])
_memories = st.builds(
    lambda title, body, status, tags, paths, valid, links, steps, origin: replace(
        BASE, title=title, body=body, status=status, tags=tags, applies_to=paths, valid=valid, links=links,
        steps=steps, origin=origin,
    ),
    title=st.sampled_from([BASE.title, "Move it", "Leave it"]),
    body=st.one_of(st.just(BASE.body), _words),
    status=st.sampled_from(STATUSES),
    tags=_tags,
    paths=_tags,
    valid=st.builds(Valid, start=_instants, until=_instants),
    links=st.lists(
        st.builds(Link, type=st.sampled_from(["relates_to", "supersedes"]), to=st.sampled_from(["m" * 12, "n" * 12])),
        unique_by=lambda link: (link.type, link.to), max_size=2,
    ).map(tuple),
    steps=st.lists(
        st.builds(Step, text=st.sampled_from(["dig", "fill", "swim"]), done=st.booleans()),
        unique_by=lambda step: step.text, max_size=3,
    ).map(tuple),
    origin=st.sampled_from(["human", "observed", "inferred", "external"]),
)  # fmt: skip
_lasts = st.sampled_from(["", "01", "02"])


def merged(base: Memory | None, ours: Memory, theirs: Memory, a: str = "02", b: str = "01") -> MergedMemory:
    return merged_memory(base, Side(ours, a), Side(theirs, b))


@settings(deadline=None)
@given(st.one_of(st.none(), _memories), _memories, _memories, _lasts, _lasts)
def test_it_does_not_matter_who_merges(base: Memory | None, ours: Memory, theirs: Memory, a: str, b: str) -> None:
    assert merged(base, ours, theirs, a, b) == merged(base, theirs, ours, b, a)


@settings(deadline=None)
@given(st.one_of(st.none(), _memories), _memories)
def test_the_same_on_both_sides_stays_as_it_is(base: Memory | None, side: Memory) -> None:
    assert merged(base, side, side).memory == side


@settings(deadline=None)
@given(_memories, _memories)
def test_a_side_that_changed_nothing_yields(base: Memory, side: Memory) -> None:
    done = merged(base, side, base)
    assert done.memory == side
    assert done.apart == ()


@settings(deadline=None)
@given(_memories, _memories, _memories)
def test_merging_again_changes_nothing(base: Memory, ours: Memory, theirs: Memory) -> None:
    once = merged(base, ours, theirs).memory
    assert merged(ours, once, ours).memory == once
    assert merged(theirs, once, theirs).memory == once


_EDITS = (
    lambda memory, tags, text: replace(memory, title=text or "t"),
    lambda memory, tags, text: replace(memory, body=text),
    lambda memory, tags, text: replace(memory, tags=(*memory.tags, *(f"t{tag}" for tag in tags))),
    lambda memory, tags, text: replace(memory, applies_to=(*memory.applies_to, *tags)),
    lambda memory, tags, text: replace(memory, cue=text or None),
    lambda memory, tags, text: replace(memory, steps=(*memory.steps, Step(f"s{text}"))),
    lambda memory, tags, text: replace(memory, status="stale"),
    lambda memory, tags, text: replace(memory, valid=Valid("2026-01-01", None)),
)


@settings(deadline=None)
@given(st.permutations(range(len(_EDITS))), st.lists(_tags, min_size=3, max_size=3), _words)
def test_disjoint_edits_may_be_merged_in_any_order(order: list[int], tags: list[tuple[str, ...]], text: str) -> None:
    one, two, three = (_EDITS[number](BASE, tags[at], text) for at, number in enumerate(order[:3]))
    left = merged(BASE, merged(BASE, one, two).memory, three)
    right = merged(BASE, one, merged(BASE, two, three).memory)
    assert left.memory == right.memory
    assert left.apart == right.apart == ()


@settings(deadline=None)
@given(_tags, _tags, _tags)
def test_added_to_one_list_by_three_it_is_one_list(a: tuple[str, ...], b: tuple[str, ...], c: tuple[str, ...]) -> None:
    sides = [replace(BASE, tags=(*BASE.tags, *(f"t{tag}" for tag in tags))) for tags in (a, b, c)]
    left = merged(BASE, merged(BASE, sides[0], sides[1]).memory, sides[2]).memory
    right = merged(BASE, sides[0], merged(BASE, sides[1], sides[2]).memory).memory
    assert set(left.tags) == set(right.tags) == {*BASE.tags, *(f"t{tag}" for tag in (*a, *b, *c))}


@settings(deadline=None)
@given(_memories, _memories, _memories)
def test_nothing_is_lost_in_silence(base: Memory, ours: Memory, theirs: Memory) -> None:
    done = merged(base, ours, theirs)
    for name in ("title", "body"):
        for side in (ours, theirs):
            changed = getattr(side, name) != getattr(base, name)
            if changed and name in done.apart:
                assert getattr(done.memory, name) == getattr(side, name) or done.lost == side
    if done.apart:
        assert done.lost is not None
        assert done.memory.status not in VISIBLE


def test_fields_that_do_not_touch_are_united() -> None:
    ours = replace(BASE, tags=("b", "c"), body="one\n2\nthree\nfour\nfive")
    theirs = replace(BASE, title="Move the pool away", tags=("a", "b", "d"), body="one\ntwo\nthree\nfour\n5")
    done = merged(BASE, ours, theirs)
    assert done.memory == replace(BASE, title="Move the pool away", tags=("b", "c", "d"), body="one\n2\nthree\nfour\n5")
    assert done.lost is None


def test_a_text_that_both_changed_is_disputed_and_the_other_one_is_kept() -> None:
    ours, theirs = replace(BASE, title="Move it"), replace(BASE, title="Leave it", tags=("z",))
    done = merged(BASE, ours, theirs)
    assert (done.memory.title, done.memory.status, done.apart, done.lost) == ("Move it", "disputed", ("title",), theirs)
    assert done.memory.tags == ("z",)
    later = merged(BASE, ours, theirs, "01", "02")
    assert (later.memory.title, later.lost) == ("Leave it", ours)


@pytest.mark.parametrize("status", ["wrong", "archived", "superseded"])
def test_what_one_side_withheld_keeps_the_text_that_it_was_withheld_for(status: str) -> None:
    ours, theirs = replace(BASE, status=status), replace(BASE, body="another")
    for a, b in (("01", "02"), ("02", "01")):
        done = merged(BASE, ours, theirs, a, b)
        assert (done.memory.status, done.memory.body, done.lost) == (status, BASE.body, theirs)
    # The control: tags say nothing, and nothing is kept apart for them.
    tagged = merged(BASE, ours, replace(BASE, tags=("z",)))
    assert (tagged.memory.status, tagged.memory.tags, tagged.lost) == (status, ("z",), None)


def test_steps_that_are_done_are_done_and_new_ones_keep_their_place() -> None:
    ours = replace(BASE, steps=(Step("measure"), Step("dig", True), Step("fill")))
    theirs = replace(BASE, steps=(Step("dig"), Step("fill", True)))
    assert merged(BASE, ours, theirs).memory.steps == (Step("measure"), Step("dig", True), Step("fill", True))


def test_a_time_that_both_narrowed_is_the_narrower_one() -> None:
    ours = replace(BASE, valid=Valid("2026-01-01", "2026-06-01"))
    theirs = replace(BASE, valid=Valid("2026-02-01", "2026-07-01"))
    assert merged(BASE, ours, theirs).memory.valid == Valid("2026-02-01", "2026-06-01")
    apart = merged(BASE, ours, replace(BASE, valid=Valid("2026-06-01", None)))
    assert (apart.apart, apart.memory.status) == (("valid",), "disputed")


def test_a_list_that_grew_too_long_is_kept_apart() -> None:
    ours = replace(BASE, tags=tuple(f"a{n}" for n in range(20)))
    theirs = replace(BASE, tags=tuple(f"b{n}" for n in range(20)))
    done = merged(BASE, ours, theirs)
    assert (done.memory.tags, done.apart, done.lost) == (ours.tags, ("tags",), theirs)
    assert len(merged(BASE, ours, replace(BASE, tags=("b0",))).memory.tags) == 21


def test_of_two_texts_in_one_the_origin_is_the_lower() -> None:
    ours = replace(BASE, body="one\n2\nthree\nfour\nfive")
    theirs = replace(BASE, body="one\ntwo\nthree\nfour\n5", origin="inferred")
    assert merged(BASE, ours, theirs).memory.origin == "inferred"
    assert merged(BASE, ours, replace(BASE, tags=())).memory.origin == "human"


@settings(deadline=None)
@given(st.sampled_from(STATUSES), st.sampled_from(STATUSES), st.sampled_from(STATUSES), st.booleans(), st.booleans())
def test_withholding_wins(base: str, ours: str, theirs: str, ours_says: bool, theirs_says: bool) -> None:
    assert set(LATTICE) == set(STATUSES)
    found = merged_status(base, ours, theirs, ours_says=ours_says, theirs_says=theirs_says)
    assert found == merged_status(base, theirs, ours, ours_says=theirs_says, theirs_says=ours_says)
    if base not in (ours, theirs) and "wrong" in (ours, theirs):
        assert found == "wrong"
    if found in VISIBLE and ours not in VISIBLE:
        # Nothing becomes visible but what one side let in as it was.
        assert base == ours and not ours_says
    assert merged_status("active", "unheard", "wrong", ours_says=False, theirs_says=False) == "unheard"


def test_what_was_let_in_is_not_what_the_other_side_made_of_it() -> None:
    waiting = replace(BASE, status="candidate")
    accepted, edited = replace(waiting, status="active"), replace(waiting, body="another")
    assert merged(waiting, accepted, edited).memory.status == "candidate"
    assert merged(waiting, accepted, replace(waiting, tags=("z",))).memory.status == "active"
