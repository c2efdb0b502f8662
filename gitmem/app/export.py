"""`gitmem export`: every record as data, or the branch as a git bundle."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gitmem.app.belief import believed_view
from gitmem.app.workspace import Workspace
from gitmem.errors import GitmemError, NotFound
from gitmem.model.layout import MAIN, TOMBSTONES
from gitmem.model.records import to_data, tombstone_from_bytes
from gitmem.model.vocabulary import STATUSES
from gitmem.policy.visibility import visible, withheld_view


def records(workspace: Workspace, *, everything: bool) -> Iterator[dict[str, Any]]:
    """Each memory that is visible and true now, as data; with `everything` those of every state and time and the
    tombstones."""
    view = believed_view(workspace)
    view.require_config()
    viewer = view.viewer
    wanted = withheld_view(viewer, STATUSES) if everything else visible(viewer, at=workspace.env.now())
    for memory in view.memories():
        if wanted.admits(memory):
            yield to_data(memory)
    if everything:
        for path, raw in view.main.read_all(TOMBSTONES):
            if path not in view.quarantined:
                yield {"tombstone": to_data(tombstone_from_bytes(raw, path=path, trusted=True))}


def bundle(workspace: Workspace, target: Path) -> str:
    """Write the believed branch as a git bundle; returns its tip. An existing file is not overwritten."""
    view = believed_view(workspace)
    tip = view.main.commit
    if tip is None:
        raise NotFound(f"{workspace.location.title} has no gitmem memory yet", hint="gitmem init")
    if target.exists():
        raise GitmemError(f"{target} exists", hint="name another file")
    if workspace.backend.ref(MAIN) != tip:
        raise GitmemError("the branch holds commits that are not believed", hint="gitmem verify --all")
    done = workspace.location.git("bundle", "create", "--quiet", str(target.absolute()), MAIN)
    if done.status:
        raise done.failure(f"{target} could not be written")
    return tip
