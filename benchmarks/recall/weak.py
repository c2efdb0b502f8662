"""What is lost when hits that are much weaker than the best are left out, and how many lines that saves.

    python benchmarks/recall/weak.py [FOLDER] [--json FILE]

Each question of githist is asked of its own project. Of those that are answered at all, by the threshold of `gitmem
recall`, the first ten hits are looked at: how many are left when those are cut whose confidence is below a share of the
best one's, in how many questions a right answer is among the first five and ten of them, and the same for the questions
whose first hit is no answer (`later`).
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

from histories import DEFAULT, projects
from metrics import keep, table
from systems import documents

from gitmem.app.recalling import SURE
from gitmem.cli.recalling import LIMIT
from gitmem.recall.query import Query
from gitmem.recall.search_index import SearchIndex

SHARES = (0.0, 0.3, 0.4, 0.5, 0.6, 0.8)
Hits = Sequence[tuple[float, bool]]  # of one question: how sure each is, and whether it is an answer


def left(hits: Hits, share: float) -> Hits:
    least = share * max(sure for sure, _ in hits)
    return [hit for hit in hits if hit[0] >= least]


def figures(asked: Sequence[Hits], share: float) -> dict[str, float]:
    kept = [left(hits, share) for hits in asked]
    later = [rest for hits, rest in zip(asked, kept, strict=True) if not hits[0][1]]
    return {
        "n": len(asked),
        "lines": statistics.mean(map(len, kept)),
        "hit5": hit(kept, 5),
        "hit10": hit(kept, 10),
        "later_hit5": hit(later, 5),
        "later_hit10": hit(later, 10),
    }


def hit(asked: Sequence[Hits], first: int) -> float:
    return 100 * statistics.mean(any(right for _, right in hits[:first]) for hits in asked)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path, nargs="?", default=DEFAULT)
    options.add_argument("--json", type=Path)
    chosen = options.parse_args()
    parts: dict[str, list[Hits]] = {"dev": [], "rest": [], "all": []}
    with tempfile.TemporaryDirectory(prefix="gitmem-bench-") as folder:
        for project in projects(chosen.folder, "all"):
            index = SearchIndex.open(Path(folder) / project.name)
            index.update(documents(project.texts), [], {"main": "bench"})
            for question in project.questions:
                found = index.search(Query((question.text,), limit=LIMIT), None)
                if found.confidence >= SURE:
                    hits = [(one.confidence, one.id in question.relevant) for one in found.hits]
                    parts["all"].append(hits)
                    parts[question.part].append(hits)
    numbers = {
        name: {f"at{100 * share:.0f}": figures(asked, share) for share in SHARES} for name, asked in parts.items()
    }
    for name, rows in numbers.items():
        print(f"\n{name}\n\n{table(rows, ('lines', 'hit5', 'hit10', 'later_hit5', 'later_hit10'))}")
    if chosen.json:
        keep(chosen.json, {"limit": LIMIT, "threshold": SURE}, numbers)


if __name__ == "__main__":
    main()
