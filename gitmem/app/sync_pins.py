"""The last verified tip of each remote, kept where the remote and the repository cannot reach it.

A pin is a lower bound: the remote had that commit, so whatever it offers later has to contain it. Clones of one user
share the pins, so a fresh clone notices a rollback too. Two writers at once may leave the older of two pins, which is
still one that the remote had.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final
from zlib import crc32

from gitmem.app import state
from gitmem.app.env import Env
from gitmem.errors import GitmemError
from gitmem.model.pattern import pattern
from gitmem.store.objects import is_object_id
from gitmem.store.port import Backend
from gitmem.store.quarantine import fetched_ref
from gitmem.store.remote import Remote

_FOLDER: Final = "remotes"
_UNREADABLE: Final = pattern(r"[^a-z0-9]+")


def pins(env: Env, backend: Backend, remote: Remote) -> tuple[str, ...]:
    """The tips that this remote is known to have had: as the clone knows it, and as the user's state does."""
    folder = _folder(env)
    outside = state.load(folder, _name(remote)) if folder is not None else {}
    known = [backend.ref(fetched_ref(remote.name))]
    if outside.get("address") == remote.shown and is_object_id(str(outside.get("tip")), backend.object_format):
        known.append(str(outside["tip"]))
    return tuple(dict.fromkeys(tip for tip in known if tip is not None))


def pin(env: Env, backend: Backend, remote: Remote, tip: str, *, before: Iterable[str], forced: bool = False) -> None:
    """Note `tip` for the remote. A pin that another clone has moved on meanwhile stays, unless `forced`.

    before: the pins as they were when the remote was asked; they were found in the history of `tip`.
    """
    folder, name = _folder(env), _name(remote)
    if folder is None:
        return
    found = state.load(folder, name)
    there = found.get("tip") if found.get("address") == remote.shown else None
    if there == tip:
        return
    if isinstance(there, str) and not forced and there not in before:
        known = is_object_id(there, backend.object_format) and backend.resolve(there) is not None
        if not known or not backend.is_ancestor(there, tip):
            return
    state.save(folder, name, {"address": remote.shown, "tip": tip})


def _folder(env: Env) -> Path | None:
    """Where the pins lie; None for a user without a home."""
    with suppress(GitmemError):
        return env.state_home() / _FOLDER
    return None


def _name(remote: Remote) -> str:
    """The name of the file for an address: readable, and another one for another address."""
    address = remote.shown
    words = _UNREADABLE.sub("-", address.lower()).strip("-")[-80:]
    return f"{words}-{crc32(address.encode('utf-8', 'surrogateescape')):08x}"
