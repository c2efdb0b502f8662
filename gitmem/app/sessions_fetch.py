"""`gitmem sessions fetch`: sessions that others shared, judged before any of them is in the repository.

They lie apart from what this clone captured, below `refs/gitmem/remotes/<remote>/sessions/`. They are read and cited
as what somebody says was said: `gitmem.evidence.transcript` never takes them for a person's own words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from gitmem.app.workspace import Workspace
from gitmem.errors import CorruptRecord, GitmemError, NotFound
from gitmem.model.frozen import dataclass
from gitmem.model.layout import (
    MANIFEST,
    SHARED_SESSIONS,
    apart_path,
    chunk_path,
    fetched_session_ref,
    is_session_folder,
    sent_ref,
    session_folder,
)
from gitmem.model.sessions import manifest_from_bytes
from gitmem.store import remote as remotes_of
from gitmem.store.port import Backend, RefMove
from gitmem.store.sessions import StoredSession
from gitmem.store.snapshot import snapshot

MOST: Final = 10_000  # sessions of one remote that are looked at
_MANIFEST_LIMIT: Final = 16 * 1024 * 1024
_FILE_LIMIT: Final = 64 * 1024 * 1024
_FILES_LIMIT: Final = 100_000
_FILE_MODE: Final = "100644"


@dataclass(frozen=True)
class Fetched:
    """What became of one shared session. `own`: this clone shared it. `refused`: what came is not as it should be."""

    name: str
    state: Literal["new", "updated", "same", "own", "refused"]
    detail: str = ""
    bytes: int = 0


def fetch_sessions(workspace: Workspace, remote: str, wanted: Sequence[str] = ()) -> list[Fetched]:
    """Fetch what was shared on a remote: all of it, or the sessions whose id, after HOST/ or not, begins as `wanted`.

    Raises UsageError, RemoteError, and NotFound when nothing there is called so.
    """
    known = remotes_of.remote_named(workspace.location, remote)
    with remotes_of.beside(workspace.location, known) as place:
        there = remotes_of.offered(place, known, SHARED_SESSIONS)
    folders = {ref.removeprefix(SHARED_SESSIONS): oid for ref, oid in sorted(there.items())[:MOST]}
    meant = {folder: oid for folder, oid in folders.items() if is_session_folder(folder) and _is_meant(folder, wanted)}
    if not meant and (wanted or not folders):
        raise NotFound(
            f"{known.name} has no shared session" + (" that is called so" if wanted and folders else ""),
            hint=f"gitmem sessions share SESSION --to {known.name} shares one",
        )
    return [_fetched(workspace, known, folder, oid) for folder, oid in meant.items()]


def _is_meant(folder: str, wanted: Sequence[str]) -> bool:
    host, _, name = folder.split("/")
    return not wanted or any(name.startswith(word) or f"{host}/{name}".startswith(word) for word in wanted)


def _fetched(workspace: Workspace, remote: remotes_of.Remote, folder: str, offered: str) -> Fetched:
    backend = workspace.backend
    name = folder.replace("/", " ").split()[0] + "/" + folder.rsplit("/", 1)[-1]
    into = fetched_session_ref(remote.name, folder)
    here = backend.ref(into)
    if here == offered:
        return Fetched(name, "same")
    if backend.ref(sent_ref(remote.name, folder)) == offered:
        return Fetched(name, "own")
    try:
        with remotes_of.beside(workspace.location, remote) as place:
            place.have([here] if here else [])
            tip = remotes_of.fetch(place, remote, f"{SHARED_SESSIONS}{folder}")
            there = place.backend()
            try:
                stored = _judged(there, tip, folder)
                size = sum(generation.bytes for generation in stored.manifest.generations)
            finally:
                there.close()
            place.admit(backend, [RefMove(into, tip, here, f"gitmem: a session fetched from {remote.name}")])
    except GitmemError as error:
        return Fetched(name, "refused", error.message)
    return Fetched(stored.manifest.name, "updated" if here else "new", bytes=size)


def _judged(there: Backend, tip: str, folder: str) -> StoredSession:
    """What was fetched, when it is a session and nothing else: every byte of it hashed. Raises CorruptRecord."""
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
