"""A read view of one commit's tree, and what differs between two trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from gitmem.errors import CorruptRecord, NotFound
from gitmem.model import layout
from gitmem.store.objects import Entry, empty_tree, is_object_id, parse_commit, parse_tree
from gitmem.store.port import Backend

if TYPE_CHECKING:
    from gitmem.model.nouns import Config, Memory, Tombstone

_SMALL = 16 * 1024  # bytes of a tree whose entries are kept
_DEPTH_LIMIT = 64  # folders below each other; a branch has 5, a source tree some 20


class Changed(NamedTuple):
    """One path whose entry differs. `old` is None for an added file, `new` for a removed one."""

    path: str
    old: Entry | None
    new: Entry | None


class Snapshot:
    """The files at one commit. `commit` is None for a branch that does not exist yet: then there are no files.

    Trees are read when they are needed and kept.
    """

    def __init__(self, backend: Backend, commit: str | None, tree: str) -> None:
        self.backend = backend
        self.commit = commit
        self.tree = tree
        self._trees: dict[str, dict[str, Entry]] = {empty_tree(backend.object_format): {}}

    def entry(self, path: str) -> Entry | None:
        """The file or folder at `path`; "" is the root."""
        found = Entry("", "40000", self.tree)
        for part in path.split("/") if path else ():
            if not found.is_tree:
                return None
            below = self._tree(found.oid).get(part)
            if below is None:
                return None
            found = below
        return found

    def read(self, path: str) -> bytes | None:
        """The bytes of the file at `path`, None when there is none."""
        found = self.entry(path)
        if found is None or found.is_tree:
            return None
        kind, data = self.backend.read(found.oid)
        if kind != "blob":
            raise CorruptRecord(f"{path} is a {kind}, not a file", hint="git fsck names what is broken")
        return data

    def children(self, path: str) -> list[Entry]:
        """What lies directly in a folder; empty when there is no such folder."""
        found = self.entry(path)
        return list(self._tree(found.oid).values()) if found and found.is_tree else []

    def walk(self, prefix: str = "") -> Iterator[tuple[str, Entry]]:
        """Every file below `prefix`, with its path, in stored order."""
        found = self.entry(prefix)
        if found is not None:
            yield from self._walk(prefix, found, 0)

    def read_all(self, prefix: str = "") -> Iterator[tuple[str, bytes]]:
        """(path, bytes) of every file below `prefix`, streamed in one bulk read."""
        rows = [(path, entry.oid) for path, entry in self.walk(prefix)]
        for (path, _), (_, _, data) in zip(rows, self.backend.read_many(oid for _, oid in rows), strict=True):
            yield path, data

    def memory(self, identifier: str) -> Memory | None:
        """Raises CorruptRecord when the file is there and is no memory."""
        from gitmem.model.records import memory_from_bytes

        path = layout.memory_path(identifier)
        data = self.read(path)
        return None if data is None else memory_from_bytes(data, path=path)

    def memory_ids(self, prefix: str = "") -> list[str]:
        """The ids that begin with `prefix`, sorted. Reads trees only, and of the fan-out only what is needed."""
        folder = "/".join([layout.MEMORIES, *prefix[:2]])
        found = (layout.memory_of_path(path) for path, _ in self.walk(folder))
        return sorted(identifier for identifier in found if identifier and identifier.startswith(prefix))

    def event_names(self, identifier: str | None) -> list[str]:
        """The paths of one memory's events (None: events about no memory), oldest first."""
        subject = identifier or "branch"
        paths = []
        for month in self.children(layout.EVENTS):
            folder = f"{layout.EVENTS}/{month.name}/{subject[0]}/{subject[1]}"
            for entry in self.children(folder):
                if entry.name.endswith(f".{subject}.json"):
                    paths.append(f"{folder}/{entry.name}")
        return sorted(paths, key=lambda path: path.rsplit("/", 1)[-1])

    def tombstone(self, digest: str) -> Tombstone | None:
        from gitmem.model.records import tombstone_from_bytes

        path = layout.tombstone_path(digest)
        data = self.read(path)
        return None if data is None else tombstone_from_bytes(data, path=path)

    def config(self) -> Config | None:
        from gitmem.model.records import config_from_bytes

        data = self.read(layout.CONFIG)
        return None if data is None else config_from_bytes(data, path=layout.CONFIG)

    def _tree(self, oid: str) -> dict[str, Entry]:
        known = self._trees.get(oid)
        if known is None:
            known = self._trees[oid] = {entry.name: entry for entry in read_tree(self.backend, oid)}
        return known

    def _walk(self, path: str, entry: Entry, depth: int) -> Iterator[tuple[str, Entry]]:
        if not entry.is_tree:
            yield path, entry
            return
        if depth > _DEPTH_LIMIT:
            raise CorruptRecord(f"{path} lies deeper than {_DEPTH_LIMIT} folders")
        for below in self._tree(entry.oid).values():
            yield from self._walk(f"{path}/{below.name}" if path else below.name, below, depth + 1)


