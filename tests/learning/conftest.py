from __future__ import annotations

from pathlib import Path

import pytest

from tests.learning.transcripts import Clone


@pytest.fixture
def clone(repo: Path) -> Clone:
    made = Clone(repo)
    done = made.person("init")
    assert done.code == 0, done.err
    return made
