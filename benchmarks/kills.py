"""kill -9 at random moments: what was acknowledged stays, and the next writer goes on.

    python benchmarks/kills.py [--n 1000] [--seconds S] [--seed 1] [--json]

Round after round a writer remembers one thing after another through the product, as a person and as an agent in
turns, and prints the id of each once it is acknowledged. It is killed 0 to 300 ms after its first acknowledgement,
every second time with the git programs that it started. The writer of the next round first repeats the request that
was not acknowledged. Every 100 kills git and gitmem check everything, and a new repository begins.

A lock file that a killed writer left is given a time six seconds back instead of waiting for six seconds; every tenth
is left as it is, and waited for.
"""

from __future__ import annotations

import argparse
import os
import random
import select
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from throwaway import (
    INBOX,
    MAIN,
    Writer,
    chains,
    fork,
    fsck_faults,
    gitmem,
    records,
    report,
    repository,
    sealed,
    titles,
    verify_faults,
    warm,
)

ROUNDS = 100  # kills of one repository


def channel_of(number: int) -> str:
    return "agent" if number % 4 == 3 else "terminal"


def write_on(where: Path, tag: str, libgit2: bool, again: tuple[str, str] | None, out: int) -> None:
    """Repeat the request that nobody answered, then write until killed."""
    writer = Writer(where, libgit2=libgit2)
    if again is not None:
        identifier, result = writer.remember(*again)
        os.write(out, f"{again[0]} {identifier} {result}\n".encode())
    number = 0
    while True:
        seed = f"{tag}n{number}"
        identifier, result = writer.remember(seed, channel_of(number))
        os.write(out, f"{seed} {identifier} {result}\n".encode())
        number += 1


