"""Git's door to the merge of one file, for whoever checks the branch out and merges it with plain git.

Git hands over three files and has no place for a second text or an event. So the driver writes what is certain and
leaves a conflict otherwise; `gitmem sync` merges that.
"""

from __future__ import annotations

from pathlib import Path

from gitmem.app.merge_base import readable
from gitmem.errors import CorruptRecord, UsageError
from gitmem.model import layout
from gitmem.model.records import edited_bytes, tombstone_bytes, tombstone_from_bytes
from gitmem.model.vocabulary import FILE_LIMIT
from gitmem.share.memory import Side, merged_memory
from gitmem.share.settings import merged_tombstone


def merge_file(base: Path, ours: Path, theirs: Path, path: str) -> bool:
    """Write the merge of three files over `ours`; False leaves it as it is, for the person who merges.

    `path` is where the file lies on the branch. Raises UsageError when one of the three cannot be read.
    """
    try:
        before, mine, yours = (file.read_bytes() for file in (base, ours, theirs))
    except OSError as error:
        raise UsageError(f"{error.filename} cannot be read: {error.strerror}", hint="git calls this") from None
    if mine == yours or yours == before:
        return True
    if mine == before:
        ours.write_bytes(yours)
        return True
    made = _made(path, before, mine, yours) if max(map(len, (before, mine, yours))) <= FILE_LIMIT else None
    if made is None:
        return False
    ours.write_bytes(made)
    return True


def _made(path: str, before: bytes, mine: bytes, yours: bytes) -> bytes | None:
    if layout.tombstone_of_path(path) is not None:
        try:
            tombs = [tombstone_from_bytes(raw, path=path) for raw in (mine, yours)]
        except CorruptRecord:
            return None
        return tombstone_bytes(merged_tombstone(*tombs))
    if layout.memory_of_path(path) is None:
        return None
    base, one, other = (readable(raw, path) for raw in (before, mine, yours))
    if base is None or one is None or other is None:
        return None
    merged = merged_memory(base, Side(one), Side(other))
    return None if merged.apart else edited_bytes(mine, merged.memory)
