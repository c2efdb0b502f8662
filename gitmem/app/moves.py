"""The moves of a memory's life: supersede, wrong, lift, retract, archive, restore, dispute, edit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from gitmem.app.belief import believed_view
from gitmem.app.facts import Lookup, sources
from gitmem.app.outbox import record_refusals
from gitmem.app.remember import Remembered, already_there, build, let_in_by_the_forge, proposal_of
from gitmem.app.workspace import Found, View, Workspace
from gitmem.app.writing import Mutation, status_change, write
from gitmem.errors import NotFound, Refused, UsageError
from gitmem.evidence.resolvers import expand
from gitmem.model.drafts import draft_of, draft_text
from gitmem.model.ids import id_prefix, memory_id
from gitmem.model.judgement import Change, Reason
from gitmem.model.layout import HOMES, INBOX, MAIN, TOMBSTONES
from gitmem.model.nouns import Draft, EvidenceRef, Link, Memory, MemoryRef
from gitmem.model.records import tombstone_from_bytes
from gitmem.model.text import one_line
from gitmem.model.times import holds_at, parse_instant
from gitmem.model.vocabulary import WAITING
from gitmem.policy.landing import decides
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
_VERBS: Final = frozenset({*TARGETS, "supersede", "edit"})
_MENDING: Final = frozenset({"edit", "archive", "retract", "wrong"})  # what mends a record that names what is not there
_LASTING: Final = frozenset({"supersedes", "superseded_by"})
_DOUBTING: Final = frozenset({"wrong", "dispute"})


def move(workspace: Workspace, verb: str, prefix: str, reason: str, evidence: Sequence[str] = ()) -> Found:
    """One plain move of one memory. `wrong` writes the tombstone, `lift` lifts it."""

    def plan(view: View, _: Lookup) -> list[Mutation]:
        found = find_for(view, verb, prefix)
        require_reason(reason, f"gitmem {verb} {prefix}")
        before = found.memory
        if found.ref == INBOX:
            return _of_proposal(view, before, verb, reason)
        require_person(view, verb, before, reason)
        return [moving(view, found, verb, reason, evidence)]

    moved = write(workspace, plan, subject=subject_of(verb)).judged[-1].mutation
    return Found(moved.change.after, moved.ref)


def moving(view: View, found: Found, verb: str, reason: str, evidence: Sequence[str] = ()) -> Mutation:
    """What a plain move changes of a memory that was let in. Raises Refused when its state does not allow it."""
    before, op = found.memory, _OPS.get(verb, verb)
    _require_legal(view, before, op, verb)
    added = [_against(ref) if verb in _DOUBTING else ref for ref in expanded(view, evidence)]
    change = status_change(before, op, TARGETS[verb], reason, evidence=(*before.evidence, *added))
    entomb: Any = {"wrong": "reject", "lift": "lift"}.get(verb)
    return Mutation(change, found.ref, entomb=entomb)


def _against(ref: EvidenceRef) -> EvidenceRef:
    """What is brought against a memory does not support it."""
    return replace(ref, role="contradicts") if ref.role == "supports" else ref


def find_for(view: View, verb: str, prefix: str) -> Found:
    """The memory that a verb is to work on. Raises NotFound, for a claim rejected in another clone as well.

    One that is left out only because it names what is not there is found by the verbs that mend it.
    """
    view.require_config()
    try:
        return view.find(prefix)
    except NotFound:
        led_astray = view.find_astray(prefix) if verb in _MENDING else None
        if led_astray is not None:
            return led_astray
        for path, raw in view.main.read_all(TOMBSTONES) if verb == "lift" else ():
            tomb = tombstone_from_bytes(raw, path=path, trusted=True)
            if tomb.standing and tomb.history[-1].memory.startswith(prefix.strip().lower()):
                identifier = tomb.history[-1].memory
                raise NotFound(
                    f"{identifier} was a candidate of another clone when it was rejected; it is lifted there",
                    hint=f'in that clone: gitmem lift {identifier} --because "…"',
                ) from None
        raise


def _of_proposal(view: View, memory: Memory, verb: str, reason: str) -> list[Mutation]:
    """The plain moves of a record of the inbox: its proposer takes it back, a person lifts its rejection."""
    if verb == "retract" and memory.status in WAITING:
        if view.workspace.env.channel != "terminal" and not _is_own(view, memory):
            require_person(view, verb, memory, reason)
        return [Mutation(status_change(memory, "retract", "archived", reason), INBOX)]
    if verb == "lift" and memory.status == "wrong":
        # Its tombstone is the team's: where that stands, and the forge decides, lifting it was proposed instead.
        require_person(view, verb, memory, reason, here=True)
        change = status_change(memory, "lift", "candidate", reason)
        if not decides(view.workspace.env.channel, view.require_config(), memory.scope.audience):
            return [Mutation(change, INBOX)]
        home = HOMES[memory.scope.audience]
        return [Mutation(change, home, entomb="lift", stores_record=False), Mutation(change, INBOX)]
    raise refused(
        view, memory, _OPS.get(verb, verb), f"{standing(memory)} in the inbox: {verb} is not possible", "status.move",
        f"{verb} is no move from here", _open_to(memory, INBOX),
    )  # fmt: skip


def _is_own(view: View, memory: Memory) -> bool:
    env, proposal = view.workspace.env, proposal_of(view, memory.id, INBOX)
    return proposal is not None and (proposal.actor.channel, proposal.actor.host) == (env.channel, env.host)


def supersede(workspace: Workspace, prefix: str, draft: Draft, reason: str, again: str = "") -> Remembered:
    """Put a new memory in the place of an old one, both in one commit; from an agent it is a proposal.

    `again`: the command as it was typed, for the hint where the reason is missing.
    """
    identifier = memory_id(workspace.env.random(8))

    there: list[Memory] = []

    def plan(view: View, known: Lookup) -> list[Mutation]:
        old = find_for(view, "supersede", prefix)
        require_reason(reason, again or f"gitmem supersede {prefix}")
        linked = replace(
            draft,
            links=(*draft.links, Link("supersedes", old.memory.id)),
            key=draft.key or old.memory.key,
            tags=draft.tags or old.memory.tags,
            applies_to=draft.applies_to or old.memory.applies_to,
            audience=old.memory.scope.audience,
        )
        (built,) = build(view, [linked], [identifier], None)
        same = already_there(view, known, built.memory)
        there[:] = [same] if same is not None else []
        if same is not None:
            return []
        if old.ref == INBOX:
            raise refused(
                view, old.memory, "supersede", f"{standing(old.memory)} in the inbox: nothing is there to supersede",
                "status.move", "only what was let in is superseded", _open_to(old.memory, INBOX),
            )  # fmt: skip
        _require_legal(view, old.memory, "supersede", "supersede")
        change = Change("create", built.memory, reason=reason)
        if built.memory.status != "active":
            return [Mutation(change, INBOX, unresolved=built.unresolved)]
        return _superseding(old.memory, change, reason, built.unresolved)

    outcome = write(workspace, plan, subject=subject_of("supersede"))
    if there:
        return Remembered(there[0], "unchanged")
    after = next(item.mutation.change.after for item in outcome.judged if item.mutation.change.after.id == identifier)
    reasons = tuple(r for item in outcome.judged for r in item.decision.reasons)
    return Remembered(after, after.status, reasons, let_in_by_the_forge(outcome.view, after))


def _superseding(old: Memory, new: Change, reason: str, unresolved: tuple[Reason, ...]) -> list[Mutation]:
    """Both sides of a supersession: the new one is written, the old record names its replacement."""
    home = HOMES[new.after.scope.audience]
    return [Mutation(new, home, unresolved=unresolved), closed(old, new.after, reason)]


def closed(old: Memory, by: Memory, reason: str) -> Mutation:
    """The old side. It was true until the new one is, when that says since when."""
    closed = replace(old, status="superseded", links=(*old.links, Link("superseded_by", by.id)))
    if by.valid.start is not None and holds_at(old.valid.start, old.valid.until, parse_instant(by.valid.start)):
        closed = replace(closed, valid=replace(old.valid, until=by.valid.start))
    return Mutation(Change("supersede", closed, before=old, reason=reason), HOMES[old.scope.audience])


def edit(
    workspace: Workspace,
    prefix: str,
    change: Callable[[Memory], Memory],
    reason: str,
    *,
    evidence: Sequence[str] = (),
    draft: Draft | None = None,
) -> Found:
    """Change the text, tags, paths, validity or evidence of a memory; its identity stays.

    `draft` is what the memory is to say, as an editor gave it; `change` is made after that.
    """

    def plan(view: View, _: Lookup) -> list[Mutation]:
        found = find_for(view, "edit", prefix)
        require_reason(reason, f"gitmem edit {prefix}")
        require_person(view, "edit", found.memory, reason, here=found.ref == INBOX)
        return [editing(view, found, change, reason, evidence=evidence, draft=draft)]

    edited = write(workspace, plan, subject=subject_of("edit")).judged[0].mutation
    return Found(edited.change.after, edited.ref)


def unlinked(memory: Memory, prefixes: Sequence[str]) -> Memory:
    """The memory without what it says of these memories. What it replaced, or what replaced it, is no saying of its own
    and stays. Raises UsageError for one that it does not name."""
    for prefix in prefixes:
        wanted = id_prefix(prefix)
        links = tuple(link for link in memory.links if link.type in _LASTING or not link.to.startswith(wanted))
        evidence = tuple(
            ref for ref in memory.evidence if not (isinstance(ref, MemoryRef) and ref.id.startswith(wanted))
        )
        if (links, evidence) == (memory.links, memory.evidence):
            hint = f"gitmem show {memory.id} shows its links"
            raise UsageError(f"{memory.id} has no link to {prefix} that could be taken off", hint=hint)
        memory = replace(memory, links=links, evidence=evidence)
    return memory


def editing(
    view: View,
    found: Found,
    change: Callable[[Memory], Memory],
    reason: str,
    *,
    evidence: Sequence[str] = (),
    draft: Draft | None = None,
) -> Mutation:
    """What `edit` changes. Raises Refused when the state does not allow it, UsageError when nothing would change."""
    _require_legal(view, found.memory, "edit", "edit", found.ref)
    after = change(found.memory if draft is None else _like(view, found.memory, draft))
    after = replace(after, evidence=(*after.evidence, *expanded(view, evidence)))
    if after == found.memory:
        raise UsageError(f"nothing of {found.memory.id} would change", hint="gitmem edit --help lists what can")
    return Mutation(Change("edit", after, before=found.memory, reason=reason), found.ref)


def expanded(view: View, evidence: Sequence[str]) -> list[EvidenceRef]:
    """Short forms as full references."""
    where = sources(view, view.workspace.env.channel)
    return [expand(item, where) for item in evidence]


def require_reason(reason: str, command: str) -> None:
    if not reason.strip():
        raise UsageError("this needs a reason", hint=f'{command} --because "…"')


def require_person(view: View, verb: str, memory: Memory, reason: str, *, here: bool = False) -> None:
    """Raise Refused, and keep it in the outbox, when this channel may propose only.

    `here`: it changes nothing but this clone's inbox, which is for a person whatever the policy leaves to the forge.
    """
    env = view.workspace.env
    if decides(env.channel, view.require_config(), memory.scope.audience) or (here and env.channel == "terminal"):
        return
    op: Any = _OPS.get(verb, verb)
    if env.channel == "terminal":
        raise refused(
            view, memory, op, f"{verb} is not decided here: the policy says that review is on the forge",
            "channel.authority", "a terminal may propose and withdraw", _on_the_forge(verb, memory),
        )  # fmt: skip
    seen = f" (seen: {env.host})" if env.host else ""
    flags = {"accept": "", "conflicts resolve": ' --take ours --because "…"'}
    why = flags.get(verb, ' --because "…"')
    raise refused(
        view, memory, op, f"{verb} is for a person at a terminal, and this came through {env.channel}{seen}",
        "channel.authority", f"the channel {env.channel} may propose, and withdraw its own proposals",
        f"a person runs: gitmem {verb} {memory.id}{why}",
    )  # fmt: skip


def _on_the_forge(verb: str, memory: Memory) -> str:
    """What a person can do instead where whoever merges decides."""
    if memory.status in WAITING:
        offer = f"gitmem propose {memory.id} --push offers it; whoever merges it on the forge lets it in"
        return offer if verb == "accept" else f'{offer}; gitmem retract {memory.id} --because "…" takes it back'
    if verb in _VERBS:
        return f'gitmem {verb} {memory.id} --because "…" makes a proposal of it'
    return f'gitmem edit {memory.id} --because "…" makes a proposal; gitmem supersede, then gitmem propose, another'


def refused(view: View, memory: Memory, op: Any, message: str, code: str, why: str, hint: str) -> Refused:
    """The refusal of a move before the gate is asked, kept in the outbox as every other."""
    reason = Reason(code, why, hint, "status" if code == "status.move" else "")
    record_refusals(view.workspace, [(Change(op, memory, before=memory), [reason])])
    return Refused(f"{message.removesuffix('; nothing was written')}; nothing was written", reasons=[reason])


def _require_legal(view: View, memory: Memory, op: str, verb: str, ref: str = MAIN) -> None:
    if op not in legal_moves(memory.status):
        raise refused(
            view, memory, op, f"{standing(memory)}: {verb} is not possible", "status.move",
            f"{verb} does not lead on from {memory.status}", _open_to(memory, ref),
        )  # fmt: skip


def standing(memory: Memory) -> str:
    return f"{memory.id} is {'a candidate' if memory.status == 'candidate' else memory.status}"


def _open_to(memory: Memory, ref: str) -> str:
    """The commands that this memory is open to."""
    if ref == INBOX:
        verbs = {"wrong": ["lift"], "candidate": ["accept", "edit", "reject", "retract"]}.get(memory.status, [])
    else:
        names = {op: verb for verb, op in _OPS.items()}
        verbs = sorted({names.get(op, op) for op in legal_moves(memory.status)} & _VERBS)
    if not verbs:
        return f"nothing: remember it anew; gitmem log {memory.id} tells what became of it"
    return "possible: " + ", ".join(f"gitmem {verb} {memory.id}" for verb in verbs)


def subject_of(verb: str) -> Callable[[Sequence[Mutation]], str]:
    def subject(mutations: Sequence[Mutation]) -> str:
        moved = {item.change.after.id: item.change.after for item in mutations if item.change.op != "supersede"}
        if len(moved) != 1:
            return f"{verb} {len(moved)} memories"
        main = next(iter(moved.values()))
        return f"{verb} {main.id}: {one_line(main.title, 60)}"

    return subject


def kind_of(workspace: Workspace, prefix: str, verb: str = "supersede") -> str:
    """The kind of a memory that a verb is to work on, for a replacement that does not say its own. Raises NotFound."""
    return find_for(believed_view(workspace), verb, prefix).memory.kind


def draft_for_edit(workspace: Workspace, prefix: str) -> str:
    """What an editor opens for a memory."""
    return draft_text(draft_of(find_for(believed_view(workspace), "edit", prefix).memory))


def _like(view: View, memory: Memory, draft: Draft) -> Memory:
    """`memory` with everything that a draft may say taken from `draft`."""
    where = sources(view, view.workspace.env.channel)
    return replace(
        memory,
        kind=draft.kind,
        title=draft.title,
        body=draft.body,
        scope=replace(memory.scope, audience=draft.audience),
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
        evidence=tuple(expand(ref, where) if isinstance(ref, str) else ref for ref in draft.evidence),
    )
