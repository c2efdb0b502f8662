"""What the check of a pull request costs on a large memory branch.

    python benchmarks/pull_request.py [--size 100000] [--memories 50] [--cache FOLDER] [--rounds 5] [--json]

Builds the repository of benchmarks/writes.py with SIZE memories, has an agent propose MEMORIES candidates, cuts the
proposal, lets gitmem/main move on by one commit, and measures `gitmem verify --merge-into gitmem/main --head PROPOSAL`
from the shell: every commit of it, the merge as a merge commit, and the merge as one commit. First in the clone
that made it, whose search index has seen the branch; then as a CI has it, a bare repository that was fetched and has
no index.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from throwaway import GITMEM, Writer, git, sealed
from writes import built, spoken


def offered(where: Path, memories: int) -> str:
    """The branch of a proposal of `memories` candidates; gitmem/main is a commit further than where it was cut."""
    from gitmem.app.propose import propose
    from gitmem.app.remember import remember

    writer = Writer(where, libgit2=True)
    writer.trust()
    remember(writer.workspace, [spoken(f"offered {number}") for number in range(memories)], status="candidate")
    offer = propose(writer.workspace, (), name="benchmark")
    remember(writer.workspace, [spoken("meanwhile")])
    writer.close()
    return offer.branch


def measured(where: Path, target: str, head: str, rounds: int) -> dict[str, Any]:
    took = []
    for _ in range(rounds):
        began = time.perf_counter()
        done = subprocess.run(
            [GITMEM, "--json", "verify", "--merge-into", target, "--head", head],
            cwd=where,
            capture_output=True,
            text=True,
            check=False,
        )
        took.append(time.perf_counter() - began)
        report = json.loads(done.stdout)
        assert done.returncode == 0 and report["clean"], report
    return {
        "seconds": round(sorted(took)[len(took) // 2], 2),
        "worst": round(max(took), 2),
        "records": report["records"],
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--size", type=int, default=100_000)
    options.add_argument("--memories", type=int, default=50)
    options.add_argument("--cache", type=Path)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--json", action="store_true")
    given = options.parse_args()
    with sealed("pull-request") as folder:
        cache = given.cache or Path(tempfile.mkdtemp(dir=folder))
        cache.mkdir(parents=True, exist_ok=True)
        where = folder / "shop"
        built(cache, given.size, where)
        head = offered(where, given.memories)
        told = {
            "size": given.size,
            "memories": given.memories,
            "clone": measured(where, "gitmem/main", head, given.rounds),
        }
        bare = folder / "ci.git"
        git(folder, "init", "-q", "--bare", str(bare))
        git(bare, "fetch", "-q", str(where), "+refs/heads/*:refs/check/heads/*")
        target, wanted = "refs/check/heads/gitmem/main", f"refs/check/heads/{head}"
        told["ci"] = measured(bare, target, wanted, max(given.rounds // 3, 1))
        shutil.rmtree(where)
    if given.json:
        print(json.dumps(told))
        return
    for place in ("clone", "ci"):
        found = told[place]
        said = f"{given.memories} memories on {given.size:,}: {found['seconds']} s (worst {found['worst']} s)"
        print(f"{place:<6}{said}", file=sys.stdout)


if __name__ == "__main__":
    main()
