"""The moves of a memory's life: supersede, wrong, lift, retract, archive, restore, dispute, edit; accept, reject."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from gitmem.app.belief import believed_view
from gitmem.app.facts import Lookup, sources
from gitmem.app.remember import Remembered, build
from gitmem.app.workspace import Found, View, Workspace
from gitmem.app.writing import Mutation, status_change, write
from gitmem.errors import Refused, UsageError
from gitmem.evidence.resolvers import expand
from gitmem.model.drafts import draft_of, draft_text
from gitmem.model.ids import memory_id
from gitmem.model.judgement import Change, Reason
from gitmem.model.layout import INBOX, MAIN
from gitmem.model.nouns import Draft, EvidenceRef, Link, Memory, Proposal
from gitmem.model.records import digest, event_from_bytes
from gitmem.model.text import one_line
from gitmem.policy.landing import lands
from gitmem.policy.transitions import legal_moves

# The state that each plain move leads to.
TARGETS: Final = {
    "wrong": "wrong",
    "retract": "archived",
    "archive": "archived",
    "restore": "active",
    "dispute": "disputed",
    "lift": "active",
}
_OPS: Final[dict[str, Any]] = {"wrong": "reject"}


def move(workspace: Workspace, verb: str, prefix: str, reason: str, evidence: Sequence[str] = ()) -> Memory:
    """One plain move of one memory. `wrong` writes the tombstone, `lift` lifts it."""
    require_reason(reason, f"gitmem {verb} {prefix}")
    op: Any = _OPS.get(verb, verb)

    def plan(view: View, _: Lookup) -> list[Mutation]:
        found = view.find(prefix)
        if found.ref == INBOX:
            return _withdraw(view, found, verb, reason)
        require_person(view, verb, found.memory.id)
        before = found.memory
        _require_legal(before, op, verb)
        added = expanded(view, evidence)
        change = status_change(before, op, TARGETS[verb], reason, evidence=(*before.evidence, *added))
        entomb: Any = {"wrong": "reject", "lift": "lift"}.get(verb)
        return [Mutation(change, MAIN, entomb=entomb)]

    outcome = write(workspace, plan, subject=_subject(verb))
    return outcome.judged[0].mutation.change.after


def _withdraw(view: View, found: Found, verb: str, reason: str) -> list[Mutation]:
    """Of a candidate only a retraction is possible here: its proposer takes it back."""
    if verb != "retract":
        raise Refused(
            f"{found.memory.id} is a candidate: it can be accepted, rejected or retracted",
            reasons=[Reason("status.move", f"{verb} is no move of a candidate", f"gitmem accept {found.memory.id}")],
        )
    return [Mutation(status_change(found.memory, "retract", "archived", reason), INBOX)]


def supersede(workspace: Workspace, prefix: str, draft: Draft, reason: str) -> Remembered:
    """Put a new memory in the place of an old one, both in one commit; from an agent it is a proposal."""
    require_reason(reason, f"gitmem supersede {prefix}")
    identifier = memory_id(workspace.env.random(8))

    def plan(view: View, _: Lookup) -> list[Mutation]:
        old = view.find(prefix)
        if old.ref == INBOX:
            raise UsageError(
                f"{old.memory.id} is a candidate; edit or reject it", hint=f"gitmem reject {old.memory.id}"
            )
        _require_legal(old.memory, "supersede", "supersede")
        linked = replace(
            draft, links=(*draft.links, Link("supersedes", old.memory.id)), key=draft.key or old.memory.key
        )
        linked = replace(linked, audience=old.memory.scope.audience)
        (built,) = build(view, [linked], [identifier], None)
        change = Change("create", built.memory, reason=reason)
        if built.memory.status != "active":
            return [Mutation(change, INBOX, unresolved=built.unresolved)]
        return superseding(old.memory, change, reason, unresolved=built.unresolved)

    outcome = write(workspace, plan, subject=_subject("supersede"))
    after = next(item.mutation.change.after for item in outcome.judged if item.mutation.change.after.id == identifier)
    reasons = tuple(r for item in outcome.judged for r in item.decision.reasons)
    return Remembered(after, after.status, reasons)


def superseding(old: Memory, new: Change, reason: str, **landing: Any) -> list[Mutation]:
    """Both sides of a supersession: the old record names its replacement, the new one is written."""
    closed = replace(old, status="superseded", links=(*old.links, Link("superseded_by", new.after.id)))
    return [
        Mutation(Change("supersede", closed, before=old, reason=reason), MAIN),
        Mutation(new, MAIN, **landing),
    ]


def edit(
    workspace: Workspace, prefix: str, change: Callable[[Memory], Memory], reason: str, evidence: Sequence[str] = ()
) -> Memory:
    """Change the text, tags, paths, validity or evidence of a memory; its identity stays."""
    require_reason(reason, f"gitmem edit {prefix}")

    def plan(view: View, _: Lookup) -> list[Mutation]:
        found = view.find(prefix)
        require_person(view, "edit", found.memory.id)
        _require_legal(found.memory, "edit", "edit")
        after = change(found.memory)
        after = replace(after, evidence=(*after.evidence, *expanded(view, evidence)))
        if after == found.memory:
            raise UsageError(f"nothing of {found.memory.id} would change", hint="gitmem edit --help")
        return [Mutation(Change("edit", after, before=found.memory, reason=reason), found.ref)]

    outcome = write(workspace, plan, subject=_subject("edit"))
    return outcome.judged[0].mutation.change.after


def accept(workspace: Workspace, prefixes: Sequence[str], reason: str) -> list[Memory]:
    """Move candidates from the inbox to the branch, judged again at today's tip; all of them or none."""

    def plan(view: View, _: Lookup) -> list[Mutation]:
        mutations: list[Mutation] = []
        for prefix in prefixes:
            candidate = _candidate(view, prefix)
            require_person(view, "accept", candidate.id)
            change = status_change(candidate, "accept", "active", reason or "accepted")
            proposed = _proposal(view, candidate)
            landing: dict[str, Any] = {"leaves_inbox": True, "proposed": proposed}
            old = [view.memory(identifier) for identifier in candidate.linked("supersedes")]
            if old and old[0] is not None:
                mutations += superseding(old[0], change, reason or "accepted", **landing)
            else:
                mutations.append(Mutation(change, MAIN, **landing))
        return mutations

    outcome = write(workspace, plan, subject=_subject("accept"))
    return [item.mutation.change.after for item in outcome.judged if item.mutation.leaves_inbox]


