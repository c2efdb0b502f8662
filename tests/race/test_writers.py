"""Several real processes against one branch: nothing that was acknowledged is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gitmem.store.git_backend import GitBackend
from gitmem.store.lock import left_locks
from gitmem.store.repository import locate
from gitmem.store.snapshot import snapshot
from tests.conftest import git

REF = "refs/heads/gitmem/main"
WRITER = Path(__file__).with_name("writer.py")
pytestmark = pytest.mark.race


def start(where: Path, tag: str, count: int, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(WRITER), str(where), tag, str(count), *more], stdout=subprocess.PIPE, text=True
    )


def branch_of(where: Path) -> tuple[set[str], list[str]]:
    """(paths, commits) of the branch."""
    backend = GitBackend(locate(where, environ=os.environ))
    try:
        return {path for path, _ in snapshot(backend, REF).walk()}, backend.log(REF)
    finally:
        backend.close()


def acknowledged(processes: list[subprocess.Popen[str]]) -> list[tuple[str, str]]:
    rows = []
    for process in processes:
        out, _ = process.communicate(timeout=120)
        rows += [(line.split()[0], line.split()[1]) for line in out.splitlines() if len(line.split()) == 2]
    return rows


def test_eight_writers_over_worktrees_and_backends_keep_everything(repo: Path) -> None:
    places = [repo]
    for number in range(3):
        git(repo, "worktree", "add", "-q", str(repo.parent / f"wt{number}"), "-b", f"side{number}")
        places.append(repo.parent / f"wt{number}")
    writers = [start(places[n % 4], "abcdefgh"[n], 25, *(["libgit2"] if n % 2 else [])) for n in range(8)]
    rows = acknowledged(writers)
    assert [writer.returncode for writer in writers] == [0] * 8
    paths, commits = branch_of(repo)
    assert len(rows) == 200 and {path for _, path in rows} == paths
    assert len(commits) == 200 and {commit for commit, _ in rows} == set(commits)
    assert git(repo, "fsck", "--strict") == ""
    assert len(git(repo, "worktree", "list").splitlines()) == 4


def test_writers_beside_git_itself_and_its_gc(repo: Path) -> None:
    writers = [start(repo, "abcd"[n], 20, *(["libgit2"] if n % 2 else [])) for n in range(4)]
    by_git = []
    rounds = 0
    while any(writer.poll() is None for writer in writers) or len(by_git) < 5:
        rounds += 1
        tip = git(repo, "rev-parse", "-q", "--verify", REF, check=False).strip()
        if tip:
            made = git(repo, "commit-tree", "-p", tip, "-m", f"by git {rounds}", f"{tip}^{{tree}}", check=False).strip()
            if made and not subprocess.run(["git", "-C", str(repo), "update-ref", REF, made, tip]).returncode:
                by_git.append(made)
        if rounds % 4 == 0:
            git(repo, "gc", "-q", "--prune=now", check=False)
    rows = acknowledged(writers)
    assert [writer.returncode for writer in writers] == [0] * 4
    paths, commits = branch_of(repo)
    assert len(rows) == 80 and {path for _, path in rows} == paths
    assert {commit for commit, _ in rows} | set(by_git) == set(commits)
    assert "missing" not in git(repo, "fsck", "--strict", check=False)
    assert "error" not in git(repo, "fsck", "--strict", check=False)


def test_killed_writers_lose_nothing_that_was_acknowledged(repo: Path) -> None:
    kept: list[str] = []
    for number in range(20):
        writer = start(repo, f"k{number}", 0, *(["libgit2"] if number % 2 else []))
        assert writer.stdout
        lines = [writer.stdout.readline() for _ in range(1 + number % 3)]
        # the moment differs from round to round: after an answer, into the next write
        for _ in range(number * 1000):
            pass
        os.kill(writer.pid, signal.SIGKILL)
        rest, _ = writer.communicate()
        kept += [line.split()[0] for line in [*lines, *rest.splitlines(keepends=True)] if line.endswith("\n")]
    _, commits = branch_of(repo)
    assert len(kept) >= 20 and set(kept) <= set(commits)
    assert "missing" not in git(repo, "fsck", "--strict") and "error" not in git(repo, "fsck", "--strict")
    final = start(repo, "z", 1)
    (row,) = acknowledged([final])
    assert final.returncode == 0 and row[0] == branch_of(repo)[1][0]


def test_a_lock_left_by_a_killed_process_is_cleared_when_it_is_old_enough(repo: Path) -> None:
    acknowledged([start(repo, "a", 1)])
    location = locate(repo, environ=os.environ)
    lock = location.common_dir / f"{REF}.lock"
    for more in ([], ["libgit2"]):
        lock.touch()
        os.utime(lock, (1, 1))
        (left,) = left_locks(location)
        assert left.path == lock and left.ref == REF and left.stale
        writer = start(repo, f"b{len(more)}", 1, *more)
        assert len(acknowledged([writer])) == 1 and writer.returncode == 0
        assert not lock.exists()
