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
from gitmem.app.writing import Mutation, judge, refuses
from gitmem.errors import Refused
from gitmem.model.citations import citation
from gitmem.model.frozen import dataclass, replace
from gitmem.model.judgement import Change
from gitmem.model.layout import MAIN, proposal_ref
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
    """A proposal of one move: the branch with its one commit, and the change in it. Nothing else moved."""

    name: str
    verb: str
    base: str
    tip: str
    change: Change

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
    return found.ref == MAIN and not decides(channel, view.require_config(), found.memory.scope.audience)


def propose_move(workspace: Workspace, verb: str, prefix: str, reason: str, evidence: Sequence[str] = ()) -> Asked:
    """Propose a plain move (`moves.TARGETS`) of one memory. Raises Refused as the move does; then no branch is made."""
    require_reason(reason, f"gitmem {verb} {prefix}")
    return _propose(workspace, verb, prefix, lambda view, found: moving(view, found, verb, reason, evidence))


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
    return _propose(
        workspace,
        "edit",
        prefix,
        lambda view, found: editing(view, found, change, reason, evidence=evidence, draft=draft),
    )


def _propose(workspace: Workspace, verb: str, prefix: str, make: Callable[[View, Found], Mutation]) -> Asked:
    with writer_lock(workspace.location):
        view = believed_view(workspace)
        found = find_for(view, verb, prefix)
        name = _free_name(view, f"{verb}-{found.memory.id}")
        require_new(workspace, proposal_ref(name))
        mutation = make(view, found)
        asked = replace(mutation, proposed=_asking(workspace, mutation.change))
        subject = f"propose {verb} {found.memory.id}: {one_line(found.memory.title, 60)}"
        tip, change = _commit(view, asked, subject)
        workspace.backend.move_refs([RefMove(proposal_ref(name), tip, None, "gitmem: propose")])
        note(workspace, name, [found.memory.id], moves=True)
    made = Asked(name, verb, view.main.commit or "", tip, change)
    note_text(workspace, name, made.title, body(made))
    return made


def _free_name(view: View, wanted: str) -> str:
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


def _commit(view: View, mutation: Mutation, subject: str) -> tuple[str, Change]:
    """The commit on gitmem/main that makes exactly this change, judged as whoever merges it is."""
    workspace = view.workspace
    acting = alone(view, replace(workspace.env, channel="forge", host=None))
    alongside = {mutation.change.after.id: mutation.change.after}
    (one,) = judge(acting, [mutation], index_lookup(view), subject, batch=Batch(), alongside=alongside)
    if refuses(one):
        record_refusals(workspace, [(one.mutation.change, one.decision.reasons)])
        identifier = one.mutation.change.after.id
        raise Refused(f"{identifier} was refused; nothing was proposed", reasons=one.decision.reasons)
    staging = Staging(acting.workspace, acting, {MAIN: fresh_chain(workspace)})
    try:
        staging.put(one)
        return staging.commits(subject)[MAIN], one.mutation.change
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
        "",
        "A person at a terminal asks for this. Merging decides: the policy leaves review to the forge.",
        *(("Merged, a tombstone keeps this claim from being learned again.",) if asked.verb == "wrong" else ()),
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
