"""`gitmem sessions fetch`: sessions that others shared, judged before any of them is in the repository.

They lie apart from what this clone captured, below `refs/gitmem/remotes/<remote>/sessions/`. They are read and cited
as what somebody says was said: `gitmem.evidence.transcript` never takes them for a person's own words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from gitmem.app.sessions_judged import judged
from gitmem.app.workspace import Workspace
from gitmem.errors import GitmemError, NotFound
from gitmem.model.frozen import dataclass
from gitmem.model.layout import SHARED_SESSIONS, fetched_session_ref, is_session_folder, sent_ref
from gitmem.store import remote as remotes_of
from gitmem.store.port import RefMove

MOST: Final = 10_000  # sessions of one remote that are looked at


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
                stored = judged(there, tip, folder)
                size = sum(generation.bytes for generation in stored.manifest.generations)
            finally:
                there.close()
            place.admit(backend, [RefMove(into, tip, here, f"gitmem: a session fetched from {remote.name}")])
    except GitmemError as error:
        return Fetched(name, "refused", error.message)
    return Fetched(stored.manifest.name, "updated" if here else "new", bytes=size)
