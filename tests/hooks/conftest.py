"""The fixtures of the app tests: a command line in process. The installed command starts afresh in each test."""

from __future__ import annotations

import pytest

from tests import started
from tests.app.conftest import env, gitmem

__all__ = ["env", "gitmem"]


@pytest.fixture(autouse=True)
def afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(started, "PLAIN", True)
