"""One commit of two tips of the branch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gitmem.app.merge_sides import joined_views
from gitmem.app.verify_view import judged_view
from gitmem.app.workspace import Workspace
from gitmem.model.frozen import replace
from gitmem.store.remembering import Remembering
from gitmem.store.transaction import Transaction


@dataclass(frozen=True)
class Merged:
    """`commit`: where the branch goes. `result`: same (both tips are one), ahead (ours holds theirs already),
    fast-forward (theirs holds ours), merged (a new commit).

    `records`: how many the merge changed itself. `conflicts`: the memories of which a second text was kept; `disputes`:
    those that contradict others or what was rejected. Nobody is shown them until a person decides.
    """

    commit: str
    result: Literal["same", "ahead", "fast-forward", "merged"]
    records: int = 0
    conflicts: tuple[str, ...] = ()
    disputes: tuple[str, ...] = ()


def merge_tips(workspace: Workspace, ours: str, theirs: str, *, subject: str) -> Merged:
    """Merge two commits of the branch, each of which was verified. Writes objects and moves no ref.

    The tree is the same whoever merges and in which order. Raises CorruptRecord or NotFound when objects are missing.
    """
    backend = workspace.backend
    if ours == theirs:
        return Merged(ours, "same")
    if backend.is_ancestor(theirs, ours):
        return Merged(ours, "ahead")
    if backend.is_ancestor(ours, theirs):
        return Merged(theirs, "fast-forward")
    if not isinstance(backend, Remembering):
        workspace = replace(workspace, backend=Remembering(backend))
    mine, yours = judged_view(workspace, ours), judged_view(workspace, theirs)
    made = joined_views(workspace, mine, yours)
    transaction = Transaction(workspace.backend, mine.main, merges=(theirs,))
    for path, data in made.files.items():
        if data is None:
            transaction.delete(path)
        elif isinstance(data, bytes):
            transaction.put(path, data)
        else:
            transaction.graft(path, data)
    author, committer, _ = workspace.writer
    commit = transaction.commit(f"{subject}\n", author, committer, workspace.env.now())
    return Merged(commit, "merged", len(made.records), tuple(made.kept), tuple(made.disputed))
