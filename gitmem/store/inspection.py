"""Looking at a tree that somebody else made, before anything in it is read as a record.

What is fetched, pushed or committed by hand is untrusted: names, modes, depth, sizes and counts are judged on the
git objects, and nothing is inflated before its header has said how large it is.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final, NamedTuple

from gitmem.errors import CorruptRecord, NotFound
from gitmem.model import layout
from gitmem.model.text import one_line
from gitmem.model.vocabulary import FILE_LIMIT
from gitmem.store.objects import FILE, Entry, empty_tree, parse_tree, tree_bytes
from gitmem.store.port import Backend

FOLDER_LIMIT: Final = 4 * 1024 * 1024  # bytes of one tree object; a million memories need 50 KiB
ENTRY_LIMIT: Final = 4_000_000  # files and folders of one branch
FAULT_LIMIT: Final = 100  # after that many, the rest is not looked at
_REPEATABLE: Final = "conflicts/"  # the one place where two folders may be alike: elsewhere a name holds its path
_FOLDER = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")


class Fault(NamedTuple):
    """One thing wrong with a tree. `code` is stable."""

    path: str
    code: str
    message: str


def inspect_tree(backend: Backend, tree: str, *, base: str | None = None) -> list[Fault]:
    """Everything wrong with `tree`; [] is clean. With `base`, a tree found clean before, only what differs from it.

    Codes: path, mode, name, duplicate, order, depth, size, count, repeated, missing, damaged, more.
    """
    inspection = _Inspection(backend)
    inspection.folder("", tree, base, 0)
    return inspection.faults[:FAULT_LIMIT]


class _Inspection:
    def __init__(self, backend: Backend) -> None:
        self.faults: list[Fault] = []
        self._backend = backend
        self._entries = 0
        self._seen: set[str] = set()

    def folder(self, path: str, oid: str, base: str | None, depth: int) -> None:
        if self._full or oid in (base, empty_tree(self._backend.object_format)):
            return
        if oid in self._seen and not path.startswith(_REPEATABLE):
            self._fault(path, "repeated", "the same folder lies in two places")
            return
        self._seen.add(oid)
        entries = self._read(path, oid)
        known = {entry.name: entry for entry in self._read(path, base)} if base else {}
        self._entries += len(entries)
        if self._entries > ENTRY_LIMIT:
            self._fault(path, "count", f"more than {ENTRY_LIMIT} files and folders")
            return
        names: dict[str, str] = {}
        for entry in entries:
            if self._full:
                return
            twin = names.setdefault(unicodedata.normalize("NFC", entry.name).casefold(), entry.name)
            below = f"{path}/{entry.name}" if path else entry.name
            old = known.get(entry.name)
            if twin is not entry.name:
                self._fault(below, "duplicate", f"the same name as {twin!r} on some systems")
            if old == entry:
                continue
            if not entry.is_tree:
                self._file(below, entry)
            elif depth + 2 > layout.MAX_DEPTH:  # a file in it would be one level further down
                self._fault(below, "depth", f"folders lie at most {layout.MAX_DEPTH - 1} deep")
            elif not _FOLDER.fullmatch(entry.name):
                self._fault(below, "name", "no folder of the branch is called that")
            else:
                self.folder(below, entry.oid, old.oid if old and old.is_tree else None, depth + 1)

    @property
    def _full(self) -> bool:
        return len(self.faults) >= FAULT_LIMIT

    def _fault(self, path: str, code: str, message: str) -> None:
        if len(self.faults) == FAULT_LIMIT - 1:
            code, message = "more", "there are more faults than are listed"
        self.faults.append(Fault(one_line(path, 200), code, message))

    def _read(self, path: str, oid: str) -> list[Entry]:
        try:
            size = self._backend.size(oid)
            if size > FOLDER_LIMIT:
                self._fault(path, "size", f"a folder listing of {size} bytes; the limit is {FOLDER_LIMIT}")
                return []
            kind, data = self._backend.read(oid)
            if kind != "tree":
                self._fault(path, "damaged", f"{oid} is a {kind}, not a folder")
                return []
        except NotFound:
            self._fault(path, "missing", f"folder {oid} is not in the repository")
            return []
        try:
            entries = parse_tree(data, self._backend.object_format)
        except CorruptRecord as error:
            self._fault(path, "damaged", error.message)
            return []
        if tree_bytes(entries) != data:
            self._fault(path, "order", "the folder is not sorted as git sorts")
        return entries

    def _file(self, path: str, entry: Entry) -> None:
        if entry.mode != FILE:
            self._fault(path, "mode", f"mode {entry.mode}: only plain files ({FILE}) live on the branch")
        elif not layout.is_allowed_path(path):
            self._fault(path, "path", "no file of the branch may be called that")
        else:
            try:
                size = self._backend.size(entry.oid)
            except NotFound:
                self._fault(path, "missing", f"object {entry.oid} is not in the repository")
                return
            if size > FILE_LIMIT:
                self._fault(path, "size", f"{size} bytes; the limit is {FILE_LIMIT}")
