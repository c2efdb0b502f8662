from __future__ import annotations

from pathlib import Path

import pytest

from tests.sessions.hosts import Host, make_host


@pytest.fixture
def host(repo: Path) -> Host:
    return make_host(repo)
