"""What a ring of the doorbell costs its host, beside `sh -c :`. Run: python benchmarks/doorbell.py

A ring while a capture is waited for, which is every ring but the first of five seconds; with a short and with a long
hook; in a repository without gitmem; and outside of one. Medians of wall time, taken in turns.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from gitmem.app.doorbell import doorbell_text

ROUNDS = 300


def wall(command: list[str], where: Path, said: bytes) -> float:
    """Milliseconds until the host has the answer."""
    begin = time.perf_counter()
    subprocess.run(command, cwd=where, input=said, capture_output=True, check=True)
    return (time.perf_counter() - begin) * 1000


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bell = folder / "doorbell"
        bell.write_bytes(doorbell_text(Path("/nowhere/gitmem")))
        bell.chmod(0o755)
        own, plain, outside = folder / "own", folder / "plain", folder / "outside"
        spool = own / ".git/gitmem/spool"
        for path in (spool, plain / ".git", outside):
            path.mkdir(parents=True)
        (spool / "waiting").write_text(f"{os.getpid()}\n")
        short = json.dumps({"session_id": "s" * 36, "transcript_path": "/p" * 60, "hook_event_name": "Stop"}).encode()
        long = short[:-1] + b', "last_assistant_message": "' + b"x" * 100_000 + b'"}'
        ring = [str(bell), "claude-code"]
        cases = {
            "sh -c :": (["sh", "-c", ":"], own, short),
            "ring": (ring, own, short),
            "ring, 100 KB said": (ring, own, long),
            "no gitmem here": (ring, plain, short),
            "no repository": (ring, outside, short),
        }
        taken: dict[str, list[float]] = {name: [] for name in cases}
        for _ in range(ROUNDS):
            for name, (command, where, said) in cases.items():
                taken[name].append(wall(command, where, said))
        bare = statistics.median(taken["sh -c :"])
        for name, times in taken.items():
            median = statistics.median(times)
            print(f"{name:<20}{median:6.2f} ms{median / bare:6.2f} x")


if __name__ == "__main__":
    main()
