"""What is to become of a memory of the branch, proposed by a person where the policy leaves review to the forge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from typing import Final

from gitmem.app.batch import Batch
from gitmem.app.belief import believed_view
from gitmem.app.chain import fresh_chain
from gitmem.app.facts import index_lookup
from gitmem.app.markdown import cell, quoted
from gitmem.app.moves import editing, find_for, moving, require_reason
from gitmem.app.outbox import record_refusals
from gitmem.app.propose import MERGED, alone, note, note_text, require_new, standings
from gitmem.app.staging import Staging
from gitmem.app.workspace import Found, View, Workspace
from gitmem.app.writing import Mutation, judge, refuses, status_change
from gitmem.errors import Refused, UsageError
from gitmem.model.citations import citation
from gitmem.model.claims import claim_digest
from gitmem.model.frozen import dataclass, replace
from gitmem.model.judgement import Change
from gitmem.model.layout import INBOX, MAIN, proposal_ref
from gitmem.model.nouns import Actor, Draft, Memory, Proposal
from gitmem.model.records import digest, memory_bytes
from gitmem.model.text import one_line
from gitmem.model.times import format_instant
from gitmem.policy.landing import decides
from gitmem.store.lock import writer_lock
from gitmem.store.port import RefMove

_PLAIN: Final = ("title", "body", "status")


@dataclass(frozen=True)
class Asked:
    """A proposal of one move: the branch with its one commit, and the changes in it. Nothing else of the team moved.

    `closed`: the candidates of this clone's inbox that are rejected there already; the branch holds their tombstones.
    """

    name: str
    verb: str
    base: str
    tip: str
    changes: tuple[Change, ...]
    closed: tuple[str, ...] = ()

    @property
    def change(self) -> Change:
        """The change of the memory that was named first."""
        return self.changes[0]

    @property
    def branch(self) -> str:
        return proposal_ref(self.name).removeprefix("refs/heads/")

    @property
    def title(self) -> str:
        """Of a pull request: one line without markup."""
        return one_line(f"memory: {self.verb}: {self.change.after.title}", 120)


def left_to_the_forge(workspace: Workspace, verb: str, prefix: str) -> bool:
    """True when a person asks here for a move of a memory of the branch that whoever merges decides on."""
    channel = workspace.env.channel
    view = believed_view(workspace)
    if channel != "terminal" or view.require_config().review != "forge":
        return False
    found = find_for(view, verb, prefix)
    if decides(channel, view.require_config(), found.memory.scope.audience):
        return False
    if found.ref == INBOX and found.memory.status == "wrong" and verb == "lift":
        return buried(view, found.memory)  # the tombstone is the team's
    return found.ref == MAIN


def propose_move(workspace: Workspace, verb: str, prefix: str, reason: str, evidence: Sequence[str] = ()) -> Asked:
    """Propose a plain move (`moves.TARGETS`) of one memory. Raises Refused as the move does; then no branch is made."""
    require_reason(reason, f"gitmem {verb} {prefix}")

    def make(view: View, found: Sequence[Found]) -> list[Mutation]:
        (one,) = found
        if one.ref == INBOX:  # a rejected candidate: what the team has of it is the tombstone
            change = status_change(one.memory, "lift", "candidate", reason)
            return [Mutation(change, MAIN, entomb="lift", stores_record=False)]
        return [moving(view, one, verb, reason, evidence)]

    return propose_changes(workspace, verb, [prefix], make)


def propose_edit(
    workspace: Workspace,
    prefix: str,
    change: Callable[[Memory], Memory],
    reason: str,
    *,
    evidence: Sequence[str] = (),
    draft: Draft | None = None,
) -> Asked:
    """Propose an edit, as `moves.edit` would make it."""
    require_reason(reason, f"gitmem edit {prefix}")
    return propose_changes(
        workspace,
        "edit",
        [prefix],
        lambda view, found: [editing(view, found[0], change, reason, evidence=evidence, draft=draft)],
    )


def propose_changes(
    workspace: Workspace,
    verb: str,
    prefixes: Sequence[str],
    make: Callable[[View, Sequence[Found]], Sequence[Mutation]],
) -> Asked:
    """Propose what `make` makes of the named memories, all of gitmem/main, in one commit on a branch of its own."""
    with writer_lock(workspace.location):
        view = believed_view(workspace)
        found = list({item.memory.id: item for item in (find_for(view, verb, each) for each in prefixes)}.values())
        first = found[0].memory
        name = free_name(view, f"{verb}-{first.id}")
        require_new(workspace, proposal_ref(name))
        mutations = make(view, found)
        if not mutations:
            raise UsageError(f"nothing of {first.id} would change", hint=f"gitmem show {first.id}")
        asking = [replace(each, proposed=each.proposed or _asking(workspace, each.change)) for each in mutations]
        subject = f"propose {verb} {first.id}: {one_line(first.title, 60)}"
        tip, changes = _commit(view, asking, subject)
        workspace.backend.move_refs([RefMove(proposal_ref(name), tip, None, "gitmem: propose")])
        note(workspace, name, list(dict.fromkeys(change.after.id for change in changes)), moves=True)
    made = Asked(name, verb, view.main.commit or "", tip, changes)
    note_text(workspace, name, made.title, body(made))
    return made


def free_name(view: View, wanted: str) -> str:
    """`wanted`, or with a number where proposals of that name were merged."""
    merged = {standing.name for standing in standings(view) if standing.state == MERGED}
    name, number = wanted, 2
    while name in merged:
        name, number = f"{wanted}-{number}", number + 1
    return name


def _asking(workspace: Workspace, change: Change) -> Proposal:
    """Who asks. No inbox holds an event of it, so the digest is that of the record that is asked for."""
    env = workspace.env
    return Proposal(
        at=format_instant(env.now()),
        actor=Actor(channel=env.channel, host=env.host),
        event=digest(memory_bytes(change.after)),
        op=change.op,
        reason=change.reason or None,
    )


def buried(view: View, memory: Memory) -> bool:
    """Whether a tombstone of the team stands for what a memory says."""
    project = view.require_config().project
    tomb = view.tombstone(claim_digest(project, memory.kind, memory.title, memory.body), MAIN)
    return tomb is not None and tomb.standing


def _commit(view: View, mutations: Sequence[Mutation], subject: str) -> tuple[str, tuple[Change, ...]]:
    """The commit on gitmem/main that makes exactly these changes, judged as whoever merges it is."""
    workspace = view.workspace
    acting = alone(view, replace(workspace.env, channel="forge", host=None))
    alongside = {mutation.change.after.id: mutation.change.after for mutation in mutations}
    judged = list(judge(acting, mutations, index_lookup(view), subject, batch=Batch(), alongside=alongside))
    refused = [one for one in judged if refuses(one)]
    if refused:
        record_refusals(workspace, [(one.mutation.change, one.decision.reasons) for one in refused])
        identifier = refused[0].mutation.change.after.id
        reasons = [reason for one in refused for reason in one.decision.reasons]
        raise Refused(f"{identifier} was refused; nothing was proposed", reasons=reasons)
    staging = Staging(acting.workspace, acting, {MAIN: fresh_chain(workspace)})
    try:
        for one in judged:
            staging.put(one)
        return staging.commits(subject)[MAIN], tuple(one.mutation.change for one in judged)
    finally:
        staging.close()


def body(asked: Asked) -> str:
    """The text of a pull request for one move: Markdown in which nothing that others wrote is markup."""
    change = asked.change
    lines = [
        f"{asked.verb} `{change.after.id}`, one commit for `gitmem/main`.",
        "",
        f"### {cell(change.after.title, width=200)}",
        "",
        *([*quoted(change.after.body, lines=20), ""] if change.after.body else ()),
        f"- why: {cell(change.reason, width=400)}",
        *_differences(change),
        *(f"- also {each.op}: `{each.after.id}` {cell(each.after.title, width=200)}" for each in asked.changes[1:]),
        "",
        "A person at a terminal asks for this. Merging decides: the policy leaves review to the forge.",
        *(("Merged, a tombstone keeps this claim from being learned again.",) if change.op == "reject" else ()),
        "Review level 0: no key proves who proposed or decided.",
        "",
        f"- `gitmem verify --merge-into gitmem/main --head {asked.branch}` judges the merge, as the check does",
        "",
    ]
    return "\n".join(lines)


def _differences(change: Change) -> Iterator[str]:
    """One line for each field that the move changes."""
    before, after = change.before, change.after
    for field in fields(Memory):
        old, new = getattr(before, field.name), getattr(after, field.name)
        if old == new:
            continue
        if field.name == "evidence":
            yield from (f"- {ref.role}: {cell(citation(ref), code=True)}" for ref in after.evidence if ref not in old)
            yield from (f"- no longer cited: {cell(citation(ref), code=True)}" for ref in old if ref not in new)
        elif field.name in _PLAIN:
            yield f"- {field.name}: {cell(str(old), width=400)} → {cell(str(new), width=400)}"
        else:
            yield f"- {field.name.replace('_', ' ')} changes: see the files"
