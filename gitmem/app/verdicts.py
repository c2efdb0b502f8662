"""The verdicts of a person on candidates: accept, reject, merge into another memory. The gate judges each again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from gitmem.app import belief
from gitmem.app.facts import Lookup
from gitmem.app.moves import find_for, refused, require_person, require_reason, standing, subject_of
from gitmem.app.promote import promoted
from gitmem.app.remember import proposal_of
from gitmem.app.signing import principal_here
from gitmem.app.tiers import Weighty, accepting, proposed_as, require_alone, tiers
from gitmem.app.workspace import Found, View, Workspace
from gitmem.app.writing import Mutation, Outcome, status_change, write
from gitmem.errors import NotFound, Refused, UsageError
from gitmem.model.frozen import replace
from gitmem.model.judgement import Change
from gitmem.model.layout import HOMES, INBOX, MAIN
from gitmem.model.nouns import Actor, Link, Memory
from gitmem.model.vocabulary import WAITING
from gitmem.policy.review import ReviewLevel, review_level, self_approval

_PAST: Final = {"accept": "accepted", "reject": "rejected", "merge-into": "merged into another"}
_SHOWN: Final = 10_000  # candidates of the branch that one look finds


def accept(
    workspace: Workspace,
    prefixes: Sequence[str],
    reason: str,
    *,
    superseding: str | None = None,
    shown: Sequence[Memory] = (),
) -> list[Memory]:
    """Let candidates in, judged again at today's tip; all of them or none.

    What is not of low risk is refused without a reason, and beside others. `superseding`: the memory whose place the
    one candidate takes. `shown`: candidates as the person saw them; Refused when one says something else by now.
    """

    def plan(view: View, known: Lookup) -> list[Mutation]:
        mutations: list[Mutation] = []
        chosen: list[Found] = []
        for found in _candidates(view, "accept", prefixes, reason, shown):
            if superseding is not None:
                linked, found = _in_the_place_of(view, found, superseding, reason)
                mutations.append(linked)
            chosen.append(found)
        require_alone(view, known, chosen, reason)
        return mutations + _let_in(view, chosen, reason)

    return _accepted(write(workspace, plan, subject=subject_of("accept")))


def accept_low(workspace: Workspace, reason: str) -> tuple[list[Memory], list[Weighty]]:
    """Let in all that waits and is of low risk; (what was let in, what is to be decided alone).

    Raises NotFound when nothing waits, Refused when all of it is to be decided alone.
    """
    left: list[Weighty] = []

    def plan(view: View, known: Lookup) -> list[Mutation]:
        low, left[:] = tiers(view, known, _candidates(view, "accept", waiting_ids(view), reason))
        if not low:
            what = "the one candidate that waits is" if len(left) == 1 else f"all {len(left)} candidates that wait are"
            raise Refused(f"{what} to be decided alone; nothing was written", reasons=[each.reason for each in left])
        return _let_in(view, low, reason)

    accepted = _accepted(write(workspace, plan, subject=subject_of("accept")))
    return accepted, left


def _let_in(view: View, chosen: Sequence[Found], reason: str) -> list[Mutation]:
    return [
        mutation
        for found in chosen
        for mutation in (*accepting(view, found, reason or "accepted"), *promoted(view, found.memory))
    ]


def _accepted(outcome: Outcome) -> list[Memory]:
    return [item.mutation.change.after for item in outcome.judged if item.mutation.change.op == "accept"]


def _in_the_place_of(view: View, found: Found, prefix: str, reason: str) -> tuple[Mutation, Found]:
    """The edit that has a candidate name what it replaces, and the candidate after it."""
    old = _old(view, found, prefix)
    before = found.memory
    after = replace(before, links=(*before.links, Link("supersedes", old.memory.id)), key=before.key)
    edit = Change("edit", after, before=before, reason=reason or f"replaces {old.memory.id}")
    return Mutation(edit, found.ref), Found(after, found.ref)


def replaced_by(workspace: Workspace, prefix: str, old: str) -> Memory:
    """The memory whose place a candidate would take. Raises as `accept` does for an id that is none."""
    view = belief.believed_view(workspace)
    return _old(view, find_for(view, "accept", prefix), old).memory


def _old(view: View, found: Found, prefix: str) -> Found:
    old = view.find(prefix)
    if old.ref != HOMES[found.memory.scope.audience]:
        raise refused(
            view, old.memory, "supersede", f"{standing(old.memory)} and for other readers or in the inbox",
            "status.move", "only what was let in, for the same readers, is superseded", "gitmem list",
        )  # fmt: skip
    return old


def reject(workspace: Workspace, prefixes: Sequence[str], reason: str, *, shown: Sequence[Memory] = ()) -> list[Memory]:
    """Refuse candidates for good: the tombstone goes to the branch, the candidate stays where it is as wrong."""

    def plan(view: View, _: Lookup) -> list[Mutation]:
        mutations = []
        for prefix in prefixes:
            find_for(view, "reject", prefix)
        require_reason(reason, f"gitmem reject {' '.join(prefixes)}")
        for found in _candidates(view, "reject", prefixes, reason, shown):
            change = status_change(found.memory, "reject", "wrong", reason)
            proposed = proposed_as(view, found)
            home = HOMES[found.memory.scope.audience]
            if found.ref == home:
                mutations.append(Mutation(change, home, entomb="reject", proposed=proposed))
                continue
            mutations += [
                Mutation(change, home, entomb="reject", stores_record=False, proposed=proposed),
                Mutation(change, INBOX),
            ]
        return mutations

    outcome = write(workspace, plan, subject=subject_of("reject"))
    return list({item.mutation.change.after.id: item.mutation.change.after for item in outcome.judged}.values())


def merge_into(workspace: Workspace, prefix: str, target: str, reason: str, *, shown: Sequence[Memory] = ()) -> Memory:
    """Give what a candidate adds (evidence, tags, paths, aliases) to a memory that says the same, and close it.

    The memory after it. The candidate's own words are not taken. Raises Refused as the gate does.
    """
    require_reason(reason, f"gitmem review merge-into {prefix} {target}")

    def plan(view: View, _: Lookup) -> list[Mutation]:
        (found,) = _candidates(view, "merge-into", [prefix], reason, shown)
        into = target_of(view, found, target)
        home = HOMES[found.memory.scope.audience]
        require_person(view, "edit", into.memory, reason)
        edit = merging(found.memory, into.memory, reason)
        gone = status_change(found.memory, "retract", "archived", f"merged into {into.memory.id}: {reason}")
        return [Mutation(gone, found.ref), Mutation(edit, home)]

    return write(workspace, plan, subject=subject_of("merge into")).judged[-1].mutation.change.after


def merging(candidate: Memory, into: Memory, reason: str) -> Change:
    """The edit that gives a memory what a candidate adds. Raises UsageError when it adds nothing."""
    after = _with_what_it_adds(into, candidate)
    if after == into:
        hint = f'gitmem reject {candidate.id} --because "…", or gitmem retract'
        raise UsageError(f"{candidate.id} adds nothing to {into.id}", hint=hint)
    return Change("edit", after, before=into, reason=reason)


def merge_target(workspace: Workspace, prefix: str, target: str) -> Memory:
    """The memory that `merge_into` would give what a candidate adds. Raises as it does for an id that is none."""
    view = belief.believed_view(workspace)
    return target_of(view, find_for(view, "merge-into", prefix), target).memory


def target_of(view: View, found: Found, target: str) -> Found:
    """The memory that is to get what a candidate adds. Raises UsageError for one that cannot."""
    into = find_for(view, "edit", target)
    home = HOMES[found.memory.scope.audience]
    if into.memory.id == found.memory.id or into.ref != home or into.memory.status in WAITING:
        hint = "gitmem list shows what there is"
        raise UsageError(f"{into.memory.id} is no memory for the same readers to merge another into", hint=hint)
    return into


def _with_what_it_adds(memory: Memory, candidate: Memory) -> Memory:
    def both(name: str) -> Any:
        return tuple(dict.fromkeys((*getattr(memory, name), *getattr(candidate, name))))

    known = {(ref.type, ref.sha256) for ref in memory.evidence}
    added = tuple(ref for ref in candidate.evidence if (ref.type, ref.sha256) not in known)
    aliases = both("aliases")
    if candidate.title not in (memory.title, *aliases):
        aliases = (*aliases, candidate.title)
    return replace(
        memory,
        tags=both("tags"),
        applies_to=both("applies_to"),
        aliases=aliases,
        evidence=(*memory.evidence, *added),
    )


def waiting(view: View) -> list[Found]:
    """Every candidate: of this clone's inbox, and on the branch, where a merged proposal of a program leaves it."""
    inbox = [Found(memory, INBOX) for memory in view.memories(INBOX) if memory.status in WAITING]
    return inbox + list(_waiting_on_main(view))


