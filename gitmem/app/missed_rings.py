"""Rings of the doorbell that were never answered: the process that was to capture was killed, or the machine went off.

Every command looks after its answer whether a pointer still lies in the spool, which a folder that is not there answers
at once. Where one is older than a minute, the doorbell is started again as the host's hook starts it: detached, in a
process that captures a moment later. Without the doorbell, which a person installs, nothing is started.
"""

from __future__ import annotations

import os
from typing import Final

from gitmem.app.env import Env

LEFT_AFTER: Final = 60  # seconds; the doorbell waits for five
# Verbs that capture themselves, or set up who does.
ON_THEIR_OWN: Final = frozenset({"capture", "install", "uninstall", "hook-impl", "merge-driver"})
_SPOOL: Final = "spool"
_OF_THE_DOORBELL: Final = ("waiting", "skipped")
_RUNG: Final = ".rung"


def ring_again(env: Env) -> None:
    """Never raises, prints nothing, and waits for nothing."""
    try:
        top, common = _nearest(os.path.abspath(env.start or env.cwd))  # noqa: PTH100
        spool = f"{common}/gitmem/{_SPOOL}"
        left = [name for name in os.listdir(spool) if name not in _OF_THE_DOORBELL and not name.endswith(_RUNG)]  # noqa: PTH208
        before = env.now().timestamp() - LEFT_AFTER if left else 0
        old = [name for name in left if os.stat(f"{spool}/{name}").st_mtime < before]  # noqa: PTH116
        if not old:
            return
        from gitmem.app.doorbell import doorbell_path
        from gitmem.errors import GitmemError
        from gitmem.store.program import detach
    except (OSError, ValueError):
        return
    try:
        bell = doorbell_path(env.environ)
        if os.access(bell, os.X_OK):
            for name in old:
                os.utime(f"{spool}/{name}")  # the next command within the minute leaves it alone
            detach([str(bell), "--wait", common, top], environ=env.environ)
    except (OSError, GitmemError):
        return


def _nearest(folder: str) -> tuple[str, str]:
    """(the top of the work tree, the git folder that all its worktrees share). Raises FileNotFoundError. Strings, and a
    look at one name a folder: this is asked by every command."""
    while not os.path.isdir(f"{folder}/.git"):  # noqa: PTH112
        if os.path.isfile(f"{folder}/.git"):  # noqa: PTH113 - a linked worktree, a submodule
            from gitmem.store.at_rest import nearest

            found = nearest(folder)
            if found is not None:
                return found[0], str(found[1])
        above = os.path.dirname(folder)  # noqa: PTH120
        if above == folder:
            raise FileNotFoundError(folder)
        folder = above
    return folder, f"{folder}/.git"
