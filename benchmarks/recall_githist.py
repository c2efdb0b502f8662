"""How well recall finds the commit that a changelog line or an issue title speaks of.

    python benchmarks/recall_githist.py [FOLDER]

FOLDER holds <project>.memories.jsonl and <project>.queries.jsonl. Prints hit@1/5/10 and MRR beside a baseline that
counts the words of the query in each memory, the newer first. A line that is no JSON is left out and counted.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from gitmem.model.nouns import Memory, Scope
from gitmem.recall.document import Document
from gitmem.recall.query import Query
from gitmem.recall.search_index import SearchIndex

DEFAULT = Path(__file__).resolve().parents[2] / "shared/data/bench/githist"
DEPTH = 100


def rows(path: Path) -> tuple[list[dict[str, Any]], int]:
    good, bad = [], 0
    for line in path.read_text().splitlines():
        try:
            good.append(json.loads(line))
        except ValueError:
            bad += 1
    return good, bad


def documents(memories: list[dict[str, Any]]) -> Iterator[Document]:
    for row in memories:
        when = datetime.fromisoformat(row["date"])
        memory = Memory(row["id"], "change", row["title"], "active", Scope("bench"), "human", body=row["body"])
        yield Document("main", memory, when, when, "")


def grep_count(memories: list[dict[str, Any]]) -> Callable[[str], list[str]]:
    texts = [(row["id"], f"{row['title']}\n{row['body']}".lower(), row["date"]) for row in memories]

    def ask(text: str) -> list[str]:
        words = set(re.findall(r"\w+", text.lower()))
        scored = [(sum(w in body for w in words), date, name) for name, body, date in texts]
        return [name for count, _, name in sorted(scored, reverse=True)[:DEPTH] if count]

    return ask


def ranks(ask: Callable[[str], list[str]], queries: list[dict[str, Any]]) -> list[int]:
    found = []
    for query in queries:
        answer = ask(query["query"])
        found.append(min((answer.index(i) + 1 for i in query["relevant"] if i in answer), default=0))
    return found


def line(name: str, found: list[int]) -> str:
    share = [100 * sum(0 < r <= k for r in found) / len(found) for k in (1, 5, 10)]
    mrr = 100 * sum(1 / r for r in found if r) / len(found)
    return f"{name:12} n={len(found)}  hit@1 {share[0]:.1f}  hit@5 {share[1]:.1f}  hit@10 {share[2]:.1f}  MRR {mrr:.1f}"


def main(folder: Path) -> None:
    ours: list[int] = []
    grep: list[int] = []
    buckets: dict[str, list[int]] = {}
    size = count = damaged = 0
    building = asking = 0.0
    for path in sorted(folder.glob("*.memories.jsonl")):
        memories, bad = rows(path)
        queries, worse = rows(path.with_name(path.name.replace("memories", "queries")))
        damaged += bad + worse
        with tempfile.TemporaryDirectory() as where:
            index = SearchIndex.open(Path(where))
            start = time.process_time()
            index.update(documents(memories), [], {"main": "bench"})
            building += time.process_time() - start
            count += index.count()
            size += sum(f.stat().st_size for f in Path(where).rglob("*") if f.is_file())
            start = time.process_time()
            found = ranks(lambda q, i=index: [h.id for h in i.search(Query((q,), limit=DEPTH), None).hits], queries)
            asking += time.process_time() - start
        ours += found
        for query, rank in zip(queries, found, strict=True):
            for bucket in (query["bucket"], query["kind"]):
                buckets.setdefault(bucket, []).append(rank)
        grep += ranks(grep_count(memories), queries)
    print(line("grep count", grep))
    print(line("gitmem", ours))
    for bucket, found in sorted(buckets.items()):
        print(line(f"  {bucket}", found))
    print(f"{count} memories, {damaged} damaged lines left out, {size / count:.0f} bytes of index a memory")
    print(f"cpu: {count / building:.0f} memories indexed a second, {1000 * asking / len(ours):.1f} ms a query")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT)
