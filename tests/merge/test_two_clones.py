"""Two clones that changed the same memories and are merged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gitmem.app.merge import Merged
from tests.conftest import git
from tests.verify.forge import Branch, Shop

COMMIT = ("--evidence", "commit:HEAD")
EVENING = 'human:"in the evening"'


def _tree(repo: object, revision: str) -> str:
    return git(repo, "rev-parse", f"{revision}^{{tree}}").strip()  # type: ignore[arg-type]


def test_what_does_not_touch_is_united(shop: Shop, other: Shop, branch: Branch, merge: Callable[..., Merged]) -> None:
    shop.ok("edit", shop.ids["retries"], "--tag", "x", "--because", "sorted")
    other.ok("edit", shop.ids["retries"], "--tag", "y", "--because", "sorted too")
    other.remember("theirs", "The warehouse counts stock at midnight", *COMMIT)
    done = merge(moves=False)
    back = merge(back=True, moves=False)
    assert (done.result, done.records, done.conflicts, done.disputes) == ("merged", 1, (), ())
    assert _tree(shop.repo, done.commit) == _tree(other.repo, back.commit)
    branch.move(done.commit)
    assert set(branch.memory(shop.ids["retries"]).tags) == {"x", "y"}
    assert shop.codes() == []
    assert other.ids["theirs"] in shop.listed() and shop.ids["retries"] in shop.listed()
    assert shop.unbelieved() == []
    assert branch.events(shop.ids["retries"])[-1][1].op == "merge"


def test_a_text_that_both_changed_is_disputed_and_both_are_kept(
    shop: Shop, other: Shop, branch: Branch, merge: Callable[..., Merged]
) -> None:
    """B060: never markers in a file, never the last writer alone; it does not matter who syncs first."""
    identifier = shop.ids["retries"]
    shop.ok("edit", identifier, "--title", "The pool retries the connect 20 times", "--tag", "x", "--because", "seen")
    other.ok("edit", identifier, "--title", "The pool retries the connect 50 times", "--tag", "y", "--because", "seen")
    done, back = merge(moves=False), merge(back=True, moves=False)
    assert _tree(shop.repo, done.commit) == _tree(other.repo, back.commit)
    assert (done.conflicts, done.disputes) == ((identifier,), ())
    branch.move(done.commit)
    merged = branch.memory(identifier)
    assert (merged.title, set(merged.tags), merged.status) == (
        "The pool retries the connect 50 times", {"x", "y"}, "disputed"
    )  # fmt: skip
    (kept,) = branch.paths("conflicts/")
    assert b"20 times" in branch.read(kept)
    assert shop.codes() == [] and shop.unbelieved() == []
    assert identifier not in shop.recalled("pool retries connect")


def test_both_superseded_it(shop: Shop, other: Shop, branch: Branch, merge: Callable[..., Merged]) -> None:
    old = shop.ids["tuesday"]
    for clone, day in ((shop, "Thursday"), (other, "Friday")):
        said = f"We deploy on {day} mornings now"
        clone.ok("supersede", old, said, "--because", "it moved", "--evidence", f'human:"we deploy on {day}s"')
    done = merge()
    assert len(done.disputes) == 2 and old not in done.disputes
    assert branch.memory(old).status == "superseded"
    assert set(branch.memory(old).linked("superseded_by")) == set(done.disputes)
    assert {branch.memory(identifier).status for identifier in done.disputes} == {"disputed"}
    assert shop.codes() == [] and shop.unbelieved() == []


def test_one_key_given_twice(shop: Shop, other: Shop, branch: Branch, merge: Callable[..., Merged]) -> None:
    shop.remember("mine", "Invoices are numbered by the year", *COMMIT, "--key", "invoice.number")
    other.remember("theirs", "Bills carry a number of the month", *COMMIT, "--key", "invoice.number")
    done = merge()
    assert set(done.disputes) == {shop.ids["mine"], other.ids["theirs"]}
    assert shop.codes() == [] and shop.unbelieved() == []
    assert done.disputes[0] not in shop.listed()


def test_what_one_side_rejected_stays_rejected(
    shop: Shop, other: Shop, branch: Branch, merge: Callable[..., Merged]
) -> None:
    """B061, B096: an edit of a rejected memory is kept for review and is no resurrection."""
    identifier = shop.ids["tuesday"]
    shop.ok("wrong", identifier, "--because", "it is Thursday now")
    other.ok("edit", identifier, "--title", "Deploys go out on Tuesday evenings", "--because", "later", "-e", EVENING)
    other.remember("fine", "The warehouse counts stock at midnight", *COMMIT)
    shop.remember("night", "Backups are taken at four at night", *COMMIT)
    shop.ok("wrong", shop.ids["night"], "--because", "they are taken at five")
    other.remember("again", "Backups are taken at four at night.", *COMMIT)
    apart = ("--distinct-from", other.ids["again"], "--because", "a test")
    other.remember("nearly", "The backups are taken at four at night", *COMMIT, *apart)
    done = merge()
    assert branch.memory(identifier).status == "wrong"
    assert branch.memory(identifier).title == "Deploys go out on Tuesday mornings"
    assert identifier in done.conflicts
    assert branch.memory(other.ids["again"]).status == "wrong"
    assert branch.memory(other.ids["nearly"]).status == "disputed"
    assert other.ids["fine"] in shop.listed()
    assert shop.codes() == [] and shop.unbelieved() == []


def test_a_lift_that_saw_the_rejection_wins(
    shop: Shop, other: Shop, branch: Branch, merge: Callable[..., Merged]
) -> None:
    identifier = shop.ids["idle"]
    shop.ok("wrong", identifier, "--because", "they are not")
    merge(back=True)
    shop.ok("lift", identifier, "--because", "they are after all")
    other.remember("theirs", "The warehouse counts stock at midnight", *COMMIT)
    done = merge()
    assert done.result == "merged"
    assert branch.memory(identifier).status == "active"
    assert shop.codes() == [] and shop.unbelieved() == []


def test_after_both_merged_each_other_the_base_is_what_both_made(
    shop: Shop, other: Shop, branch: Branch, merge: Callable[..., Merged]
) -> None:
    """Two merge bases, in which the memory reads otherwise: what was settled between them is not a conflict again."""
    identifier = shop.ids["retries"]
    # The one with the later event has the word, and its text is the lesser of the two.
    for clone, times in ((shop, "80"), (other, "20")):
        clone.ok("edit", identifier, "--title", f"The pool retries the connect {times} times", "--because", "seen")
    here, there = merge(moves=False), merge(back=True, moves=False)
    branch.move(here.commit)
    Branch(other.repo).move(there.commit)
    shop.ok("edit", identifier, "--title", "The pool retries the connect as often as told", "--because", "read it")
    other.ok("edit", identifier, "--tag", "pool", "--because", "sorted")
    done = merge()
    assert len(git(shop.repo, "merge-base", "--all", f"{done.commit}^1", f"{done.commit}^2").split()) == 2
    assert done.conflicts == ()
    memory = branch.memory(identifier)
    assert (memory.title, memory.tags) == ("The pool retries the connect as often as told", ("pool",))
    assert shop.codes() == []


def test_absence_is_no_deletion(shop: Shop, other: Shop, branch: Branch, merge: Callable[..., Merged]) -> None:
    """B061: a clone that lost its files takes nothing from anybody, and what is new here is not taken for deleted."""
    theirs = Branch(other.repo)
    theirs.commit(dict.fromkeys(theirs.paths("memories/")), message="cleaned up")
    mine = shop.remember("mine", "Invoices are numbered by the year", *COMMIT)
    merge()
    assert {mine, *shop.ids.values()} == {path[-17:-5] for path in branch.paths("memories/")}
    assert "memory.removed" in shop.codes()  # by the commit that did it, which no reader believes


def test_what_a_hand_adds_to_a_merge_is_named(
    shop: Shop, other: Shop, branch: Branch, merge: Callable[..., Merged]
) -> None:
    shop.ok("edit", shop.ids["retries"], "--tag", "x", "--because", "sorted")
    other.ok("edit", shop.ids["retries"], "--tag", "y", "--because", "sorted too")
    mine = branch.tip()
    done = merge()
    theirs = git(shop.repo, "rev-parse", f"{done.commit}^2").strip()
    assert shop.codes() == []
    memory = branch.memory(shop.ids["idle"])
    archived = replace(memory, status="archived")
    edits = branch.with_event(branch.event("archive", archived, memory), archived)
    branch.move(branch.commit_tree(branch.tree_with(edits), mine, theirs))
    assert shop.codes() == ["merge.own"]
    # With a third parent nothing is explained but what is as on a side.
    tree = git(shop.repo, "rev-parse", f"{done.commit}^{{tree}}").strip()
    branch.move(branch.commit_tree(tree, mine, theirs, f"{mine}^"))
    assert "merge.own" in shop.codes()
    branch.move(done.commit)
    assert shop.codes() == []
