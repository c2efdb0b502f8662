"""`gitmem promote`: what is one's own is proposed to the team, as a candidate that has to be let in as any other.

The candidate is a record of its own: its id, its events and its origin say nothing of the one that it was made from,
because the team may not know of that one. What the two have to do with each other is known to this clone alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gitmem.app import state
from gitmem.app.facts import Lookup
from gitmem.app.moves import find_for, refused, standing
from gitmem.app.remember import Remembered, already_there, let_in_by_the_forge
from gitmem.app.workspace import View, Workspace
from gitmem.app.writing import Mutation, status_change, write
from gitmem.errors import UsageError
from gitmem.model.frozen import replace
from gitmem.model.ids import memory_id
from gitmem.model.judgement import Change, Resolution
from gitmem.model.layout import INBOX, PRIVATE, USER
from gitmem.model.nouns import Memory, Scope
from gitmem.model.text import one_line
from gitmem.model.vocabulary import VISIBLE

_STATE: Final = "promoted"  # of this clone: from a candidate's id to that of the private memory


def promote(workspace: Workspace, prefix: str, reason: str) -> tuple[Remembered, tuple[Resolution, ...]]:
    """The candidate, and what its evidence resolved to. Raises UsageError for what is the team's already, and Refused
    as the gate does: evidence is looked at again, and the origin is derived again by who promotes."""
    identifier = memory_id(workspace.env.random(8))
    there: list[Memory] = []
    source: list[str] = []

    def plan(view: View, known: Lookup) -> list[Mutation]:
        found = find_for(view, "promote", prefix)
        own = found.memory
        if found.ref not in (PRIVATE, USER):
            where = "waits in the inbox" if found.ref == INBOX else "is the team's already"
            raise UsageError(f"{own.id} {where}", hint="gitmem list --audience private --audience user")
        if own.status not in VISIBLE:
            raise refused(
                view, own, "create", f"{standing(own)}: what no longer holds is not promoted", "status.move",
                "only what may be shown is promoted", f"gitmem log {own.id} tells what became of it",
            )  # fmt: skip
        scope = Scope(view.require_config().project)
        links = tuple(link for link in own.links if link.type not in ("supersedes", "superseded_by"))
        candidate = replace(own, id=identifier, status="candidate", scope=scope, links=links)
        same = already_there(view, known, candidate)
        there[:], source[:] = ([same] if same is not None else []), ([own.id] if found.ref == PRIVATE else [])
        return [] if same is not None else [Mutation(Change("create", candidate, reason=reason), INBOX)]

    outcome = write(workspace, plan, subject=_subject)
    if there:
        return Remembered(there[0], "unchanged"), ()
    item = outcome.judged[0]
    if source:
        folder = workspace.location.private
        state.save(folder, _STATE, {**state.load(folder, _STATE), identifier: source[0]})
    after = item.mutation.change.after
    forge = let_in_by_the_forge(outcome.view, after)
    return Remembered(after, "candidate", item.decision.reasons, forge), item.facts.resolutions


def promoted(view: View, candidate: Memory) -> list[Mutation]:
    """What else accepting a candidate changes: the private memory that it was made from is put away, so that nobody is
    told the same twice. One for all of a user's projects stays: the others of these are told it by nobody else."""
    source = state.load(view.workspace.location.private, _STATE).get(candidate.id)
    own = view.memory(source, PRIVATE) if isinstance(source, str) else None
    if own is None or own.status not in VISIBLE:
        return []
    return [Mutation(status_change(own, "archive", "archived", f"the team has it as {candidate.id}"), PRIVATE)]


def offered(workspace: Workspace) -> frozenset[str]:
    """The private memories that were promoted here, whatever became of the candidates."""
    sources = state.load(workspace.location.private, _STATE).values()
    return frozenset(source for source in sources if isinstance(source, str))


def _subject(mutations: Sequence[Mutation]) -> str:
    return "; ".join(f"propose {m.change.after.id}: {one_line(m.change.after.title, 60)}" for m in mutations)