def reject(workspace: Workspace, prefixes: Sequence[str], reason: str) -> list[Memory]:
    """Refuse candidates for good: the tombstone goes to the branch, the candidate stays here as wrong."""
    require_reason(reason, f"gitmem reject {' '.join(prefixes)}")

    def plan(view: View, _: Lookup) -> list[Mutation]:
        mutations = []
        for prefix in prefixes:
            candidate = _candidate(view, prefix)
            require_person(view, "reject", candidate.id)
            change = status_change(candidate, "reject", "wrong", reason)
            mutations += [
                Mutation(change, MAIN, entomb="reject", stores_record=False, proposed=_proposal(view, candidate)),
                Mutation(change, INBOX),
            ]
        return mutations

    outcome = write(workspace, plan, subject=_subject("reject"))
    return [item.mutation.change.after for item in outcome.judged if item.mutation.ref == INBOX]


def _candidate(view: View, prefix: str) -> Memory:
    found = view.find(prefix)
    if found.memory.status not in ("candidate", "quarantined"):
        moves = ", ".join(legal_moves(found.memory.status)) or "none"
        raise Refused(
            f"{found.memory.id} is {found.memory.status}, not a candidate",
            reasons=[Reason("status.move", f"its moves are: {moves}", f"gitmem show {found.memory.id}")],
        )
    return found.memory


