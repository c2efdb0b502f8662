"""One commit of two tips of the branch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gitmem.app.merge_sides import joined_views
from gitmem.app.verify_view import judged_view
from gitmem.app.workspace import Workspace
from gitmem.errors import Refused
from gitmem.model.frozen import replace
from gitmem.model.judgement import Reason
from gitmem.model.layout import CONFIG
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

    The tree is the same whoever merges and in which order. Raises CorruptRecord or NotFound when objects are missing,
    Refused when each side has a policy with other people.
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
    if made.apart:
        raise _apart()
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


def _apart() -> Refused:
    return Refused(
        "the policies of the two sides name different people whose signature protects them; nothing was merged",
        reasons=[
            Reason(
                "policy.apart",
                "neither side's people signed what the other changed, so no program can say which policy stands",
                "make both the same: gitmem policy signer remove, gitmem policy signer add",
                CONFIG,
            )
        ],
        hint="gitmem policy shows this side's; one of the two takes its people back, then gitmem sync",
        details={"state": "apart"},
    )
