"""What a session was told already, so that nothing is told twice: ids only, in this clone's private folder.

One small file a session; the oldest ids of a session and the oldest sessions go first.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from gitmem.app import state
from gitmem.model.frozen import dataclass

FOLDER: Final = "shown"
MOST_SESSIONS: Final = 64
MOST_IDS: Final = 400  # of one session


@dataclass(frozen=True)
class Shown:
    """versions: of memories that the session holds, the oldest first. briefed: it holds a brief."""

    versions: tuple[str, ...] = ()
    briefed: bool = False


@contextmanager
def session(private: Path, host: str, name: str) -> Iterator[Path]:
    """The file of a session, alone: hosts run hooks of one session side by side. Raises GitmemError and OSError."""
    folder = state.private_folder(state.private_folder(private) / FOLDER)
    path = folder / sha256(f"{host} {name}".encode("utf-8", "replace")).hexdigest()[:24]
    descriptor = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield path
    finally:
        os.close(descriptor)


def load(path: Path) -> Shown:
    data = state.load(path.parent, path.name)
    versions = data.get("versions")
    known = tuple(one for one in versions if isinstance(one, str)) if isinstance(versions, list) else ()
    return Shown(known, data.get("briefed") is True)


def save(path: Path, shown: Shown) -> None:
    is_new = not path.with_suffix(".json").exists()
    state.save(path.parent, path.name, {"versions": list(shown.versions[-MOST_IDS:]), "briefed": shown.briefed})
    if is_new:
        _forget(sorted(path.parent.glob("*.json"), key=_changed)[:-MOST_SESSIONS])


def _forget(paths: Sequence[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def _changed(path: Path) -> int:
    with suppress(FileNotFoundError):
        return path.stat().st_mtime_ns
    return 0
