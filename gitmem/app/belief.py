"""Belief: which commit of the branch was verified, and what in it was not good enough.

Commits that this clone wrote are believed, because the gate saw them. Every other commit is verified before
anything in it is read: a record that fails is quarantined, a tip that fails as a whole is not entered at all,
and the last believed commit goes on being read. The pin lies outside the history that it judges.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from gitmem.app import state, trust
from gitmem.app.workspace import View, Workspace, raw_view
from gitmem.errors import CorruptRecord, GitmemError, NotFound, Refused
from gitmem.model.frozen import dataclass, field, replace
from gitmem.model.judgement import Reason
from gitmem.model.layout import INBOX, MAIN, PRIVATE
from gitmem.store.loose import DAMAGED_HINT
from gitmem.store.objects import empty_tree
from gitmem.store.snapshot import Snapshot, snapshot
from gitmem.store.worktrees import checked_out_at

if TYPE_CHECKING:
    from gitmem.app.verify_fault import Fault

_STATE = "belief"


@dataclass(frozen=True)
class Belief:
    """`commit`: what is read. `tip`: where the branch is; when it differs, `rejected` says why.

    `failed` maps a path to the objects that failed there at any time, each with the reasons; `quarantined` the paths
    where such an object lies now. `inbox`: the tip of the inbox when every commit of it is this clone's own writing.
    `private`: the newest commits that this clone wrote, or is about to write, to the private ref, the newest first.
    """

    commit: str | None
    tip: str | None
    quarantined: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    failed: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    rejected: tuple[str, ...] = ()
    inbox: str | None = None
    private: tuple[str, ...] = ()


def believe(workspace: Workspace) -> Belief:
    """The belief about the branch now; verifies what is new and foreign."""
    known = _load(workspace)
    tip = workspace.backend.ref(MAIN)
    if tip == known.commit:
        return replace(known, tip=tip, rejected=())
    backend = workspace.backend
    if known.commit is not None and backend.resolve(known.commit) is None:
        lost = f"{known.commit[:12]}, which was believed, is no longer in the repository: gitmem/main was rewritten"
        return replace(_rejecting(workspace, known, tip, lost), commit=None)
    if tip is None:
        return _rejecting(workspace, known, tip, "the branch gitmem/main is gone; what was believed is still read")
    if known.tip == tip and known.rejected:
        return known
    if known.commit is not None and not backend.is_ancestor(known.commit, tip):
        why = f"{tip[:12]} does not descend from {known.commit[:12]}: gitmem/main was rewound or rewritten"
        return _rejecting(workspace, known, tip, why)
    try:
        return _enter(workspace, known, tip)
    except (CorruptRecord, NotFound) as error:
        # Objects of this clone that cannot be read can be mended, so nothing is concluded from them for good.
        if known.commit is None:
            raise CorruptRecord(error.message, hint=error.hint or DAMAGED_HINT, details=error.details) from error
        return replace(known, tip=tip, rejected=(error.message,))


def _enter(workspace: Workspace, known: Belief, tip: str) -> Belief:
    """Verify from the believed commit to `tip` and believe what passes."""
    from gitmem.app.verify import only, verify_range

    report = verify_range(workspace, known.commit, tip)
    whole = tuple(f"{fault.path or fault.commit[:12]}: {fault.message}" for fault in only(report.faults, "tip"))
    if whole:
        return _rejecting(workspace, known, tip, *whole)
    if known.commit is None:
        trust.still_about(workspace, tip)
    return _entered(workspace, known, tip, report.failed())


def _entered(workspace: Workspace, known: Belief, tip: str, faults: Iterable[Fault]) -> Belief:
    failed = {path: dict(blobs) for path, blobs in known.failed.items()}
    for fault in faults:
        if fault.blob is not None:
            blobs = failed.setdefault(fault.path, {})
            blobs[fault.blob] = (*blobs.get(fault.blob, ()), _said(fault))
    quarantined = _failing(raw_view(workspace, tip), failed)
    belief = replace(known, commit=tip, tip=tip, quarantined=quarantined, failed=failed, rejected=())
    _save(workspace, belief)
    return belief


def _failing(view: View, failed: Mapping[str, Mapping[str, tuple[str, ...]]]) -> dict[str, tuple[str, ...]]:
    """The paths of `view` at which an object lies that failed: a later good one ends the quarantine."""
    found = {}
    for path, blobs in failed.items():
        entry = view.main.entry(path)
        if entry is not None and entry.oid in blobs:
            found[path] = blobs[entry.oid]
    return found


def _said(fault: Fault) -> str:
    return f"{fault.code}: {fault.message}"


def believed_view(workspace: Workspace, *, writing: bool = False) -> View:
    """The view that every verb reads: of a branch that is believed, and that a person trusts (`gitmem trust`).

    Refused when there is a branch of which nothing is believed or that nobody trusts; with `writing` also when its tip
    is not believed or it is checked out somewhere.
    """
    return trust.require(inert_view(workspace, writing=writing))


def inert_view(workspace: Workspace, *, writing: bool = False) -> View:
    """As `believed_view`, of a branch that nobody has trusted yet too: for those who show nothing of it."""
    belief = believe(workspace)
    if belief.rejected and (writing or belief.commit is None):
        raise _unbelieved(belief, writing)
    if writing:
        where = checked_out_at(workspace.location, MAIN)
        if where is not None:
            raise Refused(
                f"the branch gitmem/main is checked out in {where}: writing to it would show there as deletions",
                hint=f"git -C {shlex.quote(str(where))} switch --detach, then run this again",
            )
    view = raw_view(workspace, belief.commit)
    own = belief.inbox is not None and belief.inbox == view.inbox.commit
    failed = {path: frozenset(blobs) for path, blobs in belief.failed.items()}
    private, foreign = _private(workspace, belief)
    if foreign and writing:
        raise Refused(f"{foreign}; nothing was written", hint="gitmem doctor says what there is to do")
    doubts = (*_doubts(belief), *((foreign,) if foreign else ()))
    return View(
        workspace, view.main, view.inbox, belief.quarantined, inbox_own=own, doubts=doubts, failed=failed,
        private=private,
    )  # fmt: skip


def _private(workspace: Workspace, belief: Belief) -> tuple[Snapshot, str]:
    """What this clone wrote of its private memory, and what is wrong with the ref. Nobody else has anything to write
    there: a mirror of somebody's repository may bring such a ref along, and nothing of it is read."""
    backend = workspace.backend
    tip = backend.ref(PRIVATE)
    none = Snapshot(backend, None, empty_tree(backend.object_format))
    if tip is None and not belief.private:
        return none, ""
    if tip is not None and tip in belief.private:
        return snapshot(backend, tip), ""
    known = next((commit for commit in belief.private if backend.resolve(commit) is not None), None)
    what = f"at {tip[:12]}, which this clone did not write" if tip else "gone"
    last = f"; {known[:12]} is still read" if known else "; nothing of it is read"
    return (snapshot(backend, known) if known else none), f"{PRIVATE} is {what}{last}"


