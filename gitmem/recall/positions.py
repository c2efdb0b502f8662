"""Record time: the first-parent history of the branch as numbers, so that "as of" is a range of them.

Position 0 is the first commit of the branch. A version of a memory stood at the positions [since, until). The
clock of a commit may go backwards, its position does not.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gitmem.model.frozen import dataclass
from gitmem.recall.faults import unwritable_is_busy
from gitmem.recall.open_file import OpenFile

_TIME: Final = struct.Struct("<q")


@dataclass(frozen=True)
class Step:
    """One commit of the first-parent history. at: its committer's time in Unix seconds."""

    commit: str
    at: int


class Positions:
    """The steps of the branch in the order of their positions. Immutable."""

    def __init__(self, data: bytes = b"", oid_size: int = 20) -> None:
        self._data = data
        self._oid = oid_size
        self._row = oid_size + _TIME.size

    def save(self, path: Path, kept: int) -> None:
        """Write to `path`, which holds the first `kept` steps already. Raises IndexBusy when the disk does not take
        it."""
        with unwritable_is_busy(), path.open("r+b" if path.exists() else "w+b") as file:
            file.seek(kept * self._row)
            file.write(self._data[kept * self._row :])
            file.flush()
            os.fsync(file.fileno())

    @property
    def checksum(self) -> int:
        return zlib.crc32(self._data)

    @property
    def oid_size(self) -> int:
        """Bytes of an object id."""
        return self._oid

    def __len__(self) -> int:
        return len(self._data) // self._row

    def with_steps(self, kept: int, steps: Sequence[Step]) -> Positions:
        """The first `kept` steps and then these."""
        size = len(bytes.fromhex(steps[0].commit)) if steps and not kept else self._oid
        rows = [bytes.fromhex(step.commit) + _TIME.pack(step.at) for step in steps]
        return Positions(b"".join([self._data[: kept * self._row], *rows]), size)

    def commit(self, position: int) -> str:
        return self._data[position * self._row : position * self._row + self._oid].hex()

    def time(self, position: int) -> int:
        """Unix seconds."""
        return int(_TIME.unpack_from(self._data, position * self._row + self._oid)[0])

    def find(self, commit: str) -> int | None:
        """The position of a commit, or None when it is not in the first-parent history."""
        wanted, start = bytes.fromhex(commit), 0
        while (found := self._data.find(wanted, start)) >= 0:
            if found % self._row == 0:
                return found // self._row
            start = found + 1
        return None

    def at(self, seconds: float) -> int | None:
        """The position of the newest commit that was made at or before a time; None when there was none yet."""
        for position in range(len(self) - 1, -1, -1):
            if self.time(position) <= seconds:
                return position
        return None


class PositionsFile:
    """The first `count` steps of a file, opened: they stay readable when the file is removed.

    Raises OSError when it cannot be opened, ValueError when it is too short.
    """

    def __init__(self, path: Path, count: int, oid_size: int) -> None:
        self._file: Final = OpenFile(path, count * (oid_size + _TIME.size))
        self._oid = oid_size

    def read(self, checksum: int) -> Positions:
        """Raises ValueError when the steps are not those that were written."""
        data = self._file.read(0, self._file.size)
        if zlib.crc32(data) != checksum:
            raise ValueError(f"{self._file.name} does not match its checksum")
        return Positions(data, self._oid)
