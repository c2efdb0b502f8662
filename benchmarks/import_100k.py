"""How long a bulk import takes, and how much memory it needs.

    python benchmarks/import_100k.py [--n 10000] [--texts FOLDER] [--no-verify] [--upkeep]

Builds a throw-away repository of N commits with `git fast-import` and a JSONL file that names each of them, then
runs the installed command as a person: init, import, verify, export, and import once more. The messages are those of
FOLDER/*.memories.jsonl and then the same with other words put in; without a FOLDER they are made up. Prints for each
command wall time, processor time and peak memory (of it or of a program it starts), and what the import packed.
--upkeep measures status, doctor and consolidate instead of verify and export.
"""

from __future__ import annotations

import argparse
import json
import os
import pty
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gitmem.app.env import AGENT_VARIABLES, CI_VARIABLES

GITMEM = Path(sys.executable).with_name("gitmem")
DAY = 1_500_000_000
WORDS = 60_000  # words to make messages of


def messages(folder: Path | None, count: int) -> Iterator[tuple[str, str]]:
    """`count` pairs of title and body, all different."""
    chance = random.Random(1)
    known: list[tuple[str, str]] = []
    for file in sorted(folder.glob("*.memories.jsonl")) if folder else ():
        for line in file.read_text().splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                continue
            known.append((row["title"], row["body"]))
    for number in range(count):
        if number < len(known):
            yield known[number]
            continue
        title, body = known[number % len(known)] if known else ("", "")
        made = [f"w{chance.randrange(WORDS):x}q" for _ in range(10)]
        # Most of a message is replaced: a history does not say the same thing five times over.
        yield " ".join([*title.split()[:3], *made])[:150], body[: len(body) // 3]


def build(where: Path, rows: Sequence[tuple[str, str]]) -> list[str]:
    """A repository with one commit for each message; gives the commits."""
    git(where, "init", "-q", "-b", "main")
    loader = subprocess.Popen(
        ["git", "-C", str(where), "fast-import", "--quiet", "--export-marks=marks"], stdin=subprocess.PIPE
    )
    assert loader.stdin
    for number, (title, body) in enumerate(rows, 1):
        message = f"{title}\n\n{body}".encode()
        text = f"{number}\n".encode()
        loader.stdin.write(
            b"commit refs/heads/main\nmark :%d\ncommitter P <p@example.invalid> %d +0000\ndata %d\n%s\n"
            % (number, DAY + number * 600, len(message), message)
        )
        loader.stdin.write(b"M 100644 inline f%d\ndata %d\n%s\n" % (number % 100, len(text), text))
    loader.stdin.close()
    if loader.wait():
        raise SystemExit("git fast-import failed")
    marks = dict(line.split() for line in (where / "marks").read_text().splitlines())
    return [marks[f":{number}"] for number in range(1, len(rows) + 1)]


def git(where: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", str(where), *arguments], check=True, capture_output=True, text=True).stdout


def run(where: Path, *arguments: str) -> str:
    """Run gitmem in `where` as a person at a terminal, print what it took, give what it answered."""
    took = as_a_person([str(GITMEM), *arguments], where)
    print(
        f"gitmem {' '.join(arguments):<40} {took['wall']:7.1f} s wall {took['cpu']:7.1f} s cpu {took['peak']:5} MB peak"
    )
    print(f"    exit {took['code']}: {took['out'].strip().splitlines()[-1:]} {took['err'].strip()[-300:]}", flush=True)
    return str(took["out"])


def as_a_person(command: list[str], where: Path) -> dict[str, Any]:
    """Run `command` below init with a terminal for standard input, whatever started the benchmark."""
    environ = {k: v for k, v in os.environ.items() if k not in AGENT_VARIABLES and k not in CI_VARIABLES}
    master, slave = pty.openpty()
    told, tell = os.pipe()
    first = os.getpid()
    child = os.fork()
    if child == 0:
        if os.fork():
            os._exit(0)
        while os.getppid() in (first, child):
            time.sleep(0.01)
        began = time.perf_counter()
        done = subprocess.run(command, cwd=where, env=environ, stdin=slave, capture_output=True, text=True, check=False)
        wall = time.perf_counter() - began
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        answer = {
            "wall": wall,
            "cpu": used.ru_utime + used.ru_stime,
            "peak": used.ru_maxrss // 1024,
            "code": done.returncode,
            "out": done.stdout,
            "err": done.stderr,
        }
        with os.fdopen(tell, "w") as pipe:
            json.dump(answer, pipe)
        os._exit(0)
    os.close(tell)
    os.waitpid(child, 0)
    with os.fdopen(told) as pipe:
        answer = json.load(pipe)
    os.close(master)
    os.close(slave)
    return dict(answer)


def packed(where: Path) -> dict[str, int]:
    rows = (line.split(": ") for line in git(where, "count-objects", "-v").splitlines())
    return {name: int(value) for name, value in rows if value.isdigit()}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--n", type=int, default=10_000)
    options.add_argument("--texts", type=Path, default=None)
    options.add_argument("--verify", action=argparse.BooleanOptionalAction, default=True)
    options.add_argument("--upkeep", action="store_true")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="gitmem-import-") as folder:
        where = Path(folder) / "shop"
        where.mkdir()
        rows = list(messages(chosen.texts, chosen.n))
        commits = build(where, rows)
        with (where / "changes.jsonl").open("w") as out:
            for commit, (title, body) in zip(commits, rows, strict=True):
                out.write(json.dumps({"id": commit, "title": title, "body": body, "date": "2024-03-01"}) + "\n")
        run(where, "init", "--offline")
        before = packed(where)
        run(where, "import", "changes.jsonl", "--accept", "--json")
        after = packed(where)
        print(
            f"    {after['in-pack'] - before['in-pack']} objects, {after['size-pack'] - before['size-pack']} KiB packed"
        )
        if chosen.upkeep:
            for words in (["status"], ["doctor"], ["consolidate", "--dry-run"], ["consolidate"]):
                run(where, *words, "--json")
        elif chosen.verify:
            run(where, "verify", "--all", "--json")
            run(where, "export", "--json")
            run(where, "import", "changes.jsonl", "--accept", "--json")


if __name__ == "__main__":
    main()
