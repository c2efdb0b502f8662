from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.app.env import Env
from tests.app.conftest import Ran, env, gitmem
from tests.verify.forge import Branch, Shop

__all__ = ["env", "gitmem"]

POOL = "file:src/pool.py:4-5"


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """Where the first test of a module leaves its shop, so that the others need not write it again."""
    return tmp_path_factory.mktemp("shelf") / "shop", {}


@pytest.fixture
def shop(repo: Path, env: Callable[..., Env], gitmem: Callable[..., Ran], shelf: tuple[Path, dict[str, str]]) -> Shop:
    """A repository with memory that a person wrote: a fact with a key, one with their own words, a problem."""
    kept, ids = shelf
    world = env(repo)
    if kept.exists():  # what is on the shelf used these up
        world.random(4096)
        for _ in range(1000):
            world.now()
    made = Shop(repo, gitmem, ids)
    if kept.exists():
        shutil.rmtree(repo)
        shutil.copytree(kept, repo, symlinks=True)
        made.ok("trust", "--yes")  # a copy at another place, by another user
        return Shop(repo, gitmem, dict(ids))
    made.ok("init")
    made.remember("retries", "The pool retries the connect three times", "--key", "pool.tries", "--evidence", POOL)
    made.remember("tuesday", "Deploys go out on Tuesday mornings", "--evidence", 'human:"we deploy on Tuesdays"')
    made.remember("idle", "Idle sockets are closed by the load balancer", "--kind", "problem", "--evidence", POOL)
    made.ok("list")
    shutil.copytree(repo, kept, symlinks=True)
    return Shop(repo, gitmem, dict(ids))


@pytest.fixture
def branch(shop: Shop) -> Branch:
    return Branch(shop.repo)
