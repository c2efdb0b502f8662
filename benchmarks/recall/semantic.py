"""What searching by meaning adds, and what it costs: the same questions with the extra and without, in the same run.

    pip install 'git-mem[semantic]'      # or 'git-mem[minilm]'
    python benchmarks/recall/semantic.py [FOLDER] [--model static|minilm] [--split dev|rest|all]
        [--variant plain typo noise ...] [--weight 0.8] [--many 100000] [--code FOLDER] [--made FILE] [--json FILE]

Quality is that of githist (benchmarks/recall/githist.py). `silence`: each question is asked of its own project and of
another one, where it has no answer; false_answers and false_abstentions as benchmarks/recall/abstain.py counts them, at
the threshold of `gitmem recall`. Cost, in time of a processor, which other work on the machine does not change: seconds
and bytes for all memories, milliseconds for one question in a process that has the model open; `many` repeats the
memories up to so many, 0 leaves that out. `code`: CoSQA too (benchmarks/recall/cosqa.py). `made`: a file of directions
that are not made again; cost is measured without it. This is the test of the real model: the test suite runs with a
model of its own, because continuous integration does not install the extra.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cosqa import functions
from histories import DEFAULT, VARIANTS, Project, projects, varied
from metrics import DEPTH, Outcome, keep, outcome, part, summary, table
from systems import Text, documents

from gitmem.app.recalling import SURE
from gitmem.recall.query import Query
from gitmem.recall.search_index import SearchIndex
from gitmem.recall.semantic import Absent, Model, Parts, model

GROUPS = ("all", "low", "mid", "high", "changelog", "issue")
SHOWN = 5
SYSTEMS = ("words", "meaning")


class Searched:
    """The memories of one project, indexed with a model and without, and what that took."""

    def __init__(self, texts: Sequence[Text], folder: Path, found: Model) -> None:
        start = time.process_time()
        SearchIndex.open(folder).update(documents(texts), [], {"main": "bench"})
        indexed = time.process_time()
        self.indexes = {"words": SearchIndex.open(folder), "meaning": SearchIndex.open(folder, found)}
        self.indexes["meaning"].learn()
        self.seconds = {"words": indexed - start, "meaning": time.process_time() - indexed}
        files = [path for path in folder.rglob("*") if path.is_file()]
        vectors = sum(path.stat().st_size for path in files if path.name.startswith("vectors"))
        self.bytes = {"words": sum(path.stat().st_size for path in files) - vectors, "meaning": vectors}

    def ask(self, system: str, question: str, limit: int = DEPTH) -> tuple[list[str], float]:
        """The ids that answer, and the confidence."""
        found = self.indexes[system].search(Query((question,), limit=limit), None)
        if self.indexes[system].doubt:
            raise SystemExit(self.indexes[system].doubt)
        return [hit.id for hit in found.hits], found.confidence


def quality(
    searched: Sequence[Searched], plain: Sequence[Project], changed: Sequence[Project], system: str
) -> dict[str, dict[str, float]]:
    groups: dict[str, list[Outcome]] = {name: [] for name in GROUPS}
    for index, project, asked in zip(searched, plain, changed, strict=True):
        for question, spoilt in zip(project.questions, asked.questions, strict=True):
            one = outcome(index.ask(system, spoilt.text)[0], question.relevant)
            for group in ("all", question.bucket, question.kind):
                groups[group].append(one)
    return {name: summary(outcomes) for name, outcomes in groups.items()}


def silence(searched: Sequence[Searched], plain: Sequence[Project], system: str) -> dict[str, float]:
    answered: list[bool] = []
    silent: list[bool] = []
    for number, (index, project) in enumerate(zip(searched, plain, strict=True)):
        foreign = searched[(number + len(searched) // 2) % len(searched)]
        for question in project.questions:
            answered.append(foreign.ask(system, question.text, SHOWN)[1] >= SURE)
            names, sure = index.ask(system, question.text, SHOWN)
            if not set(question.relevant).isdisjoint(names):
                silent.append(sure < SURE)
    return {"false_answers": 100 * statistics.mean(answered), "false_abstentions": 100 * statistics.mean(silent)}


def milliseconds(ask: Callable[[str], object], questions: Sequence[str]) -> dict[str, float]:
    times = []
    for question in questions:
        start = time.process_time()
        ask(question)
        times.append(1000 * (time.process_time() - start))
    return {"p50": statistics.median(times), "p95": statistics.quantiles(times, n=20)[-1]}


def cost(one: Searched, count: int, questions: Sequence[str]) -> dict[str, object]:
    for system in SYSTEMS:
        one.ask(system, "a question before the clock runs")
    return {
        "memories": count,
        "each_ms": 1000 * one.seconds["meaning"] / count,
        "seconds": one.seconds,
        "bytes_each": {system: one.bytes[system] / count for system in SYSTEMS},
        "query_ms": {s: milliseconds(lambda question, s=s: one.ask(s, question, 10), questions) for s in SYSTEMS},
    }


def repeated(all_of: Sequence[Project], count: int) -> Iterator[Text]:
    """The memories of all projects over and over, each with an id of its own."""
    texts = [text for project in all_of for text in project.texts]
    for number in range(count):
        text = texts[number % len(texts)]
        yield replace(text, id=f"{number:06d}", title=f"{text.title} {number // len(texts) or ''}".strip())


def cold(choice: str) -> float:
    """Milliseconds that a new process takes to make the direction of a question, without those of the interpreter."""
    code = f"from gitmem.recall.semantic import model; next(model({choice!r}).embed([[('timeout', 1.0)]]))"
    times = []
    for program in ("pass", code) * 7:
        before = os.times()
        subprocess.run([sys.executable, "-c", program], check=True)
        after = os.times()
        spent = after.children_user + after.children_system - before.children_user - before.children_system
        times.append(1000 * spent)
    return statistics.median(times[1::2]) - statistics.median(times[::2])


class Kept:
    """A model that remembers in a file what it made: to embed githist takes MiniLM six minutes of a processor."""

    def __init__(self, found: Model, path: Path) -> None:
        self._found, self._path = found, path
        told = json.loads(path.read_text()) if path.exists() else {}
        self._made: dict[str, str] = told if told.get("stamp") == found.stamp else {"stamp": found.stamp}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._found, name)

    def embed(self, texts: Iterable[Parts]) -> Iterator[bytes]:
        for parts in texts:
            named = hashlib.sha256(json.dumps([text for text, _ in parts]).encode()).hexdigest()
            if not self._found.whole or named not in self._made:
                self._made[named] = next(self._found.embed([parts])).hex()
            yield bytes.fromhex(self._made[named])

    def keep(self) -> None:
        if self._found.whole:  # the words of a question weigh otherwise in each project
            self._path.write_text(json.dumps(self._made))


def code(folder: Path, split: str, place: Path, found: Model) -> dict[str, dict[str, float]]:
    """CoSQA with the model and without."""
    searched = Searched(functions(folder), place, found)
    rows = json.loads((folder / "cosqa-retrieval-dev-500.json").read_text())
    asked = [(r["doc"], str(r["retrieval_idx"])) for r in rows if split in ("all", part(r["idx"]))]
    return {s: summary([outcome(searched.ask(s, text)[0], {right}) for text, right in asked]) for s in SYSTEMS}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path, nargs="?", default=DEFAULT)
    options.add_argument("--split", choices=("dev", "rest", "all"), default="all")
    options.add_argument("--variant", choices=VARIANTS, nargs="+", default=["plain", "typo", "noise"])
    options.add_argument("--model", choices=("static", "minilm"), default="")
    options.add_argument("--weight", type=float)
    options.add_argument("--code", type=Path)
    options.add_argument("--made", type=Path)
    options.add_argument("--many", type=int, default=0)
    options.add_argument("--json", type=Path)
    chosen = options.parse_args()
    really = model(chosen.model)
    if isinstance(really, Absent):
        raise SystemExit(f"{really.reason}: {really.hint}")
    if chosen.weight is not None:
        really.weight = chosen.weight
    found = Kept(really, chosen.made) if chosen.made else really
    plain = projects(chosen.folder, chosen.split)
    questions = [question.text for project in plain for question in project.questions]
    numbers: dict[str, object] = {}
    with tempfile.TemporaryDirectory(prefix="gitmem-bench-") as folder:
        searched = [Searched(p.texts, Path(folder) / p.name, found) for p in plain]
        for variant in chosen.variant:
            changed = varied(plain, variant)
            rows = {system: quality(searched, plain, changed, system) for system in SYSTEMS}
            numbers[variant] = rows
            print(f"\n{variant}, {chosen.split} questions\n")
            print(table({f"{s} {g}": rows[s][g] for s in SYSTEMS for g in ("all", "low", "issue")}))
        numbers["silence"] = {system: silence(searched, plain, system) for system in SYSTEMS}
        print(f"\nsilence {numbers['silence']}")
        if chosen.code:
            numbers["code"] = code(chosen.code, chosen.split, Path(folder) / "code", found)
            print(f"\ncode\n\n{table(numbers['code'])}")
        if isinstance(found, Kept):
            found.keep()
        numbers["cold_ms"] = cold(chosen.model)
        print(f"cold {numbers['cold_ms']:.0f} ms")
        if chosen.many:
            texts = list(repeated(plain, chosen.many))
            numbers["many"] = cost(Searched(texts, Path(folder) / "many", really), len(texts), questions[:100])
            print(f"cost {numbers['many']}")
    if chosen.json:
        about = {"split": chosen.split, "model": found.name, "licence": found.licence}
        keep(chosen.json, about, numbers)


if __name__ == "__main__":
    main()
