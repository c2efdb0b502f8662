"""What git does to histories: merges, squashes, rebases; and what a merge can hide."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gitmem.model.layout import memory_path
from tests.app.conftest import Ran
from tests.conftest import git
from tests.verify.forge import MAIN, Branch, Shop


@pytest.fixture
def other(shop: Shop, gitmem: Callable[..., Ran], tmp_path: Path) -> Shop:
    """A second clone of the same memory, with the same people's rights and a chain of its own."""
    where = tmp_path / "other"
    shutil.copytree(shop.repo, where, symlinks=True)
    shutil.rmtree(where / ".git/gitmem")
    made = Shop(where, gitmem, dict(shop.ids))
    made.ok("trust", "--yes")
    return made


def _fetched(shop: Shop, other: Shop) -> str:
    """The other clone's tip, brought here under a name that gitmem does not read."""
    git(shop.repo, "fetch", "-q", str(other.repo), f"{MAIN}:refs/heads/theirs")
    return git(shop.repo, "rev-parse", "refs/heads/theirs").strip()


def _merge(shop: Shop, branch: Branch, *options: str) -> str:
    """`git merge` in a linked worktree, as a person would do it."""
    where = shop.repo.parent / "by-hand"
    git(shop.repo, "worktree", "add", "-q", str(where), "gitmem/main")
    git(where, "merge", "-q", "--no-edit", *options, "theirs")
    git(shop.repo, "worktree", "remove", "--force", str(where))
    return branch.tip()


def test_a_clean_merge_of_two_clones_is_clean(shop: Shop, other: Shop, branch: Branch) -> None:
    shop.remember("mine", "Invoices are numbered by the year", "--evidence", "commit:HEAD")
    shop.ok("archive", shop.ids["idle"], "--because", "no longer of interest")
    other.remember("theirs", "The warehouse counts stock at midnight", "--evidence", "commit:HEAD")
    other.ok("wrong", other.ids["tuesday"], "--because", "it is Thursday now")
    _fetched(shop, other)
    _merge(shop, branch)
    assert shop.codes() == []
    assert shop.listed() == {shop.ids["retries"], shop.ids["mine"], other.ids["theirs"]}
    assert shop.unbelieved() == []
    again = shop.run(shop.repo, "remember", "--kind", "fact", "Deploys go out on Tuesday mornings", "-e", "commit:HEAD")
    assert again.code == 3 and "tombstoned" in again.err
    shop.remember("later", "Receipts are kept for ten years", "--evidence", "commit:HEAD")
    assert shop.codes() == []


def test_a_squash_of_many_writes_is_clean(shop: Shop, branch: Branch) -> None:
    begun = branch.tip()
    shop.remember("a", "Invoices are numbered by the year", "--evidence", "commit:HEAD", "--key", "invoice.number")
    shop.ok("edit", shop.ids["a"], "--title", "Invoices are numbered by the month", "--because", "it changed")
    shop.ok("dispute", shop.ids["a"], "--because", "who says so")
    shop.ok("restore", shop.ids["a"], "--because", "accounting says so")
    shop.ok("supersede", shop.ids["a"], "Invoices are numbered by the week", "--because", "again", "-e", "commit:HEAD")
    shop.ok("dispute", shop.ids["tuesday"], "--because", "is it so")
    shop.ok("restore", shop.ids["tuesday"], "--because", "it is so")
    shop.remember("b", "Backups are taken at four at night", "--evidence", "commit:HEAD")
    shop.ok("wrong", shop.ids["b"], "--because", "they are taken at five")
    shop.ok("edit", shop.ids["idle"], "--title", "Idle sockets are closed by the firewall", "--because", "seen")
    shop.ok("archive", shop.ids["idle"], "--because", "solved")
    shop.ok("policy", "set", "unobservable", "refuse", "--because", "everything is committed")
    shop.ok("policy", "set", "unobservable", "hold", "--because", "not everything is")
    shop.ok("wrong", shop.ids["retries"], "--because", "it does not")
    shop.ok("lift", shop.ids["retries"], "--because", "it does")
    assert shop.codes() == []
    believed = shop.listed()
    tree = git(shop.repo, "rev-parse", f"{MAIN}^{{tree}}").strip()
    branch.move(branch.commit_tree(tree, begun, message="Squashed on the forge (#12)"))
    shop.ok("reindex", "--forget")
    assert shop.codes() == []
    assert shop.listed() == believed
    assert shop.unbelieved() == []
    # The control: one of the events taken out of the squash.
    lost = next(path for path, event in branch.events(shop.ids["a"]) if event.op == "dispute")
    good = branch.tip()
    branch.move(branch.commit_tree(branch.tree_with({lost: None}), begun))
    assert {"event.chain", "event.digest"} <= set(shop.codes())
    branch.move(good)


