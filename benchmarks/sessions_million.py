"""What a clone with a million captured rows costs: the search in them, and the hooks that ask for none of it.

    python benchmarks/sessions_million.py [--rows 1000000] [--sessions 500] [--queries 200] [--folder DIR] [--json FILE]

Sessions of Claude Code with short rows of made-up words (some 110 bytes of text) are captured by the installed command,
with what it learns from them, and searched by it. The hooks are `gitmem hook-agent` at the start of a session and at a
prompt, in the same repository with 200 memories, before anything was captured and after; the goal is five times
`python -c pass` and 80 MB. Shell times are medians of rounds that alternate with `python -c pass`; queries are asked in
process, of one to three words, each chosen as often as it was written. With --folder the repository stays, and what is
asked of it can be measured again.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import time
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

from throwaway import GITMEM, gitmem, repository, sealed

ROUNDS = 15
MEMORIES = 200
_PASS = (sys.executable, "-c", "pass")


class Ran(NamedTuple):
    """Seconds by the clock and of processors, of a process and those that it waited for; MB of the largest."""

    wall: float
    work: float
    peak: float


def run(where: Path, *words: str, stdin: bytes = b"") -> Ran:
    read, write = os.pipe()
    os.write(write, stdin)
    os.close(write)
    begin = time.perf_counter()
    process = os.fork()
    if not process:
        os.chdir(where)
        os.dup2(read, 0)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        os.execv(words[0], words)
    os.close(read)
    _, status, used = os.wait4(process, 0)
    took = time.perf_counter() - begin
    if status:
        raise SystemExit(f"{' '.join(words)}: {status}")
    return Ran(took, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def beside_pass(where: Path, *words: str, stdin: bytes = b"") -> dict[str, float]:
    """Milliseconds, how many times as long as `python -c pass`, peak."""
    bare, own = [], []
    for _ in range(ROUNDS):
        bare.append(run(where, *_PASS).wall)
        own.append(run(where, *words, stdin=stdin))
    wall = statistics.median(one.wall for one in own)
    times = wall / statistics.median(bare)
    return {"ms": round(1000 * wall, 1), "times pass": round(times, 2), "MB": round(max(one.peak for one in own), 1)}


class Talk:
    """Rows as Claude Code writes them."""

    def __init__(self, where: Path, seed: int) -> None:
        self._where = str(where)
        self._random = random.Random(seed)
        made = {"".join(self._random.choices("aeiounrtslcdmpg", k=self._random.randint(3, 9))) for _ in range(30_000)}
        self.words = sorted(made)
        self._random.shuffle(self.words)
        self.weights = list(accumulate(1 / rank for rank in range(1, len(self.words) + 1)))
        self._rows = 0

    def row(self, session: str) -> bytes:
        self._rows += 1
        number, kind = self._rows, ("user", "assistant")[self._rows % 2]
        text = " ".join(self._random.choices(self.words, cum_weights=self.weights, k=18))
        content: Any = text if kind == "user" else [{"type": "text", "text": text}]
        at = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(1_770_000_000 + 7 * number))
        data = {
            "type": kind, "uuid": f"{number:08x}-0000-4000-8000-000000000000", "sessionId": session, "timestamp": at,
            "cwd": self._where, "message": {"role": kind, "content": content},
        }  # fmt: skip
        return json.dumps(data).encode() + b"\n"

    def question(self) -> str:
        return " ".join(self._random.choices(self.words, cum_weights=self.weights, k=self._random.randint(1, 3)))


def hooks(repo: Path, talk: Talk) -> dict[str, Any]:
    """The two hooks as a host runs them, each time in a session that was told nothing yet."""
    said = {"session_id": "f0000000-0000-4000-8000-000000000000", "cwd": str(repo), "transcript_path": ""}
    program, told = str(GITMEM), {}
    for event, more in (("SessionStart", {"source": "startup"}), ("UserPromptSubmit", {"prompt": talk.question()})):
        raw = json.dumps({**said, "hook_event_name": event, **more}).encode()
        run(repo, program, "hook-agent", "claude-code", event, stdin=raw)
        told[event] = beside_pass(repo, program, "hook-agent", "claude-code", event, stdin=raw)
    return told


def made(folder: Path, talk: Talk, rows: int, sessions: int) -> dict[str, Any]:
    """A repository in which all of it was captured and nothing searched."""
    repo = repository(folder / "shop")
    gitmem(repo, "init", "--offline")
    notes = folder / "notes.jsonl"
    facts = [
        {"kind": "fact", "title": f"{talk.question()} {n}", "body": talk.question(), "evidence": ["file:README.md:1-3"]}
        for n in range(MEMORIES)
    ]
    notes.write_text("".join(json.dumps(fact) + "\n" for fact in facts))
    gitmem(repo, "import", str(notes))
    told: dict[str, Any] = {"hooks before": hooks(repo, talk)}
    projects = folder / "home/.claude/projects/-shop"
    projects.mkdir(parents=True)
    size = 0
    for number in range(sessions):
        name = f"{number:08x}-0000-4000-8000-000000000000"
        data = b"".join(talk.row(name) for _ in range(rows // sessions))
        (projects / f"{name}.jsonl").write_bytes(data)
        size += len(data)
    told["MB of transcripts"] = round(size / 1e6, 1)
    told["capture"] = _ran(run(repo, str(GITMEM), "capture"))
    return told


def measured(folder: Path, rows: int, sessions: int, queries: int) -> dict[str, Any]:
    repo, program = folder / "shop", str(GITMEM)
    talk = Talk(repo, 11)
    told: dict[str, Any] = {"rows": rows, "sessions": sessions}
    if not repo.is_dir():
        told |= made(folder, talk, rows, sessions)
    index = repo / ".git/gitmem/index"
    if not list(index.glob("turns-*")):
        told["first search (makes the index)"] = _ran(run(repo, program, "sessions", "search", talk.question()))
    turns = [path for path in index.rglob("*") if path.is_file() and "turns-" in str(path)]
    told["MB of index"] = round(sum(path.stat().st_size for path in turns) / 1e6, 1)
    told["hooks"] = hooks(repo, talk)
    told["queries in process"] = asked(repo, [talk.question() for _ in range(queries)])
    rare, frequent = talk.words[-2], " ".join(talk.words[:2])
    told["search from the shell, rare word"] = beside_pass(repo, program, "sessions", "search", rare)
    told["search from the shell, two frequent words"] = beside_pass(repo, program, "sessions", "search", frequent)
    session = f"{0:08x}-0000-4000-8000-000000000000"
    with (folder / f"home/.claude/projects/-shop/{session}.jsonl").open("ab") as file:
        file.write(talk.row(session))
    told["capture of one row more"] = _ran(run(repo, program, "capture"))
    told["search after it (catches up)"] = _ran(run(repo, program, "sessions", "search", rare))
    return told


def asked(repo: Path, questions: Sequence[str]) -> dict[str, Any]:
    from gitmem.app.env import observe
    from gitmem.app.sessions_search import Asked, search
    from gitmem.app.workspace import open_workspace

    workspace = open_workspace(observe(str(repo)))
    times = []
    for question in questions:
        begin = time.perf_counter()
        search(workspace, Asked(question))
        times.append(1000 * (time.perf_counter() - begin))
    workspace.close()
    parts = statistics.quantiles(times, n=20)
    return {"p50 ms": round(statistics.median(times), 1), "p95 ms": round(parts[-1], 1), "max ms": round(max(times), 1)}


def _ran(ran: Ran) -> dict[str, float]:
    return {"s": round(ran.wall, 1), "processor s": round(ran.work, 1), "MB": round(ran.peak, 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--sessions", type=int, default=500)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    with sealed("sessions-million") as folder:
        if given.folder:
            folder = given.folder.absolute()
            (folder / "home").mkdir(parents=True, exist_ok=True)
            (folder / "home/.gitconfig").write_bytes((Path(os.environ["HOME"]) / ".gitconfig").read_bytes())
            os.environ["HOME"] = str(folder / "home")
        told = measured(folder, given.rows, given.sessions, given.queries)
    told["load"] = round(os.getloadavg()[0], 1)
    if given.json:
        given.json.write_text(json.dumps(told, indent=1) + "\n")
    print("\n".join(f"{name:<44}{value}" for name, value in told.items()))


if __name__ == "__main__":
    main()
