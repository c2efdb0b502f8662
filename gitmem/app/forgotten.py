"""The sessions that this clone let go: their names, digests, when and why, and nothing of what was said.

Capture does not bring them back. When this state is lost, it does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from gitmem.app.state import load, save
from gitmem.model.frozen import dataclass

_STATE: Final = "sessions-forgotten"


@dataclass(frozen=True)
class Forgotten:
    """`digest`: SHA-256 of the manifest, which names the digest of every chunk; `bytes` of transcript."""

    name: str
    digest: str
    bytes: int
    at: str
    why: str


def forgotten(private: Path) -> dict[str, Forgotten]:
    """By name."""
    rows = load(private, _STATE).get("sessions")
    found = (_row(name, row) for name, row in (rows.items() if isinstance(rows, dict) else ()))
    return {item.name: item for item in found if item is not None}


def note_forgotten(private: Path, items: Iterable[Forgotten]) -> None:
    _keep(private, {**forgotten(private), **{item.name: item for item in items}})


def remember_again(private: Path, names: Iterable[str]) -> None:
    """Let these be captured again."""
    known = forgotten(private)
    kept = {name: item for name, item in known.items() if name not in set(names)}
    if kept != known:
        _keep(private, kept)


def looked_at(private: Path) -> str:
    """The day on which was last looked for what has to go."""
    return str(load(private, _STATE).get("day", ""))


def note_looked(private: Path, day: str) -> None:
    save(private, _STATE, {**load(private, _STATE), "day": day})


def _keep(private: Path, items: Mapping[str, Forgotten]) -> None:
    rows = {
        item.name: {"digest": item.digest, "bytes": item.bytes, "at": item.at, "why": item.why}
        for item in items.values()
    }
    save(private, _STATE, {**load(private, _STATE), "sessions": rows})


def _row(name: str, row: Any) -> Forgotten | None:
    try:
        return Forgotten(name, str(row["digest"]), int(row["bytes"]), str(row["at"]), str(row["why"]))
    except (TypeError, KeyError, ValueError):
        return None
