"""kill -9 of processes that remember: as many rounds of benchmarks/kills.py as fit, 100 at most."""

from __future__ import annotations

import pytest

from tests.race.test_app_writers import figures_of

SECONDS = "40"
pytestmark = pytest.mark.race


def test_killed_writers_lose_nothing_and_the_next_one_goes_on() -> None:
    found = figures_of("kills.py", "--n", "100", "--seconds", SECONDS)
    assert (found["faults"], found["exit"]) == ([], 0), found["said"]
    assert found["acknowledged"] == found["acknowledged and present"] >= found["kills"] > 0
    assert found["requests repeated"] == found["kills"] - 1
