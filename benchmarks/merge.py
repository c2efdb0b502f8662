"""What a merge of two clones costs that changed so many memories apart, beside plain `git merge` of the same commits.

    python benchmarks/merge.py [--base 10000] [--divergent 1000] [--json]

For each way to diverge: how long `merge_tips` takes (best of three, on a clone that was just opened), what it made,
how long `git merge` takes in a work tree of the branch and how many files it leaves in conflict, and how long it takes
to verify the merge commit together with the other side.

- apart: half of them edited here and half there, and so many new ones on each side.
- fields: all of them edited on both sides, the body here and the tags there.
- lines: another line of the body on each side.
- title: another title on each side.
- evidence: another reference on each side.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from throwaway import Writer, draft, git, repository, sealed

MAIN = "refs/heads/gitmem/main"
ROUNDS = 3


def edited(where: Path, ids: Sequence[str], change: Callable[[Any], Any], new: int, seed: str) -> None:
    """One commit that edits the memories, and one that adds `new` others."""
    from gitmem.app.remember import remember
    from gitmem.app.writing import Mutation, write
    from gitmem.model.judgement import Change

    writer = Writer(where)
    writer.trust()

    def plan(view: Any, _: Any) -> list[Mutation]:
        found = [view.memory(identifier) for identifier in ids]
        return [Mutation(Change("edit", change(m), before=m, reason="measured"), MAIN) for m in found]

    if ids:
        write(writer.workspace, plan, subject=lambda _: "edit many")
    if new:
        remember(writer.workspace, [draft(f"{seed} {number}") for number in range(new)])
    writer.close()


def line(number: int, said: str) -> Callable[[Any], Any]:
    def change(memory: Any) -> Any:
        lines = memory.body.split("\n")
        return replace(memory, body="\n".join([*lines[:number], said, *lines[number + 1 :]]))

    return change


def merged(where: Path, ours: str, theirs: str) -> tuple[float, float, Any]:
    """Seconds, seconds of the processor, and result of the best of some merges.

    The objects that were written stay; the branch does not move.
    """
    from gitmem.app.merge import merge_tips

    best = None
    for _ in range(ROUNDS):
        writer = Writer(where)
        begun, worked = time.perf_counter(), time.process_time()
        done = merge_tips(writer.workspace, ours, theirs, subject="merge")
        taken, worked = time.perf_counter() - begun, time.process_time() - worked
        writer.close()
        best = (taken, worked, done) if best is None or taken < best[0] else best
    assert best is not None
    return best


def verified(where: Path, ours: str, commit: str) -> tuple[float, list[str]]:
    """Seconds to verify the merge commit and the other side, as the reader here does, and the codes of the faults."""
    from gitmem.app.verify import verify_range

    writer = Writer(where)
    begun = time.perf_counter()
    report = verify_range(writer.workspace, ours, commit)
    taken = time.perf_counter() - begun
    writer.close()
    return taken, sorted({fault.code for fault in report.faults})


def plain(where: Path, ours: str, theirs: str) -> tuple[float, int]:
    """Seconds of `git merge` in a work tree of the branch, and the files that it leaves in conflict."""
    tree = where.parent / "tree"
    git(where, "worktree", "add", "-q", "--detach", str(tree), ours)
    begun = time.perf_counter()
    git(tree, "merge", "-q", "--no-edit", theirs, check=False)
    taken = time.perf_counter() - begun
    left = len(git(tree, "diff", "--name-only", "--diff-filter=U").splitlines())
    git(where, "worktree", "remove", "--force", str(tree))
    return taken, left


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", type=int, default=10_000)
    parser.add_argument("--divergent", type=int, default=1000)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with sealed("merge") as folder:
        from gitmem.app.remember import remember
        from gitmem.model.nouns import UrlRef

        here = repository(folder / "shop")
        writer = Writer(here)
        writer.init()
        ids: list[str] = []
        for start in range(0, asked.base, 1000):
            drafts = [
                replace(made, body=made.body.replace(" ", "\n", 12))
                for made in (draft(f"base {number}") for number in range(start, min(start + 1000, asked.base)))
            ]
            ids += [done.memory.id for done in remember(writer.workspace, drafts)]
        writer.close()
        count = asked.divergent
        some = ids[:count]
        half = count // 2

        def tagged(tag: str) -> Callable[[Any], Any]:
            return lambda memory: replace(memory, tags=(*memory.tags, tag))

        def titled(word: str) -> Callable[[Any], Any]:
            return lambda memory: replace(memory, title=f"{memory.title} {word}")

        def cited(name: str) -> Callable[[Any], Any]:
            address = f"https://example.invalid/{name}"
            ref = UrlRef(address, hashlib.sha256(address.encode()).hexdigest())
            return lambda memory: replace(memory, evidence=(*memory.evidence, ref))

        ways = {
            "apart": ((some[:half], tagged("here"), half), (some[half:], tagged("there"), half)),
            "fields": ((some, line(2, "said here"), 0), (some, tagged("there"), 0)),
            "lines": ((some, line(2, "said here"), 0), (some, line(9, "said there"), 0)),
            "title": ((some, titled("here"), 0), (some, titled("there"), 0)),
            "evidence": ((some, cited("here"), 0), (some, cited("there"), 0)),
        }
        rows = []
        begun = git(here, "rev-parse", MAIN).strip()
        for name, sides in ways.items():
            tips = []
            for side, (changed, change, new) in zip(("ours", "theirs"), sides, strict=True):
                clone = folder / f"{name}-{side}"
                shutil.copytree(here, clone, symlinks=True)
                edited(clone, changed, change, new, f"{name} {side}")
                tips.append(git(clone, "rev-parse", MAIN).strip())
            where = folder / f"{name}-ours"
            git(where, "fetch", "-q", str(folder / f"{name}-theirs"), f"{MAIN}:refs/heads/theirs")
            assert git(where, "merge-base", *tips).strip() == begun
            taken, worked, done = merged(where, *tips)
            judged, faults = verified(where, tips[0], done.commit)
            git_taken, left = plain(where, *tips)
            rows.append(
                {"way": name, "base": asked.base, "divergent": count, "seconds": round(taken, 2),
                 "cpu": round(worked, 2), "records": done.records, "conflicts": len(done.conflicts),
                 "verify_seconds": round(judged, 2),
                 "faults": faults, "git_seconds": round(git_taken, 2), "git_conflicts": left}
            )  # fmt: skip
            for side in ("ours", "theirs"):
                shutil.rmtree(folder / f"{name}-{side}")
    if asked.json:
        print("\n".join(json.dumps(row) for row in rows))
        return
    print(f"{asked.divergent:,} divergent memories of {asked.base:,}")
    print(
        f"{'':<10}{'gitmem':>9}{'of cpu':>9}{'merged':>8}{'kept':>6}{'verify':>9}{'git merge':>11}{'in conflict':>13}"
    )
    for row in rows:
        print(
            f"{row['way']:<10}{row['seconds']:>7.2f} s{row['cpu']:>7.2f} s{row['records']:>8,}{row['conflicts']:>6,}"
            f"{row['verify_seconds']:>7.2f} s{row['git_seconds']:>9.2f} s{row['git_conflicts']:>13,}"
            + (f"  FAULTS {row['faults']}" if row["faults"] else "")
        )


if __name__ == "__main__":
    main()
