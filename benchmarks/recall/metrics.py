"""What the benchmarks of recall count, and how a run is kept: flat names, so that a document can quote one number."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DEPTH = 100  # answers that are asked for; a right one behind them counts as not found
NDCG_AT = 10


@dataclass(frozen=True)
class Outcome:
    """One question: `rank` of the first right answer (0: not found) and nDCG@10 over all right ones."""

    rank: int
    ndcg: float


def outcome(answer: Sequence[str], relevant: Collection[str]) -> Outcome:
    gains = [1 / math.log2(place + 2) for place, name in enumerate(answer[:NDCG_AT]) if name in relevant]
    ideal = sum(1 / math.log2(place + 2) for place in range(min(len(relevant), NDCG_AT)))
    rank = next((place for place, name in enumerate(answer[:DEPTH], 1) if name in relevant), 0)
    return Outcome(rank, sum(gains) / ideal if ideal else 0.0)


def summary(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """n, then hit@1/5/10, MRR (first right answer, to rank 100) and nDCG@10, all in per cent."""
    n = len(outcomes)

    def share(values: Iterable[float]) -> float:
        return 100 * sum(values) / n if n else 0.0

    hits = {f"hit{k}": share(0 < o.rank <= k for o in outcomes) for k in (1, 5, 10)}
    return {
        "n": n,
        **hits,
        "mrr": share(1 / o.rank for o in outcomes if o.rank),
        "ndcg": share(o.ndcg for o in outcomes),
    }


def part(name: str) -> str:
    """ "dev" or "rest": the part of a set that a question belongs to, by the last bit of the SHA-256 of its name.

    What is tuned is tuned on dev; rest is for reporting. (The first byte will not do: by it these questions were
    themselves chosen from a larger set.)
    """
    return "rest" if hashlib.sha256(name.encode()).digest()[-1] % 2 else "dev"


def table(rows: dict[str, dict[str, float]], columns: Sequence[str] = ("hit1", "hit5", "hit10", "mrr", "ndcg")) -> str:
    """A Markdown table of summaries."""
    lines = ["| | n | " + " | ".join(columns) + " |", "|---" * (len(columns) + 2) + "|"]
    for name, values in rows.items():
        lines.append(f"| {name} | {values['n']} | " + " | ".join(f"{values[c]:.1f}" for c in columns) + " |")
    return "\n".join(lines)


def keep(path: Path, about: dict[str, Any], numbers: dict[str, Any]) -> None:
    """Write one run: `about` says what was run, `numbers` is a tree whose dotted paths documents quote."""
    rounded = json.loads(json.dumps(numbers), parse_float=lambda text: round(float(text), 4))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"about": about, "numbers": rounded}, indent=1, sort_keys=True) + "\n")
