"""What a look for stale memories costs: 1,000 memories with 5,000 references to the code of a repository.

    python benchmarks/staleness_cost.py REPOSITORY [--back COMMITS]

Works in a clone. The references are to definitions, values, lines and whole files as they were COMMITS ago on the
first-parent history (default 100), so that much has changed since. `gitmem stale` is run three times; the first one
remembers nothing yet. CPU is that of the command and of the git processes it started.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from gitmem.errors import GitmemError
from gitmem.evidence.definitions import parsed
from gitmem.evidence.sources import Sources
from gitmem.store.repository import locate, open_backend
from gitmem.store.snapshot import snapshot

MEMORIES, REFERENCES = 1000, 5
PROGRAM = Path(sys.executable).parent / "gitmem"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("repository", type=Path)
    parser.add_argument("--back", type=int, default=100)
    parser.add_argument("--keep", type=Path, help="leave the clone here")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        where = given.keep or Path(folder) / "code"
        _run("git", "clone", "-q", "--no-local", "--single-branch", str(given.repository), str(where))
        _run(str(PROGRAM), "init", "--offline", cwd=where)
        _fill(where, given.back)
        for command in (("stale",), ("stale",), ("stale", "--json")):
            before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
            said = subprocess.run([PROGRAM, *command], cwd=where, capture_output=True, text=True, check=True)
            wall = time.perf_counter() - began
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            told = said.stderr.splitlines()[0] if said.stderr else said.stdout.splitlines()[-1]
            print(f"gitmem {' '.join(command)}: {cpu:.2f} s CPU, {wall:.2f} s; {told}")


def _fill(where: Path, back: int) -> None:
    from gitmem.app.env import observe
    from gitmem.app.workspace import open_workspace

    location = locate(where, environ=os.environ)
    backend = open_backend(location, long_lived=True)
    base = backend.log(location.head or "", first_parent=True)[back]
    cited = []
    for path, entry in snapshot(backend, base).walk():
        data = backend.read(entry.oid)[1] if entry.mode.startswith("100") else b""
        code = parsed(path, data)
        rows = data.count(b"\n")
        cited += [
            f"file:{path}@{base}::{one.name}" for one in (code.definitions if code else ()) if len(one.name) < 100
        ]
        cited += [f"file:{path}@{base}:{row}-{min(row + 3, rows)}" for row in range(1, rows, 40)]
        cited.append(f"file:{path}@{base}")
    random.Random(7).shuffle(cited)
    from gitmem.evidence.resolvers import expand

    sources = Sources(backend, base, None, lambda _: None, "terminal")
    lines = []
    for _ in range(MEMORIES):
        refs = []
        while len(refs) < REFERENCES:
            try:
                refs.append(expand(cited.pop(), sources))
            except GitmemError:
                continue
        lines.append(refs)
    print(f"{len({ref.path for refs in lines for ref in refs})} files cited by {MEMORIES * REFERENCES:,} references")
    _write(open_workspace(observe(str(where))), lines)


def _write(workspace: object, references: list[list[object]]) -> None:
    """Put the memories on the branch in one commit, as a person's."""
    from dataclasses import replace as put

    from gitmem.app import writing
    from gitmem.app.writing import Mutation
    from gitmem.model.ids import memory_id
    from gitmem.model.judgement import Change
    from gitmem.model.layout import MAIN
    from gitmem.model.nouns import Memory, Scope

    workspace = put(workspace, env=put(workspace.env, channel="terminal"))  # type: ignore[type-var, attr-defined]

    def plan(view: object, _: object) -> list[Mutation]:
        project = view.require_config().project  # type: ignore[attr-defined]
        rng = random.Random(3)
        words = [f"w{number}" for number in range(3000)]
        return [
            Mutation(
                Change(
                    "create",
                    Memory(
                        memory_id(workspace.env.random(8)), "fact", " ".join(rng.sample(words, 8)), "active",  # type: ignore[attr-defined]
                        Scope(project), "human", evidence=tuple(refs),  # type: ignore[arg-type]
                    ),
                ),
                MAIN,
            )
            for refs in references
        ]  # fmt: skip

    writing.write(workspace, plan, subject=lambda found: f"{len(found)} memories")  # type: ignore[arg-type]


def _run(*command: str, cwd: Path | None = None) -> None:
    subprocess.run(command, check=True, cwd=cwd, capture_output=True)


if __name__ == "__main__":
    main()