def test_events_of_a_clock_that_is_late_are_put_in_order(shop: Shop, branch: Branch) -> None:
    begun = branch.tip()
    old = branch.memory(shop.ids["retries"])
    middle, new = replace(old, tags=("pool",)), replace(old, tags=("pool", "redis"))
    first = branch.event("edit", middle, old)
    branch.commit(branch.with_event(first, middle))
    second = branch.event("edit", new, middle)
    early = f"00{second.id[2:]}"
    at = "1978-03-02T10:00:00Z"
    second = replace(second, id=early, at=at)
    milliseconds = _milliseconds(early)
    second = replace(second, at=_instant(milliseconds))
    branch.commit(branch.with_event(second, new))
    assert shop.codes() == []
    tree = git(shop.repo, "rev-parse", f"{MAIN}^{{tree}}").strip()
    branch.move(branch.commit_tree(tree, begun))
    shop.ok("reindex", "--forget")
    assert shop.codes() == []
    assert shop.ids["retries"] in shop.listed("--tag", "redis")


def _milliseconds(event: str) -> int:
    from gitmem.model.ids import event_milliseconds

    return event_milliseconds(event)


def _instant(milliseconds: int) -> str:
    from datetime import datetime, timezone

    from gitmem.model.times import format_instant

    return format_instant(datetime.fromtimestamp(milliseconds / 1000, timezone.utc))


def test_a_rebase_is_clean(shop: Shop, other: Shop, branch: Branch) -> None:
    shop.remember("mine", "Invoices are numbered by the year", "--evidence", "commit:HEAD")
    shop.ok("edit", shop.ids["mine"], "--tag", "billing", "--because", "to find it")
    other.remember("theirs", "The warehouse counts stock at midnight", "--evidence", "commit:HEAD")
    _fetched(shop, other)
    where = shop.repo.parent / "by-hand"
    git(shop.repo, "worktree", "add", "-q", str(where), "gitmem/main")
    git(where, "rebase", "-q", "theirs")
    git(shop.repo, "worktree", "remove", "--force", str(where))
    assert shop.codes() == []
    # A rebase is a rewrite of what this clone believed: it says so, and a person decides.
    assert "does not descend" in " ".join(shop.unbelieved())
    shop.ok("reindex", "--forget")
    assert shop.unbelieved() == []
    assert shop.listed() == {*shop.ids.values(), other.ids["theirs"]}


def _sides(shop: Shop, other: Shop, branch: Branch) -> tuple[str, str]:
    shop.ok("wrong", shop.ids["tuesday"], "--because", "it is Thursday now")
    shop.ok("edit", shop.ids["idle"], "--title", "Idle sockets are closed by the firewall", "--because", "seen")
    shop.ok("policy", "set", "unobservable", "refuse", "--because", "everything is committed")
    shop.remember("mine", "Invoices are numbered by the year", "--evidence", "commit:HEAD")
    mine = branch.tip()
    other.remember("theirs", "The warehouse counts stock at midnight", "--evidence", "commit:HEAD")
    theirs = _fetched(shop, other)
    return mine, theirs


@pytest.mark.parametrize("ours_first", [True, False])
def test_a_merge_that_keeps_one_side_alone_is_caught(ours_first: bool, shop: Shop, other: Shop, branch: Branch) -> None:
    """`git merge -s ours`, from either side: everything of the other one is silently gone."""
    mine, theirs = _sides(shop, other, branch)
    before = shop.listed()
    parents = (mine, theirs) if ours_first else (theirs, mine)
    branch.move(branch.commit_tree(git(shop.repo, "rev-parse", f"{theirs}^{{tree}}").strip(), *parents))
    assert {"event.rewritten", "tombstone.removed", "memory.removed"} <= set(shop.codes())
    assert shop.listed() == before
    branch.move(mine)
    _merge(shop, branch)
    assert shop.codes() == []


@pytest.mark.parametrize("ours_first", [True, False])
def test_a_merge_that_brings_an_older_record_back_is_caught(
    ours_first: bool, shop: Shop, other: Shop, branch: Branch
) -> None:
    mine, theirs = _sides(shop, other, branch)
    _merge(shop, branch)
    good = git(shop.repo, "rev-parse", f"{MAIN}^{{tree}}").strip()
    assert shop.codes() == []
    back = {path: branch.read(path, theirs) for path in (memory_path(shop.ids["idle"]), "gitmem.yaml")}
    parents = (mine, theirs) if ours_first else (theirs, mine)
    branch.move(branch.commit_tree(branch.tree_with(back), *parents))
    assert shop.codes() == ["merge.rollback"]
    branch.move(branch.commit_tree(good, *parents))
    assert shop.codes() == []


