"""What can go wrong with the search index. It is derived from git, so nothing is ever lost with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gitmem.errors import GitmemError


class IndexBusy(GitmemError):
    """Another process is writing the index, or wrote it since it was read. Nothing was written; try again later."""

    code = "index_busy"


class IndexUnwritable(IndexBusy):
    """Nothing can be written where the index lies: a disk that is full or read-only."""


class IndexDamaged(GitmemError):
    """The files of the index cannot be read. It counts as empty from now on and has to be built again."""

    code = "index_damaged"


class MeaningUnavailable(GitmemError):
    """The model of `gitmem[semantic]` is installed and cannot be used. Words are searched all the same."""

    code = "meaning_unavailable"


@contextmanager
def unwritable_is_busy() -> Iterator[None]:
    """A disk that is full or read-only: what was indexed before can still be read."""
    try:
        yield
    except OSError as error:
        hint = "see the rights and the free space; gitmem doctor"
        raise IndexUnwritable(f"the search index cannot be written: {error}", hint=hint) from error
