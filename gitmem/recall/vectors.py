"""The vectors of the index: for each version of a memory the direction of its text.

They lie in a file beside the cards, one row a card, only ever appended to. A small head, replaced whole, says how much
of it counts and what its checksum is. All of it can be lost: it is made again from the cards.
"""

from __future__ import annotations

import json
import math
import os
import struct
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Final

from gitmem.model.frozen import dataclass, replace, shape
from gitmem.recall.faults import unwritable_is_busy
from gitmem.recall.open_file import OpenFile

_HEAD: Final = "vectors.json"
_TEMPORARY: Final = ".vectors.json"
_ROW: Final = struct.Struct("<QI")  # the place of the card, the squared length of the vector that follows
_BLOCK: Final = 512  # rows that are read at once: 134 KB stay in the cache of a core


@dataclass(frozen=True)
class Head:
    """What counts of a file of vectors. stamp, dimension: of the model. generation: of the cards. serial: of the file.

    covered: every card that begins before this byte has its row. checksum: CRC-32 of the rows.
    """

    stamp: str
    dimension: int
    generation: int
    serial: int = 1
    rows: int = 0
    covered: int = 0
    checksum: int = 0

    @property
    def row(self) -> int:
        """Bytes of one row."""
        return _ROW.size + self.dimension

    def file(self, folder: Path) -> Path:
        return folder / f"vectors.{self.serial}"


def read_head(folder: Path) -> Head | None:
    """The head in `folder`; None when there is none, or nothing that can be one."""
    try:
        told = json.loads((folder / _HEAD).read_bytes())
        head = Head(**told)
    except (OSError, ValueError, TypeError):
        return None
    numbers = (head.dimension, head.generation, head.serial, head.rows, head.covered, head.checksum)
    return head if isinstance(head.stamp, str) and all(type(n) is int and n >= 0 for n in numbers) else None


def discard(folder: Path) -> None:
    """Make what is there count for nothing."""
    with suppress(OSError):  # on a read-only disk it is looked at again and left alone again
        (folder / _HEAD).unlink(missing_ok=True)


class Nearness:
    """How near every card is to one direction: cosines, -1 to 1, the same on every machine."""

    def __init__(self, places: Any, cosines: Any) -> None:
        self._places: Final = places  # ascending, as cards are written
        self._cosines: Final = cosines

    def of(self, places: Sequence[int]) -> dict[int, float]:
        """The cosine of each card; 0 when it has no vector."""
        import numpy

        # Of the same type: else the places are all converted at each look.
        asked = numpy.asarray(places, numpy.uint64)
        rows = self._places.searchsorted(asked)
        found = rows < len(self._places)
        found[found] = self._places[rows[found]] == asked[found]
        cosines = numpy.zeros(len(asked), numpy.float64)
        cosines[found] = self._cosines[rows[found]]
        return dict(zip(places, cosines.round(6).tolist(), strict=True))

    def above(self, floor: float) -> list[int]:
        """The places of the cards with at least this cosine, the nearest first."""
        import numpy

        rows = numpy.flatnonzero(self._cosines >= floor)
        order = rows[numpy.lexsort((self._places[rows], -self._cosines[rows]))]
        return [int(place) for place in self._places[order]]


class Vectors:
    """The rows that a head names, opened: they stay readable when the file is removed."""

    def __init__(self, folder: Path, head: Head) -> None:
        """Raises OSError or ValueError when the file is not there or shorter."""
        self._head: Final = head
        self._file: Final = OpenFile(head.file(folder), head.rows * head.row)

    def near(self, direction: bytes) -> Nearness:
        """Raises ValueError when the rows are not those that were written. About 15 ms for 100,000 rows."""
        import numpy

        head = self._head
        form = numpy.dtype([("place", "<u8"), ("square", "<u4"), ("vector", "i1", (head.dimension,))])
        # Whole numbers below 2**24 are exact in 32 bits, so that no order of summing makes a difference.
        asked = numpy.frombuffer(direction, numpy.int8).astype(numpy.float32)
        places = numpy.empty(head.rows, numpy.uint64)
        cosines = numpy.empty(head.rows, numpy.float32)
        checksum = 0
        for start in range(0, head.rows, _BLOCK):
            count = min(_BLOCK, head.rows - start)
            data = self._file.read(start * head.row, count * head.row)
            checksum = zlib.crc32(data, checksum)
            block = numpy.frombuffer(data, form)
            places[start : start + count] = block["place"]
            lengths = numpy.sqrt(numpy.maximum(block["square"], 1).astype(numpy.float32))
            cosines[start : start + count] = block["vector"].astype(numpy.float32) @ asked / lengths
        if checksum != head.checksum:
            raise ValueError(f"{self._file.name} does not match its checksum")
        return Nearness(places, cosines / (math.sqrt(float(asked @ asked)) or 1.0))


class VectorWriter:
    """Appends rows to what is there under the same stamp and generation, or begins anew. Under the index's lock."""

    def __init__(self, folder: Path, stamp: str, dimension: int, generation: int) -> None:
        self._folder: Final = folder
        known = read_head(folder)
        begun = Head(stamp, dimension, generation)
        if known and (known.stamp, known.dimension, known.generation) == (stamp, dimension, generation):
            begun = known
        elif known:
            begun = replace(begun, serial=known.serial + 1)
        path = begun.file(folder)
        if not path.exists() or path.stat().st_size < begun.rows * begun.row:
            begun = replace(begun, rows=0, covered=0, checksum=0)
        self._head = begun
        with unwritable_is_busy():
            self._file: IO[bytes] = path.open("r+b" if begun.rows else "w+b")
        self._file.seek(begun.rows * begun.row)

    @property
    def covered(self) -> int:
        """Cards that begin before this byte have their rows already."""
        return self._head.covered

    def add(self, places: Sequence[int], directions: Iterator[bytes], covered: int) -> None:
        """Append a row for each place, in ascending order, and publish them: from now on `covered` is true."""
        head = self._head
        rows = b"".join(
            _ROW.pack(place, sum(c * c for c in memoryview(direction).cast("b"))) + direction
            for place, direction in zip(places, directions, strict=True)
        )
        with unwritable_is_busy():
            self._file.write(rows)
            self._file.flush()
            os.fsync(self._file.fileno())
            self._head = replace(
                head, rows=head.rows + len(places), covered=covered, checksum=zlib.crc32(rows, head.checksum)
            )
            temporary = self._folder / _TEMPORARY
            told = {name: getattr(self._head, name) for name in shape(Head).names}
            temporary.write_text(json.dumps(told, sort_keys=True))
            temporary.replace(self._folder / _HEAD)

    def close(self) -> None:
        """Remove the files of earlier serials; who has one open reads on."""
        self._file.close()
        for path in self._folder.glob("vectors.*"):
            if path not in (self._head.file(self._folder), self._folder / _HEAD):
                path.unlink(missing_ok=True)

    def __enter__(self) -> VectorWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
