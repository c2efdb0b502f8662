"""Packs (git-scm.com/docs/gitformat-pack): writing one of whole objects, streamed, and seeing that one is cut off."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from gitmem.store.objects import KINDS
from gitmem.store.pack_index import checksum_of_pack

_TYPE: Final = {kind: number for number, kind in enumerate(KINDS, 1)}


def write_pack(
    objects: Iterable[tuple[str, bytes]], count: int, object_format: str, write: Callable[[bytes], object]
) -> None:
    """Write exactly `count` objects (kind, data), undeltified, as one pack of version 2."""
    checksum = hashlib.sha256() if object_format == "sha256" else hashlib.sha1(usedforsecurity=False)

    def put(chunk: bytes) -> None:
        checksum.update(chunk)
        write(chunk)

    put(b"PACK" + (2).to_bytes(4, "big") + count.to_bytes(4, "big"))
    for kind, data in objects:
        put(_entry_header(_TYPE[kind], len(data)) + zlib.compress(data, 1))
    write(checksum.digest())


def broken_pack(objects: Path, object_format: str) -> Path | None:
    """A pack, or its index, that is empty or cut off; git passes over such a one and calls its objects missing.

    Looks at both ends of the files only: the index ends with the checksum that its pack has to end with.
    """
    length = 32 if object_format == "sha256" else 20
    for index in sorted((objects / "pack").glob("*.idx")):
        pack = index.with_suffix(".pack")
        try:
            expected = checksum_of_pack(index, length)
            with pack.open("rb") as file:
                head = file.read(4)
                file.seek(-min(length, pack.stat().st_size), 2)
                end = file.read()
        except FileNotFoundError:
            continue  # a gc takes them apart
        if expected is None:
            return index
        if head != b"PACK" or end != expected:
            return pack
    return None


def _entry_header(kind: int, size: int) -> bytes:
    """Type and size: 4 bits of size in the first byte, then 7 a byte, lowest first."""
    first = (kind << 4) | (size & 15)
    size >>= 4
    out = bytearray()
    while size:
        out.append(first | 0x80)
        first = size & 0x7F
        size >>= 7
    out.append(first)
    return bytes(out)
