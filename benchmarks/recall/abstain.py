"""When to say that nothing is known: questions without an answer beside questions with one.

    python benchmarks/recall/abstain.py [FOLDER] [--split dev|rest|all] [--json FILE]

Each question of githist is asked of its own project, and of another one (chosen by a seeded generator), where it has no
answer. For each threshold of a signal: `false_answers`, the part of the questions without an answer that are answered
all the same, and `false_abstentions`, the part of the questions whose right memory is among the first five and that
are met with silence. `auc` is the chance that a question with an answer has the higher signal.

Signals: `confidence`, what the search itself says (Found.confidence), where it does; `coverage`, the part of the
inverse document frequency of the question's words that the best hit holds; `coverage_by_length`, a third of that times
the square root of the number of words, since half of a long question is held by chance less often than half of a short
one; `top`, that hit's score.
"""

from __future__ import annotations

import argparse
import math
import random
import tempfile
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from histories import DEFAULT, Project, Question, projects
from metrics import keep
from systems import documents

from gitmem.model.tokens import tokens
from gitmem.recall.query import Query
from gitmem.recall.search_index import SearchIndex
from gitmem.recall.words import QUESTION_WORDS

THRESHOLDS = tuple(step / 20 for step in range(1, 20))
SHOWN = 5  # a right memory among these is an answer


@dataclass(frozen=True)
class Asked:
    """One question of one project: whether an answer exists, whether it was found, and the signals by name."""

    exists: bool
    found: bool
    signals: dict[str, float]


class Searched:
    """The memories of one project with the frequencies of their words."""

    def __init__(self, project: Project, folder: str) -> None:
        self._index = SearchIndex.open(Path(folder))
        self._index.update(documents(project.texts), [], {"main": "bench"})
        self._words = {text.id: frozenset(tokens(text.whole)) for text in project.texts}
        self._frequency = Counter(word for words in self._words.values() for word in words)

    def ask(self, question: Question, exists: bool) -> Asked:
        found = self._index.search(Query((question.text,), limit=SHOWN), None)
        signals = {"coverage": 0.0, "coverage_by_length": 0.0, "top": 0.0}
        if found.hits:
            asked = [word for word in dict.fromkeys(tokens(question.text)) if word not in QUESTION_WORDS]
            coverage = self._coverage(asked, found.hits[0].id)
            by_length = min(1.0, coverage * math.sqrt(len(asked)) / 3)
            signals = {"coverage": coverage, "coverage_by_length": by_length, "top": found.hits[0].score}
        if (confidence := getattr(found, "confidence", None)) is not None:
            signals["confidence"] = confidence
        right = any(hit.id in question.relevant for hit in found.hits)
        return Asked(exists, exists and right, signals)

    def _coverage(self, asked: Sequence[str], best: str) -> float:
        worth = {word: self._rarity(word) for word in asked}
        held = sum(value for word, value in worth.items() if word in self._words[best])
        return held / (sum(worth.values()) or 1.0)

    def _rarity(self, word: str) -> float:
        count = self._frequency[word]
        return math.log(1 + (len(self._words) - count + 0.5) / (count + 0.5))


def measured(all_of: Sequence[Project]) -> list[Asked]:
    asked = []
    for number, project in enumerate(all_of):
        with tempfile.TemporaryDirectory(prefix="gitmem-bench-") as folder:
            searched = Searched(project, folder)
            asked += [searched.ask(question, True) for question in project.questions]
            for other, elsewhere in enumerate(all_of):
                for question in elsewhere.questions if other != number else ():
                    choices = [n for n in range(len(all_of)) if n != other]
                    if random.Random(f"abstain {question.name}").choice(choices) == number:
                        asked.append(searched.ask(question, False))
    return asked


def rates(asked: Sequence[Asked], signal: str) -> dict[str, dict[str, float]]:
    without = sorted(a.signals[signal] for a in asked if not a.exists)
    answered = sorted(a.signals[signal] for a in asked if a.found)
    every = [a.signals[signal] for a in asked if a.exists]
    rows: dict[str, dict[str, float]] = {}
    for threshold in THRESHOLDS:
        rows[f"at{round(100 * threshold):02}"] = {
            "false_answers": 100 * (1 - bisect_left(without, threshold) / len(without)),
            "false_abstentions": 100 * bisect_left(answered, threshold) / len(answered),
        }
    below = sum(bisect_left(without, value) for value in every)
    rows["over_all"] = {"auc": 100 * below / (len(without) * len(every)), "answerable": len(every), "not": len(without)}
    return rows


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path, nargs="?", default=DEFAULT)
    options.add_argument("--split", choices=("dev", "rest", "all"), default="all")
    options.add_argument("--json", type=Path)
    chosen = options.parse_args()
    asked = measured(projects(chosen.folder, chosen.split))
    numbers = {signal: rates(asked, signal) for signal in asked[0].signals}
    for signal, rows in numbers.items():
        over = rows["over_all"]
        print(
            f"\n{signal}: {over['answerable']} questions with an answer, {over['not']} without, AUC {over['auc']:.1f}\n"
        )
        print("| threshold | false answers % | false abstentions % |\n|---|---|---|")
        for name, row in rows.items():
            if name != "over_all":
                print(f"| 0.{name[2:]} | {row['false_answers']:.1f} | {row['false_abstentions']:.1f} |")
    if chosen.json:
        keep(chosen.json, {"split": chosen.split}, numbers)


if __name__ == "__main__":
    main()
