"""What two sides of a merge have in common.

With one merge base that is its tree. Two sides that merged each other before have several; then it is what gitmem
makes of these when it merges them, in the order of their ids and file by file, as git's recursive strategy does it.
"""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.app.verify_view import JudgedView, judged_view
from gitmem.app.workspace import Workspace
from gitmem.errors import CorruptRecord
from gitmem.model import layout
from gitmem.model.nouns import Memory
from gitmem.model.records import memory_bytes, memory_from_bytes, tombstone_bytes, tombstone_from_bytes
from gitmem.share.memory import Side, merged_memory
from gitmem.share.settings import merged_tombstone
from gitmem.store.ahead import read_paths
from gitmem.store.ancestry import merge_bases


class Base:
    """The files that both sides of a merge began with. `single`: they lie in one commit."""

    def __init__(self, workspace: Workspace, commits: tuple[str, ...]) -> None:
        self._workspace = workspace
        self._commits = commits
        self._views: dict[str, JudgedView] = {}
        self._below: dict[int, Base] = {}

    @classmethod
    def of(cls, workspace: Workspace, one: str, *others: str) -> Base:
        return cls(workspace, merge_bases(workspace.backend.location, one, *others))

    @property
    def single(self) -> bool:
        return len(self._commits) <= 1

    def read(self, path: str) -> bytes | None:
        """The bytes at `path`, or None when there were none."""
        if not self._commits:
            return None
        versions = [self._view(commit).bytes_at(path) for commit in self._commits]
        found = versions[0]
        for number in range(1, len(versions)):
            if versions[number] != found:
                lasts = self._lasts(path, number)
                found = together(path, self._before(number).read(path), found, versions[number], lasts)
        return found

    def _lasts(self, path: str, number: int) -> tuple[str, str]:
        """The newest event of a memory that only the bases before that number have, and that only this one has."""
        identifier = layout.memory_of_path(path)
        if identifier is None:
            return "", ""
        past, own = (
            {name.rsplit("/", 1)[-1] for commit in commits for name in self._view(commit).main.event_names(identifier)}
            for commits in (self._commits[:number], self._commits[number : number + 1])
        )
        return max(past - own, default=""), max(own - past, default="")

    def read_ahead(self, paths: Sequence[str]) -> None:
        """Read at once what will be asked for."""
        for commit in self._commits:
            main = self._view(commit).main
            read_paths(main.backend, main.tree, paths)

    def memory(self, identifier: str) -> Memory | None:
        path = layout.memory_path(identifier)
        raw = self.read(path)
        return None if raw is None else readable(raw, path)

    def _view(self, commit: str) -> JudgedView:
        if commit not in self._views:
            self._views[commit] = judged_view(self._workspace, commit)
        return self._views[commit]

    def _before(self, number: int) -> Base:
        """What the base of that number has in common with those before it."""
        if number not in self._below:
            self._below[number] = Base.of(self._workspace, self._commits[number], *self._commits[:number])
        return self._below[number]


def together(
    path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None, lasts: tuple[str, str] = ("", "")
) -> bytes | None:
    """One file of two, by what they say. Symmetric. `lasts`: of a memory, the newest event that each has alone."""
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    if ours is None or theirs is None:
        return theirs if ours is None else ours
    identifier = layout.memory_of_path(path)
    if identifier is not None:
        mine, yours = readable(ours, path), readable(theirs, path)
        if mine is not None and yours is not None:
            old = readable(base, path) if base is not None else None
            return memory_bytes(merged_memory(old, Side(mine, lasts[0]), Side(yours, lasts[1])).memory)
    elif layout.tombstone_of_path(path) is not None:
        try:
            one, other = (tombstone_from_bytes(raw, path=path) for raw in (ours, theirs))
        except CorruptRecord:
            return max(ours, theirs)
        return tombstone_bytes(merged_tombstone(one, other))
    return max(ours, theirs)


def readable(raw: bytes, path: str) -> Memory | None:
    """The memory in these bytes, None when they hold none."""
    try:
        return memory_from_bytes(raw, path=path)
    except CorruptRecord:
        return None
