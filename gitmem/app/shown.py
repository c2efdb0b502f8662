"""What a session was told already, so that nothing is told twice: ids only, in this clone's private folder.

One small file a session; the oldest ids of a session and the oldest sessions go first.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from gitmem.app import state
from gitmem.model.frozen import dataclass, field

FOLDER: Final = "shown"
MOST_SESSIONS: Final = 64
MOST_IDS: Final = 400  # of one session
_PLAIN: Final = 120  # characters


@dataclass(frozen=True)
class Shown:
    """versions: of memories that the session holds, the oldest first. briefed: it holds a brief. named: versions of
    which it holds the title only. since: Unix seconds of when it was told of each memory first, by id."""

    versions: tuple[str, ...] = ()
    briefed: bool = False
    named: tuple[str, ...] = ()
    since: Mapping[str, int] = field(default_factory=dict)


@contextmanager
def session(private: Path, host: str, name: str) -> Iterator[Path]:
    """The file of a session, alone: hosts run hooks of one session side by side. Raises GitmemError and OSError."""
    folder = private / FOLDER
    if not folder.is_dir():
        state.private_folder(folder)
    path = folder / _file(f"{host} {name}")
    descriptor = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield path
    finally:
        os.close(descriptor)


def _file(name: str) -> str:
    """A name for the file of a session: as the hosts name it where that is plain."""
    plain = name.replace(" ", ".")
    letters = plain.replace("-", "").replace(".", "")
    if len(plain) <= _PLAIN and letters.isascii() and letters.isalnum() and ".." not in plain:
        return plain
    from hashlib import sha256

    return sha256(name.encode("utf-8", "replace")).hexdigest()


def load(path: Path) -> Shown:
    data = state.load(path.parent, path.name)
    known, named = (
        tuple(one for one in found if isinstance(one, str)) if isinstance(found, list) else ()
        for found in (data.get("versions"), data.get("named"))
    )
    since = data.get("since")
    times = {name: at for name, at in since.items() if type(at) is int} if isinstance(since, dict) else {}
    return Shown(known, data.get("briefed") is True, named, times)


def told_since(private: Path, host: str, name: str) -> Mapping[str, int]:
    """When a session was told first of each memory that it holds; empty for a session that no hook told anything."""
    folder = private / FOLDER
    return load(folder / _file(f"{host} {name}")).since


def save(path: Path, shown: Shown) -> None:
    is_new = not path.with_name(f"{path.name}.json").exists()
    since = dict(list(shown.since.items())[-MOST_IDS:])
    kept = {
        "versions": list(shown.versions[-MOST_IDS:]), "briefed": shown.briefed,
        "named": list(shown.named[-MOST_IDS:]), "since": since,
    }  # fmt: skip
    state.save(path.parent, path.name, kept)
    if is_new:
        _forget(sorted(path.parent.glob("*.json"), key=_changed)[:-MOST_SESSIONS])


def _forget(paths: Sequence[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def _changed(path: Path) -> int:
    with suppress(FileNotFoundError):
        return path.stat().st_mtime_ns
    return 0