def earlier_view(view: View, commit: str) -> View:
    """What is believed of an earlier commit of the branch. The inbox has no past worth asking for, and what is this
    user's own is left out: it has an order of its own."""
    then = raw_view(view.workspace, commit)
    failing = _failing(then, _load(view.workspace).failed)
    return replace(view, main=then.main, quarantined=failing, private=None)


def _unbelieved(belief: Belief, writing: bool) -> Refused:
    back = f"git update-ref {MAIN} {belief.commit} goes back to what was believed; " if belief.commit else ""
    return Refused(
        f"the branch gitmem/main is not believed, so nothing is {'written to it' if writing else 'read from it'}",
        reasons=[
            Reason("branch.unbelieved", line, "gitmem verify --all names every fault") for line in belief.rejected
        ],
        hint=f"{back}gitmem reindex --forget believes the present branch after verifying all of it",
    )


def _doubts(belief: Belief) -> Iterator[str]:
    if belief.rejected:
        more = f" (and {len(belief.rejected) - 1} more)" if len(belief.rejected) > 1 else ""
        yield f"gitmem/main is not believed as it is now: {belief.rejected[0]}{more}; see gitmem doctor"
    if belief.quarantined:
        many = len(belief.quarantined) > 1
        said = f"{len(belief.quarantined)} records" if many else "a record"
        yield f"{said} failed verification and {'are' if many else 'is'} left out; see gitmem doctor"


