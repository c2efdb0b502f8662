"""How long `gitmem sessions search` takes by its index, and by reading every turn.

    python benchmarks/sessions_search.py [--turns 8000] [--sessions 40] [--json]

Sessions of Claude Code are captured, the index is made once, and the same questions are asked of both: one rare word,
two words of which one is rare, and two of the most frequent ones. Both have to give the same answer. Text is that of
`benchmarks/capture.py`. Times are of this process, the repository open.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from capture import Speech
from throwaway import git, gitmem, sealed

ROUNDS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=8_000)
    parser.add_argument("--sessions", type=int, default=40)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with sealed("sessions-search") as folder:
        told = measured(folder, given.turns, given.sessions)
    print(json.dumps(told) if given.json else "\n".join(f"{name:<28}{value}" for name, value in told.items()))


def measured(folder: Path, turns: int, sessions: int) -> dict[str, Any]:
    from gitmem.app.env import observe
    from gitmem.app.sessions_index import caught_up, from_index
    from gitmem.app.sessions_scan import from_sessions
    from gitmem.app.sessions_search import Asked, wanted_words
    from gitmem.app.workspace import open_workspace
    from gitmem.store.sessions import session_places

    repo = folder / "shop"
    git(folder, "init", "-q", "shop")
    git(repo, "commit", "-q", "--allow-empty", "-m", "begin")
    projects = folder / "home/.claude/projects/-shop"
    projects.mkdir(parents=True)
    speech = Speech(repo, 7)
    seen: Counter[str] = Counter()
    size = 0
    for number in range(sessions):
        name = f"{number:08x}-0000-4000-8000-000000000000"
        rows = []
        for _ in range(turns // sessions):
            text = speech.text(600)
            seen.update(set(text.split()))
            rows.append(speech.row("user", text, name))
        (projects / f"{name}.jsonl").write_bytes(b"".join(rows))
        size += sum(map(len, rows))
    gitmem(repo, "capture")
    workspace = open_workspace(observe(str(repo)))
    places = session_places(workspace.backend)
    made = _took(lambda: caught_up(workspace, places), 1)
    index = workspace.location.private / "index"
    rare = next(word for word, n in seen.items() if n <= 3 and len(word) > 5)
    frequent = [word for word, _ in seen.most_common(400) if len(word) > 4][:2]
    told: dict[str, Any] = {
        "turns": turns,
        "MB of transcripts": round(size / 1e6, 1),
        "index made, s": round(made, 2),
        "MB of index": round(sum(path.stat().st_size for path in index.rglob("*") if path.is_file()) / 1e6, 1),
    }
    for name, words in (
        ("rare", rare),
        ("rare and frequent", f"{rare} {frequent[0]}"),
        ("frequent", " ".join(frequent)),
    ):
        asked = Asked(words)
        wanted = wanted_words(asked)
        indexed, read = from_index(workspace, asked, wanted), from_sessions(workspace, asked, wanted)
        if (indexed.total, indexed.coverage) != (read.total, read.coverage) or [
            (hit.turn, round(hit.score, 6)) for hit in indexed.hits
        ] != [(hit.turn, round(hit.score, 6)) for hit in read.hits]:
            raise SystemExit(f"{name}: the two do not agree")
        told |= {
            f"{name}: turns found": indexed.total,
            f"{name}: index, ms": round(1000 * _took(partial(from_index, workspace, asked, wanted), ROUNDS), 1),
            f"{name}: reading, ms": round(1000 * _took(partial(from_sessions, workspace, asked, wanted), 1), 1),
        }
    workspace.close()
    return told


def _took(work: Callable[[], object], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


if __name__ == "__main__":
    main()
