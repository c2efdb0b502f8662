from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gitmem.app.env import Env
from gitmem.app.merge import Merged, merge_tips
from gitmem.app.workspace import open_workspace
from tests.app.conftest import Ran, env, gitmem
from tests.conftest import git
from tests.verify.conftest import branch, shelf, shop
from tests.verify.forge import MAIN, Branch, Shop

__all__ = ["branch", "env", "gitmem", "shelf", "shop"]


@pytest.fixture
def other(shop: Shop, gitmem: Callable[..., Ran], tmp_path: Path) -> Shop:
    """A second clone of the same memory, with the same people's rights and a chain of its own."""
    where = tmp_path / "other"
    shutil.copytree(shop.repo, where, symlinks=True)
    shutil.rmtree(where / ".git/gitmem")
    made = Shop(where, gitmem, dict(shop.ids))
    made.ok("trust", "--yes")
    return made


@pytest.fixture
def merge(shop: Shop, other: Shop, env: Callable[..., Env]) -> Iterator[Callable[..., Merged]]:
    """`merge()` brings the other clone's tip here and merges it; `merge(back=True)` the other way round.

    The branch goes where the merge says; `moves=False` leaves it.
    """
    opened = []

    def merged(*, back: bool = False, moves: bool = True) -> Merged:
        here, there = (other, shop) if back else (shop, other)
        git(here.repo, "fetch", "-q", str(there.repo), f"+{MAIN}:refs/heads/theirs")
        workspace = open_workspace(env(here.repo))
        opened.append(workspace)
        mine, yours = Branch(here.repo).tip(), git(here.repo, "rev-parse", "refs/heads/theirs").strip()
        done = merge_tips(workspace, mine, yours, subject="merge: the other clone")
        if moves:
            Branch(here.repo).move(done.commit)
        return done

    yield merged
    for workspace in opened:
        workspace.close()