def _waiting_on_main(view: View) -> Iterator[Found]:
    from gitmem.app.catch_up import catch_up
    from gitmem.policy.visibility import withheld_view
    from gitmem.recall.faults import IndexBusy
    from gitmem.recall.query import Query

    try:
        index = catch_up(view)
    except IndexBusy:
        return  # somebody writes to it; the next look finds them
    wanted = withheld_view(view.viewer, WAITING)
    for hit in index.search(Query(refs=("main",), limit=_SHOWN, order="newest"), wanted).hits:
        memory = view.memory(hit.memory.id)
        if memory is not None and memory.status in WAITING:
            yield Found(memory, MAIN)


def waiting_ids(view: View) -> list[str]:
    """The ids of everything that waits for a person. Raises NotFound when nothing does."""
    found = [item.memory.id for item in waiting(view)]
    if not found:
        raise NotFound("nothing waits in the inbox", hint="gitmem list --inbox")
    return found


def take_the_place(workspace: Workspace, prefix: str, old: str, reason: str) -> Memory:
    """Have a candidate of the inbox name what it replaces, where whoever merges its proposal lets it in."""
    require_reason(reason, f"gitmem review supersede {prefix} {old}")

    def plan(view: View, _: Lookup) -> list[Mutation]:
        found = find_for(view, "supersede", prefix)
        require_person(view, "edit", found.memory, reason, here=found.ref == INBOX)
        return [_in_the_place_of(view, found, old, reason)[0]]

    return write(workspace, plan, subject=subject_of("edit")).judged[0].mutation.change.after


