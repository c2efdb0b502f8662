"""Small records and facts for the policy tests: every default is one that the gate admits."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

from gitmem.model.judgement import Change, Facts, Neighbour, Resolution
from gitmem.model.nouns import Config, EvidenceRef, FileRef, Memory, Scope, Tombstone, TombstoneEntry

NOW = datetime(2026, 3, 2, 10, tzinfo=timezone.utc)
CONFIG = Config(project="shop-k3x9qd")
ID, OTHER, THIRD = "7k3q9dxwm2ab", "2m8r4cvte9hk", "9q2w4r6t8y0p"
SHA = "ab" * 32


def file_ref(**fields: Any) -> FileRef:
    given = {"path": "src/pool.py", "blob": "1" * 40, "commit": "2" * 40, "sha256": SHA, "lines": "2-3", **fields}
    return FileRef(**given)


def memory(**fields: Any) -> Memory:
    given: dict[str, Any] = {
        "id": ID,
        "kind": "fact",
        "title": "Pool size is 20",
        "status": "active",
        "scope": Scope("shop-k3x9qd"),
        "origin": "human",
        "evidence": (file_ref(),),
        **fields,
    }
    return Memory(**given)


def verified(ref: EvidenceRef, **fields: Any) -> Resolution:
    return Resolution(**{"ref": ref, "state": "verified", "quoted": True if ref.quote else None, **fields})


def facts(change: Change, **fields: Any) -> Facts:
    """A terminal, every reference verified, every linked memory as `linked` says."""
    given = {"now": NOW, "channel": "terminal", "resolutions": tuple(map(verified, change.after.evidence)), **fields}
    return Facts(**given)


def create(**fields: Any) -> Change:
    return Change("create", memory(**fields))


def move(op: Any, start: str, to: str, **fields: Any) -> Change:
    """A change of state of the default memory; `fields` are changed on the way."""
    before = memory(status=start)
    return Change(op, replace(before, status=to, **fields), before, "because it is so")


def neighbour(**fields: Any) -> Neighbour:
    given = {
        "id": OTHER, "kind": "fact", "title": "The pool size is 20", "body": "", "status": "active", "where": "main",
        "similarity": 1.0, **fields,
    }  # fmt: skip
    return Neighbour(**given)


def tombstone(*ops: Any) -> Tombstone:
    entries = tuple(TombstoneEntry(op, "2026-03-01T10:00:00Z", "0" * 26, OTHER, "thinking aloud") for op in ops)
    return Tombstone(SHA, "shop-k3x9qd", "claim", entries)
