"""Whether what somebody else calls a session is one: before it is taken by a fetch, or by a server from a push.

A server with gitmem's hooks looks at every commit that a push brings below `refs/gitmem/shared/`: it has to be a whole
session and nothing else, of plain files with the names that its manifest gives them, and without a secret by the rules
of this version, the seams between chunks included.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gitmem.app.scan_secrets import Found, Scanner
from gitmem.app.workspace import Workspace
from gitmem.errors import CorruptRecord, GitmemError
from gitmem.model.layout import (
    MANIFEST,
    SHARED_SESSIONS,
    apart_path,
    chunk_path,
    is_session_folder,
    session_folder,
)
from gitmem.model.sessions import manifest_from_bytes
from gitmem.model.text import one_line
from gitmem.store.objects import parse_commit
from gitmem.store.port import Backend
from gitmem.store.sessions import StoredSession
from gitmem.store.snapshot import snapshot

_MANIFEST_LIMIT: Final = 16 * 1024 * 1024
_FILE_LIMIT: Final = 64 * 1024 * 1024
_FILES_LIMIT: Final = 100_000
_FILE_MODE: Final = "100644"
_COMMITS_LIMIT: Final = 1_000  # of one push to one session; each time it is shared adds one
_COMMIT_LIMIT: Final = 64 * 1024  # bytes of a commit object


def refusals(workspace: Workspace, ref: str, old: str | None, new: str) -> list[str]:
    """What speaks against a push that moves the shared session at `ref` from `old` to `new`, a line each."""
    backend, folder = workspace.backend, ref.removeprefix(SHARED_SESSIONS)
    if not is_session_folder(folder):
        return [f"{one_line(ref, 200)} is no place of a shared session"]
    if old is not None and not backend.is_ancestor(old, new):
        return [f"{ref} may only move forward, and {new[:12]} does not follow {old[:12]}; run: gitmem sessions fetch"]
    commits = _commits(workspace, old, new)
    if len(commits) > _COMMITS_LIMIT:
        return [f"{ref}: a push may bring {_COMMITS_LIMIT:,} commits of one session"]
    scanner = Scanner(())  # the values that are secret here are known to no server
    scanner.refs([(ref, new)], ())
    faults: list[str] = []
    seen: set[str] = set()
    for commit in commits:
        try:
            _look_through(workspace, commit, folder, scanner, seen)
        except GitmemError as error:
            faults.append(f"{ref}: {error.message}")
    return [*faults, *dict.fromkeys(f"{ref}: {_told(found)}" for found in scanner.result.found)]


def _commits(workspace: Workspace, old: str | None, new: str) -> list[str]:
    """What the push brings, the oldest first. Raises CorruptRecord when `new` is no commit."""
    if workspace.backend.size(new) > _COMMIT_LIMIT or workspace.backend.read(new)[0] != "commit":
        raise CorruptRecord(f"{new[:12]} is no commit of a session")
    done = workspace.location.git(
        *("rev-list", "--reverse", f"--max-count={_COMMITS_LIMIT + 1}", new, *([f"^{old}"] if old else []), "--")
    )
    if done.status:
        raise done.failure(f"the commits of {new[:12]} cannot be listed")
    return done.lines


def _look_through(workspace: Workspace, commit: str, folder: str, scanner: Scanner, seen: set[str]) -> None:
    """Judge one commit and look for secrets in it; `seen`: trees and blobs that were looked through."""
    backend, form = workspace.backend, workspace.location.object_format
    if backend.size(commit) > _COMMIT_LIMIT:
        raise CorruptRecord(f"{commit[:12]} is larger than a commit of a session is")
    _, data = backend.read(commit)
    scanner.object(commit, "commit", data, "", form)
    tree = parse_commit(data).tree
    if tree in seen:
        return
    seen.add(tree)
    stored = judged(backend, commit, folder)
    manifest = stored.manifest
    chunks = {stored.path(generation, chunk) for generation in manifest.generations for chunk in generation.chunks}
    for generation in manifest.generations:
        where = f"{commit[:12]} generation {generation.number}"
        scanner.stream(stored.stream(generation), manifest.name, where)
    for path, oid in _others(stored, chunks):
        if oid not in seen:
            seen.add(oid)
            scanner.object(oid, "blob", backend.read(oid)[1], path, form)


def _others(stored: StoredSession, chunks: set[str]) -> Iterator[tuple[str, str]]:
    """Manifest and what lies apart. The names of folders and chunks follow from what was judged."""
    return ((path, entry.oid) for path, entry in stored.view.walk() if path not in chunks)


def _told(found: Found) -> str:
    place = found.path or found.name[:12]
    line = f", line {found.line}" if found.line else ""
    return f"{found.place} {place}{line} holds a secret ({found.rule})"


def judged(there: Backend, tip: str, folder: str) -> StoredSession:
    """The session that the commit `tip` is, when it is one and nothing else: every byte of it hashed.

    Raises CorruptRecord, and NotFound for bytes that are not there.
    """
    view = snapshot(there, tip)
    entry = view.entry(MANIFEST)
    if entry is None or entry.is_tree:
        raise CorruptRecord(f"{tip[:12]} holds no session: there is no {MANIFEST}")
    if there.size(entry.oid) > _MANIFEST_LIMIT:
        raise CorruptRecord(f"the manifest of {tip[:12]} is larger than {_MANIFEST_LIMIT:,} bytes")
    manifest = manifest_from_bytes(view.read(MANIFEST) or b"", where=f"{tip[:12]}:{MANIFEST}")
    if session_folder(manifest.host, manifest.session) != folder:
        raise CorruptRecord(f"{tip[:12]} holds the session {manifest.name}, which does not belong at {folder}")
    stored = StoredSession(view, f"{SHARED_SESSIONS}{folder}", "", manifest)
    allowed = {MANIFEST}
    for generation in manifest.generations:
        chunks = {chunk_path(generation.number, c.start, c.end, manifest.suffix) for c in generation.chunks}
        allowed |= chunks | {apart_path(item.sha256) for item in generation.apart}
    for number, (path, item) in enumerate(view.walk()):
        if number > _FILES_LIMIT or path not in allowed or item.mode != _FILE_MODE:
            raise CorruptRecord(f"{tip[:12]} holds {path!r}, which does not belong to a session")
        if there.size(item.oid) > _FILE_LIMIT:
            raise CorruptRecord(f"{path!r} of {tip[:12]} is larger than {_FILE_LIMIT:,} bytes")
    for generation in manifest.generations:
        for chunk in generation.chunks:
            stored.chunk(generation, chunk)
        for item_apart in generation.apart:
            stored.apart(item_apart.sha256)
    return stored