def _candidates(
    view: View, verb: str, prefixes: Sequence[str], reason: str, shown: Sequence[Memory] = ()
) -> list[Found]:
    """The candidates that a person names, each once."""
    seen = {memory.id: memory for memory in shown}
    found = {item.memory.id: item for item in (find_for(view, verb, prefix) for prefix in prefixes)}
    for item in found.values():
        memory = item.memory
        require_person(view, verb, memory, reason)
        if memory.status not in WAITING:
            raise refused(
                view, memory, verb, f"{standing(memory)}, not a candidate; nothing was written", "status.move",
                f"only a candidate can be {_PAST[verb]}", f"gitmem log {memory.id} tells what became of it",
            )  # fmt: skip
        if seen.get(memory.id, memory) != memory:
            raise refused(
                view, memory, verb, f"{memory.id} was changed after it was shown; nothing was written",
                "review.changed", "a verdict is on what was looked at", f"gitmem review {memory.id}",
            )  # fmt: skip
        _require_another(view, item, verb)
    return list(found.values())


def _require_another(view: View, found: Found, verb: str) -> None:
    """Raise Refused where it is proven that the one who decides proposed it."""
    proposal = proposal_of(view, found.memory.id, found.ref)
    if proposal is not None and self_approval(deciding(view), proposal.actor):
        raise refused(
            view, found.memory, verb, f"{found.memory.id} was proposed by {proposal.actor.principal}, who decides here",
            "review.self", "nobody decides on a proposal of their own", "another person runs gitmem review",
        )  # fmt: skip


def deciding(view: View) -> Actor:
    """Who decides here, as far as it can be observed."""
    env = view.workspace.env
    principal = principal_here(view.workspace, view.config)
    return Actor(channel=env.channel, principal=principal, host=env.host)


def level_here(workspace: Workspace) -> ReviewLevel:
    """What a verdict that is given here is worth as a review."""
    return review_level(deciding(belief.believed_view(workspace)), None)
