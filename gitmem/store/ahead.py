"""Reading many folders at once: a level of a tree is one question to git, not one for each folder."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from gitmem.store.objects import Entry
from gitmem.store.port import Backend
from gitmem.store.remembering import Remembering
from gitmem.store.snapshot import read_tree


def read_paths(backend: Backend, tree: str, paths: Iterable[str]) -> None:
    """Read the files at these paths of a tree, and the folders on the way, so that they are found. What is not there
    is passed over. Nothing for a backend that does not remember."""
    if not isinstance(backend, Remembering):
        return
    waiting: dict[str, list[list[str]]] = {tree: [path.split("/") for path in paths]}
    files: set[str] = set()
    while waiting:
        backend.read_ahead(waiting)
        below: defaultdict[str, list[list[str]]] = defaultdict(list)
        for oid, rests in waiting.items():
            entries = {entry.name: entry for entry in read_tree(backend, oid)}
            for name, *rest in rests:
                entry = entries.get(name)
                if entry is not None and entry.is_tree and rest:
                    below[entry.oid].append(rest)
                elif entry is not None and not entry.is_tree and not rest:
                    files.add(entry.oid)
        waiting = below
    backend.read_ahead(files)


def read_differing(backend: Backend, one: str, other: str) -> None:
    """Read the folders in which two trees differ, so that they are found."""
    if not isinstance(backend, Remembering):
        return
    pairs: list[tuple[str | None, str | None]] = [(one, other)]
    while pairs:
        backend.read_ahead(oid for pair in pairs for oid in pair if oid is not None)
        below: list[tuple[str | None, str | None]] = []
        for pair in pairs:
            mine, yours = (_folders(backend, oid) for oid in pair)
            for name in mine.keys() | yours.keys():
                found = mine.get(name), yours.get(name)
                if found[0] != found[1]:
                    below.append(found)
        pairs = below


def _folders(backend: Backend, oid: str | None) -> dict[str, str]:
    entries: Iterable[Entry] = read_tree(backend, oid) if oid is not None else ()
    return {entry.name: entry.oid for entry in entries if entry.is_tree}
