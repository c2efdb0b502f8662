"""The fixtures of the app tests: a command line in process."""

from __future__ import annotations

from tests.app.conftest import env, gitmem

__all__ = ["env", "gitmem"]
