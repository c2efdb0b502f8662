"""Two clones that changed the same memories and are merged."""

from __future__ import annotations

from collections.abc import Callable

from gitmem.app.merge import Merged
from tests.conftest import git
from tests.verify.forge import MAIN, Branch, Shop

COMMIT = ("--evidence", "commit:HEAD")


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
