"""What each verb imports, and how long it takes from start to end: `python benchmarks/startup.py [--runs N]`.

Prints a Markdown table for docs/performance.md. Times are medians of whole processes of the installed command,
as multiples of `python -c pass` in the same run, since machines differ. tests/test_imports_table.py checks names.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

PROGRAM = Path(sys.executable).parent / "gitmem"
ROOMS = ("model", "policy", "store", "evidence", "recall", "notes", "app", "cli")
OUTSIDE = ("typer", "pydantic", "ruamel", "ryaml", "pygit2", "re2", "tantivy", "Stemmer", "rich")
ZERO = "0" * 40

# One command line as the installed command runs it, then the names of what was loaded.
PROBE = """\
import json, sys
names = sys.argv.pop(1)
from gitmem.app.env import observe
from gitmem.cli.main import run
code = run(sys.argv[1:], observe)
with open(names, "w") as file:
    json.dump(sorted(sys.modules), file)
sys.exit(code)
"""
VERBS: tuple[tuple[str, ...], ...] = (
    ("--version",),
    ("--help",),
    ("init",),
    ("remember", "--dry-run", "-k", "fact", "The tenth line belongs to the pool", "-e", "file:src/pool.py:10-12"),
    ("check", "draft.yaml"),
    ("import", "--list"),
    ("list", "--inbox"),
    ("list",),
    ("recall", "pool"),
    ("show", "ID"),
    ("log",),
    ("blame", "ID"),
    ("export",),
    ("verify", "--all"),
    ("doctor",),
    ("reindex",),
    ("policy",),
    ("schema", "memory"),
    ("hooks", "status"),
    ("hook-impl", "pre-push", "origin", "url"),
)


def world(folder: Path) -> tuple[Path, dict[str, str]]:
    """A repository with one file and the environment of an agent in it: no terminal, a home of its own."""
    shop = folder / "shop"
    (shop / "src").mkdir(parents=True)
    (folder / ".gitconfig").write_text("[user]\n\tname = Test Person\n\temail = person@example.invalid\n")
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8"}
    (shop / "src/pool.py").write_text("".join(f"line {number} of the pool\n" for number in range(1, 41)))
    (shop / "CLAUDE.md").write_text("# Working here\n\n- Run the tests with pytest before every commit.\n")
    (shop / "draft.yaml").write_text("kind: fact\ntitle: Line nine is of the pool\nevidence: ['file:src/pool.py:9']\n")
    for words in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "pool: forty lines")):
        subprocess.run(["git", *words], cwd=shop, env=environ, check=True)
    return shop, environ


def answer(command: Sequence[str], where: Path, environ: dict[str, str], stdin: str) -> str:
    done = subprocess.run(command, cwd=where, env=environ, input=stdin, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def medians(
    commands: Sequence[tuple[Sequence[str], str]], runs: int, where: Path, environ: dict[str, str]
) -> list[float]:
    """The median wall time of each command in seconds; the commands take turns, so load falls on all alike."""
    times: list[list[float]] = [[] for _ in commands]
    for _ in range(runs):
        for number, (command, stdin) in enumerate(commands):
            start = time.perf_counter()
            answer(command, where, environ, stdin)
            times[number].append(time.perf_counter() - start)
    return [statistics.median(row) for row in times]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=11, help="runs of each command (default 11)")
    runs = options.parse_args().runs
    with tempfile.TemporaryDirectory() as name:
        shop, environ = world(Path(name))
        for words in (["init"], ["remember", "-k", "fact", "The pool has forty lines", "-e", "file:src/pool.py:1-40"]):
            answer([str(PROGRAM), *words], shop, environ, "")
        identifier = json.loads(answer([str(PROGRAM), "--json", "list", "--inbox"], shop, environ, "").split("\n")[0])[
            "id"
        ]
        tip = answer(["git", "rev-parse", "main"], shop, environ, "").strip()
        lines = [[identifier if word == "ID" else word for word in words] for words in VERBS]
        pushed = [
            f"refs/heads/main {tip} refs/heads/main {ZERO}\n" if words[0] == "hook-impl" else "" for words in VERBS
        ]
        commands = [([sys.executable, "-c", "pass"], "")]
        commands += [([str(PROGRAM), *words], stdin) for words, stdin in zip(lines, pushed, strict=True)]
        bare, *spent = medians(commands, runs, shop, environ)
        print(f"Python {sys.version.split()[0]}, `python -c pass` {bare * 1000:.0f} ms, median of {runs} runs.\n")
        print("| command | ms | × `python -c pass` | modules | rooms of gitmem | packages |")
        print("|---|---|---|---|---|---|")
        for words, line, stdin, seconds in zip(VERBS, lines, pushed, spent, strict=True):
            names = Path(name) / "modules.json"
            answer([sys.executable, "-c", PROBE, str(names), *line], shop, environ, stdin)
            modules = set(json.loads(names.read_text()))
            rooms = ", ".join(room for room in ROOMS if f"gitmem.{room}" in modules)
            packages = ", ".join(package for package in OUTSIDE if package in modules) or "none"
            shown = " ".join(words[:2] if words[0] in ("remember", "hook-impl") else words)
            print(
                f"| `{shown}` | {seconds * 1000:.0f} | {seconds / bare:.1f} | {len(modules)} | {rooms} | {packages} |"
            )


if __name__ == "__main__":
    main()
