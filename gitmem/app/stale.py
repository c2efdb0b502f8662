"""stale: which memories cite code that is not what it was.

The verdicts are those of `gitmem.evidence.drift`, over what may be shown of the project's memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from gitmem.app.context import path_from_top
from gitmem.app.facts import sources
from gitmem.app.former_names import Former, former
from gitmem.app.ground import Ground
from gitmem.app.state import load, save
from gitmem.errors import GitmemError
from gitmem.evidence.drift import Drift, Verdict, drifts
from gitmem.model.frozen import dataclass, replace
from gitmem.model.nouns import FileRef, Memory
from gitmem.policy.visibility import visible
from gitmem.recall.query import Query

if TYPE_CHECKING:
    from gitmem.evidence.sources import Sources

_PAGE: Final = 2000  # memories that are read from the index at a time
_STATE: Final = "compared"
_RULES: Final = 1  # of the comparison; another number forgets what was remembered
_SHOWN: Final = 8  # characters of an id in a command
_PATHS: Final = 200  # paths in one question to the index
_REFS: Final = ("main", "private")


@dataclass(frozen=True)
class Cited:
    """One reference to code, with what became of it at HEAD."""

    ref: FileRef
    drift: Drift


@dataclass(frozen=True)
class Standing:
    """A memory and the code that supports it. mark: the state that its verdict leads to, "" when it stays."""

    memory: Memory
    cited: tuple[Cited, ...]
    verdict: Verdict
    mark: str


@dataclass(frozen=True)
class Report:
    """What was looked at, by the code at `head` (None: nothing is committed). paths: those asked about, or none."""

    standings: tuple[Standing, ...]
    head: str | None
    paths: tuple[str, ...] = ()

    def count(self, verdict: str) -> int:
        return sum(standing.verdict == verdict for standing in self.standings)

    @property
    def to_mark(self) -> tuple[Standing, ...]:
        return tuple(standing for standing in self.standings if standing.mark)


def stale(ground: Ground, named: Sequence[str], *, only: Collection[str] | None = None) -> Report:
    """The memories that cite files or folders `named` (none: any code), each with its verdict, worst first.

    only: paths from the top, of which a memory has to cite one; None does not ask. Raises UsageError for a path outside
    of the repository.
    """
    paths = tuple(dict.fromkeys(path_from_top(ground, name) for name in named))
    called = former(ground, paths)
    memories = list(_citing(ground, paths, only, called))
    state = load(ground.private, _STATE)
    known = state.get("known") if state.get("rules") == _RULES else None
    known = known if isinstance(known, dict) else {}
    found = standings(memories, sources(ground.view, ground.env.channel), diffs=True, known=known)
    if not paths and only is None:
        with suppress(GitmemError):  # a clone that may not be written to answers all the same
            save(ground.private, _STATE, {"rules": _RULES, "known": known})
    order = {"gone": 0, "changed": 1, "unobservable": 2, "moved": 3, "current": 4}
    return Report(tuple(sorted(found, key=lambda one: (order[one.verdict], one.memory.id))), ground.head, paths)


def standings(
    memories: Sequence[Memory], where: Sources, *, diffs: bool = False, known: dict[str, Any] | None = None
) -> list[Standing]:
    """Each memory that code supports, with its verdict. `known` as in `drifts`."""
    cited = [(memory, refs) for memory in memories if (refs := supporting(memory))]
    found = iter(drifts([ref for _, refs in cited for ref in refs], where, diffs=diffs, known=known))
    made = []
    for memory, refs in cited:
        each = tuple(Cited(ref, next(found)) for ref in refs)
        verdict = verdict_of([one.drift for one in each])
        made.append(Standing(memory, each, verdict, mark_of(memory, verdict)))
    return made


def supporting(memory: Memory) -> list[FileRef]:
    """The code that a memory rests on; what speaks against it may change as it likes."""
    return [ref for ref in memory.evidence if isinstance(ref, FileRef) and ref.role == "supports"]


def verdict_of(found: Sequence[Drift]) -> Verdict:
    """The verdict on a memory: gone when all of its code is, changed when any is not what it was."""
    said = {drift.verdict for drift in found}
    if said == {"gone"}:
        return "gone"
    if said & {"gone", "changed"}:
        return "changed"
    return "unobservable" if "unobservable" in said else "moved" if "moved" in said else "current"


def mark_of(memory: Memory, verdict: str) -> str:
    """The state that a verdict leads to from the one that a memory is in; "" when it stays as it is."""
    if verdict == "gone":
        return "stale" if memory.status in ("active", "maybe_stale") else ""
    return "maybe_stale" if verdict == "changed" and memory.status == "active" else ""


def next_commands(standing: Standing) -> tuple[str, ...]:
    """What a person may run about a memory whose code changed: it still holds, something else does."""
    if standing.verdict not in ("changed", "gone"):
        return ()
    named = standing.memory.id[:_SHOWN]
    drift = next((one.drift for one in standing.cited if one.drift.verdict == "changed"), None)
    symbols = [one.ref.symbol for one in standing.cited if one.drift is drift and one.ref.symbol]
    name = symbols[0].partition("=")[0] if symbols else ""
    if drift is None:
        return f"gitmem reverify {named} --evidence file:PATH:LINES", f'gitmem archive {named} --because "…"'
    place = f"{drift.path}::{name}" if name else f"{drift.path}:{drift.lines}" if drift.lines else f"{drift.path}:LINES"
    valued = symbols and "=" in symbols[0]
    still = f"gitmem reverify {named}" + (f" --evidence file:{place}" if valued or place.endswith(":LINES") else "")
    return still, f'gitmem reverify {named} --instead "…" --evidence file:{place} --because "…"'


def _citing(ground: Ground, paths: Sequence[str], only: Collection[str] | None, called: Former) -> Iterator[Memory]:
    names = tuple(called.names)
    queries = [Query(path=path, called=names) for path in paths] if "." not in paths else []
    if only is not None:
        listed = sorted(only)
        queries = [Query(about=tuple(listed[at : at + _PATHS])) for at in range(0, len(listed), _PATHS)]
    elif not queries:
        queries = [Query()]
    seen = visible(ground.viewer, at=ground.now)
    told = set()
    for query in queries:
        asked = replace(query, refs=_REFS, order="newest", limit=_PAGE)
        while True:
            found = ground.index.search(asked, seen)
            for hit in found.hits:
                memory = hit.memory
                if memory.id not in told and _cites(memory, paths, only, called):
                    told.add(memory.id)
                    yield memory
            asked = replace(asked, offset=asked.offset + _PAGE)
            if asked.offset >= found.total:
                break


def _cites(memory: Memory, paths: Sequence[str], only: Collection[str] | None, called: Former) -> bool:
    refs = supporting(memory)
    cited = {called.now(ref.path, ref.commit) or ref.path for ref in refs if called.stayed(ref.path, ref.commit)}
    if only is not None and not any(path in only for path in cited):
        return False
    if not paths or "." in paths:
        return bool(cited)
    return any(path == asked or path.startswith(f"{asked}/") for path in cited for asked in paths)