def _proposal(view: View, candidate: Memory) -> Proposal:
    """Who proposed a candidate, from the event that brought it into the inbox."""
    names = view.inbox.event_names(candidate.id)
    raw = view.inbox.read(names[0]) if names else None
    if raw is None:
        raise Refused(
            f"no event tells who proposed {candidate.id}",
            reasons=[Reason("event.missing", "the inbox was written to by something else", "gitmem doctor")],
        )
    event = event_from_bytes(raw, path=names[0])
    return Proposal(at=event.at, actor=event.actor, event=digest(raw), op=event.op)


def expanded(view: View, evidence: Sequence[str]) -> list[EvidenceRef]:
    """Short forms as full references."""
    where = sources(view, view.workspace.env.channel)
    return [expand(item, where) for item in evidence]


def require_reason(reason: str, command: str) -> None:
    if not reason.strip():
        raise UsageError("this needs a reason", hint=f'{command} --because "…"')


def require_person(view: View, verb: str, identifier: str) -> None:
    """Raise Refused when this channel may propose only."""
    env = view.workspace.env
    config = view.require_config()
    if lands(env.channel, config) == "main":
        return
    who = "this was not called by a person at a terminal" if env.channel != "terminal" else "policy sends it to review"
    seen = f" (seen: {env.host})" if env.host else ""
    raise Refused(
        f"{verb} is a person's to do: {who}{seen}; nothing was written",
        reasons=[
            Reason(
                "channel.authority",
                f"a {env.channel} channel may propose and withdraw its own proposals",
                f"a person runs: gitmem {verb} {identifier} --because “…”"
                if verb != "accept"
                else f"a person runs: gitmem accept {identifier}",
            )
        ],
    )


def _require_legal(memory: Memory, op: str, verb: str) -> None:
    moves = legal_moves(memory.status)
    if op not in moves:
        names = {"reject": "wrong"}
        known = sorted({names.get(name, name) for name in moves} - {"merge", "redact", "mark", "accept"})
        shown = ", ".join(f"gitmem {name} {memory.id}" for name in known) or "none"
        raise Refused(
            f"{memory.id} is {memory.status}: {verb} is not possible; nothing was written",
            reasons=[
                Reason("status.move", f"{verb} does not lead on from {memory.status}", f"what is: {shown}", "status")
            ],
        )


def _subject(verb: str) -> Callable[[Sequence[Mutation]], str]:
    def subject(mutations: Sequence[Mutation]) -> str:
        main = mutations[-1].change.after
        if len({item.change.after.id for item in mutations}) > 2:
            return f"{verb} {len(mutations)} memories"
        return f"{verb} {main.id}: {one_line(main.title, 60)}"

    return subject


def kind_of(workspace: Workspace, prefix: str) -> str:
    """The kind of a memory, for a replacement that does not say its own."""
    return believed_view(workspace).find(prefix).memory.kind


def draft_for_edit(workspace: Workspace, prefix: str) -> str:
    """What an editor opens for a memory."""
    return draft_text(draft_of(believed_view(workspace).find(prefix).memory))


def edited_like(memory: Memory, draft: Draft) -> Memory:
    """`memory` with everything that a draft may say taken from `draft`. References must be full or as they were."""
    if any(isinstance(ref, str) for ref in draft.evidence):
        raise UsageError(
            "in the editor references stand in full",
            hint='add one with: gitmem edit ID --evidence "file:…" --because "…"',
        )
    evidence = tuple(ref for ref in draft.evidence if not isinstance(ref, str))
    return replace(
        memory,
        kind=draft.kind,
        title=draft.title,
        body=draft.body,
        aliases=draft.aliases,
        alternatives=draft.alternatives,
        cue=draft.cue,
        steps=draft.steps,
        claims=draft.claims,
        groundings=draft.groundings,
        applies_to=draft.applies_to,
        key=draft.key,
        tags=draft.tags,
        valid=draft.valid,
        links=draft.links,
        evidence=evidence,
    )
