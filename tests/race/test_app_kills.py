"""kill -9 of processes that remember: as many rounds of benchmarks/kills.py as fit, 100 at most.

`KILL_SECONDS=40` gives it more time; `python benchmarks/kills.py` is the long run.
"""

from __future__ import annotations

import os

import pytest

from tests.race.test_app_writers import figures_of

SECONDS = os.environ.get("KILL_SECONDS", "15")
pytestmark = pytest.mark.race


def test_killed_writers_lose_nothing_and_the_next_one_goes_on() -> None:
    found = figures_of("kills.py", "--n", "100", "--seconds", SECONDS)
    assert (found["faults"], found["exit"]) == ([], 0), found["said"]
    assert found["acknowledged"] == found["acknowledged and present"] >= found["kills"] > 0
    assert found["requests repeated"] == found["kills"] - 1
