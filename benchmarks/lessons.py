"""What is found in real transcripts: checks, how they ended, failures that passed later.

    python benchmarks/lessons.py FOLDER

FOLDER holds a folder for each host (`claude-code`, `codex`, …) with its transcripts. With `--each` every lesson is
shown, for a person to judge. Nothing is written.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from gitmem.app.lesson_text import said
from gitmem.capture.fixes import Fixes
from gitmem.capture.outcomes import Check, outcomes
from gitmem.capture.records import records
from gitmem.capture.registry import adapters
from gitmem.capture.story import story

NAMES = {"antigravity-cli": "antigravity"}


def main(folder: Path, *, each: bool) -> None:
    counts: Counter[str] = Counter()
    ended: Counter[str] = Counter()
    for path in sorted(path for path in folder.rglob("*") if path.suffix in (".jsonl", ".json", ".md")):
        host = path.relative_to(folder).parts[0]
        adapter = adapters().get(NAMES.get(host, host))
        if adapter is None or path.name == "SOURCES.md":
            continue
        turns = list(adapter.turns(records([path.read_bytes()], adapter.suffix)))
        counts["sessions"] += 1
        known = Fixes()
        for seen in outcomes(turns):
            if isinstance(seen, Check):
                counts["checks"] += 1
                counts[f"checks: {seen.outcome or 'unknown'}"] += 1
            for fix in known.take(seen):
                counts["lessons"] += 1
                if each:
                    told = said(fix, [turn.cwd for turn in turns if turn.cwd][:1])
                    print(f"{path.name}\n  {told.problem}\n  {told.fix}\n" + told.fix_body.replace("\n", "\n    "))
        counts["failures that never passed"] += len(known.waiting)
        found = story(turns)
        ended[found.ended if found else "empty"] += 1
    for name, count in counts.items():
        print(f"{count:>6,}  {name}")
    for name, count in sorted(ended.items()):
        print(f"{count:>6,}  ended: {name}")


if __name__ == "__main__":
    main(Path(next(word for word in sys.argv[1:] if not word.startswith("-"))), each="--each" in sys.argv)
