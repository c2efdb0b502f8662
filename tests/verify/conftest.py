from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.app.conftest import Ran, env, gitmem
from tests.verify.forge import Branch, Shop

__all__ = ["env", "gitmem"]


@pytest.fixture
def shop(repo: Path, gitmem: Callable[..., Ran]) -> Shop:
    """A repository with memory that a person wrote: a fact with a key, one with their own words, a problem."""
    made = Shop(repo, gitmem)
    made.ok("init")
    made.remember("retries", "The pool retries the connect three times", "--key", "pool.tries", "--evidence", POOL)
    made.remember("tuesday", "Deploys go out on Tuesday mornings", "--evidence", 'human:"we deploy on Tuesdays"')
    made.remember("idle", "Idle sockets are closed by the load balancer", "--kind", "problem", "--evidence", POOL)
    made.ok("list")
    return made


@pytest.fixture
def branch(shop: Shop) -> Branch:
    return Branch(shop.repo)


POOL = "file:src/pool.py:4-5"
