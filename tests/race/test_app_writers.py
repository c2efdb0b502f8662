"""Several processes that remember at once, beside git and its gc: a short run of benchmarks/races.py."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
pytestmark = pytest.mark.race


def figures_of(program: str, *arguments: str) -> dict[str, Any]:
    """What a benchmark found, with its faults."""
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / program), *arguments, "--json"], capture_output=True, text=True, check=False
    )
    assert done.stdout, done.stderr
    return {**json.loads(done.stdout), "said": done.stderr, "exit": done.returncode}


def test_four_processes_beside_git_and_its_gc_keep_everything() -> None:
    found = figures_of("races.py", "--processes", "4", "--writes", "10")
    assert (found["faults"], found["exit"]) == ([], 0), found["said"]
    assert found["acknowledged"] == found["present"] == 40
    assert found["attempts"] >= 40 and found["event chains"] == 1
    # Control: the others were really at work on the same branch.
    assert found["commits by git beside them"] > 0 and not found["gc runs, whole / failed"].startswith("0 ")
    assert found["commits on the branch"] == 40 + found["commits by git beside them"] + 2


def test_a_lost_write_and_a_broken_chain_would_be_seen(repo: Path) -> None:
    """Control of the reader that the benchmarks judge with."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        from throwaway import chains, titles
    finally:
        sys.path.remove(str(BENCHMARKS))
    first = b'{"writer": "a", "prev": null}'
    second = json.dumps({"writer": "a", "prev": {"path": "events/1", "sha256": "0" * 64}}).encode()
    third = json.dumps({"writer": "a", "prev": {"path": "events/1", "sha256": "0" * 64}}).encode()
    assert chains({"events/1": first}) == (1, [])
    begun, wrong = chains({"events/1": first, "events/2": second, "events/3": third, "events/4": first})
    assert begun == 1 and len(wrong) == 4
    assert titles({"memories/a": b"title: 'p1n2: some words'\n", "events/1": first}) == {"p1n2": 1}
