"""The writer lock of a clone, and lock files that a killed process left behind."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from gitmem.errors import Locked
from gitmem.model.layout import BRANCH_SPACE, PRIVATE_SPACE
from gitmem.store.loose import adopt_owner, make_folder

if TYPE_CHECKING:
    from gitmem.store.repository import Location

_PLACE_OPTIONS: Final = (b"-C", b"--git-dir", b"--work-tree")
_PLACE_VARIABLES: Final = (b"GIT_DIR", b"GIT_COMMON_DIR", b"GIT_WORK_TREE")
STALE_AFTER: Final = 5.0  # seconds; git holds a ref lock for milliseconds
_BRIEFLY: Final = 1.0  # seconds to wait for a ref lock when nothing tells who holds it
# Seconds between two tries for the writer lock. A process that writes one thing after another lets go of it for a
# fraction of a millisecond: who looks more rarely is starved by it.
_LONGEST_PAUSE: Final = 0.004
_LOCK_NAME: Final = "lock"
_held: set[Path] = set()  # writer locks of this process


class LeftLock(NamedTuple):
    """A `<ref>.lock` of gitmem's own refs. `age` in seconds; `stale`: old enough that no writer can be at work."""

    path: Path
    ref: str
    age: float
    stale: bool


@contextmanager
def writer_lock(location: Location, timeout: float = 30) -> Iterator[None]:
    """One writer of this clone at a time, over all its worktrees. The lock dies with its process.

    Raises Locked naming the holder after `timeout` seconds.
    """
    make_folder(location.private, location.shared_mode)
    path = location.private / _LOCK_NAME
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644 | (location.shared_mode & 0o666))
    try:
        _acquire(descriptor, path, timeout)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        adopt_owner(path, location.common_dir)
        _held.add(path)
        yield
    finally:
        _held.discard(path)
        os.close(descriptor)


@contextmanager
def sole(location: Location, name: str) -> Iterator[bool]:
    """One process of this clone at a time for the work called `name`, without waiting: False when another is at it.

    The lock dies with its process. It is not the writer lock, which is taken for the moment of a write only.
    """
    make_folder(location.private, location.shared_mode)
    path = location.private / f"{name}.lock"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644 | (location.shared_mode & 0o666))
    try:
        alone = _try(descriptor)
        adopt_owner(path, location.common_dir)
        yield alone
    finally:
        os.close(descriptor)


def left_locks(location: Location) -> list[LeftLock]:
    """The lock files of gitmem's refs that are there now, oldest first."""
    found = []
    for space in (BRANCH_SPACE, PRIVATE_SPACE):
        for path in sorted((location.common_dir / space).rglob("*.lock")):
            age = _age(location, path)
            if age is not None:
                ref = path.relative_to(location.common_dir).as_posix().removesuffix(".lock")
                found.append(LeftLock(path, ref, age, age > STALE_AFTER and _git_at_work(location) is None))
    return sorted(found, key=lambda left: -left.age)


def past_locks(location: Location, move: Callable[[], None]) -> None:
    """Run `move`, waiting for ref locks, and clearing one that is surely left over.

    Surely: this process holds the writer lock (so no gitmem is at work), the file is older than `STALE_AFTER`, it
    locks a ref of gitmem's, and no git process is running in the repository. Where that cannot be told, the error
    names the file, its age and what to do, and nothing is removed.
    """
    alone = location.private / _LOCK_NAME in _held
    deadline = time.monotonic() + (STALE_AFTER + 1 if alone else _BRIEFLY)
    while True:
        try:
            move()
            return
        except Locked as error:
            path = Path(str(error.details.get("path", "")))
            age = _age(location, path)
            if alone and age is not None and age > STALE_AFTER and _is_ours(location, path):
                if _git_at_work(location) is not None:
                    raise _blocked(location, path) from error
                path.unlink(missing_ok=True)
            elif time.monotonic() > deadline or (age is not None and age > STALE_AFTER):
                raise _blocked(location, path) from error
            else:
                time.sleep(0.02)


def _blocked(location: Location, path: Path) -> Locked:
    age = _age(location, path)
    if age is None:
        return Locked(f"{path} was in the way and is gone now", hint="try again", details={"path": str(path)})
    worker = _git_at_work(location)
    if worker is not None:
        said, hint = f"git is at work here (process {worker})", "wait for it, then try again"
    elif age > STALE_AFTER:
        said, hint = "no git process is at work here", f"when that is so on every machine that uses it: rm '{path}'"
    else:
        said, hint = "another writer may hold it", "try again in some seconds"
    return Locked(
        f"the lock file {path} is in the way; it is {age:.0f} s old; {said}",
        hint=hint,
        details={"path": str(path), "age": age, "pid": worker},
    )


def _is_ours(location: Location, path: Path) -> bool:
    return any(path.is_relative_to(location.common_dir / space) for space in (BRANCH_SPACE, PRIVATE_SPACE))


def _age(location: Location, path: Path) -> float | None:
    """Seconds since the file was made, by the file system's own clock; None when it is gone."""
    try:
        made = path.stat().st_mtime
    except (FileNotFoundError, NotADirectoryError):
        return None
    make_folder(location.private, location.shared_mode)
    probe = location.private / "clock"
    probe.touch()
    adopt_owner(probe, location.common_dir)
    return probe.stat().st_mtime - made


def _git_at_work(location: Location) -> int | str | None:
    """A git process in this repository, or told to work on it, other than a mere reader. None: surely none.

    A system without /proc cannot tell: then the answer is "unknown".
    """
    proc = Path("/proc")
    if not (proc / "self/cmdline").exists():
        return "unknown"
    places = [place.resolve() for place in (location.common_dir, location.work_tree) if place]
    for process in proc.iterdir():
        if not process.name.isdigit():
            continue
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
            if Path(os.fsdecode(words[0])).name != "git" or b"cat-file" in words:
                continue
            where = (process / "cwd").readlink()
            settings = (process / "environ").read_bytes().split(b"\0")
        except OSError:
            continue  # it has ended, or is another user's
        named = [where, *((where / told).resolve() for told in _told(words, settings))]
        if any(one.is_relative_to(place) for one in named for place in places):
            return int(process.name)
    return None


def _told(words: list[bytes], settings: list[bytes]) -> Iterator[str]:
    """The places that a git program was given, by options and in its environment."""
    for before, word in pairwise([b"", *words]):
        if before in _PLACE_OPTIONS:
            yield os.fsdecode(word)
    for said in (*words, *settings):
        name, _, value = said.partition(b"=")
        if value and name in (*_PLACE_OPTIONS, *_PLACE_VARIABLES):
            yield os.fsdecode(value)


def _acquire(descriptor: int, path: Path, timeout: float) -> None:
    deadline = time.monotonic() + timeout
    pause = 0.001
    while not _try(descriptor):
        if time.monotonic() > deadline:
            holder = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip() or "unknown"
            raise Locked(
                f"process {holder} has been writing memory here for more than {timeout:g} s ({path})",
                hint=f"wait for it, or look at it with: ps -p {holder}",
                details={"path": str(path), "pid": holder},
            )
        time.sleep(pause)
        pause = min(pause * 1.5, _LONGEST_PAUSE)


def _try(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.EAGAIN, errno.EACCES):
            raise
        return False
    return True
