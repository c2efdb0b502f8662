"""A power cut right after the answer: every file that nobody had fsynced is empty afterwards.

strace tells which files were synced, by gitmem and by the git it starts, and under which names they ended.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import git

REF = "refs/heads/gitmem/main"
WRITE = """
import os, pathlib, sys
from datetime import datetime, timezone
from gitmem.store.lock import writer_lock
from gitmem.store.port import RefMove
from gitmem.store.repack import repack
from gitmem.store.repository import locate, open_backend
from gitmem.store.snapshot import snapshot
from gitmem.store.transaction import TOOL, Transaction, publish

where, count, kind = sys.argv[1:]
location = locate(pathlib.Path(where), environ=os.environ)
backend = open_backend(location, long_lived=kind == "libgit2")
for turn in range(2):
    with writer_lock(location):
        base = snapshot(backend, "refs/heads/gitmem/main")
        change = Transaction(backend, base)
        for number in range(int(count)):
            change.put(f"memories/{number % 32}/{turn}/{number}.yaml", b"%d %d" % (turn, number))
        made = change.commit("m", TOOL, TOOL, datetime(2026, 3, 2, tzinfo=timezone.utc))
        publish(backend, [RefMove("refs/heads/gitmem/main", made, base.commit, "m")])
if kind == "repacked":
    repack(location)
"""
CALLS = "fsync,fdatasync,rename,renameat,renameat2,link,linkat"
CALL = re.compile(rf"\b({CALLS.replace(',', '|')})\((.*)\) = 0")
STRACE = shutil.which("strace")


def may_trace() -> bool:
    return bool(STRACE) and subprocess.run(["strace", "-o", os.devnull, "true"], capture_output=True).returncode == 0


pytestmark = [pytest.mark.race, pytest.mark.skipif(not may_trace(), reason="needs strace")]


def synced_files(trace: str, folder: Path) -> set[str]:
    """The files and folders that were synced, under their last names."""
    synced: set[str] = set()
    for call, words in CALL.findall(trace):
        if call in ("fsync", "fdatasync"):
            synced.add(re.findall(r"<([^>]*)>", words)[0])
        else:
            old, new = (os.path.normpath(folder / name) for name in re.findall(r'"([^"]*)"', words)[:2])
            synced.discard(new)
            if old in synced:
                synced.add(new)
    return synced


def cut_the_power_after(words: list[str], where: Path) -> set[str]:
    """Run a program, then empty all it wrote below .git and nobody synced. Gives what was synced."""
    folder = where / ".git"
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
    logs = where.parent / "trace"
    logs.mkdir()
    options = [
        "-ff",
        "-ttt",
        "-qq",
        "-y",
        "-s",
        "4096",
        "-e",
        "trace=fsync,fdatasync,rename,renameat,renameat2,link,linkat",
    ]
    subprocess.run(
        ["strace", *options, "-o", str(logs / "of"), *words], check=True, cwd=folder, stdout=subprocess.DEVNULL
    )
    calls = sorted(line for log in logs.iterdir() for line in log.read_text().splitlines())  # each begins with its time
    synced = synced_files("\n".join(calls), folder)
    for path in folder.rglob("*"):
        fresh = path.is_file() and before.get(path) != path.stat().st_mtime_ns
        if fresh and str(path) not in synced:
            path.chmod(0o644)
            path.write_bytes(b"")
    return synced


@pytest.mark.parametrize("kind", ["git", "libgit2", "repacked"])
@pytest.mark.parametrize("count", [3, 300])
def test_what_was_acknowledged_is_there_after_a_power_cut(repo: Path, kind: str, count: int) -> None:
    script = repo.parent / "write.py"
    script.write_text(WRITE)
    existing = set((repo / ".git/objects").rglob("*"))
    synced = cut_the_power_after([sys.executable, str(script), str(repo), str(count), kind], repo)
    files = git(repo, "ls-tree", "-r", "--name-only", REF).splitlines()
    assert len(files) == 2 * count
    for name in (files[0], files[-1]):
        turn, number = name.split("/")[2], name.split("/")[3].removesuffix(".yaml")
        assert git(repo, "cat-file", "blob", f"{REF}:{name}") == f"{turn} {number}"
    assert "error" not in git(repo, "fsck", "--strict") and len(git(repo, "rev-list", REF).split()) == 2
    fresh = {path for path in (repo / ".git/objects").rglob("*") if path.is_file()} - existing
    unsynced = {path.parent for path in fresh if path.suffix not in (".rev",)} - {Path(name) for name in synced}
    assert unsynced == set()  # a name is as good as its folder
    assert str(repo / ".git/refs/heads/gitmem") in synced


def test_the_cut_is_real(repo: Path) -> None:
    """Control: git by itself, whose default leaves the objects to the disk cache, does not come through."""
    words = ["git", "-C", str(repo), "commit", "-q", "--allow-empty", "-m", "lost"]
    cut_the_power_after(words, repo)
    assert git(repo, "cat-file", "-t", "HEAD", check=False) == ""
