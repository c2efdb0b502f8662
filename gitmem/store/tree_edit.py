"""Edits of paths as new trees: only the folders on the way are read and written."""

from __future__ import annotations

from collections.abc import Mapping

from gitmem.errors import UsageError
from gitmem.store.objects import FILE, TREE, Entry, empty_tree, object_id, tree_bytes
from gitmem.store.port import Backend
from gitmem.store.snapshot import read_tree

Edit = bytes | Entry | None
Edits = dict[str, "Edit | Edits"]


def nested(edits: Mapping[str, Edit]) -> Edits:
    """Path edits as a nest of folders: bytes to store, a file or folder that is stored already, or None to delete.

    Raises UsageError for a path that is none.
    """
    root: Edits = {}
    for path, data in edits.items():
        parts = path.split("/")
        if any(part in ("", ".", "..", ".git") or "\0" in part for part in parts):
            raise UsageError(f"{path!r} is not a path on the branch")
        at = root
        for part in parts[:-1]:
            below = at.setdefault(part, {})
            if not isinstance(below, dict):
                raise UsageError(f"{path!r} would lie below a file of the same change")
            at = below
        if isinstance(at.get(parts[-1]), dict):
            raise UsageError(f"{path!r} would be a file and a folder")
        at[parts[-1]] = data
    return root


def edited_tree(backend: Backend, tree: str, edits: Edits, staged: dict[str, tuple[str, bytes]]) -> str | None:
    """The id of `tree` with `edits` applied; new objects go to `staged` by id. None when nothing is left in it."""
    entries = {entry.name: entry for entry in read_tree(backend, tree)}
    before = dict(entries)
    for name, edit in edits.items():
        there = entries.pop(name, None)
        if edit is None:
            continue
        if isinstance(edit, Entry):
            entries[name] = Entry(name, edit.mode, edit.oid)
        elif isinstance(edit, dict):
            below = there.oid if there and there.is_tree else empty_tree(backend.object_format)
            oid = edited_tree(backend, below, edit, staged)
            if oid is not None:
                entries[name] = Entry(name, TREE, oid)
            elif there and not there.is_tree:
                entries[name] = there  # deleting below a file deletes nothing
        else:
            oid = object_id("blob", edit, backend.object_format)
            if there is None or there.oid != oid:
                staged[oid] = ("blob", edit)
            entries[name] = Entry(name, FILE, oid)
    if entries == before:
        return tree if entries else None
    if not entries:
        return None
    data = tree_bytes(entries.values())
    oid = object_id("tree", data, backend.object_format)
    staged[oid] = ("tree", data)
    return oid
