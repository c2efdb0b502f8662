"""How well recall finds the commit that a changelog line or an issue title speaks of.

    python benchmarks/recall/githist.py [FOLDER] [--split dev|rest|all] [--variant plain typo noise ...]
        [--system gitmem ...] [--json FILE]

FOLDER holds <project>.memories.jsonl and <project>.queries.jsonl; each question is asked of its own project. The
baseline of an installable peer needs `pip install bm25s==0.3.16` (no model, no download) and is left out without it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from histories import DEFAULT, VARIANTS, Project, projects, varied
from metrics import Outcome, keep, outcome, summary, table
from systems import MISSING, SYSTEMS


def slices(all_of: Sequence[Project], found: dict[str, Outcome]) -> dict[str, dict[str, float]]:
    """Summaries of all questions, of each bucket of overlap and of each kind."""
    groups: dict[str, list[Outcome]] = {name: [] for name in ("all", "low", "mid", "high", "changelog", "issue")}
    for project in all_of:
        for question in project.questions:
            for group in ("all", question.bucket, question.kind):
                groups[group].append(found[question.name])
    return {name: summary(outcomes) for name, outcomes in groups.items()}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path, nargs="?", default=DEFAULT)
    options.add_argument("--split", choices=("dev", "rest", "all"), default="all")
    options.add_argument("--variant", choices=VARIANTS, nargs="+", default=list(VARIANTS))
    options.add_argument("--system", choices=list(SYSTEMS), nargs="+", default=[s for s in SYSTEMS if s not in MISSING])
    options.add_argument("--json", type=Path)
    chosen = options.parse_args()
    for name in MISSING:
        print(f"without {name}: it is not installed", file=sys.stderr)
    plain = projects(chosen.folder, chosen.split)
    variants = {name: varied(plain, name) for name in chosen.variant}
    found: dict[str, dict[str, dict[str, Outcome]]] = {v: {s: {} for s in chosen.system} for v in variants}
    for number, project in enumerate(plain):
        for system in chosen.system:
            ask = SYSTEMS[system](project.texts)
            for variant, changed in variants.items():
                for question in changed[number].questions:
                    found[variant][system][question.name] = outcome(ask(question.text), question.relevant)
    numbers = {v: {s: slices(plain, rows) for s, rows in by.items()} for v, by in found.items()}
    for variant, by in numbers.items():
        print(f"\n{variant}, {chosen.split} questions\n")
        print(
            table({f"{s} {g}".removesuffix(" all"): row for s, gs in by.items() for g, row in gs.items() if g in SHOWN})
        )
    if chosen.json:
        count = {"memories": sum(len(project.texts) for project in plain)}
        keep(chosen.json, {"split": chosen.split}, numbers | count)


SHOWN = ("all", "low", "issue")

if __name__ == "__main__":
    main()
