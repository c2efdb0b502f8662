"""How well the files of a commit are guessed from one of them, by what changed together before: which bounds to set.

    python benchmarks/recall/cochange.py REPOSITORY

For each file of each of the newest 400 commits, its companions in the history before that commit, against the other
files of the commit. precision: companions that were in the commit; recall: other files of it that were companions.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from gitmem.app import cochange
from gitmem.store.repository import locate
from gitmem.store.touched import commits

NEWEST = 400


def main() -> None:
    location = locate(Path(sys.argv[1]), environ=os.environ)
    found = commits(location, location.head or "", limit=cochange.COMMITS) or ()
    history = [touch.paths for touch in found]
    print(f"{len(history)} commits\ntogether  share  precision  recall  answered")
    for together in (1, 2, 3):
        for share in (0.1, 0.25, 0.5):
            print(f"{together:8}  {share:5}  {_row(history, together, share)}")


def _row(history: list[tuple[str, ...]], together: int, share: float) -> str:
    cochange.TOGETHER, cochange.SHARE = together, share  # type: ignore[misc]
    hits = guesses = wanted = answered = 0
    for position, files in enumerate(history[:NEWEST]):
        before = cochange.Touched(tuple(history[position + 1 :]))
        for file in files:
            others, guessed = {*files} - {file}, {*before.companions([file])}
            hits, guesses, wanted = hits + len(guessed & others), guesses + len(guessed), wanted + len(others)
            answered += bool(guessed)
    return f"{hits / max(guesses, 1):9.2f}  {hits / max(wanted, 1):6.2f}  {answered:8}"


if __name__ == "__main__":
    main()
