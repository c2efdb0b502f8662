"""`gitmem sync` with nothing to do, against `git fetch` of the same branch.

    python benchmarks/sync.py [--memories 200] [--runs 15] [--latency 0 100 300]

A bare remote is reached by a stand-in for ssh that waits `latency` milliseconds before it answers, as a network
would; 0 is the local disk, by file://. Runs alternate, so that both see the same load. Prints JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import time
from pathlib import Path

from throwaway import GITMEM, git, sealed

STAND_IN = """\
#!/bin/sh
# What ssh would do: wait for the network, then run the command that git asks for.
shift $(($# - 1))
sleep {seconds}
exec sh -c "$1"
"""


def timed(where: Path, *command: str, environ: dict[str, str]) -> float:
    """Milliseconds. Raises CalledProcessError when the command fails."""
    began = time.perf_counter()
    subprocess.run(command, cwd=where, env=environ, check=True, capture_output=True)
    return (time.perf_counter() - began) * 1000


def made(top: Path, memories: int) -> tuple[Path, Path]:
    """A clone with so many memories, and the bare remote that has them too."""
    hub, where = top / "hub.git", top / "shop"
    git(top, "init", "-q", "--bare", "-b", "main", str(hub))
    git(top, "init", "-q", "-b", "main", str(where))
    (where / "pool.py").write_text("size = 20\n")
    git(where, "add", ".")
    git(where, "commit", "-q", "-m", "pool")
    git(where, "remote", "add", "origin", f"file://{hub}")
    git(where, "push", "-q", "origin", "main")
    environ = dict(os.environ)
    subprocess.run([str(GITMEM), "init"], cwd=where, env=environ, check=True, capture_output=True)
    lines = [
        json.dumps({"kind": "fact", "title": f"Part {n} holds {n * 7919} sockets", "evidence": ["file:pool.py:1"]})
        for n in range(memories)
    ]
    subprocess.run(
        [str(GITMEM), "remember", "-f", "-"], cwd=where, env=environ, input="\n".join(lines) + "\n", text=True,
        check=True, capture_output=True,
    )  # fmt: skip
    subprocess.run([str(GITMEM), "sync"], cwd=where, env=environ, check=True, capture_output=True)
    return where, hub


def measured(where: Path, hub: Path, latency: int, runs: int) -> dict[str, object]:
    """Medians in milliseconds of `runs` alternating runs."""
    environ = dict(os.environ)
    if latency:
        script = where.parent / f"ssh-{latency}"
        script.write_text(STAND_IN.format(seconds=latency / 1000))
        script.chmod(0o755)
        environ["GIT_SSH_COMMAND"] = str(script)
        environ["GIT_SSH_VARIANT"] = "ssh"
    git(where, "remote", "set-url", "origin", f"ssh://host{hub}" if latency else f"file://{hub}")
    fetch = ("git", "fetch", "-q", "origin", "refs/heads/gitmem/main")
    sync = (str(GITMEM), "sync")
    for command in (fetch, sync):
        timed(where, *command, environ=environ)
    took: dict[str, list[float]] = {"git fetch": [], "gitmem sync": []}
    for _ in range(runs):
        took["git fetch"].append(timed(where, *fetch, environ=environ))
        took["gitmem sync"].append(timed(where, *sync, environ=environ))
    medians = {name: round(statistics.median(values), 1) for name, values in took.items()}
    return {"latency": latency, **medians, "ratio": round(medians["gitmem sync"] / medians["git fetch"], 2)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--memories", type=int, default=200)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--latency", type=int, nargs="*", default=[0, 100, 300])
    given = parser.parse_args()
    with sealed("sync") as top:
        (top / "home").mkdir(exist_ok=True)
        where, hub = made(top, given.memories)
        rows = [measured(where, hub, latency, given.runs) for latency in given.latency]
        print(json.dumps({"memories": given.memories, "runs": given.runs, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
