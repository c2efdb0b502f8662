"""How well recall finds the Python function that a web search asked for (CoSQA).

    python benchmarks/recall/cosqa.py [FOLDER] [--split dev|rest|all] [--system gitmem ...] [--json FILE]

FOLDER holds code_idx_map.txt (6,267 functions) and cosqa-retrieval-dev-500.json (500 questions).
"""

from __future__ import annotations

import argparse
import json
from datetime import datetime, timezone
from pathlib import Path

from histories import SHARED
from metrics import keep, outcome, part, summary, table
from systems import MISSING, SYSTEMS, Text

WHEN = datetime(2026, 1, 1, tzinfo=timezone.utc)


def functions(folder: Path) -> list[Text]:
    """The functions as memories: the first line is the title, as a person would keep a snippet."""
    known = json.loads((folder / "code_idx_map.txt").read_text())
    cut = [(str(number), *code.partition("\n")) for code, number in known.items()]
    return [Text(number, title.strip(), body, WHEN) for number, title, _, body in cut]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("folder", type=Path, nargs="?", default=SHARED / "cosqa")
    options.add_argument("--split", choices=("dev", "rest", "all"), default="all")
    options.add_argument("--system", choices=list(SYSTEMS), nargs="+", default=[s for s in SYSTEMS if s not in MISSING])
    options.add_argument("--json", type=Path)
    chosen = options.parse_args()
    texts = functions(chosen.folder)
    rows = json.loads((chosen.folder / "cosqa-retrieval-dev-500.json").read_text())
    asked = [(r["doc"], str(r["retrieval_idx"])) for r in rows if chosen.split in ("all", part(r["idx"]))]
    numbers = {}
    for system in chosen.system:
        ask = SYSTEMS[system](texts)
        numbers[system] = summary([outcome(ask(question), {right}) for question, right in asked])
    print(table(numbers))
    if chosen.json:
        keep(chosen.json, {"split": chosen.split, "functions": len(texts)}, numbers)


if __name__ == "__main__":
    main()
