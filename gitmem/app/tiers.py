"""Which candidates may be let in several at once, and which a person decides alone: the same at every door."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from gitmem.app.facts import Lookup
from gitmem.app.feedback import answers, doubted
from gitmem.app.moves import closed
from gitmem.app.remember import proposal_of
from gitmem.app.workspace import Found, View
from gitmem.app.writing import Judged, Mutation, judge, status_change
from gitmem.errors import Refused
from gitmem.model.frozen import dataclass, replace
from gitmem.model.judgement import Reason
from gitmem.model.layout import HOMES, INBOX
from gitmem.model.nouns import Memory, Proposal
from gitmem.policy.review import weighty

_NOTHING: Final[Mapping[str, Memory]] = {}


@dataclass(frozen=True)
class Looked:
    """A candidate as the gate sees it let in today.

    `reasons`: what the gate says against it. `alone`: why it is to be decided by itself; empty at low risk.
    """

    judged: Judged
    reasons: tuple[Reason, ...]
    alone: tuple[str, ...]


@dataclass(frozen=True)
class Weighty:
    """A candidate that a person decides alone, and why."""

    memory: Memory
    alone: tuple[str, ...]
    refused: bool = False  # by the gate, today

    @property
    def command(self) -> str:
        """How it is let in, or what tells why it cannot be."""
        if self.refused:
            return f"gitmem review {self.memory.id}"
        return f'gitmem accept {self.memory.id} --because "…"'

    @property
    def reason(self) -> Reason:
        """The refusal of it among others, or without a reason."""
        return Reason("review.alone", "; ".join(self.alone), self.command, self.memory.id)


def look(view: View, known: Lookup, found: Found, alongside: Mapping[str, Memory] = _NOTHING) -> Looked:
    """What letting one candidate in comes to. `alongside`: others by id that would be let in with it.

    Raises Refused when no event tells who proposed it.
    """
    mutations = _accepting(view, found, "accepted")
    beside = {**alongside, **{mutation.change.after.id: mutation.change.after for mutation in mutations}}
    judged = list(judge(view, mutations, known, "", alongside=beside))
    # Who may decide is the door's to say; here it is asked what stands against the record.
    reasons = tuple(r for one in judged for r in one.decision.reasons if r.code != "channel.authority")
    first = judged[0]
    decision = first.decision if reasons else replace(first.decision, verdict="admit")
    alone = weighty(first.mutation.change, first.facts, decision)
    against = _against_another(found.memory)
    if against is not None:
        reasons, alone = (against, *reasons), ("it is never let in", *alone)
    return Looked(first, reasons, alone)


def tiers(view: View, known: Lookup, candidates: Sequence[Found]) -> tuple[list[Found], list[Weighty]]:
    """(of low risk, to be decided alone), each in order. What names one that is left out is looked at without it."""
    low, left = list(candidates), dict[str, Weighty]()
    while True:
        found = _weighty(view, known, low)
        if not found:
            return low, [left[item.memory.id] for item in candidates if item.memory.id in left]
        left |= found
        low = [item for item in low if item.memory.id not in found]


def require_alone(view: View, known: Lookup, chosen: Sequence[Found], reason: str) -> None:
    """Raise Refused where one that is to be decided alone is in company, or where nobody says why."""
    if len(chosen) == 1 and reason:
        return
    found = list(_weighty(view, known, chosen).values())
    if not found or any(each.refused for each in found):
        return  # what the gate says against it comes first, and is the gate's to say
    if len(chosen) > 1:
        names = ", ".join(each.memory.id for each in found)
        what = f"{names} {'is' if len(found) == 1 else 'are'} to be decided alone, with a reason"
    else:
        what = f"{found[0].memory.id} is let in with a reason only"
    raise Refused(f"{what}; nothing was written", reasons=[each.reason for each in found])


def _weighty(view: View, known: Lookup, candidates: Sequence[Found]) -> dict[str, Weighty]:
    together = {item.memory.id: replace(item.memory, status="active") for item in candidates}
    found = {}
    for item in candidates:
        try:
            looked = look(view, known, item, together)
        except Refused as error:
            found[item.memory.id] = Weighty(item.memory, (error.message,), refused=True)
            continue
        if looked.alone:
            found[item.memory.id] = Weighty(item.memory, looked.alone, bool(looked.reasons))
    return found


def accepting(view: View, found: Found, reason: str) -> list[Mutation]:
    """What letting one candidate in changes: itself, and what it replaces.

    Raises Refused for what only says that another memory is wrong: the two would stand side by side.
    """
    against = _against_another(found.memory)
    if against is not None:
        raise Refused(f"{found.memory.id} is not let in: {against.message}", reasons=[against], hint=against.hint)
    return _accepting(view, found, reason)


def _against_another(candidate: Memory) -> Reason | None:
    about = doubted(candidate)
    if about is None:
        return None
    moves = f"gitmem wrong {about[:8]} or gitmem dispute {about[:8]}"
    message = f"it says that {about} is wrong, so it is answered by {moves}, or rejected"
    return Reason("review.feedback", message, "; or ".join(answers(candidate)), candidate.id)


def _accepting(view: View, found: Found, reason: str) -> list[Mutation]:
    candidate = found.memory
    change = status_change(candidate, "accept", "active", reason)
    home = HOMES[candidate.scope.audience]
    old = [view.memory(identifier, home) for identifier in candidate.linked("supersedes")]
    return [
        Mutation(change, home, leaves_inbox=found.ref == INBOX, proposed=proposed_as(view, found)),
        *(closed(memory, candidate, reason) for memory in old if memory is not None),
    ]


def proposed_as(view: View, found: Found) -> Proposal:
    """Who proposed a candidate, from the event that brought it. Raises Refused when none tells."""
    proposal = proposal_of(view, found.memory.id, found.ref)
    if proposal is None:
        raise Refused(
            f"no event tells who proposed {found.memory.id}",
            reasons=[Reason("event.missing", "the inbox was written to by something else", "gitmem doctor")],
        )
    return proposal
