"""What agents are told unasked: how many tokens each block takes, and what each hook costs its host.

    python benchmarks/injection.py [--memories 200] [--rounds 20] [--repo PATH] [--json]

Without --repo a repository is made and thrown away. With it, that repository is measured as it is; the sessions of this
measurement are the only thing that is written there, below .git/gitmem/shown. Wall and processor time are medians of
whole hooks as a host runs them (the doorbell, then Python), taken in turns with `python -c pass` and `sh -c :`. A hook
counts with an answer and, the same prompt again, without one. Tokens are estimated as the budgets are: bytes by four.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import random
import resource
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from throwaway import GITMEM, Writer, report, repository, sealed

BUDGETS = {"SessionStart": 1200, "UserPromptSubmit": 800, "PreToolUse": 400}
_THINGS = [
    "pool",
    "socket",
    "queue",
    "cache",
    "index",
    "parser",
    "router",
    "worker",
    "lock",
    "timer",
    "buffer",
    "cursor",
]
_ACTS = ["closes", "retries", "drops", "splits", "merges", "delays", "counts", "repeats", "skips", "sorts"]


def remembered(where: Path, count: int) -> None:
    """`count` memories in one commit: rules, facts and traps about the files of the repository."""
    from gitmem.app.remember import remember
    from gitmem.model.nouns import Draft

    def draft(number: int) -> Any:
        chance = random.Random(number)
        words = ["".join(chance.choices("bcdfghklmnprstvz", k=3)) + chance.choice("aeiou") for _ in range(30)]
        return Draft(
            kind=chance.choice(("convention", "fact", "fact", "procedure")),
            title=f"The {words[0]} {chance.choice(_THINGS)} {chance.choice(_ACTS)} its {words[1]} {words[2]}",
            body=" ".join(words[3:]) + ".",
            applies_to=(chance.choice(("src/**", f"src/{number % 40:02}/**", "README.md")),),
            evidence=("file:README.md:3",),
        )

    writer = Writer(where)
    writer.init()
    for begin in range(0, count, 500):
        remember(writer.workspace, [draft(number) for number in range(begin, min(begin + 500, count))])
    writer.close()


class Host:
    """A host as the hooks see it: Claude Code in one repository."""

    def __init__(self, where: Path, bell: Path) -> None:
        self.where, self.bell, self.session = where, bell, 0
        listed = subprocess.run([str(GITMEM), "list", "-n", "200", "--json"], cwd=where, capture_output=True, text=True)
        rows = [json.loads(line) for line in listed.stdout.splitlines()]
        self.titles = [row["title"] for row in rows if "title" in row] or ["the pool"]

    def payload(self, event: str) -> dict[str, Any]:
        """The next prompt or edit, in the session that goes on."""
        title = self.titles[self.session % len(self.titles)]
        return {
            "session_id": f"measured-{os.getpid()}-{self.session}", "cwd": str(self.where), "hook_event_name": event,
            "source": "startup", "prompt": f"What did we say about this: {title}?", "tool_name": "Edit",
            "tool_input": {"file_path": str(self.where / "src/00/part0.py"), "new_string": "x" * 2000},
        }  # fmt: skip

    def runs(self, event: str) -> str:
        done = subprocess.run(
            [str(self.bell), "claude-code", event], cwd=self.where, input=json.dumps(self.payload(event)),
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return str(json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]) if done.stdout else ""


def timed(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Wall and processor milliseconds of the programs that `work` starts."""
    began, spent = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    result = work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - spent.ru_utime - spent.ru_stime
    return (time.perf_counter() - began) * 1000, cpu * 1000, result


def measure(host: Host, plain: Path, rounds: int) -> tuple[dict[str, Any], list[str]]:
    from gitmem.recall.budget import estimate

    took: dict[str, list[tuple[float, float]]] = defaultdict(list)
    tokens: dict[str, list[int]] = defaultdict(list)
    bare = Host(plain, host.bell)

    def run(*words: str) -> Callable[[], Any]:
        return lambda: subprocess.run(words, check=True, stdin=subprocess.DEVNULL)

    def noted(name: str, work: Callable[[], Any]) -> Any:
        wall, cpu, result = timed(work)
        took[name].append((wall, cpu))
        return result

    host.runs("SessionStart")  # brings the index up to date
    for _ in range(rounds):
        host.session += 1
        noted("python -c pass", run(sys.executable, "-c", "pass"))
        noted("sh -c :", run("sh", "-c", ":"))
        for event in BUDGETS:
            told = noted(event, lambda event=event: host.runs(event))  # type: ignore[misc]
            if told:
                tokens[event].append(estimate(told))
            noted(f"{event} again", lambda event=event: host.runs(event))  # type: ignore[misc]
        noted("not set up here", lambda: bare.runs("UserPromptSubmit"))
    python, shell = (median(wall for wall, _ in took[name]) for name in ("python -c pass", "sh -c :"))
    figures: dict[str, Any] = {}
    for name, spent in took.items():
        wall, cpu = median(w for w, _ in spent), median(c for _, c in spent)
        figures[name] = (
            f"{wall:7.1f} ms wall {cpu:7.1f} ms processor   x {wall / python:5.2f} python   x {wall / shell:5.1f} sh"
        )
    figures["largest resident set of a hook, MB"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    faults = []
    for event, most in BUDGETS.items():
        found = tokens[event]
        if not found:
            faults.append(f"{event} told nothing")
            continue
        figures[f"tokens, {event}"] = f"median {median(found):.0f}, most {max(found)}, of {most}; told {len(found)}"
        if max(found) > most:
            faults.append(f"{event}: {max(found)} tokens are more than {most}")
    return figures, faults


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--memories", type=int, default=200)
    options.add_argument("--rounds", type=int, default=20)
    options.add_argument("--repo", type=Path)
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args()
    with sealed("injection") as folder:
        import gitmem
        from gitmem.app.doorbell import doorbell_text

        compileall.compile_dir(Path(gitmem.__file__).parent, quiet=1)  # as it is where it was installed
        bell = folder / "doorbell"
        bell.write_bytes(doorbell_text(GITMEM))
        bell.chmod(0o755)
        where = chosen.repo.resolve() if chosen.repo else repository(folder / "shop", 40)
        if not chosen.repo:
            remembered(where, chosen.memories)
        figures, faults = measure(Host(where, bell), repository(folder / "plain"), chosen.rounds)
    return report(figures, faults, chosen.json)


if __name__ == "__main__":
    sys.exit(main())
