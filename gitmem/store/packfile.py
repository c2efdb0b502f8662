"""A pack of whole objects, streamed: nothing is held but one object (git-scm.com/docs/gitformat-pack)."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterable
from typing import Final

from gitmem.store.objects import KINDS

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
