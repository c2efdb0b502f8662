"""Precision and recall of the directive rules on labelled lines, English and Spanish.

    python benchmarks/directives.py [--faults dev]

The lines are tests/policy/directives/{dev,held-out}.tsv; the rules were tuned on dev only. A directive is right when it
stands in a line that is labelled as one.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from gitmem.app.directive_rules import languages
from gitmem.policy.directives import Directive, Language, directives

LINES = Path(__file__).resolve().parent.parent / "tests/policy/directives"
PARTS = ("dev", "held-out", "second", "third", "fourth")
KINDS = {"p": "preference", "c": "convention", "f": "fact"}


@dataclass(frozen=True)
class Labelled:
    """One turn with the lines of it that state a rule, and what they are: `c+t`, `-` for none."""

    label: str
    text: str
    wanted: tuple[str, ...]


def labelled(part: str) -> list[Labelled]:
    found = []
    for row in (LINES / f"{part}.tsv").read_text(encoding="utf-8").splitlines():
        if row.startswith("#"):
            continue
        label, _, text = row.partition("\t")
        text = text.replace("\\n", "\n")
        plain = text.replace("[[", "").replace("]]", "")
        marked = tuple(piece.split("]]")[0] for piece in text.split("[[")[1:])
        found.append(Labelled(label, plain, () if label == "-" else marked or (plain,)))
    return found


def is_right(item: Labelled, found: Directive) -> bool:
    return any(wanted in found.line or found.line in wanted for wanted in item.wanted)


@dataclass
class Score:
    right: int = 0
    wrong: int = 0
    missed: int = 0

    @property
    def precision(self) -> float:
        return self.right / max(self.right + self.wrong, 1)

    @property
    def recall(self) -> float:
        return self.right / max(self.right + self.missed, 1)


def measure(part: str, rules: tuple[Language, ...], faults: bool = False) -> tuple[Score, Counter[str]]:
    """The score of one part, and how many of the right ones have kind, polarity and audience right as well."""
    score, agreed = Score(), Counter[str]()
    for item in labelled(part):
        found = directives(item.text, rules)
        right = [one for one in found if is_right(item, one)]
        wrong = len(found) - len(right)
        covered = sum(any(w in one.line or one.line in w for one in right) for w in item.wanted)
        score.right += covered
        score.wrong += wrong
        score.missed += len(item.wanted) - covered
        for one in right:
            agreed["kind"] += one.kind == KINDS[item.label[0]]
            agreed["polarity"] += one.polarity == ("for" if item.label[1] == "+" else "against")
            agreed["audience"] += one.team == (item.label[2] == "t")
            agreed["all"] += 1
            same = one.kind == KINDS[item.label[0]] and one.team == (item.label[2] == "t")
            if faults and not (same and one.polarity == ("for" if item.label[1] == "+" else "against")):
                print(f"  other  {item.label} {one.kind} {one.polarity} {one.team}  {one.title}  <- {item.text!r}")
        if faults and (wrong or covered < len(item.wanted)):
            print(f"  {'wrong ' if wrong else 'missed'} {item.label}  {item.text!r}  {[one.rule for one in found]}")
    return score, agreed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", choices=PARTS, help="print what is wrong in this part")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    rules = languages({})
    for part in PARTS:
        score, agreed = measure(part, rules, chosen.faults == part)
        lines = labelled(part)
        data = {
            "part": part,
            "lines": len(lines),
            "negatives": sum(item.label == "-" for item in lines),
            "right": score.right,
            "wrong": score.wrong,
            "missed": score.missed,
            "precision": round(score.precision, 4),
            "recall": round(score.recall, 4),
            **{name: round(agreed[name] / max(agreed["all"], 1), 4) for name in ("kind", "polarity", "audience")},
        }
        print(json.dumps(data) if chosen.json else "  ".join(f"{key} {value}" for key, value in data.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
