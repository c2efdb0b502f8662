"""A file that lies beside the index, opened: it stays readable when a writer removes it."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

_NONE: Final = -1


class OpenFile:
    """The first `size` bytes of a file that is only ever appended to."""

    def __init__(self, path: Path, size: int) -> None:
        """Raises OSError when it cannot be opened, ValueError when it is shorter or no file."""
        self.name: Final = path.name
        self.size: Final = size
        self._descriptor = _NONE
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        found = os.fstat(self._descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size < size:
            raise ValueError(f"{path.name} is shorter than what was written")

    def read(self, offset: int, length: int) -> bytes:
        """Up to `length` bytes. Raises OSError."""
        return os.pread(self._descriptor, length, offset)

    def __del__(self) -> None:
        if self._descriptor != _NONE:
            # A fork that does one piece of work closed what it does not need, and Python would say so on a terminal.
            with suppress(OSError):
                os.close(self._descriptor)
