"""The records in memory: what is near is found, whatever its length, and nothing that was taken out."""

from __future__ import annotations

from unittest import mock

from hypothesis import example, given, settings
from hypothesis import strategies as st

from gitmem.app import claim_set
from gitmem.app.batch import Batch
from gitmem.app.claim_set import claims_of
from gitmem.app.facts import claim_of
from gitmem.model.nouns import Memory, Scope
from gitmem.policy.near import NEAR, alike, measure, near_sizes, similarity

WORDS = ("pool", "cache", "index", "branch", "socket", "retry", "thread", "queue", "buffer", "kernel", "proxy", "shard")
TEXT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12, unique=True).map(" ".join)


def memory(number: int, title: str, **more: str) -> Memory:
    return Memory(f"{number:012d}", "fact", title, "active", Scope("shop"), "human", **more)  # type: ignore[arg-type]


def near(one: Memory, other: Memory) -> bool:
    return similarity(f"{one.title}\n{one.body}", f"{other.title}\n{other.body}") >= NEAR


@settings(deadline=None, max_examples=200)
@given(st.lists(TEXT, max_size=30), TEXT, st.sampled_from((0, 3, 1000)))
@example(["pool cache index branch socket retry thread queue buffer kernel"], "pool cache index branch socket retry", 9)
@example(["pool cache index branch socket retry"], "pool cache index branch socket retry thread queue buffer kernel", 9)
def test_all_that_is_near_is_offered_and_only_that(titles: list[str], asked: str, common: int) -> None:
    stored = [memory(number, title) for number, title in enumerate(titles)]
    wanted = memory(999, asked)
    with mock.patch.object(claim_set, "_COMMON", common):  # of more texts than so many, a word is listed by size
        offered = {claim.id for claim in claims_of(stored, "main").candidates(wanted)}
    assert offered == {other.id for other in stored if near(wanted, other)}


PLACED = st.tuples(TEXT, st.sampled_from(("", "1.2.0, Changed", "1.3.0, Fixed", "pool cache")))


def placed(number: int, said: tuple[str, str]) -> Memory:
    title, place = said
    return memory(number, title, body=f"{place}\n\n{title}" if place else "")


@settings(deadline=None, max_examples=200)
@given(st.lists(PLACED, max_size=20), PLACED)
@example([("pool cache index", ""), ("pool cache index", "1.2.0, Changed")], ("pool cache index", "1.3.0, Fixed"))
@example([("pool cache index", "1.3.0, Fixed")], ("pool cache index", ""))
def test_a_heading_hides_nothing_from_what_has_none(notes: list[tuple[str, str]], asked: tuple[str, str]) -> None:
    stored, wanted = [placed(number, note) for number, note in enumerate(notes)], placed(999, asked)
    held = claims_of(stored, "main")
    offered = [claim.id for claim in held.candidates(wanted)]
    assert sorted(offered) == [m.id for m in stored if alike((wanted.title, wanted.body), (m.title, m.body)) >= NEAR]
    for other in stored:
        held.remove("main", other.id)
    assert not list(held.candidates(wanted)) and not len(held)


@given(st.integers(1, 60), st.integers(1, 60), st.data())
def test_the_sizes_leave_out_nothing_that_is_near(count: int, other: int, data: st.DataObject) -> None:
    shared = data.draw(st.integers(0, min(count, other)))
    missing = data.draw(st.integers(0, count - shared))
    if measure(shared, count - shared, other - shared) >= NEAR:
        assert other in near_sizes(count, missing)
    assert not near_sizes(count, count)


def test_a_record_is_replaced_and_removed() -> None:
    held = claims_of([memory(1, "the pool keeps twenty sockets open")], "main")
    asked = memory(2, "the pool keeps twenty sockets open")
    assert [claim.id for claim in held.candidates(asked)] == ["000000000001"] and held.same(asked)
    held.add(claim_of(memory(1, "money is kept in cents"), "main"))
    assert list(held.candidates(asked)) == [] and held.same(asked) is None and len(held) == 1
    held.remove("main", "000000000001")
    assert list(held.candidates(memory(3, "money is kept in cents"))) == [] and len(held) == 0


def test_keys_are_held_until_their_record_goes() -> None:
    held = claims_of([memory(1, "Python is 3.12", key="python.version")], "main")
    assert list(held.key_holders("python.version")) == ["000000000001"]
    held.remove("main", "000000000001")
    assert list(held.key_holders("python.version")) == []


def test_a_batch_of_any_length_sees_what_came_before() -> None:
    batch = Batch()
    asked = memory(999, "alpha3 bravo3 charlie3 delta3 echo3")
    for number in range(40):
        batch.add(memory(number, f"alpha{number} bravo{number} charlie{number} delta{number} echo{number}"))
        found = [claim.id for claim in batch.candidates(asked) if near(asked, memory(0, claim.title))]
        assert found == (["000000000003"] if number >= 3 else []), number
    batch.add(memory(50, "Python is 3.12", key="python.version"))
    assert [other.id for other in batch.with_key("python.version")] == ["000000000050"]
