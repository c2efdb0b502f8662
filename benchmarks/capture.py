"""What capture costs: a sweep in which nothing changed, new bytes a second and memory, and a session turn by turn.

    python benchmarks/capture.py [--files 3000] [--mb 200] [--turns 2000] [--large 0] [--json]

- sweep: a home with so many transcripts of Claude Code; `gitmem capture` from the shell once all of them are captured,
  beside `gitmem capture --host aider`, which finds nothing: the difference is the sweep.
- ingest: so many MB of transcripts at once, secrets removed; the peak of memory is the kernel's (`ru_maxrss`).
- line: one record of 20 MB; `--large`: one file of so many MB.
- session: so many turns of 10 KB, a capture after each; loose objects of a sweep, and what it takes on disk after
  `git gc` and after the archive, as a share of what zlib makes of the whole at its default level.

Text is of made-up words with the frequencies of real text; one line in a hundred holds a secret.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import time
import zlib
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from throwaway import GITMEM, git, repository, sealed

MB = 1_000_000
ROUNDS = 7
SECRET = "ghp_" + "".join(random.Random(3).choices("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789", k=36))


class Speech:
    """Rows as Claude Code writes them: a person asks, an assistant calls a tool, the tool answers with code."""

    def __init__(self, where: Path, seed: int) -> None:
        self._where = where
        self._random = random.Random(seed)
        letters = "aeiounrtslcdmpg"
        self._words = ["".join(self._random.choices(letters, k=self._random.randint(2, 9))) for _ in range(20_000)]
        self._weights = list(accumulate(1 / rank for rank in range(1, len(self._words) + 1)))
        self._number = 0

    def text(self, length: int) -> str:
        words = self._random.choices(self._words, cum_weights=self._weights, k=length // 6)
        return " ".join(words)

    def row(self, kind: str, content: Any, session: str) -> bytes:
        self._number += 1
        at = datetime(2026, 3, 1, tzinfo=timezone.utc) + timedelta(seconds=self._number)
        data = {
            "parentUuid": None, "isSidechain": False, "userType": "external", "cwd": str(self._where),
            "sessionId": session, "version": "2.1.235", "gitBranch": "main", "type": kind,
            "message": {"role": kind, "content": content},
            "uuid": f"{self._random.getrandbits(128):032x}", "timestamp": at.isoformat(),
        }  # fmt: skip
        return json.dumps(data).encode() + b"\n"

    def turn(self, session: str, size: int) -> bytes:
        """About `size` bytes in four rows."""
        call = f"toolu_{self._random.getrandbits(96):024x}"
        secret = f" token {SECRET}" if self._random.random() < 0.04 else ""
        result = {"type": "tool_result", "tool_use_id": call, "content": self.text(size // 2) + secret}
        return b"".join(
            (
                self.row("user", self.text(size // 12), session),
                self.row("assistant", [{"type": "text", "text": self.text(size // 6)}], session),
                self.row(
                    "assistant",
                    [{"type": "tool_use", "id": call, "name": "Bash", "input": {"command": self.text(60)}}],
                    session,
                ),
                self.row("user", [result], session),
            )
        )


class Cost(NamedTuple):
    """What one gitmem command took, with the processes that it waited for."""

    seconds: float
    processor: float
    peak: float  # MB


def timed(where: Path, *arguments: str) -> Cost:
    begin = time.perf_counter()
    process = subprocess.Popen([GITMEM, *arguments], cwd=where, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"gitmem {' '.join(arguments)}: {process.returncode}")
    return Cost(time.perf_counter() - begin, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / MB)


def shop(top: Path, name: str) -> tuple[Path, Path]:
    """A repository, and a folder for its transcripts."""
    os.environ["CLAUDE_CONFIG_DIR"] = str(top / f"claude-{name}")
    projects = Path(os.environ["CLAUDE_CONFIG_DIR"]) / "projects/shop"
    projects.mkdir(parents=True)
    return repository(top / name), projects


def sweep(top: Path, files: int) -> dict[str, Any]:
    where, projects = shop(top, "sweep")
    speech = Speech(where, 1)
    for number in range(files):
        (projects / f"session-{number:05}.jsonl").write_bytes(speech.turn(f"session-{number:05}", 2000))
    first = timed(where, "capture")
    refs = len(git(where, "for-each-ref", "refs/gitmem/sessions").splitlines())
    if refs != files:
        raise SystemExit(f"{refs} of {files} sessions were captured")
    timed(where, "capture")
    start: list[Cost] = []
    whole: list[Cost] = []
    for _ in range(ROUNDS):
        start.append(timed(where, "capture", "--host", "aider"))
        whole.append(timed(where, "capture"))

    def median(costs: list[Cost], of: int) -> float:
        return statistics.median(cost[of] for cost in costs)

    return {
        "files": files,
        "first capture, s": round(first.seconds, 2),
        "nothing to look at, s": round(median(start, 0), 3),
        "all unchanged, s": round(median(whole, 0), 3),
        "sweep, s": round(median(whole, 0) - median(start, 0), 3),
        "sweep, processor, s": round(median(whole, 1) - median(start, 1), 3),
    }


def ingest(top: Path, megabytes: int) -> dict[str, Any]:
    where, projects = shop(top, "ingest")
    size = 0
    for number in range(max(1, megabytes // 5)):
        with (projects / f"s{number}.jsonl").open("wb") as file:
            for data in turns(where, number, min(megabytes, 5) * MB, f"s{number}"):
                size += file.write(data)
    cost = timed(where, "capture")
    return {
        **amounts(size, cost),
        "secret found": found(where, SECRET),
    }


def amounts(size: int, cost: Cost) -> dict[str, Any]:
    return {
        "MB": round(size / MB, 1),
        "s": round(cost.seconds, 2),
        "MB/s": round(size / MB / cost.seconds, 1),
        "MB/s of processor time": round(size / MB / cost.processor, 1),
        "peak MB": round(cost.peak),
    }


def turns(where: Path, seed: int, size: int, session: str) -> Iterator[bytes]:
    speech = Speech(where, seed)
    done = 0
    while done < size:
        data = speech.turn(session, 10_000)
        done += len(data)
        yield data


def found(where: Path, text: str) -> bool:
    """Whether any object of git holds the text."""
    done = subprocess.Popen(
        ["git", "-C", str(where), "cat-file", "--batch-all-objects", "--batch", "--buffer"], stdout=subprocess.PIPE
    )
    assert done.stdout
    rest = b""
    while block := done.stdout.read(1 << 20):
        if text.encode() in rest + block:
            done.kill()
            return True
        rest = block[-200:]
    return False


def one_file(top: Path, name: str, megabytes: int) -> dict[str, Any]:
    """One line of so many MB when it is `line`, else a file of many."""
    where, projects = shop(top, name)
    speech = Speech(where, 5)
    with (projects / "s.jsonl").open("wb") as file:
        file.write(speech.turn("s", 2000))
        if name == "line":
            file.write(speech.row("user", speech.text(megabytes * MB), "s"))
        else:
            block = b"".join(turns(where, 6, 20 * MB, "s"))
            for _ in range(megabytes // 20):
                file.write(block)
    cost = timed(where, "capture")
    return amounts((projects / "s.jsonl").stat().st_size, cost)


def session(top: Path, number: int) -> dict[str, Any]:
    where, projects = shop(top, "session")
    from gitmem.app.capture import capture
    from gitmem.app.capture_archive import archive_sealed
    from gitmem.app.env import observe
    from gitmem.app.workspace import open_workspace
    from gitmem.store.repack import repack

    speech = Speech(where, 9)
    path = projects / "s.jsonl"
    before = on_disk(where)
    objects, seconds = [], []
    for turn in range(number):
        with path.open("ab") as file:
            file.write(speech.turn("s", 10_000))
        begin = time.perf_counter()
        workspace = open_workspace(observe(str(where)))
        capture(workspace)
        workspace.close()
        seconds.append(time.perf_counter() - begin)
        if turn % 50 == 7:
            objects.append(objects_of(where))
    steps = [len(after - earlier) / 50 for earlier, after in pairwise(objects)]
    size = path.stat().st_size
    whole = len(zlib.compress(path.read_bytes()))
    workspace = open_workspace(observe(str(where)))
    repack(workspace.location)
    packed = on_disk(where) - before
    git(where, "gc", "-q", "--prune=now")
    collected = on_disk(where) - before
    archive_sealed(workspace, at_once=True)
    workspace.close()
    git(where, "reflog", "expire", "--expire=now", "--all")
    git(where, "gc", "-q", "--prune=now")
    return {
        "turns": number,
        "MB": round(size / MB, 1),
        "compressed MB": round(whole / MB, 2),
        "objects of a sweep, most": round(max(steps), 2) if steps else None,
        "a capture, ms, median": round(statistics.median(seconds) * 1000, 1),
        "after gitmem's packs": round(packed / whole, 3),
        "after git gc": round(collected / whole, 3),
        "after the archive and git gc": round((on_disk(where) - before) / whole, 3),
    }


def objects_of(where: Path) -> set[str]:
    return set(git(where, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split())


def on_disk(where: Path) -> int:
    """Bytes of the object store."""
    return sum(path.stat().st_size for path in (where / ".git/objects").rglob("*") if path.is_file())


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", maxsplit=1)[0])
    parser.add_argument("--files", type=int, default=3000)
    parser.add_argument("--mb", type=int, default=200)
    parser.add_argument("--turns", type=int, default=2000)
    parser.add_argument("--large", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    figures: dict[str, Any] = {}
    with sealed("capture") as top:
        if asked.files:
            figures["sweep"] = sweep(top, asked.files)
        if asked.mb:
            figures["ingest"] = ingest(top, asked.mb)
            figures["line"] = one_file(top, "line", 20)
        if asked.large:
            figures["large"] = one_file(top, "large", asked.large)
        if asked.turns:
            figures["session"] = session(top, asked.turns)
    if asked.json:
        print(json.dumps(figures, indent=1))
    else:
        for part, rows in figures.items():
            print(part)
            for name, value in rows.items():
                print(f"  {name:<32}{value}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
