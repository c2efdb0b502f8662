"""What became of cited code, remembered for the commit that is checked out, so that asking again costs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from gitmem.app import state
from gitmem.app.ground import Ground
from gitmem.errors import GitmemError
from gitmem.model.nouns import EvidenceRef, FileRef, Memory

_STATE: Final = "drifts"
_KEPT: Final = 5000  # answers that are remembered for one commit


def drifts(ground: Ground, memories: Sequence[Memory]) -> list[tuple[str, ...]]:
    """For each memory and each of its references: "", "changed at HEAD", "gone at HEAD" or "moved to PATH"."""
    cited = {_name(ref): ref for memory in memories for ref in memory.evidence if _may_drift(ref, ground.head)}
    if not cited:
        return [("",) * len(memory.evidence) for memory in memories]
    known = _known(ground)
    missing = [ref for name, ref in cited.items() if name not in known and isinstance(ref, FileRef)]
    if missing:
        known = {**known, **_looked_at(ground, missing)}
        if len(known) > _KEPT:
            known = {name: known[name] for name in cited}
        with suppress(GitmemError):  # a clone that may not be written to answers all the same
            state.save(ground.private, _STATE, {"head": ground.head, "known": known})
    return [tuple(known.get(_name(ref), "") for ref in memory.evidence) for memory in memories]


def _known(ground: Ground) -> dict[str, str]:
    """What was found out at this HEAD, as far as it can be read."""
    stored = state.load(ground.private, _STATE)
    known = stored.get("known")
    if stored.get("head") != ground.head or not isinstance(known, dict):
        return {}
    return {name: said for name, said in known.items() if isinstance(said, str)}


def _looked_at(ground: Ground, refs: Sequence[FileRef]) -> dict[str, str]:
    from gitmem.app.facts import sources
    from gitmem.evidence import drift

    found = drift.drifts(refs, sources(ground.view, ground.env.channel))
    return {_name(ref): drift.said(one.verdict, one.path, ref) for ref, one in zip(refs, found, strict=True)}


def _may_drift(ref: EvidenceRef, head: str | None) -> bool:
    return isinstance(ref, FileRef) and head is not None and ref.commit != head


def _name(ref: EvidenceRef) -> str:
    if not isinstance(ref, FileRef):
        return ""
    return f"{ref.path}@{ref.blob}:{ref.lines or ''}" + (f"::{ref.symbol}" if ref.symbol else "")
