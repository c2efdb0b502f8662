"""The view that verification reads by: nothing in it is trusted, and nothing of this clone's own is mixed in."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from gitmem.app.workspace import View, Workspace
from gitmem.errors import CorruptRecord
from gitmem.model.layout import CONFIG, MAIN, MEMORIES, USER, memory_of_path, memory_path, tombstone_path
from gitmem.model.nouns import Config, Memory, Tombstone
from gitmem.model.records import config_from_bytes, memory_from_bytes, tombstone_from_bytes
from gitmem.model.vocabulary import FILE_LIMIT
from gitmem.store.objects import empty_tree
from gitmem.store.snapshot import Snapshot, tree_of


class JudgedView(View):
    """One commit as it is. What cannot be read as a record is not there; the inbox of this clone is no part of it."""

    def bytes_at(self, path: str) -> bytes | None:
        """The bytes of a file that is no longer than a file of the branch may be; else None."""
        entry = self.main.entry(path)
        if entry is None or entry.is_tree or self.main.backend.size(entry.oid) > FILE_LIMIT:
            return None
        kind, data = self.main.backend.read(entry.oid)
        return data if kind == "blob" else None

    @cached_property
    def _here(self) -> frozenset[str]:
        """What the branch that is judged is: in the user's own store, the home of what is for the user."""
        return frozenset({MAIN, USER} if self.workspace.is_user_store else {MAIN})

    @cached_property
    def config(self) -> Config | None:
        raw = self.bytes_at(CONFIG)
        try:
            return None if raw is None else config_from_bytes(raw, path=CONFIG)
        except CorruptRecord:
            return None

    def config_for(self, audience: str) -> Config | None:
        return self.config if USER in self._here else super().config_for(audience)

    def memory(self, identifier: str, ref: str = MAIN) -> Memory | None:
        path = memory_path(identifier)
        raw = self.bytes_at(path) if ref in self._here else None
        return None if raw is None else _memory(raw, path)

    def memories(self, ref: str = MAIN) -> Iterator[Memory]:
        for path, raw in self.main.read_all(MEMORIES) if ref == MAIN else ():
            memory = _memory(raw, path) if memory_of_path(path) else None
            if memory is not None:
                yield memory

    def tombstone(self, digest: str, ref: str = MAIN) -> Tombstone | None:
        path = tombstone_path(digest)
        raw = self.bytes_at(path) if ref in self._here else None
        try:
            return None if raw is None else tombstone_from_bytes(raw, path=path)
        except CorruptRecord:
            return None


def judged_view(workspace: Workspace, commit: str | None) -> JudgedView:
    """The view of one commit. NotFound or CorruptRecord when its objects are not here or damaged."""
    backend = workspace.backend
    none = Snapshot(backend, None, empty_tree(backend.object_format))
    main = none if commit is None else Snapshot(backend, commit, tree_of(backend, commit))
    return JudgedView(workspace, main, none)


def _memory(raw: bytes, path: str) -> Memory | None:
    try:
        memory = memory_from_bytes(raw, path=path)
    except CorruptRecord:
        return None
    return memory if memory_of_path(path) == memory.id else None
