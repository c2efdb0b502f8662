"""What a remote offers, judged before any of it is in the repository.

It is fetched into a quarantine; the history is compared with what was verified of the remote before; every new commit
is judged as every reader judges it. Then the objects and the ref `refs/gitmem/remotes/<remote>/main` come in together.
What makes the tip as a whole unbelievable refuses all of it; a record that is bad by itself comes in and is not
believed, so that one bad record on a shared branch does not cut a team off from each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from gitmem.app import belief
from gitmem.app.sync_pins import pin, pins
from gitmem.app.workspace import Workspace
from gitmem.errors import CorruptRecord, NotFound, Refused, RemoteError
from gitmem.model.judgement import Reason
from gitmem.model.layout import MAIN
from gitmem.model.text import one_line
from gitmem.store.port import Backend, RefMove
from gitmem.store.quarantine import Quarantine, fetched_ref, have_refs, is_whole, tracking_ref
from gitmem.store.remote import Remote, ask, beside, fetch

if TYPE_CHECKING:
    from gitmem.app.verify import Progress, Report
    from gitmem.app.verify_fault import Fault

_SHOWN: Final = 20  # faults that a refusal lists
Stage = Callable[[str], None]


@dataclass(frozen=True)
class Incoming:
    """What a remote has. `tip`: its branch, None when it has none; `empty`: it has no branch of any name.

    `base`: the newest commit that it shares with what is believed here. `report`: what was judged, None when nothing
    had to be. `commits`: how many are new here. `pins`: the tips that it was known to have had.
    """

    remote: Remote
    tip: str | None
    empty: bool
    base: str | None = None
    report: Report | None = None
    commits: int = 0
    pins: tuple[str, ...] = ()

    @property
    def faults(self) -> tuple[Fault, ...]:
        """Of single records."""
        return tuple(fault for fault in self.report.faults if fault.reach == "record") if self.report else ()

    @property
    def failed(self) -> list[Fault]:
        """Of single records, those that were put back since among them."""
        return self.report.failed() if self.report else []


def receive(
    workspace: Workspace,
    remote: Remote,
    *,
    admit: bool,
    accept_rewrite: bool = False,
    progress: Progress | None = None,
    stage: Stage = lambda text: None,
) -> Incoming:
    """Ask the remote; fetch, judge and take in what is new, or with `admit` false only judge it.

    Raises RemoteError, and Refused for a history that went back or is another one, or a tip that is not believable.
    """
    backend, location = workspace.backend, workspace.location
    known = pins(workspace.env, backend, remote)
    with beside(location, remote) as place:
        try:
            offer = ask(place, remote, MAIN)
        except RemoteError as error:
            if backend.ref(MAIN) is None and backend.ref(tracking_ref(remote.name)) is not None:
                error.hint = f"gitmem init --offline takes over {remote.name}/gitmem/main as this clone has it"
            raise
        tip = offer.tip
        if tip is None:
            if known and not accept_rewrite:
                raise _went_back(remote, None, known[0], "gone")
            return Incoming(remote, None, offer.empty, pins=known)
        local = backend.ref(MAIN)
        if tip == local and not location.shallow and not location.partial and set(known) <= {tip}:
            if admit:
                _note(workspace, remote, tip, known)
            return Incoming(remote, tip, False, base=tip, pins=known)
        if backend.resolve(tip) is None or not is_whole(location, tip, backend):
            stage(f"fetching gitmem/main of {remote.name}")
            haves = [oid for ref in have_refs(remote.name) if (oid := backend.ref(ref))]
            place.have([oid for oid in haves if is_whole(location, oid, backend)])
            tip = fetch(place, remote, MAIN)
        there = place.backend()
        try:
            _require_commit(place, remote, tip)
            made = _judged(workspace, place, there, Incoming(remote, tip, False, pins=known), accept_rewrite, progress)
        finally:
            there.close()
        if admit:
            into = fetched_ref(remote.name)
            place.admit(backend, [RefMove(into, tip, backend.ref(into), f"gitmem: fetched from {remote.name}")])
            pin(workspace.env, backend, remote, tip, before=known, forced=accept_rewrite)
            if location.shallow:
                belief.reconsider(workspace)
        return made


def _require_commit(place: Quarantine, remote: Remote, tip: str) -> None:
    """Git refuses to make a branch of another object; a remote that lies offers one all the same."""
    from gitmem.app.verify_fault import Fault

    kind = place.location.git("cat-file", "-t", tip).lines
    if kind != ["commit"]:
        said = f"the branch is a {one_line(' '.join(kind), 20) or 'missing object'} and not a commit"
        raise _unbelievable(remote, tip, (Fault("commit.shape", said, tip),))


def kept_here(workspace: Workspace, remote: Remote) -> Incoming | None:
    """What a plain `git clone` or `git fetch` kept of the remote's branch, judged as what arrives is; the remote is not
    asked. None when it kept none, or not all of it. Raises as `receive` does."""
    from gitmem.app.verify import verify_range

    backend, location = workspace.backend, workspace.location
    tip = backend.ref(tracking_ref(remote.name))
    if tip is None or not is_whole(location, tip, backend):
        return None
    known = pins(workspace.env, backend, remote)
    for one in known:
        if backend.resolve(one) is None or not backend.is_ancestor(one, tip):
            raise _went_back(remote, tip, one, "rewritten")
    report = verify_range(workspace, None, tip)
    whole = tuple(fault for fault in report.faults if fault.reach == "tip")
    if whole:
        raise _unbelievable(remote, tip, whole)
    return Incoming(remote, tip, False, report=report, pins=known)


def _note(workspace: Workspace, remote: Remote, tip: str, known: tuple[str, ...]) -> None:
    into = fetched_ref(remote.name)
    before = workspace.backend.ref(into)
    if before != tip:
        workspace.backend.move_refs([RefMove(into, tip, before, f"gitmem: verified of {remote.name}")])
    if tip not in known or before != tip:
        pin(workspace.env, workspace.backend, remote, tip, before=known)


def noted(workspace: Workspace, incoming: Incoming, tip: str) -> None:
    """The remote took `tip`: that is what it has to contain from now on."""
    _note(workspace, incoming.remote, tip, incoming.pins)


def _judged(
    workspace: Workspace,
    place: Quarantine,
    there: Backend,
    incoming: Incoming,
    accept_rewrite: bool,
    progress: Progress | None,
) -> Incoming:
    from gitmem.app.verify import Report, verify_range
    from gitmem.app.verify_fault import Fault

    remote, tip = incoming.remote, incoming.tip or ""
    for known in () if accept_rewrite else incoming.pins:
        if there.resolve(known) is None:
            raise _went_back(remote, tip, known, "rewritten")
        if not there.is_ancestor(known, tip):
            raise _went_back(remote, tip, known, "rolled back" if there.is_ancestor(tip, known) else "rewritten")
    believed = belief.pinned(workspace)
    if believed is not None and there.resolve(believed) is not None and is_whole(place.home, believed, there):
        base = place.merge_base(believed, tip)
    else:
        base = None
    try:
        report = verify_range(replace(workspace, backend=there), base, tip, progress=progress)
    except (CorruptRecord, NotFound) as error:
        fault = Fault("object.damaged", error.message, tip)
        report = Report(base, tip, 0, 0, (fault,))
    whole = tuple(fault for fault in report.faults if fault.reach == "tip")
    if whole:
        raise _unbelievable(remote, tip, whole)
    local = workspace.backend.ref(MAIN)
    return replace(incoming, base=base, report=report, commits=place.count(tip, local))


def _went_back(
    remote: Remote, tip: str | None, known: str, state: Literal["gone", "rolled back", "rewritten"]
) -> Refused:
    now = f"is at {tip[:12]} now" if tip else "is gone now"
    what = {
        "gone": f"{remote.name} had gitmem/main at {known[:12]}, and it {now}: it was deleted there",
        "rolled back": f"gitmem/main of {remote.name} {now}, behind {known[:12]}, which it had before: a rollback",
        "rewritten": f"gitmem/main of {remote.name} {now}, which does not contain {known[:12]}, which it had before:"
        " its history was rewritten",
    }[state]
    return Refused(
        f"{what}; nothing was taken from it or sent to it",
        reasons=[
            Reason(f"remote.{state.replace(' ', '_')}", "a memory branch only ever moves forward", "ask who moved it")
        ],
        hint=f"when that was meant to be: gitmem sync {remote.name} --accept-rewrite, at a terminal",
        details={"state": state, "remote": remote.name, "tip": tip, "known": known},
    )


def _unbelievable(remote: Remote, tip: str, faults: tuple[Fault, ...]) -> Refused:
    from gitmem.app.verify_mending import undoing
    from gitmem.app.verify_settled import TAKEN

    unrelated = any(fault.code == "history.root" for fault in faults)
    what = "is no gitmem memory, or one with an unrelated root" if unrelated else "does not pass verification"
    more = len(faults) - _SHOWN
    hint = f"ask who pushed it: git fetch {remote.name}, then git log {remote.name}/gitmem/main"
    taking = next((fault.commit for fault in faults if fault.code in TAKEN), None)
    if taking is not None:
        hint += f"; what {taking[:10]} took away comes back with: {undoing(taking, tip, remote.name)}"
    return Refused(
        f"the branch gitmem/main of {remote.name} {what}; nothing of it was taken, and nothing was sent to it",
        reasons=[
            Reason(fault.code, one_line(fault.message, 300), "mend it on the remote", fault.path or fault.commit[:12])
            for fault in faults[:_SHOWN]
        ]
        + ([Reason("more", f"and {more} more", "mend them on the remote")] if more > 0 else []),
        hint=hint,
        details={"state": "unrelated" if unrelated else "unbelievable", "remote": remote.name},
    )


def state_of(error: Any) -> str:
    """The name of the state that an error is about; "failed" for one that has none."""
    return str(error.details.get("state", "failed"))
