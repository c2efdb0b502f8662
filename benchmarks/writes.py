"""What one write costs while the memory grows.

    python benchmarks/writes.py [--sizes 100,10000,100000] [--cache FOLDER] [--writes 50] [--rounds 15] [--json]

Builds a throw-away repository with N memories and their events by the product's own records and one commit, lets the
search index catch up, keeps a copy in FOLDER for the next run, and measures, at each N:

- a write in this process through libgit2, gate and neighbours and event and all; how many objects it adds and
  what they take on disk
- `gitmem remember` from the shell, as an agent, beside `git commit` of one file in the same repository and beside
  `python -c pass`, taking turns; the budget is 1.5 x commit + 11 x pass

All events are of this month, so the trees that a write makes anew are as large as they get with N memories.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from throwaway import GITMEM, Writer, draft, git, repository, sealed, warm

VOCABULARY = 40_000  # made-up words; a few are in many memories, most in few, as in real text


def built(cache: Path, size: int, where: Path) -> None:
    """A repository with `size` memories at `where`: a copy from `cache`, which is filled when it is not there."""
    kept = cache / f"{size}"
    if not kept.exists():
        making = cache / f".{size}.{os.getpid()}"
        repository(making)
        fill(making, size)
        making.rename(kept)
    shutil.copytree(kept, where, symlinks=True)


@cache
def vocabulary() -> tuple[list[str], list[float]]:
    """Words, and how often each or one before it is said."""
    syllables = [consonant + vowel for consonant in "bcdfghklmnprstvz" for vowel in "aeiou"]
    words = ["".join(syllables[n // 80**place % 80] for place in range(3)) for n in range(VOCABULARY)]
    return words, list(accumulate(1 / (n + 10) for n in range(VOCABULARY)))


def fill(where: Path, size: int) -> None:
    from gitmem.app import facts
    from gitmem.app.belief import believed_view
    from gitmem.app.catch_up import catch_up
    from gitmem.app.remember import build
    from gitmem.app.staging import Staging
    from gitmem.app.writing import Judged, Mutation
    from gitmem.model.ids import memory_id
    from gitmem.model.judgement import Change, Decision
    from gitmem.model.layout import MAIN
    from gitmem.store.lock import writer_lock

    began = time.perf_counter()
    writer = Writer(where, libgit2=True)
    writer.init()
    workspace = writer.workspace
    view = believed_view(workspace)
    (first,) = build(view, [draft("first")], [memory_id(os.urandom(8))], "active")
    chance = random.Random(size)
    words, often = vocabulary()
    drawn = chance.choices(words, cum_weights=often, k=40 * size)
    known = facts.Facts(now=workspace.env.now(), channel="terminal")
    with writer_lock(workspace.location):
        staging = Staging(workspace, view)
        for number in range(size):
            text = drawn[40 * number : 40 * number + 40]
            memory = replace(
                first.memory, id=memory_id(chance.randbytes(8)), title=" ".join(text[:8]), body=" ".join(text[8:]),
                origin="observed",
            )  # fmt: skip
            staging.put(Judged(Mutation(Change("create", memory), MAIN), known, Decision("admit", (), "observed")))
        staging.publish(f"remember {size} memories")
    catch_up(believed_view(workspace))
    writer.close()
    print(f"built {size:,} memories in {time.perf_counter() - began:.0f} s", file=sys.stderr)


def spoken(seed: str) -> Any:
    """A draft that says something new in words that are in the memory."""
    chance = random.Random(seed)
    words, often = vocabulary()
    text = chance.choices(words, cum_weights=often, k=40)
    return replace(draft(seed), title=f"{seed} {' '.join(text[:7])}", body=" ".join(text[7:]))


def loose(where: Path) -> dict[str, int]:
    """Bytes on disk of each loose object."""
    objects = where / ".git/objects"
    return {
        f"{folder.name}{entry.name}": entry.stat().st_size
        for folder in os.scandir(objects)
        if len(folder.name) == 2
        for entry in os.scandir(folder.path)
    }


def in_process(where: Path, writes: int) -> dict[str, Any]:
    from gitmem.app.remember import remember

    writer = Writer(where, libgit2=True)
    writer.trust()
    remember(writer.workspace, [spoken("warm")])
    took, busy, added = [], [], []
    before = loose(where)
    for number in range(writes):
        made = spoken(f"w{number}")
        began, worked = time.perf_counter(), time.process_time()
        remember(writer.workspace, [made])
        took.append(1000 * (time.perf_counter() - began))
        busy.append(1000 * (time.process_time() - worked))
        after = loose(where)
        added.append([size for oid, size in after.items() if oid not in before])
        before = after
    writer.close()
    return {
        "write, median ms": statistics.median(took),
        "write, mean ms": statistics.mean(took),
        "write, fastest ms": min(took),
        "write, longest ms": max(took),
        "write, processor ms": statistics.median(busy),
        "objects": statistics.median(map(len, added)),
        "object bytes": statistics.median(map(sum, added)),
        "object bytes, most": max(map(sum, added)),
    }


def from_shell(where: Path, rounds: int) -> dict[str, Any]:
    """Medians of whole processes that take turns, so that load falls on all alike."""
    numbers = iter(range(10**6))

    def committed() -> None:
        (where / "README.md").write_text(f"# shop\n\nThe pool retries a connect three times.\n{os.urandom(8).hex()}\n")
        git(where, "add", "README.md")

    def remembering() -> list[str]:
        made = spoken(f"s{next(numbers)}{os.urandom(3).hex()}")
        return [str(GITMEM), "remember", "-k", "fact", made.title, "-b", made.body, "-e", "file:README.md:3"]

    rows: dict[str, tuple[Callable[[], Any], Callable[[], Sequence[str]]]] = {
        "pass": (lambda: None, lambda: [sys.executable, "-c", "pass"]),
        "git commit": (committed, lambda: ["git", "-C", str(where), "commit", "-q", "-m", "one file"]),
        "gitmem remember": (lambda: None, remembering),
    }
    took: dict[str, list[float]] = {name: [] for name in rows}
    for _ in range(rounds + 1):
        for name, (prepare, command) in rows.items():
            prepare()
            words = command()
            began = time.perf_counter()
            subprocess.run(words, cwd=where, stdin=subprocess.DEVNULL, capture_output=True, check=True)
            took[name].append(1000 * (time.perf_counter() - began))
    bare, commit, remember = (statistics.median(times[1:]) for times in took.values())  # the first warms the caches
    budget = 1.5 * commit + 11 * bare
    return {
        "shell, ms": remember,
        "shell, fastest ms": min(took["gitmem remember"][1:]),
        "git commit, ms": commit,
        "python -c pass, ms": bare,
        "budget, ms": budget,
        "shell / budget": remember / budget,
        "shell / pass": remember / bare,
    }


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sizes", default="100,10000,100000")
    options.add_argument("--cache", type=Path, help="keeps the built repositories; without it they are built anew")
    options.add_argument("--writes", type=int, default=50)
    options.add_argument("--rounds", type=int, default=15)
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args()
    columns: dict[int, dict[str, Any]] = {}
    with sealed("writes") as folder:
        warm()
        cache = chosen.cache.absolute() if chosen.cache else folder / "cache"
        cache.mkdir(parents=True, exist_ok=True)
        for size in map(int, chosen.sizes.split(",")):
            where = folder / f"shop{size}"
            built(cache, size, where)
            columns[size] = {**in_process(where, chosen.writes), **from_shell(where, chosen.rounds)}
            shutil.rmtree(where)
    if chosen.json:
        print(json.dumps(columns))
        return 0
    print("| memories | " + " | ".join(f"{size:,}" for size in columns) + " |")
    print("|---|" + "---|" * len(columns))
    for name in next(iter(columns.values())):
        cells = (columns[size][name] for size in columns)
        print(f"| {name} | " + " | ".join(f"{cell:,.0f}" if cell >= 100 else f"{cell:.2f}" for cell in cells) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
