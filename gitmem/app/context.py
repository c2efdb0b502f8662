"""context: what still holds for files, before somebody edits them.

The index names what may be about a path, a superset; whether a pattern covers it is decided here, exactly. Only what
a reader may see is ever looked at.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from gitmem.app.cochange import touched
from gitmem.app.cues import due_at, waits
from gitmem.app.equals import once
from gitmem.app.former_names import NONE, Former, former
from gitmem.app.ground import Ground
from gitmem.app.moments import Moment
from gitmem.app.read_filters import Filters
from gitmem.app.recalling import Answer, Item
from gitmem.app.structure import around
from gitmem.errors import UsageError
from gitmem.model.frozen import dataclass, replace
from gitmem.model.globs import covers
from gitmem.model.judgement import Filter
from gitmem.model.nouns import FileRef, Memory
from gitmem.model.vocabulary import KINDS, ORIGIN_RANK, VISIBLE
from gitmem.policy.visibility import visible
from gitmem.recall.document import folders_of, plain_path
from gitmem.recall.query import Hit, Query
from gitmem.recall.ranking import ORIGIN_WEIGHT

# What matters before an edit: rules and known traps, then why things are as they are. By judgement; nothing here
# was measured. The steps are wider than those of nearness, so that a rule for all of it stands before a fact about
# one file.
_KIND_WEIGHT: Final[Mapping[str, float]] = {
    "convention": 1.0, "failed_tactic": 1.0, "reminder": 1.0, "preference": 0.95, "problem": 0.95, "decision": 0.85,
    "procedure": 0.8, "fact": 0.75, "solution": 0.75, "plan": 0.7, "concept": 0.6, "change": 0.5, "episode": 0.4,
}  # fmt: skip
_COVERS: Final = 0.8  # the least nearness of what covers a path: the whole tree does
_BELOW: Final = 0.8  # of what is about something inside a folder that was asked about
_COMPANION: Final = 0.4  # of what is about a file that always changes with one of them; less when it seldom does
# Memories of one place that are all looked at, whatever their kind. Reading one takes 0.1 to 0.3 ms.
_FEW: Final = 24
_LONGEST: Final = 4096  # characters of a path (PATH_MAX of Linux)


class Near(NamedTuple):
    """How near a memory is to what was asked, 0 to 1, and in words."""

    weight: float
    how: str


Ranked = tuple[Hit, Near]


@dataclass(frozen=True)
class Context:
    """paths: what was asked about, from the top of the repository; `.` is all of it. answer: as of `recall`; its total
    is of what was looked at, so there may be more."""

    paths: tuple[str, ...]
    answer: Answer


def context(ground: Ground, named: Sequence[str], limit: int, *, companions: bool = True) -> Context:
    """What holds for the files or folders `named` as a person writes them: relative to where they are, or absolute.
    companions: also what is about a file that changes with them.

    They need not exist. Raises UsageError for none, and for one outside of the repository.
    """
    if not named:
        raise UsageError("the context of which files?", hint="gitmem context src/pool.py")
    paths = tuple(dict.fromkeys(path_from_top(ground, name) for name in named))
    seen = visible(ground.viewer, at=ground.now)
    found = about(ground, paths, seen, limit + 1)
    reminders = ground.index.search(Query(kinds=("reminder",), limit=_FEW), seen).hits
    found += [(hit, Near(1.0, why)) for hit in reminders if (why := due_at(hit.memory, ground.now, paths))]
    if companions:
        found += _companions(ground, touched(ground).companions(paths), seen)
    timely = [pair for pair in best(found) if not waits(pair[0].memory, ground.now)]
    items = with_structure(ground, timely[:limit], seen)
    searched = ground.index.search(Query(limit=1), seen).searched
    moment = Moment(None, ground.commit, ground.now)
    projects = tuple(sorted(ground.viewer.projects))
    return Context(paths, Answer(items, len(timely), searched, moment, projects, {}, ground.warnings))


def from_here(ground: Ground, filters: Filters) -> Filters:
    """`filters` with the path from the top of the repository; it is typed from where the reader is, as for git."""
    if filters.path is None:
        return filters
    path = path_from_top(ground, filters.path)
    return replace(filters, path=path, former=former(ground, [path]))


def path_from_top(ground: Ground, name: str) -> str:
    """`name` from the top of the repository; `.` for the top itself. Raises UsageError when it lies outside."""
    if len(name) > _LONGEST:
        raise UsageError(f"a path of {len(name):,} characters is none", hint="gitmem context src/pool.py")
    top = ground.work_tree
    if top is None and not name.startswith("/"):
        path = os.path.normpath(name)
    elif top is None or "\0" in name or not name:
        raise _outside(name, top)
    else:
        # The last part stays as it is: a link is a file of the repository itself, wherever it leads.
        whole = Path(ground.env.start or ground.env.cwd) / name
        last = whole.name if whole.name != ".." else ""
        folder = os.path.realpath(whole.parent if last else whole)
        path = os.path.relpath(f"{folder}/{last}", top)
    if path == ".." or path.startswith("../"):
        raise _outside(name, top)
    if path.split("/", 1)[0].lower() == ".git":
        raise UsageError(f"{name} is git's own, not a file of the repository", hint="gitmem context src/pool.py")
    return path


def _outside(name: str, top: Path | None) -> UsageError:
    where = f"the work tree {top}" if top else "the repository, which has no work tree"
    return UsageError(f"{name!r} is not inside {where}", hint="gitmem -C REPOSITORY context PATH asks another one")


def about(ground: Ground, paths: Sequence[str], seen: Filter, limit: int, kinds: Sequence[str] = KINDS) -> list[Ranked]:
    """The memories about these files or folders or about a folder above one, best first: `limit` of them at least,
    when there are so many. Of a place that very many are about, the kinds that matter most are looked at first, and
    of each kind the newest."""
    found: dict[str, Ranked] = {}
    called = former(ground, paths)

    def take(hits: Iterable[Hit]) -> None:
        for hit in hits:
            if hit.id not in found and (near := nearness(hit.memory, paths, called)) is not None:
                found[hit.id] = hit, near

    crowded = []
    for ceiling, query in _places(ground, paths, called):
        here = ground.index.search(replace(query, kinds=tuple(kinds), limit=_FEW), seen)
        if here.total <= _FEW:
            take(here.hits)
        else:
            crowded += [(round(ceiling * _KIND_WEIGHT[kind], 6), kind, query) for kind in kinds]
    for ceiling, kind, query in sorted(crowded, key=lambda row: -row[0]):
        worths = sorted((worth(*pair) for pair in found.values()), reverse=True)
        if len(worths) >= limit and worths[limit - 1] > ceiling:
            break  # nothing that is left could come among those
        take(ground.index.search(replace(query, kinds=(kind,), limit=limit), seen).hits)
    return best(found.values())


def _places(ground: Ground, paths: Sequence[str], called: Former) -> Iterator[tuple[float, Query]]:
    """What the index is asked for, with the most that anything of it can be near."""
    yield 1.0, Query(about=(*paths, *called.names))
    depths: dict[float, set[str]] = {}
    for path in paths:
        for folder in islice(folders_of(path), 1, None):
            depths.setdefault(_covering(folder, path), set()).add(folder)
    for ceiling, folders in sorted(depths.items(), reverse=True):
        yield ceiling, Query(about=tuple(sorted(folders)))
    for path in paths:
        if _is_folder(ground, path):
            yield 1.0, Query(path=path)


def _covering(folder: str, path: str) -> float:
    """How near a pattern is that covers `path` from `folder` on: the deeper the nearer."""
    depth = 0 if folder == "." else folder.count("/") + 1
    return _COVERS + (1 - _COVERS) * min(depth / (path.count("/") + 1), 1.0)


def best(found: Iterable[Ranked]) -> list[Ranked]:
    """Each memory once, and of equal claims one, in the order of what it is worth here."""
    rows = {hit.id: (hit, near) for hit, near in sorted(found, key=lambda pair: worth(*pair))}
    ranked = sorted(rows.values(), key=lambda pair: (-worth(*pair), -pair[0].recorded, pair[0].id))
    return [rows[identifier] for identifier in once(hit.memory for hit, _ in ranked)]


def _is_folder(ground: Ground, path: str) -> bool:
    return path == "." or ground.work_tree is None or (ground.work_tree / path).is_dir()


def nearness(memory: Memory, paths: Iterable[str], called: Former = NONE) -> Near | None:
    """How a memory is about any of `paths`; None when it is not."""
    return max((near for path in paths for near in _each_nearness(memory, path, called)), default=None)


def _each_nearness(memory: Memory, path: str, called: Former) -> Iterator[Near]:
    inside = "" if path == "." else f"{path}/"
    for ref in memory.evidence:
        if not isinstance(ref, FileRef) or not called.stayed(ref.path, ref.commit):
            continue
        now = called.now(ref.path, ref.commit) or ref.path
        moved = f", which is {now} now" if now != ref.path else ""
        if now == path:
            yield Near(1.0, f"cites {ref.path}{moved}")
        elif now.startswith(inside):
            yield Near(_BELOW, f"cites {ref.path}{moved}")
    for pattern in memory.applies_to:
        if called.renamed(pattern) == path:
            yield Near(1.0, f"applies to {pattern}, which is {path} now")
        plain = plain_path(pattern)
        if covers(pattern, path):
            yield Near(_covering(plain, path), f"applies to {pattern}")
        elif f"{plain}/".startswith(inside):
            yield Near(_BELOW, f"applies to {pattern}")


def _companions(ground: Ground, shares: Mapping[str, float], seen: Filter) -> Iterator[Ranked]:
    """What is about a file that changes with those that were asked about, and about no folder of it."""
    if not shares:
        return
    for hit in ground.index.search(Query(about=tuple(shares), limit=_FEW), seen).hits:
        memory = hit.memory
        exactly = {ref.path for ref in memory.evidence if isinstance(ref, FileRef)} | set(memory.applies_to)
        known = [(share, path) for path, share in shares.items() if path in exactly]
        if known:
            share, path = max(known)
            yield hit, Near(_COMPANION * share, f"about {path}, which changes with it ({share:.0%} of the time)")


def worth(hit: Hit, near: Near) -> float:
    """The order of what is shown: nearness, kind, state and origin."""
    memory = hit.memory
    kind = _KIND_WEIGHT.get(memory.kind, min(_KIND_WEIGHT.values()))
    return round(near.weight * kind * VISIBLE[memory.status] * ORIGIN_WEIGHT[ORIGIN_RANK[memory.origin]], 6)


def with_structure(ground: Ground, ranked: Sequence[Ranked], seen: Filter) -> tuple[Item, ...]:
    """What is shown, each with what became of its cited lines and with what belongs beside it."""
    found = around(ground, [hit.memory for hit, _ in ranked], seen, None)
    return tuple(
        Item(replace(hit, score=worth(hit, near)), lost, beside=others, place=near.how)
        for (hit, near), (others, lost) in zip(ranked, found, strict=True)
    )
