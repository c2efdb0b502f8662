"""Many processes that write to one branch at once, beside git itself and its gc.

    python benchmarks/races.py [--processes 8] [--writes 200] [--json]

Each process remembers one thing after another through the product, every second one through libgit2. Meanwhile plain
git puts commits that change nothing on the same branch (commit-tree, then update-ref with the old value), and
`git gc --prune=now` runs over and over. Everything acknowledged has to be there in the end, once.

The two git loops take turns: a gc with --prune=now takes the commit that commit-tree has just made before update-ref
can name it (git-gc(1), "Notes"), and then the branch itself is broken, by git alone. The writers run beside both.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from throwaway import (
    MAIN,
    Writer,
    chains,
    fork,
    fsck_faults,
    git,
    records,
    report,
    repository,
    sealed,
    titles,
    verify_faults,
    warm,
)


def write_all(where: Path, process: int, writes: int, out: int) -> None:
    """What one process does; a line for each acknowledged write, at the end one with its attempts."""
    from gitmem.errors import Locked, RefMoved

    writer = Writer(where, libgit2=bool(process % 2))
    waited = moved = 0
    slowest = 0.0
    for number in range(writes):
        seed = f"p{process}n{number}"
        while True:
            before = time.perf_counter()
            try:
                identifier, _ = writer.remember(seed)
                break
            except Locked:
                waited += 1
            except RefMoved:
                moved += 1
        slowest = max(slowest, time.perf_counter() - before)
        os.write(out, f"ok {seed} {identifier}\n".encode())
    os.write(out, f"end {writer.attempts} {waited} {moved} {slowest:.3f}\n".encode())
    writer.close()


class Beside(threading.Thread):
    """Runs `turn` over and over until told to stop, never while another of these does."""

    taking_turns = threading.Lock()

    def __init__(self, turn: Any, pause: float) -> None:
        super().__init__()
        self.turn, self.pause, self.stop, self.done, self.failed = turn, pause, threading.Event(), 0, 0

    def run(self) -> None:
        while not self.stop.wait(self.pause):
            with self.taking_turns:
                done = self.turn()
            if done:
                self.done += 1
            else:
                self.failed += 1


def quiet(where: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", "-C", str(where), *arguments], capture_output=True, text=True, check=False)


def race(where: Path, processes: int, writes: int, pause: float) -> tuple[dict[str, Any], list[str]]:
    first = Writer(where)
    first.init()
    first.close()
    by_git: list[str] = []

    def commit_by_git() -> bool:
        tip = quiet(where, "rev-parse", MAIN).stdout.strip()
        made = quiet(where, "commit-tree", "-p", tip, "-m", "by git, changes nothing", f"{tip}^{{tree}}").stdout.strip()
        if made and not quiet(where, "update-ref", MAIN, made, tip).returncode:
            by_git.append(made)
            return True
        return False

    began = time.perf_counter()
    # Forked before any thread runs here.
    children = [fork(lambda out, n=n: write_all(where, n, writes, out)) for n in range(processes)]
    beside = [
        Beside(commit_by_git, pause),
        Beside(lambda: not quiet(where, "gc", "-q", "--prune=now").returncode, pause),
    ]
    for thread in beside:
        thread.start()
    said: list[list[str]] = []
    readers = [threading.Thread(target=lambda out=out: said.extend(lines_of(out))) for _, out in children]
    for reader in readers:
        reader.start()
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child, _ in children]
    took = time.perf_counter() - began
    for reader in readers:
        reader.join()
    for thread in beside:
        thread.stop.set()
        thread.join()

    acknowledged = {row[1]: row[2] for row in said if row[0] == "ok"}
    ends = [row for row in said if row[0] == "end"]
    files = records(where, MAIN)
    there = titles(files)
    present = [path for path in files if path.startswith("memories/")]
    begun, faults = chains(files)
    names = {path.rsplit("/", 1)[-1].removesuffix(".yaml") for path in present}
    faults += [f"a writer ended with {code}" for code in codes if code]
    faults += [f"{seed} is lost" for seed in acknowledged if there[seed] == 0]
    faults += [f"{seed} is there {count} times" for seed, count in there.items() if count > 1]
    faults += [f"{seed}: {identifier} is lost" for seed, identifier in acknowledged.items() if identifier not in names]
    commits = git(where, "rev-list", MAIN).split()
    faults += [f"{commit} by git is lost" for commit in set(by_git) - set(commits)]
    garbage = len(git(where, "fsck", "--unreachable", "--no-reflogs", "--no-progress", check=False).splitlines())
    faults += fsck_faults(where)
    verifying = time.perf_counter()
    faults += verify_faults(where)
    figures = {
        "processes x writes": f"{processes} x {writes}",
        "asked": processes * writes,
        "acknowledged": len(acknowledged),
        "present": len(present),
        "attempts": sum(int(row[1]) for row in ends),
        "given up for the lock, asked again": sum(int(row[2]) for row in ends),
        "given up for a moved branch, asked again": sum(int(row[3]) for row in ends),
        "commits by git beside them": len(by_git),
        "commits that git lost a race for": beside[0].failed,
        "gc runs, whole / failed": f"{beside[1].done} / {beside[1].failed}",
        "commits on the branch": len(commits),
        "event chains": begun,
        "garbage objects": garbage,
        "slowest write, s": max((float(row[4]) for row in ends), default=0.0),
        "writes a second": round(len(acknowledged) / took, 1),
        "wall, s": round(took, 1),
        "verify --all, s": round(time.perf_counter() - verifying, 1),
    }
    if len(acknowledged) != processes * writes:
        faults.append(f"{processes * writes - len(acknowledged)} writes were never acknowledged")
    return figures, faults


def lines_of(out: int) -> list[list[str]]:
    with os.fdopen(out) as stream:
        return [line.split() for line in stream]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--processes", type=int, default=8)
    options.add_argument("--writes", type=int, default=200, help="by each process")
    options.add_argument("--pause", type=float, default=0.25, help="seconds between two commits by git, and two gc")
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args()
    with sealed("races") as folder:
        warm()
        figures, faults = race(repository(folder / "shop"), chosen.processes, chosen.writes, chosen.pause)
    return report(figures, faults, chosen.json)


if __name__ == "__main__":
    sys.exit(main())
