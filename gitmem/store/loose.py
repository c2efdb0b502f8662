"""Loose objects, written so that what was acknowledged outlives a power cut.

libgit2 fsyncs nothing by default, git syncs loose objects only when asked and then one after the other. Here each
object goes to a temporary file, all are fsynced side by side, then renamed, then their folders are fsynced: no
reader ever sees an empty object under its final name, and one write costs two rounds of the disk.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

from gitmem.errors import CorruptRecord
from gitmem.store.objects import object_id

_LEVEL: Final = 1  # git's own default for loose objects
_THREADS: Final = 4  # more start no sooner than these are done
_TRIES: Final = 10
_TEMPORARY: Final = "gitmem_tmp_"
DAMAGED_HINT: Final = "git fsck names what is broken; fetch the branch again, or restore that file from another clone"


def loose_path(objects: Path, oid: str) -> Path:
    return objects / oid[:2] / oid[2:]


def read_loose(path: Path) -> tuple[str, bytes]:
    """(kind, data). Raises FileNotFoundError, or CorruptRecord when the bytes are not what their name says."""
    raw = path.read_bytes()
    inflater = zlib.decompressobj()
    try:
        body = inflater.decompress(raw)
        head, _, data = body.partition(b"\0")
        kind, size = head.decode("ascii").split(" ")
        whole = inflater.eof and int(size) == len(data)
    except (zlib.error, ValueError) as error:
        raise damaged(path) from error
    if not whole or object_id(kind, data, _format(path)) != path.parent.name + path.name:
        raise damaged(path)
    return kind, data


def _format(path: Path) -> str:
    return "sha256" if len(path.name) > 40 else "sha1"


def loose_size(path: Path) -> int:
    """Bytes of the object, from the first bytes of its file. Raises as `read_loose`."""
    with path.open("rb") as file:
        start = file.read(256)
    try:
        head = zlib.decompressobj().decompress(start, 64).split(b"\0", 1)[0]
        return int(head.split(b" ")[1])
    except (zlib.error, ValueError, IndexError) as error:
        raise damaged(path) from error


def _is_sound(path: Path) -> bool:
    try:
        read_loose(path)
    except (FileNotFoundError, CorruptRecord):
        return False
    return True


def damaged(path: Path) -> CorruptRecord:
    oid = path.parent.name + path.name
    size = path.stat().st_size if path.exists() else 0
    return CorruptRecord(
        f"object {oid} is damaged: {path} has {size} bytes and is not whole",
        hint=DAMAGED_HINT,
        details={"object": oid, "path": str(path)},
    )


def write_loose(objects: Path, staged: Sequence[tuple[str, str, bytes]], shared_mode: int) -> None:
    """Write each (id, kind, data). Durable on return. A damaged object of the same id is replaced.

    An object that only lies in a pack is written again: a pack that somebody's gc is about to drop does not count.
    """
    for _ in range(_TRIES - 1):
        try:
            _write_once(objects, staged, shared_mode)
            return
        except FileNotFoundError:  # a `git prune` at work took a folder, or an object that had been there
            continue
    _write_once(objects, staged, shared_mode)


def _write_once(objects: Path, staged: Sequence[tuple[str, str, bytes]], shared_mode: int) -> None:
    pending: list[tuple[Path, Path]] = []
    settled: list[Path] = []
    folders: set[Path] = set()
    try:
        for oid, kind, data in dict.fromkeys(staged):
            path = loose_path(objects, oid)
            if _is_sound(path):
                os.utime(path)  # as git does: young objects are not pruned
                settled.append(path)
                continue
            temporary = objects / f"{_TEMPORARY}{os.urandom(8).hex()}"  # git prunes its own tmp_obj_* while we write
            body = zlib.compress(b"%s %d\0%s" % (kind.encode(), len(data), data), _LEVEL)
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o444 | (shared_mode & 0o444))
            pending.append((temporary, path))
            with os.fdopen(descriptor, "wb") as file:
                file.write(body)
            adopt_owner(temporary, objects)
        fsync_all([*(temporary for temporary, _ in pending), *settled])
        while pending:
            temporary, path = pending[-1]
            if not path.parent.is_dir():
                make_folder(path.parent, shared_mode)
                folders.add(objects)
            temporary.replace(path)
            pending.pop()
            folders.add(path.parent)
    finally:
        for temporary, _ in pending:
            temporary.unlink(missing_ok=True)
    fsync_all(sorted(folders))


def clear_temporaries(objects: Path, before: float) -> None:
    """Remove what killed writers left, when it was made before the time `before` (of the file system)."""
    for path in objects.glob(f"{_TEMPORARY}*"):
        if path.stat().st_mtime < before:
            path.unlink(missing_ok=True)


def make_folder(path: Path, shared_mode: int) -> None:
    """A folder with the repository's permissions; fine when it is there."""
    path.mkdir(exist_ok=True)
    if shared_mode:
        path.chmod(0o2700 | (shared_mode & 0o077) | ((shared_mode & 0o044) >> 2))
    adopt_owner(path, path.parent)


def adopt_owner(path: Path, like: Path) -> None:
    """As root, in a repository of somebody else: leave what was made to its owner, who must go on writing there."""
    if os.geteuid() == 0:
        owner = like.stat()
        if owner.st_uid:
            os.chown(path, owner.st_uid, owner.st_gid)


def fsync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def fsync_all(paths: Iterable[Path]) -> None:
    """fsync files and folders side by side: the disk's journal takes them in one or two commits."""
    waiting = list(paths)
    if len(waiting) < 2:
        for path in waiting:
            fsync(path)
        return
    import threading  # a read writes nothing

    failures: list[OSError] = []
    threads = [
        threading.Thread(target=_fsync_each, args=(waiting[start::_THREADS], failures.append))
        for start in range(min(_THREADS, len(waiting)))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def _fsync_each(paths: Sequence[Path], failed: Callable[[OSError], None]) -> None:
    for path in paths:
        try:
            fsync(path)
        except OSError as error:
            failed(error)
