"""`gitmem propose`: a branch cut from gitmem/main with one commit a memory, for review where the team reviews."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from gitmem.app import state
from gitmem.app.batch import Batch
from gitmem.app.belief import believed_view
from gitmem.app.chain import Chain, fresh_chain
from gitmem.app.env import Env
from gitmem.app.facts import index_lookup
from gitmem.app.moves import find_for
from gitmem.app.outbox import record_refusals
from gitmem.app.remember import proposal_of
from gitmem.app.staging import Staging
from gitmem.app.tiers import accepting
from gitmem.app.verdicts import waiting
from gitmem.app.workspace import Found, View, Workspace
from gitmem.app.writing import Judged, Mutation, judge
from gitmem.errors import NotFound, Refused, UsageError
from gitmem.model.citations import citation
from gitmem.model.frozen import dataclass, replace
from gitmem.model.ids import is_memory_id
from gitmem.model.judgement import Change, Facts, Reason
from gitmem.model.layout import CONFIG, EVENTS, INBOX, MAIN, MEMORIES, PROPOSALS, memory_of_path, proposal_ref
from gitmem.model.nouns import Memory, Proposal
from gitmem.model.text import one_line
from gitmem.model.vocabulary import WAITING
from gitmem.store.lock import writer_lock
from gitmem.store.objects import empty_tree
from gitmem.store.port import RefMove
from gitmem.store.snapshot import Snapshot, changed_paths, tree_of

_STATE: Final = "proposals"
OPEN, MERGED, PART, HERE = "open", "merged", "partly merged", "accepted here"
_CITED: Final = 20  # references that the message of a commit names
_LIMIT: Final = 500  # memories of one proposal: nobody reviews more in one sitting


@dataclass(frozen=True)
class Proposed:
    """One memory of a proposal: the commit that brings it, who said it first, and what was found beside it."""

    memory: Memory
    commit: str
    proposal: Proposal | None
    facts: Facts


@dataclass(frozen=True)
class Offer:
    """A proposal: the branch and what is on it. `left`: candidates that the gate refuses today, and why.

    `waits`: the memories stay candidates when the branch is merged; a person accepts them then.
    """

    name: str
    ref: str
    base: str
    tip: str
    items: tuple[Proposed, ...]
    left: tuple[tuple[Memory, tuple[Reason, ...]], ...]
    waits: bool

    @property
    def branch(self) -> str:
        return self.ref.removeprefix("refs/heads/")


@dataclass(frozen=True)
class Standing:
    """A proposal that is here, and how far it has come: open, merged, partly merged, or accepted here.

    `merged` are on gitmem/main; of these `here` were let in by a verdict of this team, not with the proposal. `pushed`:
    the remotes that were given it as it is. `own`: it was made in this clone.
    """

    name: str
    tip: str
    state: str
    waiting: tuple[str, ...]
    merged: tuple[str, ...]
    here: tuple[str, ...]
    pushed: tuple[str, ...]
    own: bool


def propose(workspace: Workspace, prefixes: Sequence[str], *, name: str | None = None) -> Offer:
    """Make the branch of a proposal; nothing else moves. Without `prefixes` it holds all that waits and is in no other.

    The gate judges each on what gitmem/main says today. What was named and is refused refuses all; of what was not
    named it is left out. Raises NotFound when nothing is left.
    """
    with writer_lock(workspace.location):
        view = believed_view(workspace)
        view.require_config()
        found = [_named(view, prefix) for prefix in dict.fromkeys(prefixes)] if prefixes else _unproposed(view)
        if len(found) > _LIMIT:
            raise UsageError(f"{len(found)} candidates are too many for one proposal", hint="name some of them")
        ref = proposal_ref(name or f"{workspace.env.now():%Y-%m-%d}-{found[0].memory.id}")
        require_new(workspace, ref)
        env = view.workspace.env
        leaves = view.require_config().review == "forge" and env.channel != "terminal"
        acting = alone(view, replace(env, channel="forge", host=None) if leaves else env)
        tip, items, left = _branch(view, acting, found)
        if left and (prefixes or not items):
            record_refusals(workspace, [(Change("accept", memory), reasons) for memory, reasons in left])
            what = f"{len(left)} of {len(found)} candidates were" if len(found) > 1 else f"{left[0][0].id} was"
            raise Refused(f"{what} refused; nothing was proposed", reasons=_labelled(left))
        workspace.backend.move_refs([RefMove(ref, tip, None, "gitmem: propose")])
        note(workspace, ref.removeprefix(PROPOSALS), [item.memory.id for item in items])
    waits = any(item.memory.status in WAITING for item in items)
    return Offer(ref.removeprefix(PROPOSALS), ref, view.main.commit or "", tip, tuple(items), tuple(left), waits)


def require_new(workspace: Workspace, ref: str) -> None:
    """Raise UsageError when there is a proposal of that name."""
    if workspace.backend.ref(ref) is not None:
        name, branch = ref.removeprefix(PROPOSALS), ref.removeprefix("refs/heads/")
        hint = f"gitmem propose --push --name {name} offers it; git branch -D {branch} takes it away"
        raise UsageError(f"there is a proposal {name} already", hint=hint)


def _labelled(left: Sequence[tuple[Memory, tuple[Reason, ...]]]) -> list[Reason]:
    return [
        replace(reason, where=f"{memory.id[:8]}: {reason.where}".strip(": "))
        for memory, reasons in left
        for reason in reasons
    ]


def _named(view: View, prefix: str) -> Found:
    found = find_for(view, "propose", prefix)
    if found.memory.status not in WAITING:
        hint = f"gitmem log {found.memory.id} tells what became of it"
        if view.require_config().review == "forge" and found.ref == MAIN:
            hint = f'what is to become of it is proposed by its own verb: gitmem wrong {found.memory.id} --because "…"'
        raise UsageError(f"{found.memory.id} is {found.memory.status}: only a candidate is proposed", hint=hint)
    if found.memory.scope.audience != "team":
        message = "the record is for its writer only, and a proposal is read by the whole team"
        raise Refused(
            f"{found.memory.id} is for you alone; nothing was proposed",
            reasons=[Reason("audience.store", message, f"gitmem accept {found.memory.id}", "scope.audience")],
        )
    return found


def _unproposed(view: View) -> list[Found]:
    """What waits here for the team and is in no proposal that is still open."""
    offered = {i for standing in standings(view) for i in standing.waiting}
    found = [
        item
        for item in waiting(view)
        if item.ref == INBOX and item.memory.scope.audience == "team" and item.memory.id not in offered
    ]
    if not found:
        hint = "gitmem propose --status" if offered else "gitmem list --inbox"
        raise NotFound("nothing waits that is not proposed already" if offered else "nothing waits", hint=hint)
    return found


def alone(view: View, env: Env) -> View:
    """The view by which events are written: no inbox, for a branch stands by itself. `env` is whose events they are:
    where the policy leaves review to the forge, what a program proposes is let in by whoever merges it there."""
    backend = view.workspace.backend
    nothing = Snapshot(backend, None, empty_tree(backend.object_format))
    return replace(view, workspace=replace(view.workspace, env=env), inbox=nothing)


def _branch(
    here: View, view: View, found: Sequence[Found]
) -> tuple[str, list[Proposed], list[tuple[Memory, tuple[Reason, ...]]]]:
    """The commits, one a memory, each on the one before it. What others rest on comes first: it was proposed before."""
    workspace, known = view.workspace, index_lookup(here)
    chains: dict[str, Chain] = {MAIN: fresh_chain(workspace)}
    items: list[Proposed] = []
    left: list[tuple[Memory, tuple[Reason, ...]]] = []
    told = {item.memory.id: proposal_of(here, item.memory.id, item.ref) for item in found}
    for item in sorted(found, key=lambda item: (_at(told[item.memory.id]), item.memory.id)):
        proposal = told[item.memory.id]
        try:
            mutations = list(_mutations(here, view, item, proposal))
        except Refused as error:
            left.append((item.memory, tuple(error.reasons)))
            continue
        subject = f"propose {item.memory.id}: {one_line(item.memory.title, 60)}"
        alongside = {mutation.change.after.id: mutation.change.after for mutation in mutations}
        batch = Batch()
        for before in items:
            batch.add(before.memory)
        judged = list(judge(view, mutations, known, subject, batch=batch, alongside=alongside))
        reasons = tuple(reason for one in judged if _stops(one) for reason in one.decision.reasons)
        if reasons:
            left.append((item.memory, reasons))
            continue
        staging = Staging(workspace, view, chains)
        try:
            for one in judged:
                staging.put(one)
            commit = staging.commits(subject + _cited(item.memory))[MAIN]
        finally:
            staging.close()
        first = judged[0]
        items.append(Proposed(first.mutation.change.after, commit, proposal, first.facts))
        view = replace(view, main=Snapshot(workspace.backend, commit, tree_of(workspace.backend, commit)))
    return view.main.commit or "", items, left


def _cited(memory: Memory) -> str:
    """What the commit of a memory says below its subject: what it rests on, which the gate has looked at."""
    said = [one_line(f"{ref.role}: {citation(ref)}", 200) for ref in memory.evidence[:_CITED]]
    return "\n\n" + "\n".join(said) if said else ""


def _at(proposal: Proposal | None) -> str:
    return proposal.at if proposal is not None else ""


def _stops(one: Judged) -> bool:
    """A candidate may wait on the branch for evidence that cannot be reached from here; what is believed may not."""
    verdict = one.decision.verdict
    return verdict == "refuse" or (verdict == "hold" and one.mutation.change.after.status not in WAITING)


def _mutations(here: View, view: View, item: Found, proposal: Proposal | None) -> Iterator[Mutation]:
    """What the commit of one candidate holds.

    A person, or the forge where the policy says so, lets it in. Of a program it stays a candidate: the branch says
    that it was proposed, and a person decides after the merge as before it.
    """
    channel, why = view.workspace.env.channel, proposal.reason if proposal is not None else None
    if channel in ("terminal", "forge"):
        for mutation in accepting(here, item, why or "proposed for review"):
            yield replace(mutation, leaves_inbox=False)
        return
    op: Any = proposal.op if proposal is not None and proposal.op == "import" else "create"
    yield Mutation(Change(op, item.memory, reason=why or ""), MAIN, proposed=proposal)


def standings(view: View) -> list[Standing]:
    """Every proposal of this clone, by name."""
    noted = state.load(view.workspace.location.private, _STATE)
    found = []
    for ref, tip in view.workspace.backend.refs(PROPOSALS):
        name = ref.removeprefix(PROPOSALS)
        known = noted.get(name)
        apart = _told_of(view, tip)
        ids = known["ids"] if isinstance(known, dict) and isinstance(known.get("ids"), list) else None
        moves = isinstance(known, dict) and known.get("moves") is True
        if ids is None:
            brought = list(_brought(view, tip))
            ids, moves = brought or sorted(apart), not brought
        # What a move is about is there before and after, or never (a rejected candidate): its event tells of a merge.
        merged = tuple(
            i
            for i in sorted(map(str, ids))
            if (is_memory_id(i) or i == CONFIG) and (i not in apart if moves else view.memory(i))
        )
        waits = tuple(i for i in sorted(map(str, ids)) if i not in merged)
        given = known.get("pushed", {}) if isinstance(known, dict) else {}
        pushed = tuple(sorted(remote for remote, there in given.items() if there == tip))
        here = tuple(i for i in merged if i in apart)
        stands = OPEN if not merged else PART if waits else HERE if here == merged else MERGED
        found.append(Standing(name, tip, stands, waits, merged, here, pushed, isinstance(known, dict)))
    return found


def unpushed(view: View, remote: str | None) -> list[str]:
    """The names of the proposals of this clone that wait and that the remote, or without one none, was given."""
    return [
        each.name
        for each in standings(view)
        if each.own and each.waiting and (not each.pushed if remote is None else remote not in each.pushed)
    ]


def _told_of(view: View, tip: str) -> set[str]:
    """The memories, or gitmem.yaml, of which a proposal has an event that gitmem/main lacks."""
    backend = view.workspace.backend
    old, new = view.main.entry(EVENTS), Snapshot(backend, tip, tree_of(backend, tip)).entry(EVENTS)
    changes = changed_paths(backend, old.oid if old else None, new.oid) if new is not None else ()
    new_events = (change.path.rsplit("/", 1)[-1] for change in changes if change.old is None)
    subjects = {name.removesuffix(".json").partition(".")[2] for name in new_events}
    return {CONFIG if subject == "branch" else subject for subject in subjects}


def _brought(view: View, tip: str) -> Iterator[str]:
    """The memories that a proposal from elsewhere has and gitmem/main lacks."""
    backend = view.workspace.backend
    old, new = view.main.entry(MEMORIES), Snapshot(backend, tip, tree_of(backend, tip)).entry(MEMORIES)
    if new is not None:
        for changed in changed_paths(backend, old.oid if old else None, new.oid):
            identifier = memory_of_path(f"{MEMORIES}/{changed.path}")
            if identifier is not None and changed.old is None:
                yield identifier


def note_pushed(workspace: Workspace, name: str, remote: str, tip: str) -> None:
    """Remember that a remote has a proposal now."""
    noted = state.load(workspace.location.private, _STATE)
    known = noted.get(name)
    known = known if isinstance(known, dict) else {}
    noted[name] = {**known, "pushed": {**known.get("pushed", {}), remote: tip}}
    state.save(workspace.location.private, _STATE, noted)


def note_text(workspace: Workspace, name: str, title: str, body: str) -> None:
    """Keep what a pull request would say, for a push that comes later."""
    noted = state.load(workspace.location.private, _STATE)
    known = noted.get(name)
    noted[name] = {**(known if isinstance(known, dict) else {}), "title": title, "body": body}
    state.save(workspace.location.private, _STATE, noted)


def kept_text(workspace: Workspace, name: str) -> tuple[str, str]:
    """(title, body) of a proposal that was made here; plain ones for any other. NotFound when it is not here."""
    if workspace.backend.ref(proposal_ref(name)) is None:
        raise NotFound(f"there is no proposal {name}", hint="gitmem propose --status")
    known = state.load(workspace.location.private, _STATE).get(name)
    known = known if isinstance(known, dict) else {}
    return str(known.get("title") or f"memory: {name}"), str(known.get("body") or "Memories for `gitmem/main`.\n")


def note(workspace: Workspace, name: str, ids: Sequence[str], *, moves: bool = False) -> None:
    """Remember what a proposal is about. `moves`: the memories, or gitmem.yaml, are on gitmem/main already."""
    noted = state.load(workspace.location.private, _STATE)
    noted[name] = {"ids": list(ids), "pushed": {}, **({"moves": True} if moves else {})}
    state.save(workspace.location.private, _STATE, noted)
