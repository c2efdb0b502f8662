"""The merge that a forge would make: git's own, of two commits, without a work tree."""

from __future__ import annotations

from typing import Final, NamedTuple

from gitmem.store.objects import is_object_id
from gitmem.store.repository import Location

_TIME: Final = 120.0  # seconds


class MergedTree(NamedTuple):
    """`tree` is None when git cannot do it (before 2.38). `conflicts`: paths that git cannot merge by itself."""

    tree: str | None
    conflicts: tuple[str, ...] = ()


def merged_tree(location: Location, ours: str, theirs: str) -> MergedTree:
    """What git makes of the two sides. Writes objects, moves nothing."""
    done = location.git("merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", ours, theirs, timeout=_TIME)
    fields = done.out.decode("utf-8", "backslashreplace").split("\0")
    if done.status not in (0, 1) or not is_object_id(fields[0], location.object_format):
        return MergedTree(None)
    return MergedTree(fields[0], tuple(sorted({path for path in fields[1:] if path})) if done.status else ())
