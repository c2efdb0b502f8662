"""Verification of a pull request: its commits, and what becomes of the branch that it is merged into.

A forge merges in one of three ways, so the result is judged as a merge commit and as one commit on the target (a
squash); commits that are rebased are judged by the reader again. As one commit everything is judged by the policy of
the target, so a request cannot loosen the policy by which the rest of it is let in.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gitmem.app.verify import Progress, Report, verify_range
from gitmem.app.verify_approvals import approved
from gitmem.app.verify_fault import Fault
from gitmem.app.verify_lookup import Beneath
from gitmem.app.verify_view import judged_view
from gitmem.app.workspace import Workspace
from gitmem.errors import NotFound
from gitmem.model.approvals import Approvals
from gitmem.model.layout import CONFIG
from gitmem.store.inspection import inspect_tree
from gitmem.store.merge_tree import merged_tree
from gitmem.store.objects import commit_bytes, object_id
from gitmem.store.snapshot import tree_of
from gitmem.store.transaction import TOOL, root_commit_id

_SHOWN: Final = 20  # conflicting files that are named


def verify_request(
    workspace: Workspace,
    *,
    target: str,
    head: str | None,
    approvals: Approvals | None = None,
    progress: Progress | None = None,
) -> Report:
    """Verify what `head` (default: gitmem/main) would bring into `target`. Moves no ref.

    `approvals`: what the forge says about who approved it. Raises NotFound when one of the two names no commit here.
    """
    return approved(workspace, _judged(workspace, target, head, progress), approvals)


def _judged(workspace: Workspace, target: str, head: str | None, progress: Progress | None) -> Report:
    backend = workspace.backend
    base, tip = _commit(workspace, target), _commit(workspace, head or "refs/heads/gitmem/main")
    root = root_commit_id(backend)
    for name, commit in (("target", base), ("head", tip)):
        if backend.resolve(root) is None or not backend.is_ancestor(root, commit):
            message = f"the {name} {commit[:12]} does not begin at the root of every gitmem branch"
            return Report(base, tip, 0, 0, (Fault("history.root", message, commit),), target=base)
    if backend.is_ancestor(tip, base):
        return Report(base, tip, 0, 0, target=base)
    if inspect_tree(backend, tree_of(backend, tip), base=tree_of(backend, base)):
        return replace(verify_range(workspace, base, tip, progress=progress), target=base)  # nothing of it is merged
    merged = merged_tree(workspace.location, base, tip)
    if merged.conflicts or merged.tree is None:
        return _unmerged(workspace, base, tip, merged.conflicts, progress)
    merge = _made(workspace, merged.tree, [base, tip])
    beneath = Beneath(workspace, base)
    report = verify_range(workspace, base, merge, progress=progress, beneath=beneath)
    squashed = verify_range(workspace, base, _made(workspace, merged.tree, [base]), beneath=beneath)
    known = {(fault.code, fault.path) for fault in report.faults}
    faults = [_named(fault, merge, "the merge") for fault in report.faults]
    faults += [
        _named(fault, fault.commit, "as one commit, by the policy of the target")
        for fault in squashed.faults
        if (fault.code, fault.path) not in known
    ]
    notes = (*report.notes, *_policy_changed(workspace, base, merge))
    return Report(base, tip, report.commits - 1, report.records, tuple(faults), notes, target=base)


def _commit(workspace: Workspace, name: str) -> str:
    found = workspace.backend.resolve(name)
    if found is None:
        raise NotFound(f"{name!r} names no commit here", hint="git fetch it first")
    return found


def _made(workspace: Workspace, tree: str, parents: list[str]) -> str:
    """A commit that no ref will ever name."""
    data = commit_bytes(tree, parents, TOOL, TOOL, workspace.env.now(), "merged\n")
    workspace.backend.write([("commit", data)])
    return object_id("commit", data, workspace.backend.object_format)


def _unmerged(
    workspace: Workspace, base: str, tip: str, conflicts: tuple[str, ...], progress: Progress | None
) -> Report:
    """The commits alone, and that the forge cannot merge them."""
    report = verify_range(workspace, base, tip, progress=progress)
    if conflicts:
        faults = [
            Fault("merge.conflict", "both sides changed it: merge gitmem/main into the branch first", tip, path)
            for path in conflicts[:_SHOWN]
        ]
        return replace(report, faults=(*report.faults, *faults), target=base)
    message = "the merge was not judged: this git cannot merge without a work tree; it takes 2.38"
    return replace(report, faults=(*report.faults, Fault("merge.unjudged", message, tip)), target=base)


def _named(fault: Fault, merge: str, what: str) -> Fault:
    return replace(fault, message=f"{fault.message} ({what})") if fault.commit == merge else fault


def _policy_changed(workspace: Workspace, base: str, merge: str) -> list[Fault]:
    before, after = judged_view(workspace, base).bytes_at(CONFIG), judged_view(workspace, merge).bytes_at(CONFIG)
    if before == after:
        return []
    return [Fault("policy.changed", "this request changes the policy: read it with care", merge, CONFIG, "record")]
