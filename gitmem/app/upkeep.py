"""`gitmem reindex`."""

from __future__ import annotations

from gitmem.app import belief
from gitmem.app.catch_up import catch_up
from gitmem.app.workspace import Workspace


def reindex(workspace: Workspace, *, forget: bool = False) -> tuple[int, tuple[str, ...]]:
    """Build the search index anew; the number of records in it, and what of the branch is not believed.

    `forget` drops the pin of what was believed, verifies the whole branch and believes what passes.
    """
    if forget:
        belief.require_branch(workspace)
        belief.forget(workspace)
    view = belief.inert_view(workspace)
    view.require_config()
    index = catch_up(view, rebuild=True)
    return index.count(), belief.believe(workspace).rejected
