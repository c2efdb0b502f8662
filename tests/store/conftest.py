from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gitmem.store.git_backend import GitBackend
from gitmem.store.port import Backend
from gitmem.store.repository import Location, locate, open_backend


@pytest.fixture
def location(repo: Path) -> Location:
    return locate(repo, environ=os.environ)


@pytest.fixture
def backend(location: Location) -> Iterator[Backend]:
    opened = GitBackend(location)
    yield opened
    opened.close()


@pytest.fixture
def opened() -> Iterator[Callable[[Path], Backend]]:
    """Opens backends of further repositories and closes them at the end."""
    every: list[Backend] = []

    def at(where: Path, *, long_lived: bool = False) -> Backend:
        every.append(open_backend(locate(where, environ=os.environ), long_lived=long_lived))
        return every[-1]

    yield at
    for one in every:
        one.close()
