"""What the index of a pack says, read from the file (gitformat-pack(5))."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_HEAD: Final = b"\xfftOc\x00\x00\x00\x02"
_LENGTHS: Final = (20, 32)  # of an object id: SHA-1, SHA-256
_TABLE: Final = 256 * 4  # bytes of the counts by first byte


def checksum_of_pack(index: Path, length: int) -> bytes | None:
    """The checksum of the pack that an index is for; None when the index is not whole."""
    size = index.stat().st_size
    with index.open("rb") as file:
        start = file.read(8)
        table = file.read(_TABLE) if start == _HEAD else start + file.read(_TABLE - 8)  # version 2, 1
        count = int.from_bytes(table[-4:], "big")
        row = length + (8 if start == _HEAD else 4)
        if len(table) < _TABLE or size < file.tell() + count * row + 2 * length:
            return None
        file.seek(-2 * length, 2)
        return file.read(length)


def holds(objects: Path, oid: str) -> bool:
    """Whether an object lies in this folder, loose or in a pack whose index has version 2. False is no answer: another
    folder that it borrows from may have it."""
    try:
        raw = bytes.fromhex(oid)
        if len(raw) not in _LENGTHS:
            return False
        if (objects / oid[:2] / oid[2:]).is_file():
            return True
        with os.scandir(objects / "pack") as files:
            return any(_names(file.path, raw) for file in files if file.name.endswith(".idx"))
    except (OSError, ValueError):
        return False


def _names(index: str, raw: bytes) -> bool:
    with open(index, "rb", buffering=0) as file:  # noqa: PTH123 - a read of a few bytes
        start = file.read(len(_HEAD) + _TABLE)
        if not start.startswith(_HEAD):
            return False
        counts = b"\0\0\0\0" + start[len(_HEAD) :]
        low, high = (int.from_bytes(counts[at : at + 4], "big") for at in (4 * raw[0], 4 * raw[0] + 4))
        size = len(raw)
        file.seek(low * size, os.SEEK_CUR)
        names = file.read((high - low) * size)
    at = names.find(raw)
    while at % size and at >= 0:
        at = names.find(raw, at + 1)
    return at >= 0
