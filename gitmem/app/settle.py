"""Candidates that time, a merge or another clone has decided close themselves, each with an event that says why."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from gitmem.app.belief import believed_view
from gitmem.app.facts import Lookup
from gitmem.app.feedback import doubted
from gitmem.app.moves import subject_of
from gitmem.app.remember import proposal_of
from gitmem.app.taken_in import taken_in
from gitmem.app.workspace import View, Workspace
from gitmem.app.writing import Mutation, status_change, write
from gitmem.errors import GitmemError
from gitmem.model.claims import claim_digest
from gitmem.model.frozen import dataclass
from gitmem.model.layout import HOMES, INBOX, MAIN
from gitmem.model.nouns import Memory
from gitmem.model.times import parse_instant
from gitmem.model.vocabulary import VISIBLE, WAITING


@dataclass(frozen=True)
class Settled:
    """A candidate that is closed. `merged`: it is where it was to land; else it was put away."""

    memory: Memory
    merged: bool
    why: str


def settle(workspace: Workspace) -> list[Settled]:
    """Close what is decided already; what was closed, and why. Nothing is written when there is nothing to close.

    Closed are candidates that are where they were to land by now, that were rejected there, whose words were merged
    into another memory, whose validity has ended, those that would replace what stands no more, and those that say a
    memory is wrong which is withheld by now. It is no verdict: only facts decide, so any door may call it.
    """
    view = believed_view(workspace)
    if view.config is None or view.inbox.commit is None or next(_decided(view), None) is None:
        return []
    settled: list[Settled] = []

    def plan(now: View, _: Lookup) -> list[Mutation]:
        settled[:] = _decided(now)
        return [_closing(item) for item in settled]

    write(workspace, plan, subject=subject_of("close"))
    return settled


def decided(workspace: Workspace) -> list[Settled]:
    """What `settle` would close."""
    view = believed_view(workspace)
    return [] if view.config is None or view.inbox.commit is None else list(_decided(view))


def settle_quietly(workspace: Workspace) -> list[Settled]:
    """As `settle`, for a verb that has other things to do: a branch that may not be written to now keeps them open."""
    try:
        return settle(workspace)
    except GitmemError:
        return []


def _closing(item: Settled) -> Mutation:
    memory = item.memory
    if item.merged:
        op: Any = "merge"
        return Mutation(status_change(memory, op, "active", item.why), INBOX, leaves_inbox=True)
    return Mutation(status_change(memory, "retract", "archived", item.why), INBOX)


def _decided(view: View) -> Iterator[Settled]:
    config = view.require_config()
    now = view.workspace.env.now()
    for memory in view.memories(INBOX):
        if memory.status not in WAITING:
            continue
        home = HOMES.get(memory.scope.audience, MAIN)
        there = view.memory(memory.id, home)
        if there is not None:
            where = "gitmem/main" if home == MAIN else "your own memory"
            yield Settled(memory, True, f"merged: it is on {where} as {there.status}")
            continue
        project = (view.config_for(memory.scope.audience) or config).project
        tomb = view.tombstone(claim_digest(project, memory.kind, memory.title, memory.body), home)
        if tomb is not None and tomb.standing:
            yield Settled(memory, False, f"rejected elsewhere as {tomb.history[-1].memory}")
        elif (into := taken_in(view, memory)) is not None:
            yield Settled(memory, False, f"merged into {into}: it says on gitmem/main what this adds")
        elif memory.valid.until is not None and _ended(view, memory, parse_instant(memory.valid.until), now):
            yield Settled(memory, False, f"expired: it was valid until {memory.valid.until}")
        else:
            yield from _overtaken(view, memory)


def _ended(view: View, memory: Memory, until: datetime, now: datetime) -> bool:
    """True when it was true when it was proposed: what speaks of the past does not expire."""
    if until > now:
        return False
    proposal = proposal_of(view, memory.id, INBOX)
    return proposal is None or parse_instant(proposal.at) < until


def _overtaken(view: View, memory: Memory) -> Iterator[Settled]:
    """A proposal to replace what was replaced, rejected or put away meanwhile; and a doubt that was answered."""
    about = doubted(memory)
    meant = view.memory(about, HOMES.get(memory.scope.audience, MAIN)) if about else None
    if meant is not None and meant.status not in VISIBLE:
        yield Settled(memory, False, f"answered: {about}, which it says is wrong, is {meant.status}")
        return
    for identifier in memory.linked("supersedes"):
        old = view.memory(identifier)
        if old is not None and old.status in ("superseded", "wrong", "archived"):
            by = "".join(f" by {other}" for other in old.linked("superseded_by")[:1])
            yield Settled(memory, False, f"superseded: {identifier}, which it would replace, is {old.status}{by}")
            return
