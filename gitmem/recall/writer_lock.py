"""One writer of the search index at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gitmem.recall.faults import IndexBusy, unwritable_is_busy


@contextmanager
def writer_lock(path: Path) -> Iterator[None]:
    """Hold the lock. The kernel frees that of a process that died; the file means nothing.

    Raises IndexBusy at once when another process holds it, or when nothing can be written here.
    """
    import fcntl

    with unwritable_is_busy():
        if path.parent.is_symlink() or path.parent.is_file():
            path.parent.unlink()  # the index is derived, and only a folder of gitmem's own is its place
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = path.open("w")
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise IndexBusy("another process is writing the search index", hint="run the command again") from None
        yield
