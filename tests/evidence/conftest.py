from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.evidence.world import World, make_world


@pytest.fixture
def world(repo: Path) -> Iterator[World]:
    made = make_world(repo)
    yield made
    for sources in made.opened:
        sources.backend.close()