def note_own_commits(workspace: Workspace, view: View, commits: Mapping[str, str]) -> None:
    """This process published `commits` on what was believed: they are believed."""
    known = _load(workspace)
    if MAIN in commits and known.commit == view.main.commit:
        left = _failing(raw_view(workspace, commits[MAIN]), known.failed) if known.quarantined else {}
        known = replace(known, commit=commits[MAIN], tip=commits[MAIN], rejected=(), quarantined=left)
    if INBOX in commits and (view.inbox_own or view.inbox.commit is None):
        known = replace(known, inbox=commits[INBOX])
    if PRIVATE in commits:
        known = replace(known, private=(commits[PRIVATE],))
    _save(workspace, known)


def intend(workspace: Workspace, commit: str) -> None:
    """This process is about to move the private ref to `commit`: if it is killed in between, that is its own all the
    same."""
    known = _load(workspace)
    _save(workspace, replace(known, private=(commit, *known.private[:1])))


def note_verified(workspace: Workspace, tip: str, faults: Iterable[Fault]) -> None:
    """This process moved the branch to `tip`, all of which is believed here or was verified but for these records."""
    _entered(workspace, _load(workspace), tip, faults)


def pinned(workspace: Workspace) -> str | None:
    """The commit that was believed last. Nothing is verified."""
    return _load(workspace).commit


def has_failed(workspace: Workspace) -> bool:
    """Did a record of the branch fail verification at any time?"""
    return bool(_load(workspace).failed)


def reconsider(workspace: Workspace) -> None:
    """Verify the tip again although it was rejected: what was missing of its history is here now."""
    _save(workspace, replace(_load(workspace), rejected=()))


def require_branch(workspace: Workspace) -> None:
    """Raises Refused when there was a branch and it is gone: what was believed is the only name of it that is left."""
    known = _load(workspace)
    if known.commit is not None and workspace.backend.ref(MAIN) is None:
        raise Refused(
            f"the branch gitmem/main is gone; {known.commit[:12]} of it was believed last; nothing was done",
            hint=f"git update-ref {MAIN} {known.commit} brings it back",
        )


def forget(workspace: Workspace) -> None:
    """Drop the pin: the next read verifies the whole branch and believes what passes. What is private is believed as it
    lies there now."""
    tip = workspace.backend.ref(PRIVATE)
    state.save(workspace.location.private, _STATE, {"private": [tip]} if tip else {})


def _rejecting(workspace: Workspace, known: Belief, tip: str | None, *why: str) -> Belief:
    belief = replace(known, tip=tip, rejected=why)
    _save(workspace, belief)
    return belief


def _load(workspace: Workspace) -> Belief:
    data = state.load(workspace.location.private, _STATE)
    names = {name: data.get(name) for name in ("commit", "tip", "inbox")}
    try:
        belief = Belief(
            **names,
            quarantined=_reasons(data.get("quarantined", {})),
            failed={path: _reasons(blobs) for path, blobs in data.get("failed", {}).items()},
            rejected=tuple(data.get("rejected", ())),
            private=tuple(data.get("private", ())),
        )
    except (AttributeError, TypeError):
        return Belief(None, None)
    plain = all(isinstance(value, str | None) for value in (*names.values(), *belief.rejected, *belief.private))
    return belief if plain else Belief(None, None)


def _reasons(data: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(str(reason) for reason in reasons) for name, reasons in data.items()}


def _save(workspace: Workspace, belief: Belief) -> None:
    if workspace.location.quarantined:
        return  # inside a server's hook nothing may be written
    data: dict[str, Any] = {
        "commit": belief.commit,
        "tip": belief.tip,
        "quarantined": {path: list(reasons) for path, reasons in belief.quarantined.items()},
        "failed": {
            path: {blob: list(reasons) for blob, reasons in blobs.items()} for path, blobs in belief.failed.items()
        },
        "rejected": list(belief.rejected),
        "inbox": belief.inbox,
        "private": list(belief.private),
    }
    with suppress(GitmemError):  # a clone that may not be written to is read; it is verified again each time
        state.save(workspace.location.private, _STATE, data)
