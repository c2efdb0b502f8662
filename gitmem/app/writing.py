"""The one way in: every verb that changes a record builds mutations and hands them to `write`.

Facts are gathered, the gate decides, objects are written, refs move by compare-and-swap. When a ref moved in
between, everything is judged again on the new state. Nothing is written unless every mutation passes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, Literal

from gitmem.app import belief
from gitmem.app.chain import Chain, open_chain, save_chains
from gitmem.app.facts import Lookup, gather, index_lookup
from gitmem.app.outbox import record_refusals
from gitmem.app.workspace import View, Workspace
from gitmem.errors import RefMoved, Refused
from gitmem.model.claims import claim_digest
from gitmem.model.ids import event_id
from gitmem.model.judgement import Change, Decision, Facts, Reason
from gitmem.model.layout import CONFIG, INBOX, MAIN, memory_path, tombstone_path
from gitmem.model.nouns import Actor, Config, Event, GateRecord, Memory, Proposal, Tombstone, TombstoneEntry
from gitmem.model.records import (
    config_bytes,
    digest,
    edited_bytes,
    memory_bytes,
    memory_from_bytes,
    tombstone_bytes,
)
from gitmem.model.text import one_line
from gitmem.model.times import format_instant
from gitmem.model.vocabulary import KIND_CLASS
from gitmem.policy.gate import RULES_VERSION, decide
from gitmem.store.identity import identity
from gitmem.store.lock import writer_lock
from gitmem.store.port import RefMove
from gitmem.store.repack import repack, repack_due
from gitmem.store.snapshot import Snapshot
from gitmem.store.transaction import Transaction

ATTEMPTS: Final = 20


@dataclass(frozen=True)
class Mutation:
    """One change and where it lands.

    `entomb` writes or lifts the tombstone of the claim. `leaves_inbox` takes the candidate out of the inbox.
    `proposed` is what an accepted candidate came from. `unresolved`: why references could not be expanded.
    A `hold` by the gate sends the record to the inbox.
    """

    change: Change
    ref: str
    entomb: Literal["reject", "lift"] | None = None
    leaves_inbox: bool = False
    stores_record: bool = True
    proposed: Proposal | None = None
    unresolved: tuple[Reason, ...] = ()


@dataclass(frozen=True)
class Judged:
    mutation: Mutation
    facts: Facts
    decision: Decision


@dataclass(frozen=True)
class Outcome:
    """What was decided and published. `commits` maps each ref that moved to its new commit."""

    judged: tuple[Judged, ...]
    commits: dict[str, str]
    view: View


Plan = Callable[[View, Lookup], Sequence[Mutation]]


def write(
    workspace: Workspace,
    plan: Plan,
    *,
    subject: Callable[[Sequence[Mutation]], str],
    dry_run: bool = False,
    lookup: Callable[[View], Lookup] = index_lookup,
) -> Outcome:
    """Judge the mutations that `plan` makes of the believed state, and publish all of them or none.

    Raises Refused with every reason, RefMoved when the branch kept moving.
    """
    outcome = _written(workspace, plan, subject, dry_run, lookup)
    if outcome.commits and repack_due(workspace.location):
        repack(workspace.location)
    return outcome


def _written(
    workspace: Workspace,
    plan: Plan,
    subject: Callable[[Sequence[Mutation]], str],
    dry_run: bool,
    lookup: Callable[[View], Lookup],
) -> Outcome:
    with writer_lock(workspace.location):
        for _ in range(ATTEMPTS):
            view = belief.believed_view(workspace, writing=True)
            known = lookup(view)
            mutations = list(plan(view, known))
            judged = judge(view, mutations, known, subject(mutations))
            refused = [(item.mutation.change, item.decision.reasons) for item in judged if _refuses(item)]
            if refused:
                if not dry_run:
                    record_refusals(workspace, refused)
                raise _refusal(judged)
            judged = [_held(item) if item.decision.verdict == "hold" else item for item in judged]
            if dry_run or not judged:
                return Outcome(tuple(judged), {}, view)
            try:
                commits = _publish(workspace, view, judged, subject([item.mutation for item in judged]))
            except RefMoved:
                continue
            return Outcome(tuple(judged), commits, view)
    raise RefMoved(
        f"the branch moved {ATTEMPTS} times while this was being written; nothing was written",
        hint="run the command again",
    )


def judge(
    view: View, mutations: Sequence[Mutation], lookup: Lookup, subject: str, *, batch: Sequence[Memory] = ()
) -> list[Judged]:
    """The gate over each mutation, each with the origin that the gate derives. `batch` came before them."""
    config = view.config
    judged = []
    everything = [*batch, *(mutation.change.after for mutation in mutations)]
    for number, mutation in enumerate(mutations, len(batch)):
        facts = gather(view, mutation.change, lookup, batch=everything[:number], alongside=everything, names=(subject,))
        decision = decide(mutation.change, facts, config)
        if mutation.unresolved:
            others = tuple(r for r in decision.reasons if r.code != "evidence.missing")
            decision = replace(decision, verdict="refuse", reasons=(*mutation.unresolved, *others))
        if mutation.change.op in DERIVES_ORIGIN and mutation.change.after.origin != decision.origin:
            after = replace(mutation.change.after, origin=decision.origin)
            mutation = replace(mutation, change=replace(mutation.change, after=after))
        judged.append(Judged(mutation, facts, decision))
    return judged


# The operations that make or remake the text; the others leave origin as it was.
DERIVES_ORIGIN: Final = frozenset({"create", "import", "edit"})


def _refuses(item: Judged) -> bool:
    """A hold is a refusal for whoever cannot be held: only a new record can wait in the inbox."""
    if item.decision.verdict == "hold":
        return item.mutation.change.op not in ("create", "import")
    return item.decision.verdict == "refuse"


def _held(item: Judged) -> Judged:
    after = replace(item.mutation.change.after, status="candidate")
    return replace(item, mutation=replace(item.mutation, ref=INBOX, change=replace(item.mutation.change, after=after)))


def _refusal(judged: Sequence[Judged]) -> Refused:
    bad = [item for item in judged if _refuses(item)]
    reasons: list[Reason] = []
    details = []
    for number, item in enumerate(judged, 1):
        if not _refuses(item):
            continue
        label = f"draft {number}" if len(judged) > 1 else ""
        own = [replace(r, where=f"{label}: {r.where}".strip(": ") if label else r.where) for r in item.decision.reasons]
        reasons += own
        details.append({"title": item.mutation.change.after.title, "reasons": [r.code for r in item.decision.reasons]})
    title = one_line(bad[0].mutation.change.after.title, 60) if len(bad) == 1 else ""
    what = f"“{title}”" if title else f"{len(bad)} of {len(judged)} drafts"
    return Refused(f"{what} refused; nothing was written", reasons=reasons, details={"refused": details})


def _publish(workspace: Workspace, view: View, judged: Sequence[Judged], subject: str) -> dict[str, str]:
    now = workspace.env.now()
    moves = []
    chains: dict[str, tuple[Chain, str]] = {}
    for ref, base in ((MAIN, view.main), (INBOX, view.inbox)):
        mine = [item for item in judged if item.mutation.ref == ref or (ref == INBOX and item.mutation.leaves_inbox)]
        if not mine:
            continue
        transaction = Transaction(workspace.backend, base)
        chain = open_chain(workspace, ref, base)
        for number, item in enumerate(mine):
            chain = _stage(workspace, view, transaction, chain, item, ref, now, number)
        author, committer = identity(workspace.location, workspace.env.environ, workspace.env.channel)
        reasons = {item.mutation.change.reason for item in mine} - {""}
        message = subject + ("\n\n" + "\n".join(sorted(reasons)) if reasons else "") + "\n"
        commit = transaction.commit(message, author, committer, now)
        moves.append(RefMove(ref, commit, base.commit, f"gitmem: {one_line(subject, 80)}"))
        chains[ref] = (chain, commit)
    workspace.backend.move_refs(moves)
    save_chains(workspace, chains)
    commits = {ref: commit for ref, (_, commit) in chains.items()}
    belief.note_own_commits(workspace, view, commits)
    return commits


def _stage(
    workspace: Workspace,
    view: View,
    transaction: Transaction,
    chain: Chain,
    item: Judged,
    ref: str,
    now: datetime,
    number: int,
) -> Chain:
    mutation, change = item.mutation, item.mutation.change
    event = make_event(workspace, item, now, number)
    chain, event, path, raw = chain.append(event)
    transaction.put(path, raw)
    where = memory_path(change.after.id)
    if ref == INBOX and mutation.leaves_inbox:
        transaction.delete(where)
        return chain
    if mutation.entomb and ref == MAIN:
        config = view.require_config()
        tomb = _entombed(view, config, change, mutation.entomb, event)
        transaction.put(tombstone_path(tomb.digest), tombstone_bytes(tomb))
    if mutation.stores_record:
        transaction.put(where, _record_bytes(view.main if ref == MAIN else view.inbox, where, change))
    return chain


def _record_bytes(base: Snapshot, path: str, change: Change) -> bytes:
    old = base.read(path) if change.before is not None else None
    raw = edited_bytes(old, change.after) if old is not None else memory_bytes(change.after)
    if memory_from_bytes(raw, path=path, trusted=True) != change.after:
        # The writer re-reads what it wrote before anything is committed (docs/format.md, "Writing").
        raise Refused(f"{path} would not read back as it was written; nothing was written")
    return raw


def _entombed(view: View, config: Config, change: Change, op: Literal["reject", "lift"], event: Event) -> Tombstone:
    memory = change.after
    key = claim_digest(config.project, memory.kind, memory.title, memory.body)
    entry = TombstoneEntry(op=op, at=event.at, event=event.id, memory=memory.id, reason=event.reason)
    before = view.tombstone(key)
    if before is not None:
        return replace(before, history=(*before.history, entry))
    return Tombstone(
        digest=key,
        project=config.project,
        kind_class=KIND_CLASS[memory.kind],
        history=(entry,),
        title=memory.title,
        body=memory.body,
    )


def make_event(workspace: Workspace, item: Judged, now: datetime, number: int) -> Event:
    """The event of one judged mutation; `number` keeps the ids of one batch in order."""
    env, change = workspace.env, item.mutation.change
    before, after = change.before, change.after
    return Event(
        id=event_id(int(now.timestamp() * 1000), number.to_bytes(3, "big") + env.random(7)),
        at=format_instant(now),
        op=change.op,
        memory=after.id,
        status_from=before.status if before else None,
        status_to=after.status,
        before=digest(memory_bytes(before)) if before else None,
        after=digest(memory_bytes(after)) if item.mutation.stores_record else None,
        reason=change.reason,
        actor=Actor(channel=env.channel, host=env.host),
        gate=GateRecord(
            version=RULES_VERSION,
            verdict="hold" if item.decision.verdict == "hold" else "admit",
            evidence=tuple(resolution.state for resolution in item.facts.resolutions),
        ),
        writer="",
        proposed=item.mutation.proposed,
    )


def write_config(workspace: Workspace, change: Callable[[Config], Config], reason: str) -> Config:
    """Change `gitmem.yaml` with an event of its own."""
    with writer_lock(workspace.location):
        for _ in range(ATTEMPTS):
            view = belief.believed_view(workspace, writing=True)
            old = view.require_config()
            new = change(old)
            if new == old:
                return old
            now = workspace.env.now()
            transaction = Transaction(workspace.backend, view.main)
            raw = config_bytes(new)
            event = config_event(workspace, now, reason, config_bytes(old), raw)
            chain, _, path, event_raw = open_chain(workspace, MAIN, view.main).append(event)
            transaction.put(CONFIG, raw)
            transaction.put(path, event_raw)
            author, committer = identity(workspace.location, workspace.env.environ, workspace.env.channel)
            message = f"policy: {one_line(reason, 60)}\n"
            commit = transaction.commit(message, author, committer, now)
            try:
                workspace.backend.move_refs([RefMove(MAIN, commit, view.main.commit, "gitmem: policy")])
            except RefMoved:
                continue
            save_chains(workspace, {MAIN: (chain, commit)})
            belief.note_own_commits(workspace, view, {MAIN: commit})
            return new
    raise RefMoved("the branch kept moving; nothing was written", hint="run the command again")


def config_event(workspace: Workspace, now: datetime, reason: str, before: bytes | None, after: bytes) -> Event:
    """The event of a change to the config: about no memory; digests are over the bytes of `gitmem.yaml`."""
    env = workspace.env
    return Event(
        id=event_id(int(now.timestamp() * 1000), env.random(10)),
        at=format_instant(now),
        op="policy",
        memory=None,
        status_from=None,
        status_to=None,
        before=digest(before) if before is not None else None,
        after=digest(after),
        reason=reason,
        actor=Actor(channel=env.channel, host=env.host),
        gate=GateRecord(version=RULES_VERSION, verdict="admit"),
        writer="",
    )


def status_change(memory: Memory, op: Any, status: str, reason: str, **changes: Any) -> Change:
    """The change that moves a memory to another state, with whatever else belongs to the move."""
    return Change(op=op, before=memory, after=replace(memory, status=status, **changes), reason=reason)
