"""A power cut after `remember` answered: what it answered is there, and what was only derived is derived again."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import git
from tests.race.test_app_writers import BENCHMARKS
from tests.race.test_power_cut import cut_the_power_after, may_trace

MAIN, INBOX = "refs/heads/gitmem/main", "refs/gitmem/inbox"
WRITE = """
import pathlib, sys
sys.path.insert(0, sys.argv[1])
from throwaway import Writer
writer = Writer(pathlib.Path(sys.argv[2]), libgit2=sys.argv[3] == "libgit2")
writer.init()
for number in range(30):  # enough for the search index to be built on the way
    writer.remember(f"w{number}", "agent" if number % 5 == 4 else "terminal")
"""
pytestmark = [pytest.mark.race, pytest.mark.skipif(not may_trace(), reason="needs strace")]


def gitmem(where: Path, *arguments: str) -> str:
    command = [str(Path(sys.executable).with_name("gitmem")), *arguments]
    done = subprocess.run(command, cwd=where, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (arguments, done.stdout, done.stderr)
    return done.stdout


@pytest.mark.parametrize("kind", ["git", "libgit2"])
def test_what_was_remembered_is_there_after_a_power_cut(repo: Path, kind: str) -> None:
    (repo / "README.md").write_text("# shop\n\nThe pool retries a connect three times.\n")
    git(repo, "commit", "-q", "-a", "-m", "three lines")
    script = repo.parent / "remember.py"
    script.write_text(WRITE)
    cut_the_power_after([sys.executable, str(script), str(BENCHMARKS), str(repo), kind], repo)
    private = repo / ".git/gitmem"
    assert (private / "chains.json").read_bytes() == b""  # control: the cut took what nobody synced
    assert any(path.stat().st_size == 0 for path in (private / "index").rglob("*") if path.is_file())

    assert len(git(repo, "ls-tree", "-r", "--name-only", MAIN, "memories/").splitlines()) == 24
    assert len(git(repo, "ls-tree", "-r", "--name-only", INBOX, "memories/").splitlines()) == 6
    assert "error" not in git(repo, "fsck", "--strict")
    gitmem(repo, "verify", "--all")
    listed = [json.loads(line) for line in gitmem(repo, "list", "--json", "--limit", "100").splitlines()]
    assert len(listed) >= 24
    gitmem(repo, "recall", listed[0]["title"].split()[1], "--json")
    again = subprocess.run(
        [sys.executable, "-c", WRITE.replace("range(30)", "range(31)"), str(BENCHMARKS), str(repo), kind], check=False
    )
    assert again.returncode == 0
    assert len(git(repo, "ls-tree", "-r", "--name-only", MAIN, "memories/").splitlines()) == 25  # none of them twice
    gitmem(repo, "verify", "--all")
