"""What became of cited code, remembered for the commit that is checked out, so that asking again costs nothing."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from gitmem.app import state
from gitmem.app.ground import Ground
from gitmem.errors import GitmemError
from gitmem.model.nouns import CommitRef, EvidenceRef, FileRef, Memory

_STATE: Final = "drifts"
_KEPT: Final = 5000  # answers that are remembered for one commit


def drifts(ground: Ground, memories: Sequence[Memory]) -> list[tuple[str, ...]]:
    """For each memory and each of its references: "", "changed at HEAD", "gone at HEAD", "moved to PATH", or
    "unobservable" for code and commits that are not in this clone."""
    cited = {_name(ref): ref for memory in memories for ref in memory.evidence if _may_drift(ref, ground.head)}
    if not cited:
        return [("",) * len(memory.evidence) for memory in memories]
    known, aside = _known(ground)
    missing = {n: ref for n, ref in cited.items() if n not in known and n not in aside and not _is_here(ground, ref)}
    if missing:
        found, elsewhere = _looked_at(ground, missing)
        known, aside = _few({**known, **found}, cited), _few({**aside, **elsewhere}, cited)
        with suppress(GitmemError):  # a clone that may not be written to answers all the same
            state.save(
                ground.private, _STATE, {"head": ground.head, "known": known, "stamp": _stamp(ground), "aside": aside}
            )
    said = {**known, **aside}
    return [tuple(said.get(_name(ref), "") for ref in memory.evidence) for memory in memories]


def _is_here(ground: Ground, ref: EvidenceRef) -> bool:
    """Whether a commit that is cited is among the objects, told from the files: libgit2 takes 50 ms to load, and an
    answer cites others each time."""
    if not isinstance(ref, CommitRef):
        return False
    from gitmem.store.pack_index import holds

    return holds(ground.private.parent / "objects", ref.commit)


def _few(answers: dict[str, str], cited: Container[str]) -> dict[str, str]:
    return answers if len(answers) <= _KEPT else {name: said for name, said in answers.items() if name in cited}


def _known(ground: Ground) -> tuple[dict[str, str], dict[str, str]]:
    """What was found out at this HEAD, as far as it can be read; and of what HEAD has not, while no object came or
    went."""
    stored = state.load(ground.private, _STATE)
    if stored.get("head") != ground.head:
        return {}, {}
    return _words(stored.get("known")), _words(stored.get("aside")) if stored.get("stamp") == _stamp(ground) else {}


def _words(stored: Any) -> dict[str, str]:
    return {n: said for n, said in stored.items() if isinstance(said, str)} if isinstance(stored, dict) else {}


def _stamp(ground: Ground) -> list[int]:
    """Changes whenever git fetched, collected or packed objects. Three looks at the file system."""
    found = []
    for name in ("objects/pack", "packed-refs", "FETCH_HEAD"):
        try:
            found.append((ground.private.parent / name).stat().st_mtime_ns)
        except OSError:
            found.append(0)
    return found


def _looked_at(ground: Ground, refs: Mapping[str, EvidenceRef]) -> tuple[dict[str, str], dict[str, str]]:
    """The words for what HEAD has or had, and for what it has not."""
    from gitmem.app.facts import sources
    from gitmem.evidence import drift
    from gitmem.evidence.resolvers import resolve

    where = sources(ground.view, ground.env.channel)
    files = {name: ref for name, ref in refs.items() if isinstance(ref, FileRef)}
    found = dict(zip(files, drift.drifts(list(files.values()), where), strict=True))
    said = {name: drift.said(one.verdict, one.path, files[name]) for name, one in found.items()}
    doubtful = [name for name in refs if name not in found or found[name].verdict == "unobservable"]
    aside = {}
    for name in doubtful:
        said.pop(name, None)
        aside[name] = "unobservable" if resolve(refs[name], where).state == "unobservable" else ""
    return said, aside


def _may_drift(ref: EvidenceRef, head: str | None) -> bool:
    return isinstance(ref, FileRef | CommitRef) and head is not None and ref.commit != head


def _name(ref: EvidenceRef) -> str:
    if isinstance(ref, CommitRef):
        return ref.commit
    if not isinstance(ref, FileRef):
        return ""
    return f"{ref.path}@{ref.blob}:{ref.lines or ''}" + (f"::{ref.symbol}" if ref.symbol else "")
