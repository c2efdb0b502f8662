"""`gitmem remember`: drafts in, evidence expanded, the gate asked, one commit out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from gitmem.app.batch import Batch
from gitmem.app.belief import believed_view
from gitmem.app.facts import Lookup, index_lookup, sources
from gitmem.app.user_store import made
from gitmem.app.workspace import View, Workspace
from gitmem.app.writing import Judged, Mutation, judge, write
from gitmem.errors import Ambiguous, GitmemError, NotFound, UsageError
from gitmem.evidence.resolvers import expand
from gitmem.model.frozen import dataclass
from gitmem.model.ids import memory_id
from gitmem.model.judgement import Change, Decision, Reason
from gitmem.model.layout import HOMES, INBOX, MAIN, PLACES
from gitmem.model.nouns import Config, Draft, EvidenceRef, Link, Memory, MemoryRef, Proposal, Scope
from gitmem.model.records import digest, event_from_bytes
from gitmem.model.text import one_line
from gitmem.model.vocabulary import VISIBLE
from gitmem.policy.landing import lands


@dataclass(frozen=True)
class Remembered:
    """One draft's fate. `result`: "active", "candidate" or "unchanged" (the very same was there already).

    `forge`: whoever merges it on the forge lets a candidate in, and nobody here.
    """

    memory: Memory
    result: str
    reasons: tuple[Reason, ...] = ()
    forge: bool = False


def remember(
    workspace: Workspace,
    drafts: Sequence[Draft],
    *,
    dry_run: bool = False,
    lookup: Callable[[View], Lookup] = index_lookup,
    op: Any = "create",
    status: str | None = None,
    reason: str = "",
) -> list[Remembered]:
    """Admit all drafts in one commit, or none. Raises Refused with the reasons of every draft.

    `reason` goes into the events: why these are remembered. A draft for the user makes the user's own store on first
    use.
    """
    if not dry_run and any(draft.audience == "user" for draft in drafts):
        made(workspace)
    identifiers = [memory_id(workspace.env.random(8)) for _ in drafts]
    kept: list[Remembered | None] = []

    def plan(view: View, known: Lookup) -> list[Mutation]:
        kept[:] = [None] * len(drafts)
        mutations = []
        for number, built in enumerate(build(view, drafts, identifiers, status)):
            memory = built.memory
            same = already_there(view, known, memory)
            if same is not None:
                kept[number] = Remembered(same, "unchanged")
                continue
            ref = HOMES.get(memory.scope.audience, MAIN) if memory.status == "active" else INBOX
            mutations.append(Mutation(Change(op, memory, reason=reason), ref, unresolved=built.unresolved))
        return mutations

    outcome = write(workspace, plan, subject=_subject, dry_run=dry_run, lookup=lookup)
    written = iter(outcome.judged)
    if not dry_run:
        _note_cited(workspace, [item.mutation.change.after for item in outcome.judged])
    return [item if item is not None else _fate(next(written), outcome.view) for item in kept]


def _note_cited(workspace: Workspace, memories: Sequence[Memory]) -> None:
    """Who builds on a memory has used it; who contradicts it or puts something in its place has not."""
    env = workspace.env
    if env.channel not in ("terminal", "agent", "tool"):
        return
    against = ("supersedes", "contradicts", "differs_from")
    named = [link.to for memory in memories for link in memory.links if link.type not in against]
    named += [
        ref.id for memory in memories for ref in memory.evidence
        if isinstance(ref, MemoryRef) and ref.role == "supports"
    ]  # fmt: skip
    doubted = {link.to for memory in memories for link in memory.links if link.type in against}
    named = [identifier for identifier in named if identifier not in doubted]
    if named:
        from gitmem.app.use import note

        note(workspace.location.private, env.environ, "cited", named, env.now())


def _fate(item: Judged, view: View) -> Remembered:
    memory = item.mutation.change.after
    return Remembered(memory, memory.status, item.decision.reasons, let_in_by_the_forge(view, memory))


def let_in_by_the_forge(view: View, memory: Memory) -> bool:
    """Whether the policy leaves it to the forge to let a memory in."""
    return memory.scope.audience == "team" and view.config is not None and view.config.review == "forge"


@dataclass(frozen=True)
class Built:
    """The record that a draft would become, and why some of its references could not be expanded."""

    memory: Memory
    unresolved: tuple[Reason, ...]


def build(view: View, drafts: Sequence[Draft], identifiers: Sequence[str], status: str | None) -> list[Built]:
    """The records that the drafts would become. A reference that cannot be expanded becomes a reason."""
    config = view.require_config()
    channel = view.workspace.env.channel
    where = sources(view, channel)
    built = []
    for draft, identifier in zip(drafts, identifiers, strict=True):
        evidence: list[EvidenceRef] = []
        unresolved: list[Reason] = []
        for position, item in enumerate(draft.evidence):
            if isinstance(item, str) and not item.strip():
                continue  # the empty line of the template
            try:
                evidence.append(expand(item, where) if isinstance(item, str) else item)
            except GitmemError as error:
                unresolved.append(Reason(_code(error), error.message, error.hint, f"evidence[{position}]"))
        audience = draft.audience
        store = view.config_for(audience)
        own = audience == "private" and channel == "capture"  # what the gate derives decides whether it stays there
        here = "active" if own or lands(channel, store, audience) != INBOX else "candidate"
        project = (store or Config(project="user" if audience == "user" else config.project)).project
        memory = _memory(view, draft, identifier, status or here, project, evidence)
        built.append(Built(memory, tuple(unresolved)))
    return built


def _code(error: GitmemError) -> str:
    return "evidence.shape" if isinstance(error, (UsageError, Ambiguous)) else "evidence.gone"


def _memory(
    view: View, draft: Draft, identifier: str, status: str, project: str, evidence: Sequence[EvidenceRef]
) -> Memory:
    return Memory(
        id=identifier,
        kind=draft.kind,
        title=" ".join(draft.title.split()) if "\n" in draft.title else draft.title.strip(),
        body=draft.body.rstrip("\n"),
        status=status,
        scope=Scope(project=project, audience=draft.audience),
        origin="inferred",  # the gate derives it
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
        links=tuple(replace(link, to=_full_id(view, link)) for link in draft.links),
        evidence=tuple(evidence),
    )


def _full_id(view: View, link: Link) -> str:
    """A link may be typed as a prefix; one that leads nowhere stays as typed and the gate says so."""
    try:
        return view.find(link.to).memory.id
    except (NotFound, UsageError):
        return link.to


def already_there(view: View, known: Lookup, memory: Memory) -> Memory | None:
    """The record that says exactly this, when the same request comes again after its answer was lost.

    Same text, place and evidence by the same channel: a retry is answered, not refused, and nothing is written
    twice. Another channel's record is another's word, and the gate judges what repeats it.
    """
    for claim in known.candidates(memory):
        if (claim.title, claim.body, claim.kind) != (memory.title, memory.body, memory.kind):
            continue
        ref = PLACES.get(claim.where)
        found = view.memory(claim.id, ref) if ref else None
        if ref is None or found is None or not _same(found, memory):
            continue
        proposal = proposal_of(view, found.id, ref)
        if proposal is not None and proposal.actor.channel == view.workspace.env.channel:
            return found
    return None


def _same(found: Memory, memory: Memory) -> bool:
    """True for the same request. Its origin and where it landed are the gate's to say; it may be accepted by now."""
    standing = found.status in VISIBLE or found.status == "candidate"
    return standing and replace(memory, id=found.id, origin=found.origin, status=found.status) == found