class Killing:
    """Kills writers of one repository, and keeps what they acknowledged."""

    def __init__(self, where: Path, chance: random.Random, counted: Counter[str]) -> None:
        self.where, self.chance, self.counted = where, chance, counted
        self.acknowledged: dict[str, str] = {}
        self.again: tuple[str, str] | None = None
        self.faults: list[str] = []
        self.slowest = 0.0
        first = Writer(where)
        first.init()
        first.close()

    def round(self, tag: str) -> None:
        libgit2, group = self.chance.random() < 0.5, self.chance.random() < 0.5
        again, asked = self.again, time.perf_counter()
        child, out = fork(lambda out: write_on(self.where, tag, libgit2, again, out), own_group=True)
        begun = b""
        while b"\n" not in begun:
            piece = os.read(out, 4096) if select.select([out], [], [], 60)[0] else b""
            if not piece:
                self.faults.append(f"{tag}: no write was acknowledged")
                break
            begun += piece
        self.slowest = max(self.slowest, time.perf_counter() - asked)
        time.sleep(self.chance.random() * 0.3)
        (os.killpg if group else os.kill)(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.set_blocking(out, True)
        rest = begun
        while piece := os.read(out, 65536):
            rest += piece
        os.close(out)
        self.counted["kills"] += 1
        self.counted["with the git programs it started"] += group
        rows = [line.split() for line in rest.decode().splitlines(keepends=True) if line.endswith("\n")]
        if again is not None and rows:
            self.counted["requests repeated"] += 1
            self.counted["of them answered with what was there"] += rows[0][2] == "unchanged"
        for seed, identifier, _ in rows:
            self.acknowledged[seed] = identifier
        number = sum(row[0].startswith(f"{tag}n") for row in rows)
        self.again = (f"{tag}n{number}", channel_of(number))
        self._locks()

    def _locks(self) -> None:
        """What git would have to be told of; `doctor` has to name it once it is old."""
        left = [path for top in ("refs/heads/gitmem", "refs/gitmem") for path in self._below(top)]
        if not left:
            return
        self.counted["lock files left"] += len(left)
        if self.counted["lock files left"] % 10 == 1:
            return  # the next writer waits until it is old
        for path in left:
            os.utime(path, (time.time() - 6, time.time() - 6))
        if self.counted["lock files left"] % 5 == 0:
            _, out, _ = gitmem(self.where, "doctor", "--json", check=False)
            self.faults += [f"doctor does not name {path}" for path in left if str(path.name) not in out]
            self.counted["lock files named by doctor"] += len(left)

    def _below(self, top: str) -> list[Path]:
        return list((self.where / ".git" / top).rglob("*.lock"))

    def check(self) -> None:
        """One more write, then everything that can be checked."""
        writer = Writer(self.where)
        if self.again is not None:
            seed, channel = self.again
            self.acknowledged[seed] = writer.remember(seed, channel)[0]
        writer.close()
        files = {ref: records(self.where, ref) for ref in (MAIN, INBOX)}
        there = titles(files[MAIN]) + titles(files[INBOX])
        names = {path.rsplit("/", 1)[-1].removesuffix(".yaml") for found in files.values() for path in found}
        self.faults += [f"{seed} is lost" for seed, name in self.acknowledged.items() if name not in names]
        self.faults += [f"{seed} is there {count} times" for seed, count in there.items() if count > 1]
        for ref, found in files.items():
            begun, wrong = chains(found)
            self.faults += wrong
            if begun > 1:
                self.faults.append(f"{ref} has {begun} chains: a writer did not find the last event of the one before")
        self.faults += [f"{path} is left" for top in ("refs/heads/gitmem", "refs/gitmem") for path in self._below(top)]
        self.faults += fsck_faults(self.where) + verify_faults(self.where)
        self.counted["acknowledged"] += len(self.acknowledged)
        self.counted["acknowledged and present"] += sum(name in names for name in self.acknowledged.values())
        self.counted["written and never acknowledged"] += sum(seed not in self.acknowledged for seed in there)
        self.counted["temporary files left, for an hour"] += sum(
            1 for pattern in ("objects/gitmem_tmp_*", "gitmem/.*") for _ in (self.where / ".git").glob(pattern)
        )


def kill(folder: Path, count: int, seconds: float, seed: int) -> tuple[dict[str, Any], list[str]]:
    chance, counted, faults = random.Random(seed), Counter[str](), []
    slowest, began = 0.0, time.perf_counter()
    done = 0
    while done < count and time.perf_counter() - began < seconds:
        killing = Killing(repository(folder / f"shop{done}"), chance, counted)
        for number in range(min(ROUNDS, count - done)):
            if killing.faults or time.perf_counter() - began > seconds:
                break
            killing.round(f"r{done}k{number}")
        # In a process of its own: threads that the check starts must not be there when the next writer is forked.
        child, out = fork(lambda out, killing=killing: _checked(killing, out))
        with os.fdopen(out) as answer:
            lines = answer.read().splitlines()
        os.waitpid(child, 0)
        if lines[-1:] != ["checked"]:
            faults.append("the check itself failed")
        for line in lines[:-1]:
            kind, _, said = line.partition(" ")
            if kind == "fault":
                faults.append(said)
            else:
                counted[said] += int(kind)
        slowest = max(slowest, killing.slowest)
        done += ROUNDS
        if faults:
            break
    figures: dict[str, Any] = {**counted, "slowest first answer after a kill, s": round(slowest, 2)}
    return {**figures, "wall, s": round(time.perf_counter() - began, 1)}, faults


def _checked(killing: Killing, out: int) -> None:
    before = Counter(killing.counted)
    killing.check()
    said = [f"fault {' '.join(fault.split())}" for fault in killing.faults]
    said += [f"{killing.counted[name] - before[name]} {name}" for name in killing.counted]
    os.write(out, "\n".join([*said[:200], "checked"]).encode())


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--n", type=int, default=1000, help="kills")
    options.add_argument("--seconds", type=float, default=3600, help="begin no kill after so many")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args()
    with sealed("kills") as folder:
        warm()
        figures, faults = kill(folder, chosen.n, chosen.seconds, chosen.seed)
    return report(figures, faults, chosen.json)


if __name__ == "__main__":
    sys.exit(main())
