"""How long a bulk import takes, and how much memory it needs.

    python benchmarks/import_100k.py [--n 10000] [--texts FOLDER] [--keep]

Builds a throw-away repository of N commits with `git fast-import` and a JSONL file that names each of them, then
runs the installed command: init, import, verify, list. The messages are those of FOLDER/*.memories.jsonl, over and
over with other words put in; without a FOLDER they are made up. Prints wall time, peak memory of the command and of
the programs it starts, objects and bytes of the pack.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

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
    """Run gitmem in `where`, print what it took, give what it answered."""
    before = time.perf_counter()
    started = os.times()
    done = subprocess.run([str(GITMEM), *arguments], cwd=where, capture_output=True, text=True, check=False)
    took, ended = time.perf_counter() - before, os.times()
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    spent = ended.children_user + ended.children_system - started.children_user - started.children_system
    print(f"gitmem {' '.join(arguments):<40} {took:7.1f} s wall {spent:7.1f} s cpu   peak so far {peak} MB", flush=True)
    print(f"    exit {done.returncode}: {done.stdout.strip().splitlines()[-1:]} {done.stderr.strip()[-300:]}")
    return done.stdout


def packed(where: Path) -> dict[str, int]:
    rows = (line.split(": ") for line in git(where, "count-objects", "-v").splitlines())
    return {name: int(value) for name, value in rows if value.isdigit()}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--n", type=int, default=10_000)
    options.add_argument("--texts", type=Path, default=None)
    options.add_argument("--verify", action=argparse.BooleanOptionalAction, default=True)
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
        run(where, "import", "changes.jsonl", "--json")
        after = packed(where)
        print(
            f"    {after['in-pack'] - before['in-pack']} objects, {after['size-pack'] - before['size-pack']} KiB packed"
        )
        if chosen.verify:
            run(where, "verify", "--all", "--json")
            run(where, "list", "--inbox", "--json", "--limit", "10000")
            run(where, "import", "changes.jsonl", "--json")


if __name__ == "__main__":
    main()
