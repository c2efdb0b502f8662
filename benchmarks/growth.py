"""What 2,000 single writes leave behind, and whether the last of them costs more than the first.

    python benchmarks/growth.py [--n 2000] [--libgit2] [--json]

Writes one memory after another through the product, in one process, and looks after each write.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from throwaway import MAIN, Writer, git, loose_objects, report, repository, sealed, warm

AROUND = 40  # writes whose median is the latency at one size


def processor() -> float:
    """Seconds that this process and the programs it waited for had a processor: steadier than a clock when others
    are at work. The resident `git cat-file` is not among them."""
    spent = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in spent)


def grow(where: Path, count: int, libgit2: bool) -> tuple[dict[str, Any], list[str]]:
    import gitmem.app.writing as writing

    before = loose_objects(where)
    pauses: list[float] = []
    repacking: list[float] = []
    really = writing.repack

    def timed(location: Any) -> None:
        began, cpu = time.perf_counter(), processor()
        really(location)
        pauses.append(time.perf_counter() - began)
        repacking.append(processor() - cpu)

    writing.repack = timed
    writer = Writer(where, libgit2=libgit2)
    writer.init()
    took: list[float] = []
    spent: list[float] = []
    most = 0
    for number in range(count):
        paused, began, cpu = sum(pauses), time.perf_counter(), processor()
        writer.remember(f"g{number}")
        took.append(time.perf_counter() - began - (sum(pauses) - paused))
        spent.append(processor() - cpu)
        most = max(most, loose_objects(where) - before)
    writer.close()
    writing.repack = really
    packs = list((where / ".git/objects/pack").glob("*.pack"))
    loose = loose_objects(where) - before
    figures: dict[str, Any] = {
        "writes": count,
        "commits on the branch": int(git(where, "rev-list", "--count", MAIN)),
        "loose objects at the end": loose,
        "loose objects at most": most,
        "packs": len(packs),
        "bytes of packs": sum(path.stat().st_size for path in packs),
        "bytes of objects and packs": sum(p.stat().st_size for p in (where / ".git/objects").rglob("*") if p.is_file()),
        "bytes of gitmem's own folder": sum(
            p.stat().st_size for p in (where / ".git/gitmem").rglob("*") if p.is_file()
        ),
    }
    for size in (10, 500, 1000, 2000):
        if size <= count:
            part = slice(max(0, size - AROUND // 2), size + AROUND // 2)
            figures[f"at {size}: median write, fastest, median of processor, ms"] = " ".join(
                f"{value * 1000:.1f}"
                for value in (statistics.median(took[part]), min(took[part]), statistics.median(spent[part]))
            )
    figures["slowest write, ms"] = round(max(took) * 1000, 1)
    figures["repacks"] = len(pauses)
    figures["median and longest repack, ms"] = (
        f"{statistics.median(pauses) * 1000:.0f} and {max(pauses) * 1000:.0f}" if pauses else "none"
    )
    figures["longest repack, ms of processor"] = round(max(repacking, default=0) * 1000)
    figures["wall, s"] = round(sum(took) + sum(pauses), 1)
    faults = [f"{most} loose objects of gitmem's"] if most >= 2000 else []
    return figures, faults


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--n", type=int, default=2000)
    options.add_argument("--libgit2", action="store_true", help="write through libgit2 instead of the git program")
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args()
    with sealed("growth") as folder:
        warm()
        figures, faults = grow(repository(folder / "shop"), chosen.n, chosen.libgit2)
    return report(figures, faults, chosen.json)


if __name__ == "__main__":
    sys.exit(main())
