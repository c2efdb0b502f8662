"""One writer of the search index at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gitmem.recall.faults import IndexBusy


@contextmanager
def writer_lock(path: Path) -> Iterator[None]:
    """Hold the lock. The kernel frees that of a process that died; the file means nothing.

    Raises IndexBusy at once when another process holds it, or when nothing can be written here.
    """
    import fcntl

    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = path.open("w")
    except OSError as error:  # a read-only disk, say: what is there can still be read
        raise IndexBusy(f"the search index cannot be written: {error}") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise IndexBusy("another process is writing the search index", hint="run the command again") from None
        yield
