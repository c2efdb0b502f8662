"""Whether the numbers that documents quote are those that were measured.

    python benchmarks/recall/check_numbers.py [--write] [DOCUMENT ...]

A quoted number stands behind an HTML comment that names it, which no reader sees:

    <!-- githist.plain.gitmem.all.hit5 -->77.8

names the number at plain.gitmem.all.hit5 of docs/measured/githist.json. It has to agree as far as its own decimals go.
In a row of a table that quotes one such number, every number with decimals has to be quoted so, the first cell
excepted. --write puts the measured numbers in place, with the decimals that stand there.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = (ROOT / "docs/retrieval.md",)
MEASURED = ROOT / "docs/measured"
QUOTED = re.compile(r"<!-- ([a-z0-9_]+(?:\.[a-z0-9_]+)+) -->\s*(-?[0-9][0-9,]*(?:\.[0-9]+)?)")
BARE = re.compile(r"(?<![\w.-])[0-9]+\.[0-9]+(?![\w.])")


def measured(folder: Path) -> dict[str, Any]:
    """The numbers of every run that is kept, by the name of its file."""
    return {path.stem: json.loads(path.read_text())["numbers"] for path in sorted(folder.glob("*.json"))}


def value(numbers: dict[str, Any], name: str) -> float | None:
    found: Any = numbers
    for part in name.split("."):
        if not isinstance(found, dict) or part not in found:
            return None
        found = found[part]
    return float(found) if isinstance(found, int | float) else None


def shown(number: float, like: str) -> str:
    """`number` with the decimals of `like`, its thousands apart."""
    return f"{number:,.{len(like.partition('.')[2])}f}"


def faults(text: str, numbers: dict[str, Any]) -> Iterator[str]:
    """What is wrong with the quoted numbers of `text`."""
    for count, line in enumerate(text.splitlines(), 1):
        for name, quoted in QUOTED.findall(line):
            found = value(numbers, name)
            if found is None:
                yield f"line {count}: nothing measured is called {name}"
            elif shown(found, quoted) != shown(float(quoted.replace(",", "")), quoted):
                yield f"line {count}: {name} is quoted as {quoted} and was measured as {shown(found, quoted)}"
        if line.startswith("|") and QUOTED.search(line):
            for bare in BARE.findall(QUOTED.sub("", line.partition("|")[2].partition("|")[2])):
                yield f"line {count}: {bare} stands in a row of measured numbers without a name"


def written(text: str, numbers: dict[str, Any]) -> str:
    def put(match: re.Match[str]) -> str:
        found = value(numbers, match[1])
        return match[0] if found is None else f"<!-- {match[1]} -->{shown(found, match[2])}"

    return QUOTED.sub(put, text)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("documents", type=Path, nargs="*", default=DOCUMENTS)
    options.add_argument("--write", action="store_true")
    chosen = options.parse_args()
    numbers = measured(MEASURED)
    wrong = quoted = 0
    for document in chosen.documents:
        text = document.read_text()
        if chosen.write:
            text = written(text, numbers)
            document.write_text(text)
        quoted += len(QUOTED.findall(text))
        for fault in faults(text, numbers):
            wrong += 1
            print(f"{document.name}, {fault}", file=sys.stderr)
    print(f"{quoted} numbers quoted, {wrong} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
