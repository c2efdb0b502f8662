"""What redaction finds, takes by mistake and costs: `python benchmarks/secrets.py --labelled DIR --transcripts DIR`.

`--labelled` holds dev.jsonl and hard.jsonl: lines of {"label": "secret" or other, "shape", "pre", "parts", "post"}, the
value in parts so that no scanner finds it in the file ("~" in a part is left out). A value counts as removed when no
9 characters of it in a row are left. `--transcripts`: any transcripts, read line by line as capture does. False hits
are counted on Python's own library and the installed packages: code that people published, so that what is found
there is no secret. Prints Markdown for docs/performance.md; `--show` names what was missed or hit, by id and place.
"""

from __future__ import annotations

import argparse
import json
import sysconfig
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gitmem.policy.redaction import Redactor, redact_line

PIECE = 9  # characters of a value that must not be left
MEGABYTE = 1_000_000


class Row(NamedTuple):
    name: str
    shape: str
    text: str
    value: str | None  # None: nothing is to be removed


def rows(file: Path) -> Iterator[Row]:
    for line in file.read_text("utf-8").splitlines():
        said = json.loads(line)
        value = "".join(said["parts"]).replace("~", "")
        yield Row(
            said["id"], said["shape"], said["pre"] + value + said["post"], value if said["label"] == "secret" else None
        )


def spelled(row: Row) -> dict[str, bytes]:
    """The text by itself, and as a host writes it."""
    record = {"type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "content": row.text}]}}
    return {"text": row.text.encode(), "JSON": json.dumps(record).encode()}


def is_removed(value: str, left: str) -> bool:
    return not any(value[at : at + PIECE] in left for at in range(max(1, len(value) - PIECE + 1)))


def labelled(folder: Path, show: bool) -> None:
    print("| set | written as | removed | look-alikes hit | missed |")
    print("|---|---|---|---|---|")
    for name in ("dev", "hard"):
        known = list(rows(folder / f"{name}.jsonl"))
        for how in ("text", "JSON"):
            missed: Counter[str] = Counter()
            hit = 0
            for row in known:
                out, rules = redact_line(spelled(row)[how])
                left = out.decode() if how == "text" else json.loads(out)["message"]["content"][0]["content"]
                if row.value is None:
                    hit += bool(rules)
                elif not is_removed(row.value, left):
                    missed[row.shape] += 1
                if show and (bool(rules) if row.value is None else not is_removed(row.value, left)):
                    print(f"<!-- {row.name} {row.shape} {how} {rules} -->")
            secrets = sum(row.value is not None for row in known)
            said = ", ".join(f"{shape} {count}" for shape, count in missed.most_common()) or "none"
            removed = secrets - missed.total()
            print(f"| {name} | {how} | {removed} of {secrets} | {hit} of {len(known) - secrets} | {said} |")


def code(show: bool, limit: int) -> None:
    print("\n| code | written as | MB | false hits | per MB | MB/s |")
    print("|---|---|---|---|---|---|")
    library, packages = Path(sysconfig.get_path("stdlib")), Path(sysconfig.get_path("purelib"))
    for name, folder in (("Python's library", library), ("installed packages", packages)):
        for how in ("text", "JSON"):
            size = hits = 0
            began = time.process_time()
            for file in sorted(folder.rglob("*.py")):
                if (folder == library and "site-packages" in file.parts) or size > limit * MEGABYTE:
                    continue
                data = file.read_bytes()
                size += len(data)
                lines = data.split(b"\n") if how == "text" else [json.dumps({"text": data.decode("latin-1")}).encode()]
                for number, (_, rules) in enumerate(Redactor().lines(lines), 1):
                    hits += len(rules)
                    if rules and show:
                        print(f"<!-- {file.relative_to(folder)}:{number} {rules} -->")
            rate = size / MEGABYTE / (time.process_time() - began)
            per = hits * MEGABYTE / size
            print(f"| {name} | {how} | {size / MEGABYTE:.1f} | {hits} | {per:.2f} | {rate:.1f} |")


def throughput(folder: Path, runs: int) -> None:
    files = [
        path.read_bytes().split(b"\n")
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".jsonl", ".json", ".md")
    ]
    size = sum(len(line) + 1 for lines in files for line in lines)
    best, hits = float("inf"), 0
    for _ in range(runs):
        began = time.process_time()
        hits = 0
        for lines in files:
            redactor = Redactor()
            hits += sum(len(redactor.line(line)[1]) for line in lines)
        best = min(best, time.process_time() - began)
    print("\n| transcripts | MB | lines | removed | MB/s of processor time |")
    print("|---|---|---|---|---|")
    count = sum(map(len, files))
    print(f"| {len(files)} files | {size / MEGABYTE:.1f} | {count:,} | {hits} | {size / MEGABYTE / best:.1f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labelled", type=Path)
    parser.add_argument("--transcripts", type=Path)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--limit", type=int, default=1000, help="MB of code of each kind")
    parser.add_argument("--show", action="store_true")
    asked = parser.parse_args()
    if asked.labelled:
        labelled(asked.labelled, asked.show)
    code(asked.show, asked.limit)
    if asked.transcripts:
        throughput(asked.transcripts, asked.runs)


if __name__ == "__main__":
    main()
