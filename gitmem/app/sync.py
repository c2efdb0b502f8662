"""`gitmem sync`: this clone's branch and those of its remotes, brought together and sent back.

For each remote: what it offers is received (`sync_incoming`), joined with the branch here by fast-forward or merge, and
the branch is pushed, forward only. A push that somebody was faster than begins again, a bounded number of times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from gitmem.app import belief, trust
from gitmem.app.sync_incoming import Incoming, Stage, noted, receive, state_of
from gitmem.app.workspace import Workspace, raw_view
from gitmem.errors import GitmemError, Locked, NotFound, RefMoved, Refused, RemoteError, UsageError
from gitmem.model.judgement import Reason
from gitmem.model.layout import BRANCH_SPACE, CONFIG, MAIN
from gitmem.model.text import one_line
from gitmem.store import remote as remotes_of
from gitmem.store.lock import sole, writer_lock
from gitmem.store.port import RefMove
from gitmem.store.quarantine import clear_quarantines
from gitmem.store.remote import PushState, Remote
from gitmem.store.transaction import root_commit_id

if TYPE_CHECKING:
    from gitmem.app.verify import Progress

ATTEMPTS: Final = 40  # times that a push which came too late begins again
_LONGEST: Final = 4.0  # seconds between two of them
_LOCK: Final = "sync"


@dataclass(frozen=True)
class Pushed:
    """What became of a push. `state`: "done", "moved" (the remote's ref was not where it was thought to be),
    "protected" (only a pull request may change it) or "refused"; `reason`: the remote's own words, on one line."""

    state: PushState
    reason: str = ""


@dataclass(frozen=True)
class Synced:
    """What `sync` did with one remote.

    `joined`: "nothing", "adopted", "fast-forward" or "merged"; `before`, `after`: the branch here. `tip`: the remote's
    branch at the end. `pulled`, `pushed`: commits. `left_out`: files of records that came and failed verification.
    `conflicts`, `disputes`: memory ids, see `gitmem conflicts`. `notes`: what else there is to say. `error`: why this
    remote was given up.
    """

    remote: str
    joined: str = "nothing"
    before: str | None = None
    after: str | None = None
    tip: str | None = None
    pulled: int = 0
    pushed: int = 0
    left_out: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    disputes: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    dry_run: bool = False
    error: GitmemError | None = field(default=None)

    @property
    def state(self) -> str:
        """One word: "same", "adopted", "pulled", "merged", "pushed", or the state that the error is about."""
        if self.error is not None:
            return state_of(self.error)
        if self.joined == "nothing":
            return "pushed" if self.pushed else "same"
        return "pulled" if self.joined == "fast-forward" else self.joined


@dataclass(frozen=True)
class Wish:
    """What was asked for. `accept_rewrite`: take a remote as it is although it went back behind what it had."""

    pull: bool = True
    push: bool = True
    dry_run: bool = False
    accept_rewrite: bool = False


def sync(
    workspace: Workspace,
    names: Sequence[str] = (),
    wish: Wish = Wish(),
    *,
    progress: Progress | None = None,
    stage: Stage = lambda text: None,
    pause: Callable[[float], None] | None = None,
) -> list[Synced]:
    """Sync with each remote in turn (origin, or the only one, when none is named); one that fails stops no other.

    Raises UsageError for a name that is not configured and Locked while another sync is at work here.
    """
    chosen = _chosen(workspace, names)
    if wish.accept_rewrite:
        _require_person(workspace, "taking a rewritten history for good")
    with sole(workspace.location, _LOCK) as alone:
        if not alone:
            raise Locked(
                f"another gitmem sync is at work in {workspace.location.title}", hint="wait for it, then try again"
            )
        clear_quarantines(workspace.location)
        return [_attempted(_Exchange(workspace, remote, wish, progress, stage, pause or _sleep)) for remote in chosen]


def push(workspace: Workspace, remote: str, ref_moves: Sequence[RefMove]) -> Pushed:
    """Send branches of gitmem's to a remote, all or none: each to `new` from `old`, where None is absent.

    `gitmem/main` only moves forward; a proposal may be replaced when it is at `old`.

    Raises UsageError for a remote that is not configured or a ref that is never pushed, and RemoteError when the remote
    cannot be reached or is empty: a first branch becomes its default.
    """
    known = remotes_of.remote_named(workspace.location, remote)
    for move in ref_moves:
        if not move.ref.startswith(BRANCH_SPACE) or (move.ref == MAIN and move.new is None):
            raise UsageError(f"{one_line(move.ref, 80)} is never pushed: only branches below gitmem/ are")
    with remotes_of.beside(workspace.location, known) as place:
        if remotes_of.ask(place, known, ref_moves[0].ref).empty:
            raise empty_remote(known)
        force = all(move.ref != MAIN for move in ref_moves)
        done = remotes_of.push(place, known, [(move.ref, move.new, move.old) for move in ref_moves], force=force)
    return Pushed(done.state, done.said)


def empty_remote(remote: Remote) -> RemoteError:
    return RemoteError(
        f"{remote.name} ({remote.shown}) is empty: its first branch becomes its default, and memory must not be that",
        hint=f"push the code first: git push -u {remote.name} HEAD, then gitmem sync",
        details={"state": "empty", "remote": remote.name},
    )


def _chosen(workspace: Workspace, names: Sequence[str]) -> list[Remote]:
    known = remotes_of.remotes(workspace.location)
    if not names:
        if not known:
            raise UsageError(
                f"{workspace.location.title} has no remote to sync with", hint="git remote add origin <url>"
            )
        if "origin" not in known and len(known) > 1:
            raise UsageError(f"which remote? {', '.join(known)}", hint=f"gitmem sync {next(iter(known))}")
        names = ["origin" if "origin" in known else next(iter(known))]
    return [remotes_of.remote_named(workspace.location, name) for name in dict.fromkeys(names)]


def _require_person(workspace: Workspace, what: str) -> None:
    if workspace.env.channel != "terminal":
        raise Refused(
            f"{what} is for a person at a terminal (this is the channel {workspace.env.channel})",
            reasons=[Reason("authority", "a program does not decide that", "ask a person")],
            hint="run it yourself, in a terminal of your own",
        )


def _attempted(exchange: _Exchange) -> Synced:
    try:
        return exchange.run()
    except GitmemError as error:
        return replace(exchange.told, error=error)


class _Exchange:
    """One remote. `told`: what was done so far."""

    def __init__(
        self,
        workspace: Workspace,
        remote: Remote,
        wish: Wish,
        progress: Progress | None,
        stage: Stage,
        pause: Callable[[float], None],
    ) -> None:
        self._workspace = workspace
        self._remote = remote
        self._wish = wish
        self._progress = progress
        self._stage = stage
        self._pause = pause
        here = workspace.backend.ref(MAIN)
        self.told = Synced(remote.name, before=here, after=here, dry_run=wish.dry_run)

    def run(self) -> Synced:
        for attempt in range(ATTEMPTS):
            incoming = self._receive(first=attempt == 0)
            if self._wish.pull:
                self._join(incoming)
            if not self._wish.push or self._pushed(incoming):
                return self.told
            if attempt + 1 < ATTEMPTS:
                self._pause(self._jitter(attempt))
        raise RefMoved(
            f"{self._remote.name} kept moving: {ATTEMPTS} pushes came too late; all is here and nothing is lost",
            hint=f"gitmem sync {self._remote.name}",
            details={"state": "busy", "remote": self._remote.name},
        )

    def _receive(self, *, first: bool) -> Incoming:
        wish = self._wish
        incoming = receive(
            self._workspace, self._remote, admit=not wish.dry_run, accept_rewrite=wish.accept_rewrite and first,
            progress=self._progress, stage=self._stage,
        )  # fmt: skip
        self._tell(tip=incoming.tip)
        if incoming.tip is None and self._workspace.backend.ref(MAIN) is None:
            belief.require_branch(self._workspace)
            raise NotFound(
                f"neither this clone nor {self._remote.name} has a branch gitmem/main",
                hint="gitmem init begins the memory",
                details={"state": "nowhere", "remote": self._remote.name},
            )
        return incoming

    # -- here ------------------------------------------------------------------------------------------------

    def _join(self, incoming: Incoming) -> None:
        """Bring what came into the branch here."""
        tip = incoming.tip
        if tip is None or tip == self._workspace.backend.ref(MAIN):
            return
        if self._wish.dry_run:
            self._foresee(incoming, tip)
            return
        with writer_lock(self._workspace.location):
            joined, after, base = joined_branch(self._workspace, incoming)
        if joined == "nothing":
            return
        now = belief.believe(self._workspace).quarantined  # a merge takes no side that no event explains
        left_out = {fault.path for fault in incoming.faults}.intersection(now)
        self._tell(
            joined=joined if self.told.joined in ("nothing", joined) else "merged",
            after=after,
            pulled=self.told.pulled + incoming.commits,
            left_out=tuple(sorted({*self.told.left_out, *left_out})),
        )
        if base is not None:
            self._tell(
                conflicts=(*self.told.conflicts, *base.conflicts), disputes=(*self.told.disputes, *base.disputes)
            )

    def _foresee(self, incoming: Incoming, tip: str) -> None:
        backend = self._workspace.backend
        here = backend.ref(MAIN)
        if here is None:
            joined = "adopted"
        elif incoming.base == here:
            joined = "fast-forward"
        else:
            joined = "nothing" if incoming.base == tip else "merged"
        left_out = tuple(sorted({fault.path for fault in incoming.faults}))
        self._tell(joined=joined, pulled=incoming.commits, left_out=left_out)

    # -- there -----------------------------------------------------------------------------------------------

    def _pushed(self, incoming: Incoming) -> bool:
        """Send the branch; False when somebody was faster."""
        workspace, remote, tip = self._workspace, self._remote, incoming.tip
        backend = workspace.backend
        here = backend.ref(MAIN)
        if here is None or here == tip:
            return True
        if self._wish.dry_run:
            ahead = here if incoming.base != here else None
            if tip is None and incoming.empty:
                raise empty_remote(remote)
            self._tell(pushed=len(backend.log(here, base=incoming.base)) if ahead or tip is None else 0)
            return True
        here = belief.inert_view(workspace, writing=True).main.commit or here
        if tip is not None and not (backend.resolve(tip) and backend.is_ancestor(tip, here)):
            raise RefMoved(
                f"{remote.name} has commits that are not here; nothing was pushed",
                hint=f"gitmem sync {remote.name} takes them in first",
                details={"state": "behind", "remote": remote.name},
            )
        if incoming.empty:
            raise empty_remote(remote)
        count = self._sound(here, tip)
        self._stage(f"pushing gitmem/main to {remote.name}")
        with remotes_of.beside(workspace.location, remote) as place:
            done = remotes_of.push(place, remote, [(MAIN, here, tip)], force=False)
        if done.state == "moved":
            return False
        if done.state != "done":
            raise self._turned_away(done)
        noted(workspace, incoming, here)
        self._tell(tip=here, pushed=count)
        return True

    def _sound(self, here: str, tip: str | None) -> int:
        """How many commits are to be pushed. Raises Refused when a record in them failed verification here."""
        backend = self._workspace.backend
        commits = backend.log(here, base=tip)
        if belief.has_failed(self._workspace):
            from gitmem.app.verify import verify_range

            report = verify_range(self._workspace, tip, here)
            if report.faults:
                raise Refused(
                    f"what would be pushed to {self._remote.name} does not pass verification; nothing was pushed",
                    reasons=[Reason(f.code, f.message, "mend it here first", f.path) for f in report.faults[:20]],
                    hint="gitmem verify --all names every fault",
                    details={"state": "unsound", "remote": self._remote.name},
                )
        return len(commits)

    def _turned_away(self, done: remotes_of.Push) -> RemoteError:
        name = self._remote.name
        if done.state == "protected":
            what = f"gitmem/main is protected on {name}: it takes changes by pull request only. It said: {done.said}"
            hint = "gitmem propose --push makes one; what you wrote is safe here"
        else:
            what = f"{name} refused the push: {done.said}"
            hint = (
                f"gitmem verify --base {name}/gitmem/main shows faults; gitmem propose --push asks for a pull request"
            )
        return RemoteError(what, hint=hint, details={"state": done.state, "remote": name, "said": done.said})

    def _jitter(self, attempt: int) -> float:
        """Seconds to wait: anything up to twice as long each time."""
        share: float = int.from_bytes(self._workspace.env.random(2)) / 65535
        return share * min(_LONGEST, 0.05 * 1.5**attempt)

    def _tell(self, **changes: Any) -> None:
        self.told = replace(self.told, **changes)


@dataclass(frozen=True)
class Differences:
    """What a merge could not settle by itself: memory ids."""

    conflicts: tuple[str, ...] = ()
    disputes: tuple[str, ...] = ()


def joined_branch(workspace: Workspace, incoming: Incoming) -> tuple[str, str, Differences | None]:
    """Move the branch here to one that contains what came: how, its new tip, what a merge left open.

    To be called under the writer lock. Raises RefMoved when a program that takes no lock moved the branch.
    """
    from gitmem.app.merge import merge_tips

    backend, tip, name = workspace.backend, incoming.tip or "", incoming.remote.name
    here = backend.ref(MAIN)
    if here is None:
        from gitmem.app.init import refuse_names_in_the_way

        belief.require_branch(workspace)
        refuse_names_in_the_way(workspace)
        backend.move_refs([RefMove(MAIN, tip, None, f"gitmem: adopted from {name}")])
        belief.note_verified(workspace, tip, incoming.failed)
        return "adopted", tip, None
    if raw_view(workspace, here).main.entry(CONFIG) is None:
        raise _no_memory()
    here = belief.inert_view(workspace, writing=True).main.commit or here
    if here == tip or backend.is_ancestor(tip, here):
        return "nothing", here, None
    if backend.is_ancestor(here, tip):
        backend.move_refs([RefMove(MAIN, tip, here, f"gitmem: fast-forward to {name}")])
        belief.note_verified(workspace, tip, incoming.failed)
        return "fast-forward", tip, None
    apart = incoming.base in (None, root_commit_id(backend))
    if apart:
        _require_person(workspace, f"joining memory that was begun twice, here and on {name},")
    _refuse_laundering(workspace, incoming, here)
    merged = merge_tips(workspace, here, tip, subject=f"sync: merge gitmem/main of {name}")
    backend.move_refs([RefMove(MAIN, merged.commit, here, f"gitmem: merged {name}")])
    belief.note_verified(workspace, merged.commit, incoming.failed)
    if apart:  # what another beginning brought was never looked at
        trust.revoke(workspace)
    return "merged", merged.commit, Differences(merged.conflicts, merged.disputes)


def _refuse_laundering(workspace: Workspace, incoming: Incoming, here: str) -> None:
    """Raises Refused where a record that failed would be merged with one of ours into a third, which did not fail."""
    ours, base = raw_view(workspace, here).main, raw_view(workspace, incoming.base).main
    torn = sorted({f.path for f in incoming.faults if f.blob is not None and ours.entry(f.path) != base.entry(f.path)})
    if torn:
        raise Refused(
            f"{incoming.remote.name} has records that fail verification and were changed here too; nothing was merged",
            reasons=[Reason("record.torn", "a bad record cannot be merged", "mend it on the remote", p) for p in torn],
            hint=f"gitmem verify --head refs/gitmem/remotes/{incoming.remote.name}/main says what is wrong with them",
            details={"state": "torn", "remote": incoming.remote.name},
        )


def _no_memory() -> Refused:
    return Refused(
        "a branch gitmem/main is here and is not a gitmem memory: it has no gitmem.yaml",
        hint="git branch -m gitmem/main some-other-name, then gitmem sync",
        details={"state": "unrelated"},
    )


def _sleep(seconds: float) -> None:
    from time import sleep

    sleep(seconds)
