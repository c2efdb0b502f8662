"""Sealed sessions move from refs of their own into one ref a month, so that neither refs nor objects pile up."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from gitmem.app.state import load, save
from gitmem.app.workspace import Workspace
from gitmem.model.layout import SESSIONS, archive_ref
from gitmem.model.text import counted
from gitmem.model.times import parse_instant
from gitmem.store.lock import writer_lock
from gitmem.store.objects import TREE, Entry
from gitmem.store.port import RefMove
from gitmem.store.sessions import StoredSession, stored_sessions
from gitmem.store.snapshot import snapshot
from gitmem.store.transaction import TOOL, Transaction

SEALED_AFTER: Final = timedelta(days=3)  # without a new byte; a session that goes on later gets a ref again
_STATE: Final = "capture-archived"


def archive_sealed(workspace: Workspace, *, at_once: bool = False) -> int:
    """Put sealed sessions into the archive of the month of their last capture; how many. Looks once a day.

    The history of a session's ref, a commit for each capture, is not kept: the archive has its last state whole.
    `at_once` looks now and takes every session for sealed.
    """
    now = workspace.env.now()
    folder = workspace.location.private
    today = now.date().isoformat()
    if not at_once and load(folder, _STATE).get("day") == today:
        return 0
    months: dict[str, list[StoredSession]] = {}
    for stored in stored_sessions(workspace.backend, []):
        if not stored.archived and (at_once or _is_sealed(stored, now)):
            months.setdefault(stored.manifest.captured[:7], []).append(stored)
    for month, sealed in sorted(months.items()):
        _archive(workspace, month, sealed, now)
    save(folder, _STATE, {"day": today})
    return sum(map(len, months.values()))


def _is_sealed(stored: StoredSession, now: datetime) -> bool:
    return parse_instant(stored.manifest.captured) <= now - SEALED_AFTER


def _archive(workspace: Workspace, month: str, sealed: list[StoredSession], now: datetime) -> None:
    backend = workspace.backend
    ref = archive_ref(month)
    with writer_lock(workspace.location):
        base = snapshot(backend, ref)
        transaction = Transaction(backend, base)
        for stored in sealed:
            transaction.graft(stored.ref.removeprefix(SESSIONS), Entry("", TREE, stored.view.tree))
        commit = transaction.commit(f"archive: {counted(len(sealed), 'session')} of {month}", TOOL, TOOL, now)
        moves = [RefMove(ref, commit, base.commit, "gitmem: archive")]
        moves += [RefMove(stored.ref, None, stored.view.commit, "gitmem: archive") for stored in sealed]
        backend.move_refs(moves)
