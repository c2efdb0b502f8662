"""Reading captured sessions: by name, from their refs, from the monthly archives, and those that were fetched.

A fetched session says what whoever shared it says. It is read only by who asks for it, and behind one of the same name
that was captured here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256

from gitmem.errors import CorruptRecord, NotFound
from gitmem.model.frozen import dataclass
from gitmem.model.layout import (
    MANIFEST,
    REMOTES,
    SESSION_ARCHIVES,
    SESSIONS,
    apart_path,
    chunk_path,
    fetched_session,
    may_name_session,
    session_folder,
    session_name,
    session_ref,
)
from gitmem.model.sessions import Chunk, Generation, Manifest, manifest_from_bytes
from gitmem.store.port import Backend
from gitmem.store.snapshot import Snapshot, snapshot


@dataclass(frozen=True)
class StoredSession:
    """One session as it lies in a tree: `ref` and `folder` below it (empty when the ref is the session's own)."""

    view: Snapshot
    ref: str
    folder: str
    manifest: Manifest

    @property
    def archived(self) -> bool:
        return bool(self.folder)

    @property
    def fetched(self) -> str:
        """The remote that it was fetched from; empty for one that lies where capture writes."""
        found = fetched_session(self.ref)
        return found[0] if found else ""

    @property
    def tree(self) -> str:
        """The id of the tree that the session is, wherever it lies."""
        entry = self.view.entry(self.folder)
        return entry.oid if entry else self.view.tree

    def path(self, generation: Generation, chunk: Chunk) -> str:
        """Where a chunk lies in the tree of `ref`."""
        below = chunk_path(generation.number, chunk.start, chunk.end, self.manifest.suffix)
        return f"{self.folder}/{below}" if self.folder else below

    def chunk(self, generation: Generation, chunk: Chunk) -> bytes:
        """Raises NotFound when the bytes are not in this clone, CorruptRecord when they are not what they should be."""
        path = self.path(generation, chunk)
        data = self.view.read(path)
        if data is None:
            raise NotFound(f"{self.ref} has no {path}")
        if len(data) != chunk.end - chunk.start or sha256(data).hexdigest() != chunk.sha256:
            raise CorruptRecord(f"{path} of {self.ref} does not hash to its manifest", hint="gitmem sessions verify")
        return data

    def stream(self, generation: Generation) -> Iterator[bytes]:
        """The stored bytes of a generation, a chunk at a time, each re-hashed."""
        for chunk in generation.chunks:
            yield self.chunk(generation, chunk)

    def span(self, generation: Generation, start: int, end: int) -> bytes | None:
        """Bytes [start, end); None when the generation has no such bytes."""
        if not 0 <= start < end <= generation.bytes:
            return None
        parts = []
        for chunk in generation.chunks:
            if chunk.start < end and start < chunk.end:
                data = self.chunk(generation, chunk)
                parts.append(data[max(start - chunk.start, 0) : end - chunk.start])
        return b"".join(parts)

    def apart(self, digest: str) -> bytes:
        """What was taken out of a line. Raises NotFound, CorruptRecord."""
        path = apart_path(digest)
        data = self.view.read(f"{self.folder}/{path}" if self.folder else path)
        if data is None:
            raise NotFound(f"{self.ref} has no {path}")
        if sha256(data).hexdigest() != digest:
            raise CorruptRecord(f"{path} of {self.ref} does not hash to its name", hint="gitmem sessions verify")
        return data

    def proof(self, generation: Generation, start: int, end: int) -> str:
        """A command line that prints the SHA-256 of bytes [start, end) without gitmem; empty when there are none."""
        held = [chunk for chunk in generation.chunks if chunk.start < end and start < chunk.end]
        if not held:
            return ""
        blobs = " ".join(f"{self.ref}:{self.path(generation, chunk)}" for chunk in held)
        read = f"git cat-file blob {blobs}" if len(held) == 1 else f"for b in {blobs}; do git cat-file blob $b; done"
        return f"{read} | tail -c +{start - held[0].start + 1} | head -c {end - start} | sha256sum"


def stored_session(
    backend: Backend, host: str, session: str, archives: Sequence[str] | None = None
) -> StoredSession | None:
    """The session of one host by its whole id: its own ref, else the newest archive that has it.

    `archives`: what `session_archives` gave, for who asks often.
    """
    ref = session_ref(host, session)
    folder = session_folder(host, session)
    own = _read(snapshot(backend, ref), ref, "", folder)
    if own is not None:
        return own
    for archive in session_archives(backend) if archives is None else archives:
        found = _read(snapshot(backend, archive), archive, folder, folder)
        if found is not None:
            return found
    return None


def fetched_sessions(backend: Backend, host: str, session: str) -> list[StoredSession]:
    """The session by its whole id, of each remote that it was fetched from."""
    folder = session_folder(host, session)
    refs = [ref for ref, _ in backend.refs(REMOTES) if (fetched_session(ref) or ("", ""))[1] == folder]
    found = (_read(snapshot(backend, ref), ref, "", folder) for ref in refs)
    return [item for item in found if item is not None and item.manifest.session == session]


def stored_sessions(backend: Backend, damaged: list[str], *, fetched: bool = False) -> Iterator[StoredSession]:
    """Every session once, those with refs of their own first; what was captured on from an archive is not repeated.
    With `fetched` also those that were fetched and not captured here.

    One that cannot be read keeps no other from being read: what is wrong with it is added to `damaged`.
    """
    for place in _names(backend, fetched=fetched):
        try:
            found = session_at(backend, place)
        except (CorruptRecord, NotFound) as error:
            damaged.append(error.message)
            continue
        if found is not None:
            yield found


def sessions_like(backend: Backend, wanted: str) -> list[StoredSession]:
    """The sessions that `[HOST/]PREFIX` names, fetched ones too: one whose id is exactly that, else all whose id begins
    so."""
    host, slash, prefix = wanted.partition("/")
    if slash and prefix and (exact := stored_session(backend, host, prefix)):
        return [exact]
    meant = [("", wanted), *([(session_name(host), prefix)] if slash else [])]
    found = []
    for place in _names(backend, fetched=True):
        stored_host, _, name = place.folder.split("/")
        begins = [prefix for host, prefix in meant if host in ("", stored_host) and may_name_session(name, prefix)]
        stored = session_at(backend, place) if begins else None
        if stored is not None and stored.manifest.session.startswith(tuple(begins)):
            found.append(stored)
    whole = [item for item in found if wanted in (item.manifest.session, item.manifest.name)]
    return whole or found


@dataclass(frozen=True)
class Place:
    """Where a session lies: `within` is the folder of it in the tree of `ref`, `folder` its `session_folder`.

    `oid`: of the commit or folder that it is, another one as soon as it changed.
    """

    ref: str
    within: str
    folder: str
    oid: str


def session_places(backend: Backend) -> list[Place]:
    """Every session, fetched ones too, in the order of `stored_sessions`, without reading any."""
    return list(_names(backend, fetched=True))


def session_at(backend: Backend, place: Place) -> StoredSession | None:
    """Raises CorruptRecord, NotFound for one that cannot be read."""
    return _read(snapshot(backend, place.ref), place.ref, place.within, place.folder)


def _names(backend: Backend, *, fetched: bool) -> Iterator[Place]:
    seen = set()
    for ref, oid in backend.refs(SESSIONS):
        folder = ref.removeprefix(SESSIONS)
        if folder.count("/") == 2:
            seen.add(folder)
            yield Place(ref, "", folder, oid)
    for archive in session_archives(backend):
        for folder, oid in _folders(snapshot(backend, archive)):
            if folder not in seen:
                seen.add(folder)
                yield Place(archive, folder, folder, oid)
    for ref, oid in backend.refs(REMOTES) if fetched else ():
        found = fetched_session(ref)
        if found is not None and found[1] not in seen:
            seen.add(found[1])
            yield Place(ref, "", found[1], oid)


def session_archives(backend: Backend) -> list[str]:
    """The refs of the monthly archives, newest first."""
    return sorted((ref for ref, _ in backend.refs(SESSION_ARCHIVES)), reverse=True)


def _folders(view: Snapshot) -> Iterator[tuple[str, str]]:
    for host in view.children(""):
        for fan in view.children(host.name):
            for session in view.children(f"{host.name}/{fan.name}"):
                yield f"{host.name}/{fan.name}/{session.name}", session.oid


def _read(view: Snapshot, ref: str, folder: str, name: str) -> StoredSession | None:
    """`name`: the `session_folder` that the session has to belong to."""
    raw = view.read(f"{folder}/{MANIFEST}" if folder else MANIFEST)
    if raw is None:
        if view.commit is None or (folder and view.entry(folder) is None):
            return None
        raise CorruptRecord(f"{ref} holds no session: there is no {MANIFEST}", hint=f"git log {ref}")
    manifest = manifest_from_bytes(raw, where=f"{ref}:{folder}/{MANIFEST}" if folder else f"{ref}:{MANIFEST}")
    expected = session_folder(manifest.host, manifest.session)
    if name != expected:
        raise CorruptRecord(f"{ref} holds the session {manifest.name}, which belongs at {expected}")
    return StoredSession(view, ref, folder, manifest)
