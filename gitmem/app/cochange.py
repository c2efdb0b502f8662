"""Which files change together: what the newest commits touched, remembered for the commit that is checked out.

A memory about a file that always changes with this one may matter here. It never counts as much as one about the
file itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from zlib import crc32

from gitmem.app import state
from gitmem.app.ground import Ground
from gitmem.errors import GitmemError
from gitmem.model.frozen import dataclass

_STATE: Final = "touched"
COMMITS: Final = 1000  # of the history that are looked at
_MENTIONS: Final = 20_000  # paths in all of them that are kept: about 200 KB
# Two files that were changed together once may have met by chance: on this project's own young history two joint
# commits instead of one raise the precision of the guess from 0.13 to 0.23, and no share above a quarter adds as much
# (benchmarks/recall/cochange.py). It stays a guess, so it never weighs much. Rules in T. Zimmermann et al., Mining
# Version Histories to Guide Software Changes (ICSE 2004), need a support and a confidence too.
TOGETHER: Final = 2
SHARE: Final = 0.25
LATELY: Final = 10  # commits whose files are still being worked on
WORKED_ON: Final = 100  # files
_FILES: Final = 20
_WORKTREES: Final = 8  # whose history is kept


@dataclass(frozen=True)
class Touched:
    """The files of each of the newest commits, newest first, without merges; a very broad commit has none."""

    commits: tuple[tuple[str, ...], ...] = ()

    def lately(self, commits: int) -> tuple[str, ...]:
        """The files of the newest commits, newest first, each once."""
        return tuple(dict.fromkeys(path for paths in self.commits[:commits] for path in paths))

    def companions(self, paths: Iterable[str]) -> dict[str, float]:
        """The files that change with these files or folders, most often first: each with the share of the commits
        that touched one of `paths` which touched it too, 0 to 1. A file of one joint commit is left out, and so is
        one whose share is under a quarter."""
        asked = tuple(paths)
        within = _within(asked)
        joint: Counter[str] = Counter()
        touching = 0
        for files in self.commits:
            others = [path for path in files if not within(path)]
            if len(others) < len(files):
                touching += 1
                joint.update(others)
        shares = {path: count / touching for path, count in joint.items() if count >= TOGETHER}
        ranked = sorted((-share, path) for path, share in shares.items() if share >= SHARE)
        return {path: -share for share, path in ranked[:_FILES]}


def _within(paths: Sequence[str]) -> Callable[[str], bool]:
    """Whether a file is one of `paths` or lies below one; `.` is the top of all."""
    exact, folders = frozenset(paths), tuple(f"{path}/" for path in paths)
    return lambda path: "." in exact or path in exact or path.startswith(folders)


def touched(ground: Ground) -> Touched:
    """The history of the commit that is checked out. Starts git only when that commit is a new one here."""
    if ground.head is None:
        return Touched()
    name = f"{_STATE}-{crc32(str(ground.work_tree).encode('utf-8', 'surrogateescape')):08x}"
    stored = state.load(ground.private, name)
    known = _read(stored)
    if known is not None and stored.get("head") == ground.head:
        return known
    fresh = _looked_up(ground, ground.head, stored.get("head"), known)
    with suppress(GitmemError):  # a clone that may not be written to answers all the same
        state.save(ground.private, name, {"head": ground.head, **_plain(fresh)})
        _forget_others(ground.private, name)
    return fresh


def _looked_up(ground: Ground, head: str, before: Any, known: Touched | None) -> Touched:
    """What git says. When it fails or takes too long there is none, and that is remembered until the next commit."""
    from gitmem.store.touched import commits, descends

    location = ground.location
    base = before if isinstance(before, str) and known and known.commits and descends(location, before, head) else None
    said = commits(location, head, base=base, limit=COMMITS)
    newer = [touch.paths for touch in said or ()]
    return _bounded([*newer, *(known.commits if base and known else ())])


def worked_on(ground: Ground) -> tuple[str, ...]:
    """The files that work is going on at: what is uncommitted, then what the newest commits touched. Starts git."""
    from gitmem.store.touched import uncommitted

    found = [*uncommitted(ground.location), *touched(ground).lately(LATELY)]
    return tuple(dict.fromkeys(found))[:WORKED_ON]


def _bounded(commits: Sequence[tuple[str, ...]]) -> Touched:
    kept, mentions = [], 0
    for paths in commits[:COMMITS]:
        mentions += len(paths)
        if mentions > _MENTIONS:
            break
        kept.append(paths)
    return Touched(tuple(kept))


def _plain(touched: Touched) -> dict[str, Any]:
    """Each path once: half the size."""
    numbers = {path: number for number, path in enumerate(dict.fromkeys(p for paths in touched.commits for p in paths))}
    return {"paths": list(numbers), "commits": [[numbers[path] for path in paths] for paths in touched.commits]}


def _read(stored: Mapping[str, Any]) -> Touched | None:
    """What was stored, or None for anything else."""
    try:
        paths = [path for path in stored["paths"] if isinstance(path, str)]
        return Touched(tuple(tuple(paths[number] for number in numbers) for numbers in stored["commits"]))
    except (KeyError, TypeError, IndexError):
        return None


def _forget_others(private: Path, name: str) -> None:
    """Keep the histories of the worktrees that were asked about last."""
    with suppress(OSError):  # another process may do the same
        files = sorted(private.glob(f"{_STATE}-*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in files[_WORKTREES:]:
            if path.stem != name:
                path.unlink(missing_ok=True)
