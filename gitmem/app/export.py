"""`gitmem export`: every record as data, or the branch as a git bundle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gitmem.app.belief import believed_view
from gitmem.app.workspace import Workspace
from gitmem.errors import GitmemError, NotFound
from gitmem.model.frozen import replace
from gitmem.model.layout import HOMES, MAIN, TOMBSTONES
from gitmem.model.records import to_data, tombstone_from_bytes
from gitmem.model.vocabulary import STATUSES
from gitmem.policy.visibility import visible, withheld_view


def records(
    workspace: Workspace, *, everything: bool, audiences: Sequence[str] = ("team",)
) -> Iterator[dict[str, Any]]:
    """Each memory that is visible and true now, as data; with `everything` those of every state and time and the
    tombstones. `audiences`: for whom they are; what is a user's own leaves only when it is asked for."""
    view = believed_view(workspace)
    view.require_config()
    viewer = replace(view.viewer, audiences=view.viewer.audiences & set(audiences))
    places = [HOMES[audience] for audience in HOMES if audience in audiences]
    wanted = withheld_view(viewer, STATUSES) if everything else visible(viewer, at=workspace.env.now())
    for ref in places:
        for memory in view.memories(ref):
            if wanted.admits(memory):
                yield to_data(memory)
        for path, raw in view.place(ref).read_all(TOMBSTONES) if everything else ():
            if path not in view.left_out(ref):
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
