"""Verdicts on candidates where the policy leaves review to the forge: what binds the team is proposed.

What waits in this clone's inbox is this clone's: it is closed or edited there at once, by a person.
"""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.app.belief import believed_view
from gitmem.app.moves import find_for, require_reason, standing, subject_of
from gitmem.app.propose_move import Asked, propose_changes
from gitmem.app.taken_in import note_offered
from gitmem.app.tiers import accepting
from gitmem.app.verdicts import merging, target_of
from gitmem.app.workspace import Found, View, Workspace
from gitmem.app.writing import Mutation, status_change, write
from gitmem.errors import UsageError
from gitmem.model.frozen import replace
from gitmem.model.judgement import Change
from gitmem.model.layout import INBOX, MAIN
from gitmem.model.nouns import Memory
from gitmem.model.vocabulary import WAITING
from gitmem.policy.landing import decides


def for_the_forge(workspace: Workspace, verb: str, prefixes: Sequence[str]) -> bool:
    """True when a person asks here for a verdict that whoever merges decides on, and that can be proposed as one.

    To accept what waits in the inbox is to propose it, which is a verb of its own.
    """
    channel = workspace.env.channel
    view = believed_view(workspace)
    if channel != "terminal" or view.require_config().review != "forge":
        return False
    found = [find_for(view, verb, prefix) for prefix in prefixes]
    theirs = [one for one in found if not decides(channel, view.require_config(), one.memory.scope.audience)]
    return any(one.ref == MAIN or verb != "accept" for one in theirs)


def propose_verdict(workspace: Workspace, verb: str, prefixes: Sequence[str], reason: str) -> Asked:
    """Propose to reject candidates, or to accept one that lies on gitmem/main.

    What waits in the inbox is rejected there at once; the tombstone, which binds the team, is what is proposed.
    """
    if verb == "reject":
        require_reason(reason, f"gitmem reject {' '.join(prefixes)}")
    here: list[Memory] = []

    def make(view: View, found: Sequence[Found]) -> list[Mutation]:
        made = []
        for one in found:
            memory = _waiting(one, verb)
            if verb == "accept":
                made += [replace(each, leaves_inbox=False) for each in accepting(view, one, reason or "accepted")]
                continue
            change = status_change(memory, "reject", "wrong", reason)
            made.append(Mutation(change, MAIN, entomb="reject", stores_record=one.ref == MAIN))
            here.extend([memory] if one.ref == INBOX else [])
        return made

    asked = propose_changes(workspace, verb, prefixes, make)
    if here:
        closing = [Mutation(status_change(memory, "reject", "wrong", reason), INBOX) for memory in here]
        write(workspace, lambda view, known: closing, subject=subject_of("reject"))
    return replace(asked, closed=tuple(memory.id for memory in here))


def propose_merge(workspace: Workspace, prefix: str, target: str, reason: str) -> Asked:
    """Propose to give a memory of gitmem/main what a candidate adds.

    A candidate of the inbox waits on: until that is merged, nothing else says what it says. Then it closes itself.
    """
    require_reason(reason, f"gitmem review merge-into {prefix} {target}")

    waits: list[Memory] = []

    def make(view: View, found: Sequence[Found]) -> list[Mutation]:
        (into,) = found
        candidate = find_for(view, "merge-into", prefix)
        memory = _waiting(candidate, "merge-into")
        edit: Change = merging(memory, target_of(view, candidate, target).memory, reason)
        made = [Mutation(edit, into.ref)]
        if candidate.ref == MAIN:
            gone = status_change(memory, "retract", "archived", f"merged into {into.memory.id}: {reason}")
            made.append(Mutation(gone, MAIN))
        waits.extend([memory] if candidate.ref == INBOX else [])
        return made

    asked = propose_changes(workspace, "merge-into", [target], make)
    for memory in waits:
        note_offered(workspace, memory, asked.change.after.id, base=asked.base, tip=asked.tip)
    return asked


def _waiting(found: Found, verb: str) -> Memory:
    memory = found.memory
    if memory.status not in WAITING:
        hint = f"gitmem log {memory.id} tells what became of it"
        raise UsageError(f"{standing(memory)}: {verb} takes a candidate", hint=hint)
    return memory