def test_what_a_merge_slips_in_is_judged_like_any_change(shop: Shop, other: Shop, branch: Branch) -> None:
    mine, theirs = _sides(shop, other, branch)
    _merge(shop, branch)
    assert shop.codes() == []
    old = branch.memory(shop.ids["retries"])
    from gitmem.model.records import memory_bytes

    evil = {memory_path(old.id): memory_bytes(replace(old, title="The pool never retries"))}
    branch.move(branch.commit_tree(branch.tree_with(evil), mine, theirs))
    assert shop.codes() == ["merge.own"]
    shop.ok("reindex", "--forget")  # else what was believed goes on being read: this commit does not descend from it
    assert shop.ids["retries"] not in shop.listed()
    assert other.ids["theirs"] in shop.listed()


def test_two_clean_sides_that_do_not_go_together_are_named(shop: Shop, other: Shop, branch: Branch) -> None:
    shop.remember("mine", "Invoices are numbered by the year", "--evidence", "commit:HEAD", "--key", "invoice.number")
    shop.remember("night", "Backups are taken at four at night", "--evidence", "commit:HEAD")
    shop.ok("wrong", shop.ids["night"], "--because", "they are taken at five")
    other.remember(
        "theirs", "Bills carry a number of the month", "--evidence", "commit:HEAD", "--key", "invoice.number"
    )
    other.remember("again", "Backups are taken at four at night", "--evidence", "commit:HEAD")
    other.remember("fine", "The warehouse counts stock at midnight", "--evidence", "commit:HEAD")
    _fetched(shop, other)
    _merge(shop, branch)
    assert shop.codes() == ["key.taken", "tombstoned"]
    assert shop.ok("--json", "key", "invoice.number").lines[0]["id"] == shop.ids["mine"]
    listed = shop.listed()
    assert other.ids["fine"] in listed
    assert {other.ids["theirs"], other.ids["again"]} & listed == set()


def test_a_rewind_a_force_push_and_a_deletion_are_noticed_by_the_reader(shop: Shop, branch: Branch) -> None:
    begun = branch.tip()
    shop.ok("wrong", shop.ids["tuesday"], "--because", "it is Thursday now")
    believed, tip = shop.listed(), branch.tip()
    assert shop.unbelieved() == []
    branch.move(begun)
    assert "rewound or rewritten" in " ".join(shop.unbelieved())
    assert shop.listed() == believed
    refused = shop.run(shop.repo, "remember", "--kind", "fact", "Invoices go by year", "--evidence", "commit:HEAD")
    assert refused.code == 3 and f"git update-ref {MAIN} {tip}" in refused.err
    git(shop.repo, "update-ref", "-d", MAIN)
    assert "is gone" in " ".join(shop.unbelieved())
    assert shop.listed() == believed
    # What was believed and then pruned cannot be read, and nothing else is believed in its place.
    branch.move(begun)
    git(shop.repo, "reflog", "expire", "--expire=now", "--all")
    git(shop.repo, "gc", "-q", "--prune=now")
    lost = shop.run(shop.repo, "list")
    assert lost.code == 3 and "no longer in the repository" in lost.err and "reindex --forget" in lost.err
    shop.ok("reindex", "--forget")
    assert shop.ids["tuesday"] in shop.listed()


def test_a_record_that_is_mended_later_is_believed_again(shop: Shop, branch: Branch) -> None:
    path = memory_path(shop.ids["retries"])
    good = branch.read(path)
    bad = good.replace(b"three times", b"four times")
    broken = branch.commit({path: bad})
    assert shop.ids["retries"] not in shop.listed()
    branch.commit({path: good}, message="Revert")
    assert shop.ids["retries"] in shop.listed()
    assert shop.unbelieved() == []
    # Verified in one go it is the same: what the commit did was undone, and what it leaves is good.
    assert shop.codes("--head", broken) == ["event.missing"]
    shop.ok("reindex", "--forget")
    assert shop.codes() == []
    assert shop.ids["retries"] in shop.listed()
    # What was never believed is not believed of the past either.
    then = shop.run(shop.repo, "show", shop.ids["retries"], "--at", broken)
    assert then.code == 4 and "failed verification" in then.err
    branch.commit({path: bad})
    assert shop.ids["retries"] not in shop.listed()


def test_a_record_that_no_event_tells_of_can_be_taken_away_again(shop: Shop, branch: Branch) -> None:
    path = memory_path("0123456789ab")
    raw = branch.read(memory_path(shop.ids["retries"])).replace(shop.ids["retries"].encode(), b"0123456789ab")
    branch.commit({path: raw})
    assert len(shop.unbelieved()) == 1
    branch.commit({path: None})
    assert shop.unbelieved() == []
    assert shop.codes("--base", f"{branch.tip()}~") == []
    branch.commit({memory_path(shop.ids["idle"]): None})
    assert shop.codes("--base", f"{branch.tip()}~") == ["memory.removed"]
