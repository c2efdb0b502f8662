"""Merges that gitmem did not make: a person's `git merge`, a forge's buttons, and the driver that helps a person."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.app.merge import Merged
from gitmem.model.layout import memory_path
from tests.conftest import git
from tests.verify.forge import MAIN, Branch, Shop

COMMIT = ("--evidence", "commit:HEAD")
PROGRAM = Path(sys.executable).parent / "gitmem"


def _fetched(shop: Shop, other: Shop) -> str:
    git(shop.repo, "fetch", "-q", str(other.repo), f"+{MAIN}:refs/heads/theirs")
    return git(shop.repo, "rev-parse", "refs/heads/theirs").strip()


@pytest.fixture
def tree(shop: Shop) -> Callable[[], Path]:
    """The branch checked out in a linked work tree, as a person who merges by hand has it."""

    def made() -> Path:
        where = shop.repo.parent / "by-hand"
        git(shop.repo, "worktree", "add", "-q", str(where), "gitmem/main")
        return where

    return made


def _tags(shop: Shop, other: Shop) -> str:
    """One memory that both clones tagged."""
    identifier = shop.ids["retries"]
    shop.ok("edit", identifier, "--tag", "x", "--because", "sorted")
    other.ok("edit", identifier, "--tag", "y", "--because", "sorted")
    _fetched(shop, other)
    return identifier


def test_a_persons_merge_leaves_both_files_whole_and_a_conflict(
    shop: Shop, other: Shop, branch: Branch, tree: Callable[[], Path]
) -> None:
    """What `merge=binary` gives to whoever has no driver: no marker is ever written into a record."""
    identifier = _tags(shop, other)
    where = tree()
    git(where, "merge", "-q", "--no-edit", "theirs", check=False)
    assert git(where, "diff", "--name-only", "--diff-filter=U").split() == [memory_path(identifier)]
    assert (where / memory_path(identifier)).read_bytes() == branch.read(memory_path(identifier))
    # Whatever side a person then takes does not know of the other: it is named, and the others are believed.
    git(where, "checkout", "-q", "--theirs", memory_path(identifier))
    git(where, "commit", "-q", "-a", "--no-edit")
    git(shop.repo, "worktree", "remove", "--force", str(where))
    assert shop.codes() == ["merge.rollback"]
    assert identifier not in shop.listed() and shop.ids["idle"] not in shop.unbelieved()


def _with_driver(where: Path) -> None:
    git(where, "config", "merge.gitmem.name", "gitmem merges records by field")
    git(where, "config", "merge.gitmem.driver", f"{PROGRAM} merge-driver %O %A %B %P")
    attributes = Path(git(where, "rev-parse", "--git-path", "info/attributes").strip())
    attributes = attributes if attributes.is_absolute() else where / attributes
    attributes.parent.mkdir(exist_ok=True)
    attributes.write_text("memories/** merge=gitmem\ntombstones/** merge=gitmem\n")


def test_with_the_driver_a_person_merges_what_does_not_touch(
    shop: Shop, other: Shop, branch: Branch, tree: Callable[[], Path]
) -> None:
    identifier = _tags(shop, other)
    where = tree()
    _with_driver(where)
    git(where, "merge", "-q", "--no-edit", "theirs")
    git(shop.repo, "worktree", "remove", "--force", str(where))
    assert set(branch.memory(identifier).tags) == {"x", "y"}
    (report,) = shop.ok("--json", "verify", "--all").lines
    assert [note["code"] for note in report["notes"]] == ["merge.untold"]
    assert identifier in shop.listed() and shop.unbelieved() == []
    shop.ok("edit", identifier, "--tag", "z", "--because", "goes on")
    assert shop.codes() == []


def test_with_the_driver_what_touches_is_left_to_sync(
    shop: Shop, other: Shop, branch: Branch, tree: Callable[[], Path]
) -> None:
    identifier = shop.ids["retries"]
    for clone, times in ((shop, 20), (other, 50)):
        clone.ok("edit", identifier, "--title", f"The pool retries the connect {times} times", "--because", "seen")
    _fetched(shop, other)
    where = tree()
    _with_driver(where)
    git(where, "merge", "-q", "--no-edit", "theirs", check=False)
    assert git(where, "diff", "--name-only", "--diff-filter=U").split() == [memory_path(identifier)]
    assert b"<<<<" not in (where / memory_path(identifier)).read_bytes()


def test_a_forge_that_merges_by_lines_is_judged_by_what_comes_out(
    shop: Shop, other: Shop, branch: Branch, merge: Callable[..., Merged]
) -> None:
    """Forges heed no merge attribute. The record that gitmem would make is let in, any other is not."""
    identifier = _tags(shop, other)
    mine, theirs = branch.tip(), git(shop.repo, "rev-parse", "theirs").strip()
    done = merge(moves=False)
    events = [path for path in branch.paths("events/", done.commit) if path not in branch.paths("events/", mine)]
    told = {path: branch.read(path, theirs) for path in events if path in branch.paths("events/", theirs)}
    good = {memory_path(identifier): branch.read(memory_path(identifier), done.commit), **told}
    branch.move(branch.commit_tree(branch.tree_with(good, mine), mine, theirs))
    assert shop.codes() == []
    other_tag = good[memory_path(identifier)].replace(b"three times", b"ten times")
    assert other_tag != good[memory_path(identifier)]
    bad = {**good, memory_path(identifier): other_tag}
    branch.move(branch.commit_tree(branch.tree_with(bad, mine), mine, theirs))
    assert shop.codes() == ["merge.own"]


def _diverged(shop: Shop, other: Shop, merge: Callable[..., Merged]) -> str:
    """The other clone worked on, took the branch in, and worked on again: a pull request with a merge inside."""
    identifier = _tags(shop, other)
    other.remember("theirs", "The warehouse counts stock at midnight", *COMMIT)
    done = merge(back=True)
    assert (done.result, done.records) == ("merged", 1)
    other.ok("edit", identifier, "--tag", "later", "--because", "sorted again")
    other.remember("last", "Receipts are kept for ten years", *COMMIT)
    _fetched(shop, other)
    return identifier


def test_a_squash_of_a_merge_is_told_by_its_events(
    shop: Shop, other: Shop, branch: Branch, merge: Callable[..., Merged]
) -> None:
    identifier = _diverged(shop, other, merge)
    tree = git(shop.repo, "rev-parse", "theirs^{tree}").strip()
    base = branch.tip()
    branch.move(branch.commit_tree(tree, base, message="Squashed on the forge (#12)"))
    assert shop.codes() == []
    assert set(branch.memory(identifier).tags) == {"x", "y", "later"}
    assert {identifier, other.ids["theirs"], other.ids["last"]} <= shop.listed()
    # The control: the event of the merge is not there.
    lost = next(path for path, event in branch.events(identifier) if event.op == "merge")
    branch.move(branch.commit_tree(branch.tree_with({lost: None}), base))
    assert "event.digest" in shop.codes()
    # And a text that the merge did not make.
    title = branch.read(memory_path(identifier), "theirs").replace(b"three times", b"ten times")
    branch.move(branch.commit_tree(branch.tree_with({memory_path(identifier): title}, "theirs"), base))
    assert "event.digest" in shop.codes()


def test_a_squash_of_a_conflict_keeps_both_texts(
    shop: Shop, other: Shop, branch: Branch, merge: Callable[..., Merged]
) -> None:
    identifier = shop.ids["retries"]
    for clone, times in ((shop, 20), (other, 50)):
        clone.ok("edit", identifier, "--title", f"The pool retries the connect {times} times", "--because", "seen")
    merge(back=True)
    _fetched(shop, other)
    branch.move(branch.commit_tree(git(shop.repo, "rev-parse", "theirs^{tree}").strip(), branch.tip(), message="(#13)"))
    assert shop.codes() == []
    assert branch.memory(identifier).status == "disputed" and len(branch.paths("conflicts/")) == 1
    shop.ok("conflicts", "resolve", identifier, "--take", "theirs", "--because", "measured")
    assert shop.codes() == [] and branch.paths("conflicts/") == []


def test_a_rebase_of_what_does_not_touch_is_clean_and_of_what_does_is_named(
    shop: Shop, other: Shop, branch: Branch
) -> None:
    """A forge's rebase makes every commit anew on the other side's tip, and drops the merges."""
    shop.ok("edit", shop.ids["idle"], "--tag", "x", "--because", "sorted")
    other.remember("theirs", "The warehouse counts stock at midnight", *COMMIT)
    other.ok("edit", other.ids["theirs"], "--tag", "y", "--because", "sorted")
    theirs = _fetched(shop, other)
    mine, old = branch.tip(), git(shop.repo, "merge-base", MAIN, "theirs").strip()
    for commit in git(shop.repo, "rev-list", "--reverse", f"{old}..{theirs}").split():
        changed = git(shop.repo, "diff", "--name-only", f"{commit}^", commit).split()
        branch.commit({path: branch.read(path, commit) for path in changed}, message="rebased")
    assert shop.codes() == [] and other.ids["theirs"] in shop.listed()
    # The same memory on both sides: the event does not say what the record was before it.
    branch.move(mine)
    shop.ok("reindex", "--forget")
    other.ok("edit", shop.ids["idle"], "--tag", "z", "--because", "sorted")
    theirs = _fetched(shop, other)
    changed = git(shop.repo, "diff", "--name-only", f"{theirs}^", theirs).split()
    branch.commit({path: branch.read(path, theirs) for path in changed}, message="rebased")
    assert "event.digest" in shop.codes()
