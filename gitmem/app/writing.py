"""The one way in: every verb that changes a record builds mutations and hands them to `write`.

Facts are gathered, the gate decides, objects are written, refs move by compare-and-swap. When a ref moved in
between, everything is judged again on the new state. Nothing is written unless every mutation passes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Literal

from gitmem.app import belief
from gitmem.app.batch import Batch
from gitmem.app.chain import Chain, open_chain, save_chains
from gitmem.app.facts import Lookup, gather, index_lookup
from gitmem.app.outbox import UNKEPT, record_refusals
from gitmem.app.secrets_known import known_secrets
from gitmem.app.signing import signing
from gitmem.app.staging import Staging
from gitmem.app.workspace import View, Workspace
from gitmem.errors import RefMoved, Refused
from gitmem.model.frozen import dataclass, replace
from gitmem.model.ids import event_id
from gitmem.model.judgement import Change, Decision, Facts, Reason
from gitmem.model.layout import CONFIG, INBOX, MAIN, PRIVATE
from gitmem.model.nouns import Actor, Config, Event, GateRecord, Memory, Proposal
from gitmem.model.records import (
    config_bytes,
    digest,
)
from gitmem.model.text import one_line
from gitmem.model.times import format_instant
from gitmem.policy.gate import RULES_VERSION, decide
from gitmem.policy.landing import lands
from gitmem.store.lock import writer_lock
from gitmem.store.port import RefMove
from gitmem.store.repack import repack, repack_due
from gitmem.store.transaction import Transaction

ATTEMPTS: Final = 20


@dataclass(frozen=True)
class Mutation:
    """One change and where it lands.

    `entomb` writes or lifts the tombstone of the claim. `leaves_inbox` takes the candidate out of the inbox.
    `proposed` is what an accepted candidate came from. `unresolved`: why references could not be expanded.
    `plain`: its texts were looked at already, by `policy.text_rules.is_plain`. `settles`: files of conflicts/ that go.
    A `hold` by the gate sends the record to the inbox.
    """

    change: Change
    ref: str
    entomb: Literal["reject", "lift"] | None = None
    leaves_inbox: bool = False
    stores_record: bool = True
    proposed: Proposal | None = None
    unresolved: tuple[Reason, ...] = ()
    plain: bool = False
    settles: tuple[str, ...] = ()


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


Plan = Callable[[View, Lookup], Iterable[Mutation]]
_NOTHING: Final[Mapping[str, Memory]] = {}


def write(
    workspace: Workspace,
    plan: Plan,
    *,
    subject: Callable[[Sequence[Mutation]], str],
    dry_run: bool = False,
    lookup: Callable[[View], Lookup] = index_lookup,
    sift: Callable[[Judged], None] | None = None,
) -> Outcome:
    """Judge the mutations that `plan` makes of the believed state, and publish all of them or none.

    With `sift`, what the gate refuses is left out and the rest is published; `sift` is told of each as it is judged,
    and the outcome holds none of them: there may be more than fit in memory.
    Raises Refused with every reason, RefMoved when the branch kept moving.
    """
    with writer_lock(workspace.location):
        for _ in range(ATTEMPTS):
            view = belief.believed_view(workspace, writing=True)
            staging = Staging(workspace, view)
            try:
                if sift is None:
                    outcome = _all_or_nothing(view, staging, plan, subject, lookup, dry_run)
                else:
                    outcome = _sifted(view, staging, plan, subject, lookup, dry_run, sift)
                break
            except RefMoved:
                continue
            finally:
                staging.close()
        else:
            raise RefMoved(
                f"the branch moved {ATTEMPTS} times while this was being written; nothing was written",
                hint="run the command again",
            )
    if outcome.commits and repack_due(workspace.location):
        repack(workspace.location)
    return outcome


def _all_or_nothing(
    view: View,
    staging: Staging,
    plan: Plan,
    subject: Callable[[Sequence[Mutation]], str],
    lookup: Callable[[View], Lookup],
    dry_run: bool,
) -> Outcome:
    known = lookup(view)
    mutations = list(plan(view, known))
    alongside = {mutation.change.after.id: mutation.change.after for mutation in mutations}
    judged = list(judge(view, mutations, known, subject(mutations), batch=Batch(), alongside=alongside))
    refused = [(item.mutation.change, item.decision.reasons) for item in judged if refuses(item)]
    if refused:
        if not dry_run:
            record_refusals(view.workspace, refused)
        raise _refusal(judged)
    judged = [_landed(item) for item in judged]
    if dry_run or not judged:
        return Outcome(tuple(judged), {}, view)
    for item in judged:
        staging.put(item)
    return Outcome(tuple(judged), staging.publish(subject([item.mutation for item in judged])), view)


def _sifted(
    view: View,
    staging: Staging,
    plan: Plan,
    subject: Callable[[Sequence[Mutation]], str],
    lookup: Callable[[View], Lookup],
    dry_run: bool,
    sift: Callable[[Judged], None],
) -> Outcome:
    known = lookup(view)
    kept = False
    for item in judge(view, plan(view, known), known, subject(())):
        landed = item if refuses(item) else _landed(item)
        sift(landed)
        if refuses(item):
            continue
        kept = True
        if not dry_run:
            staging.put(landed)
    return Outcome((), staging.publish(subject(())) if kept and not dry_run else {}, view)


def judge(
    view: View,
    mutations: Iterable[Mutation],
    lookup: Lookup,
    subject: str,
    *,
    batch: Batch | None = None,
    alongside: Mapping[str, Memory] = _NOTHING,
) -> Iterator[Judged]:
    """The gate over each mutation, each with the origin that the gate derives, as they come.

    Each is judged beside those of `batch` and is added to it; without one, `lookup` has to know what came before.
    A mutation that is judged by the origin of another one comes after it.
    """
    config = view.config
    exact = known_secrets(view.workspace.location, view.workspace.env.environ)
    beside = dict(alongside)
    for mutation in mutations:
        facts = gather(
            view, mutation.change, lookup, batch=batch, alongside=beside, names=(subject,), exact_secrets=exact,
            private_store=mutation.ref != MAIN, ref=mutation.ref if mutation.stores_record else INBOX,
            proposed=mutation.proposed,
        )  # fmt: skip
        if mutation.plain:
            facts = replace(facts, plain=mutation.change.after)
        audience = mutation.change.after.scope.audience
        decision = decide(mutation.change, facts, config if audience == "team" else view.config_for(audience))
        if batch is not None:
            batch.add(mutation.change.after)
        if mutation.unresolved:
            others = tuple(r for r in decision.reasons if r.code != "evidence.missing")
            decision = replace(decision, verdict="refuse", reasons=(*mutation.unresolved, *others))
        if mutation.change.op in DERIVES_ORIGIN and mutation.change.after.origin != decision.origin:
            after = replace(mutation.change.after, origin=decision.origin)
            mutation = replace(mutation, change=replace(mutation.change, after=after))
            if after.id in beside:
                beside[after.id] = after
        yield Judged(mutation, facts, decision)


# The operations that make or remake the text; the others leave origin as it was.
DERIVES_ORIGIN: Final = frozenset({"create", "import", "edit"})


def refuses(item: Judged) -> bool:
    """A hold is a refusal for whoever cannot be held: only a new record can wait in the inbox."""
    if item.decision.verdict == "hold":
        return item.mutation.change.op not in ("create", "import")
    return item.decision.verdict == "refuse"


def _landed(item: Judged) -> Judged:
    """The item where it is let in: what the gate holds waits in the inbox, and so does what capture brings and neither
    quotes a person nor saw itself."""
    change, channel = item.mutation.change, item.facts.channel
    caught = change.before is None and channel == "capture" and item.mutation.ref == PRIVATE
    config = Config(project=change.after.scope.project)
    if item.decision.verdict != "hold" and not (
        caught and lands(channel, config, change.after.scope.audience, item.decision.origin) == INBOX
    ):
        return item
    after = replace(item.mutation.change.after, status="candidate")
    return replace(item, mutation=replace(item.mutation, ref=INBOX, change=replace(item.mutation.change, after=after)))


def _refusal(judged: Sequence[Judged]) -> Refused:
    drafts = [item for item in judged if item.mutation.change.before is None]
    if len(drafts) == 1 and refuses(drafts[0]):  # what else changes with it, such as what it would replace, is no draft
        judged = drafts
    bad = [item for item in judged if refuses(item)]
    reasons: list[Reason] = []
    details = []
    for number, item in enumerate(judged, 1):
        if not refuses(item):
            continue
        label = f"draft {number}" if len(judged) > 1 else ""
        own = [replace(r, where=f"{label}: {r.where}".strip(": ") if label else r.where) for r in item.decision.reasons]
        reasons += own
        details.append({"title": _sayable(item), "reasons": [r.code for r in item.decision.reasons]})
    title = one_line(_sayable(bad[0]), 60) if len(bad) == 1 else ""
    what = f"“{title}” was" if title else "it was" if len(judged) == 1 else f"{len(bad)} of {len(judged)} drafts were"
    return Refused(f"{what} refused; nothing was written", reasons=reasons, details={"refused": details})


def _sayable(item: Judged) -> str:
    """The title, but not when what may not be repeated stands in the record."""
    return "" if any(reason.code in UNKEPT for reason in item.decision.reasons) else item.mutation.change.after.title


def write_config(workspace: Workspace, change: Callable[[Config], Config], reason: str) -> Config:
    """Change `gitmem.yaml` with an event of its own."""
    with writer_lock(workspace.location):
        for _ in range(ATTEMPTS):
            view = belief.believed_view(workspace, writing=True)
            old = view.require_config()
            new = change(old)
            if new == old:
                return old
            commit, chain = config_commit(view, new, reason, open_chain(workspace, MAIN, view.main))
            try:
                workspace.backend.move_refs([RefMove(MAIN, commit, view.main.commit, "gitmem: policy")])
            except RefMoved:
                continue
            save_chains(workspace, {MAIN: (chain, commit)})
            belief.note_own_commits(workspace, view, {MAIN: commit})
            return new
    raise RefMoved("the branch kept moving; nothing was written", hint="run the command again")


def config_commit(view: View, new: Config, reason: str, chain: Chain) -> tuple[str, Chain]:
    """A commit on gitmem/main with a changed `gitmem.yaml` and its event, and the chain after it. No ref moves."""
    workspace = view.workspace
    now = workspace.env.now()
    transaction = Transaction(workspace.backend, view.main)
    raw = config_bytes(new)
    event = config_event(workspace, now, reason, config_bytes(view.require_config()), raw)
    after, _, path, event_raw = chain.append(event)
    transaction.put(CONFIG, raw)
    transaction.put(path, event_raw)
    author, committer, _ = workspace.writer
    message = f"policy: {one_line(reason, 60)}\n"
    return transaction.commit(message, author, committer, now, sign=signing(workspace)), after


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
