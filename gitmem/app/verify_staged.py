"""Verification of what is staged while gitmem/main is checked out: the commit is made, judged and left unreferenced."""

from __future__ import annotations

from gitmem.app.verify import verify_range
from gitmem.app.workspace import Workspace
from gitmem.store.hook_folder import staged_tree
from gitmem.store.objects import commit_bytes, object_id
from gitmem.store.transaction import TOOL


def verify_staged(workspace: Workspace, head_ref: str) -> list[str]:
    """The reasons against committing what is staged to `head_ref`; empty when it is good."""
    backend = workspace.backend
    tip = backend.ref(head_ref)
    tree = staged_tree(workspace.location)
    parents = [tip] if tip else []
    data = commit_bytes(tree, parents, TOOL, TOOL, workspace.env.now(), "staged\n")
    backend.write([("commit", data)])
    report = verify_range(workspace, tip, object_id("commit", data, backend.object_format))
    return [f"{fault.path}: {fault.code}: {fault.message}" for fault in report.faults]
