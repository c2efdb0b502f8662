"""The check that tantivy keeps but does not make when it opens an index."""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Final

_MAGIC: Final = (1337).to_bytes(4, "little")


def check_stores(folder: Path) -> None:
    """Raises ValueError when the document store of a segment is not what was written.

    A flipped byte there makes tantivy 0.27 ask for a length that no memory has, and the process aborts; in every
    other file it errs or panics, which Python can catch. A store is 17 bytes a memory, so this costs 1 ms at
    100,000. A tantivy file ends in a JSON footer that holds the CRC-32 of what precedes it, the footer's length
    and a magic number (tantivy, src/directory/footer.rs).
    """
    # Only what the index names: an update that failed may leave half a file beside it.
    named = (folder / "meta.json").read_text("utf-8", "replace").replace("-", "")
    for path in folder.glob("*.store"):
        if path.stem.split(".")[0] not in named:
            continue
        try:
            content = path.read_bytes()
        except FileNotFoundError:  # merged away meanwhile
            continue
        length = int.from_bytes(content[-8:-4], "little")
        if content[-4:] != _MAGIC or not 0 < length <= len(content) - 8:
            raise ValueError(f"{path.name} has no footer")
        body, footer = content[: -8 - length], json.loads(content[-8 - length : -8])
        if not isinstance(footer, dict) or footer.get("crc") != zlib.crc32(body):
            raise ValueError(f"{path.name} does not match its checksum")
