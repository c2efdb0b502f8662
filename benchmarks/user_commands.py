"""What a user's own git commands cost in a repository with a memory, beside a copy that has none.

    python benchmarks/user_commands.py [--memories 2000] [--files 2000] [--rounds 40] [--json]

Both repositories have the same files and a bare remote of their own; the one with the memory has pushed its branch
there. The commands run in turns, so that a busy machine is busy for both.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Any

from throwaway import MAIN, Writer, git, loose_objects, report, repository, sealed, warm


def commands(where: Path, number: int) -> dict[str, tuple[float, float]]:
    """(wall, processor) milliseconds of each command, run once."""
    (where / "README.md").write_text(f"# shop\n\nThe pool retries a connect three times.\n{number}\n")
    took = {}
    for words in (("status", "--short"), ("log", "-1"), ("commit", "-q", "-a", "-m", f"n{number}"), ("fetch", "-q")):
        began, cpu = time.perf_counter(), processor()
        git(where, *words)
        took[words[0]] = ((time.perf_counter() - began) * 1000, (processor() - cpu) * 1000)
    return took


def processor() -> float:
    """Seconds that the programs which ended had a processor: steadier than a clock on a busy machine."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def with_remote(where: Path) -> None:
    remote = where.with_suffix(".git")
    git(where, "clone", "-q", "--bare", str(where), str(remote))
    git(where, "remote", "add", "origin", str(remote))
    git(where, "fetch", "-q")


def interleaved(places: dict[str, Path], rounds: int, first: int) -> dict[str, dict[str, tuple[float, float]]]:
    """Medians (wall, processor) by place and command."""
    took: dict[str, dict[str, list[tuple[float, float]]]] = {name: defaultdict(list) for name in places}
    for number in range(rounds):
        for name in sorted(places, reverse=bool(number % 2)):
            for command, spent in commands(places[name], first + number).items():
                took[name][command].append(spent)
    return {
        name: {command: (median(w for w, _ in spent), median(p for _, p in spent)) for command, spent in by.items()}
        for name, by in took.items()
    }


def compare(folder: Path, memories: int, files: int, rounds: int) -> tuple[dict[str, Any], list[str]]:
    with_memory = repository(folder / "with", files)
    without = repository(folder / "without", files)
    places = {"with": with_memory, "without": without}
    for place in places.values():
        with_remote(place)
    interleaved(places, 3, 0)  # caches of the disk
    before = interleaved(places, rounds, 100)
    loose = loose_objects(with_memory)
    writer = Writer(with_memory)
    writer.init()
    for number in range(memories):
        writer.remember(f"u{number}")
    writer.close()
    git(with_memory, "push", "-q", "origin", MAIN)
    git(with_memory, "fetch", "-q")
    interleaved(places, 3, 1000)
    after = interleaved(places, rounds, 2000)
    figures: dict[str, Any] = {
        "memories, files, rounds": f"{memories}, {files}, {rounds}",
        "loose objects that they added": loose_objects(with_memory) - loose,
    }
    for which, kind in enumerate(("wall", "processor")):
        for command in ("status", "log", "commit", "fetch"):
            four = [medians[place][command][which] for place in ("with", "without") for medians in (before, after)]
            said = " | ".join(f"{value:.1f}" for value in four)
            grown = four[1] / four[0] / (four[3] / four[2])  # what the machine did meanwhile, it did to the copy too
            figures[f"git {command}, {kind} ms: before | after | copy | copy"] = f"{said}   x {grown:.2f}"
    return figures, []


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--memories", type=int, default=2000)
    options.add_argument("--files", type=int, default=2000)
    options.add_argument("--rounds", type=int, default=40)
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args()
    with sealed("user") as folder:
        warm()
        figures, faults = compare(folder, chosen.memories, chosen.files, chosen.rounds)
    return report(figures, faults, chosen.json)


if __name__ == "__main__":
    sys.exit(main())
