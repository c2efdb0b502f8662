"""How many objects some refs lead to, and what these take on disk."""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.errors import GitmemError
from gitmem.store.repository import Location


def disk_usage(location: Location, spaces: Sequence[str]) -> tuple[int, int]:
    """(objects, their bytes as packed or loose) below `spaces`, such as `refs/gitmem/sessions/`.

    Objects that other refs lead to as well are counted in. Raises GitmemError when git cannot tell.
    """
    globs = [f"--glob={space}" for space in spaces]
    listed = location.git("rev-list", "--objects", "--no-object-names", *globs)
    used = location.git("rev-list", "--objects", "--disk-usage", *globs)
    if listed.status or used.status:
        raise GitmemError("git cannot tell what the sessions take on disk", hint="git fsck --connectivity-only")
    return len(listed.lines), int(used.lines[0]) if used.lines else 0
