"""The port on libgit2, for a process that stays: objects from packs and ref moves without a spawn.

Traps that this file is built around (libgit2 1.9):
- reading a truncated loose object never returns, in `read`, in a walk, in a revision: so loose objects are read
  here, and revisions and history are asked of git;
- a handle opened before somebody's gc believes in packs that are gone: it is opened afresh for every ref move,
  and once more before an object is called missing;
- nothing is fsynced unless asked: refs are, by the option below, objects by `gitmem.store.loose`;
- a missing object of a partial clone is not fetched: git is asked for it, which fetches it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pygit2
from pygit2.enums import Option

from gitmem.errors import CorruptRecord, GitmemError, Locked, RefMoved
from gitmem.model.pattern import pattern
from gitmem.model.text import one_line
from gitmem.store.git_backend import GitBackend, settle_refs
from gitmem.store.lock import past_locks
from gitmem.store.loose import loose_path, loose_size, read_loose
from gitmem.store.objects import KINDS, is_object_id
from gitmem.store.port import RefMove
from gitmem.store.refs import in_the_way, list_refs, read_ref
from gitmem.store.repository import Location

_LOCKED = pattern(r"failed to (?:lock|create locked) file '([^']+)'")
_BULK_READ = 256  # objects; above it git reads packs in their own order, which libgit2 does not


def can_open(location: Location) -> bool:
    """False where libgit2 refuses (an owner, an extension), and where loose objects may lie out of our sight."""
    if (location.objects / "info/alternates").exists():
        return False
    try:
        _open(location)
    except (pygit2.GitError, KeyError, ValueError):
        return False
    return True


def _open(location: Location) -> Any:
    # Legacy partial clones name their promisor in an extension that libgit2 must be told to accept.
    pygit2.option(Option.SET_EXTENSIONS, ["partialclone"], 1)
    pygit2.option(Option.ENABLE_FSYNC_GITDIR, True)
    repository = pygit2.Repository(str(location.git_dir))
    repository.set_ident("gitmem", "gitmem@localhost.invalid")
    return repository


class LibGit2Backend:
    """See `gitmem.store.port.Backend`. `git` answers what libgit2 must not be asked."""

    name = "libgit2"

    def __init__(self, location: Location, git: GitBackend) -> None:
        self.location = location
        self.object_format = location.object_format
        self._git = git
        self._objects = str(location.objects)
        self._repository = _open(location)

    def ref(self, name: str) -> str | None:
        return read_ref(self.location, name)

    def refs(self, prefix: str) -> list[tuple[str, str]]:
        return list_refs(self.location, prefix)

    def resolve(self, revision: str) -> str | None:
        return self._git.resolve(revision)

    def read(self, oid: str) -> tuple[str, bytes]:
        if not is_object_id(oid, self.object_format):
            return self._git.read(oid)  # which says what is wrong with it
        try:
            return read_loose(self._loose(oid))
        except FileNotFoundError:
            kind, data = self._from_packs(oid, "read")
            return _kind(kind), data

    def read_many(self, oids: Iterable[str]) -> Iterator[tuple[str, str, bytes]]:
        rest = iter(oids)
        first = list(islice(rest, _BULK_READ))
        if len(first) < _BULK_READ:
            return ((oid, *self.read(oid)) for oid in first)
        return self._git.read_many(chain(first, rest))

    def size(self, oid: str) -> int:
        if not is_object_id(oid, self.object_format):
            return self._git.size(oid)
        try:
            return loose_size(self._loose(oid))
        except FileNotFoundError:
            return int(self._from_packs(oid, "read_header")[1])

    def write(self, objects: Sequence[tuple[str, bytes]]) -> None:
        self._git.write(objects)

    def move_refs(self, moves: Sequence[RefMove]) -> None:
        self._git.publish_with(lambda: past_locks(self.location, lambda: self._move(moves)) if moves else None)

    def log(
        self,
        tip: str,
        *,
        base: str | None = None,
        first_parent: bool = False,
        paths: Sequence[str] = (),
        limit: int | None = None,
    ) -> list[str]:
        return self._git.log(tip, base=base, first_parent=first_parent, paths=paths, limit=limit)

    def is_ancestor(self, old: str, new: str) -> bool:
        return self._git.is_ancestor(old, new)

    def close(self) -> None:
        self._git.close()
        self._repository.free()

    def _loose(self, oid: str) -> Path:
        """Where the object lies by itself. Raises FileNotFoundError: most lie in packs, which one look tells."""
        os.stat(f"{self._objects}/{oid[:2]}/{oid[2:]}")  # noqa: PTH116 - a Path costs more than the look
        return loose_path(self.location.objects, oid)

    def _from_packs(self, oid: str, method: str) -> Any:
        for fresh in (False, True):
            if fresh:
                self._repository = _open(self.location)
            try:
                return getattr(self._repository.odb, method)(oid)
            except KeyError:
                continue
            except (pygit2.GitError, ValueError) as error:
                raise CorruptRecord(
                    f"object {oid} is damaged: {one_line(str(error), 200)}",
                    hint="git fsck names what is broken; fetch the branch again",
                    details={"object": oid},
                ) from error
        kind_and_data = self._git.read(oid)  # fetches in a partial clone; else NotFound or CorruptRecord
        return (kind_and_data[0], len(kind_and_data[1])) if method == "read_header" else kind_and_data

    def _move(self, moves: Sequence[RefMove]) -> None:
        repository = self._repository = _open(self.location)
        self._check(moves)
        try:
            with repository.transaction() as held:
                for move in moves:
                    held.lock_ref(move.ref)
                for move in moves:
                    there = read_ref(self.location, move.ref)  # under its lock: nobody moves it now
                    if there != move.old:
                        raise RefMoved(
                            f"{move.ref} is at {there or 'nothing'}, not at {move.old or 'nothing'}",
                            details={"ref": move.ref, "expected": move.old, "found": there},
                        )
                    if move.new is not None:
                        held.set_target(move.ref, move.new, None, move.reason.replace("\n", " ") or "gitmem")
                    elif there is not None:
                        held.remove(move.ref)
        except (pygit2.GitError, OSError, ValueError) as error:
            raise self._refusal(str(error), moves) from error
        settle_refs(self.location, moves)

    def _check(self, moves: Sequence[RefMove]) -> None:
        """What git checks and a libgit2 transaction does not, or only half way through."""
        for move in moves:
            if move.new is not None:
                self.size(move.new)  # NotFound or CorruptRecord: a ref must not be left at nothing
            if move.new is not None and move.old is None:
                parts = move.ref.split("/")
                above = ["/".join(parts[:count]) for count in range(3, len(parts))]
                taken = [name for name in above if read_ref(self.location, name)]
                taken += [name for name, _ in list_refs(self.location, f"{move.ref}/") if name != move.ref]
                if taken:
                    raise in_the_way(taken[0], move.ref)

    def _refusal(self, said: str, moves: Sequence[RefMove]) -> GitmemError:
        names = ", ".join(move.ref for move in moves)
        if lock := _LOCKED.search(said):
            path = lock[1] if lock[1].endswith(".lock") else f"{lock[1]}.lock"
            return Locked(f"{names}: the lock file {path} is in the way", details={"path": path})
        return GitmemError(f"{names} could not be moved: {one_line(said, 300)}")


def _kind(kind: int | str) -> str:
    return kind if isinstance(kind, str) else KINDS[kind - 1]