def snapshot(backend: Backend, revision_or_ref: str) -> Snapshot:
    """The view at a full ref name (which may not exist yet: an empty view) or at any revision.

    Raises NotFound for a revision that names no commit.
    """
    if revision_or_ref.startswith("refs/"):
        commit = backend.ref(revision_or_ref)
        if commit is None:
            return Snapshot(backend, None, empty_tree(backend.object_format))
    elif is_object_id(revision_or_ref, backend.object_format) and backend.read(revision_or_ref)[0] == "commit":
        commit = revision_or_ref  # no need to ask git what it means
    else:
        commit = backend.resolve(revision_or_ref)
        if commit is None and is_object_id(revision_or_ref, backend.object_format):
            commit = revision_or_ref  # reading it tells what is missing from what is damaged
        if commit is None:
            raise NotFound(f"{revision_or_ref!r} names no commit here")
    return Snapshot(backend, commit, tree_of(backend, commit))


def tree_of(backend: Backend, commit: str) -> str:
    kind, data = backend.read(commit)
    if kind != "commit":
        raise CorruptRecord(f"{commit} is a {kind}, not a commit", hint="git fsck names what is broken")
    return parse_commit(data).tree


def read_tree(backend: Backend, oid: str) -> Sequence[Entry]:
    if oid == empty_tree(backend.object_format):
        return ()
    kind, data = backend.read(oid)
    if kind != "tree":
        raise CorruptRecord(f"{oid} is a {kind}, not a folder", hint="git fsck names what is broken")
    return _entries(data, backend.object_format) if len(data) <= _SMALL else parse_tree(data, backend.object_format)


@lru_cache(maxsize=512)  # one write reads the same few folders again and again, and so does the next one
def _entries(data: bytes, object_format: str) -> Sequence[Entry]:
    return tuple(parse_tree(data, object_format))


def changed_paths(backend: Backend, old_tree: str | None, new_tree: str) -> Iterator[Changed]:
    """The files that differ between two trees; equal folders are not read."""
    old = Entry("", "40000", old_tree) if old_tree else None
    yield from _changed(backend, "", old, Entry("", "40000", new_tree), 0)


def _changed(backend: Backend, path: str, old: Entry | None, new: Entry | None, depth: int) -> Iterator[Changed]:
    if depth > _DEPTH_LIMIT:
        raise CorruptRecord(f"{path} lies deeper than {_DEPTH_LIMIT} folders")
    if (old and (old.mode, old.oid)) == (new and (new.mode, new.oid)):
        return
    old_file = old if old and not old.is_tree else None
    new_file = new if new and not new.is_tree else None
    if old_file or new_file:
        yield Changed(path, old_file, new_file)
    had = read_tree(backend, old.oid) if old and old.is_tree else ()
    has = read_tree(backend, new.oid) if new and new.is_tree else ()
    differing = set(had) ^ set(has)
    before = {e.name: e for e in had if e in differing}
    after = {e.name: e for e in has if e in differing}
    for name in sorted(before.keys() | after.keys()):
        below = f"{path}/{name}" if path else name
        yield from _changed(backend, below, before.get(name), after.get(name), depth + 1)
