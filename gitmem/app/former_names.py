"""What the files that are asked about were called before: the renames of the newest commits, remembered for the commit
that is checked out, so that asking again starts no git."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

from gitmem.app import state
from gitmem.errors import GitmemError
from gitmem.model.frozen import dataclass, field

if TYPE_CHECKING:
    from gitmem.app.ground import Ground

_STATE: Final = "renames"
COMMITS: Final = 2000  # with a rename, at the most, that are looked at
_KEPT: Final = 2000  # renames
_NAMES: Final = 200  # former names in one question

Row = tuple[str, str, str]  # commit, old name, new name


@dataclass(frozen=True)
class Former:
    """names: each former name of a file that is asked about, with the commit that gave it another and its name now.
    away: each file that is asked about whose name another file had, with the commit that took it from that one.
    taken: former names that another file has now or had since. ground: None where nothing was renamed."""

    names: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    away: Mapping[str, str] = field(default_factory=dict)
    taken: frozenset[str] = frozenset()
    ground: Ground | None = None

    def now(self, path: str, commit: str) -> str | None:
        """The name now of a file that was cited under a former name, of those asked about; None for any other."""
        found = self.names.get(path)
        if found is None or (path in self.taken and not self._before(found[0], commit)):
            return None
        return found[1]

    def renamed(self, pattern: str) -> str | None:
        """The name now of a file whose former name a memory applies to; that name says nothing when it was taken."""
        return self.names[pattern][1] if pattern in self.names and pattern not in self.taken else None

    def stayed(self, path: str, commit: str) -> bool:
        """Whether what was cited at `path` is not a file that has moved away and left its name to another."""
        return path not in self.away or not self._before(self.away[path], commit)

    def _before(self, rename: str, commit: str) -> bool:
        """Whether `commit` came before the rename. One that is not here came before: nothing else is known of it."""
        if self.ground is None:
            return False
        from gitmem.store.followed import outside

        return outside(self.ground.location, rename, [commit]) == frozenset()


NONE: Final = Former()


def former(ground: Ground, paths: Iterable[str]) -> Former:
    """What the files, or the files in the folders, `paths` were called before. All of the repository is asked for by
    `.`, which nothing leaves."""
    asked = tuple(path for path in paths if path != ".")
    rows = _renames(ground) if asked else ()
    if not rows:
        return NONE
    exact, folders = frozenset(asked), tuple(f"{path}/" for path in asked)
    names: dict[str, tuple[str, str]] = {}
    sources: dict[str, int] = {}
    back: set[str] = set()
    away: dict[str, str] = {}
    for commit, old, new in rows:  # newest first, so a chain of renames is met from its end
        sources[old] = sources.get(old, 0) + 1
        now = names[new][1] if new in names else new if new in exact or new.startswith(folders) else None
        here = old in exact or old.startswith(folders)
        if now is None:
            if here and old not in back:
                away.setdefault(old, commit)
        elif here:
            back.add(old)  # it came back, or moved inside of what is asked about
            away.pop(old, None)
        elif len(names) < _NAMES:
            names.setdefault(old, (commit, now))
    away = {path: commit for path, commit in away.items() if _is_there(ground, path)}
    taken = frozenset(name for name in names if sources[name] > 1 or _is_there(ground, name))
    return Former(names, away, taken, ground) if names or away else NONE


def _is_there(ground: Ground, path: str) -> bool:
    return ground.work_tree is not None and os.path.lexists(f"{ground.work_tree}/{path}")


def _renames(ground: Ground) -> Sequence[Row]:
    """Newest first. Starts git only when the commit that is checked out is a new one here."""
    if ground.head is None:
        return ()
    name = f"{_STATE}-{crc32(str(ground.work_tree).encode('utf-8', 'surrogateescape')):08x}"
    stored = state.load(ground.private, name)
    known = _rows(stored.get("renames"))
    before = stored.get("head")
    if known is not None and before == ground.head:
        return known
    from gitmem.store.renames import renames
    from gitmem.store.touched import descends

    base = before if isinstance(before, str) and known is not None else None
    if base is not None and not descends(ground.location, base, ground.head):
        base = None
    fresh = renames(ground.location, ground.head, base=base, limit=COMMITS)
    rows = [*(tuple(one) for one in fresh or ()), *(known if known and base else ())][:_KEPT]
    with suppress(GitmemError):  # a clone that may not be written to answers all the same
        state.save(ground.private, name, {"head": ground.head, "renames": [part for row in rows for part in row]})
    return rows


def _rows(stored: Any) -> list[Row] | None:
    if not isinstance(stored, list) or not all(isinstance(part, str) for part in stored):
        return None
    return list(zip(stored[::3], stored[1::3], stored[2::3], strict=False))