def proposal_of(view: View, identifier: str, ref: str) -> Proposal | None:
    """Who said first what a record says, from the event that brought it; None when no event tells."""
    source = view.place(ref)
    names = source.event_names(identifier)
    raw = source.read(names[0]) if names else None
    if raw is None:
        return None
    event = event_from_bytes(raw, path=names[0], trusted=ref != INBOX or view.inbox_own)
    return event.proposed or Proposal(
        at=event.at, actor=event.actor, event=digest(raw), op=event.op, reason=event.reason or None
    )


def _subject(mutations: Sequence[Mutation]) -> str:
    if len(mutations) == 1:
        memory = mutations[0].change.after
        return f"remember {memory.id}: {one_line(memory.title, 60)}"
    return f"remember {len(mutations)} memories"


def check_drafts(workspace: Workspace, drafts: Sequence[Draft]) -> list[tuple[str, Decision]]:
    """What the gate says of each draft, with its title; nothing is written, not even to the outbox."""
    view = believed_view(workspace)
    known = index_lookup(view)
    answers: list[tuple[str, Decision]] = []
    before = Batch()
    for draft in drafts:
        (built,) = build(view, [draft], [memory_id(workspace.env.random(8))], None)
        ref = HOMES.get(built.memory.scope.audience, MAIN) if built.memory.status == "active" else INBOX
        mutation = Mutation(Change("create", built.memory), ref, unresolved=built.unresolved)
        (judged,) = judge(view, [mutation], known, "", batch=before)
        answers.append((draft.title, judged.decision))
    return answers
