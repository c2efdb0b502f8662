"""Every code that the gate gives, what it does to the change, and what it means. The documentation prints this."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from gitmem.model.ids import is_memory_id
from gitmem.model.judgement import Reason


class Severity(NamedTuple):
    """`verdict`: what the change becomes because of this reason alone."""

    verdict: Literal["hold", "refuse"]
    meaning: str


def _refuses(meaning: str) -> Severity:
    return Severity("refuse", meaning)


# Reasons are given in this order.
CODES: Final[Mapping[str, Severity]] = {
    "config.missing": _refuses("there is no gitmem.yaml, so nothing says what is allowed"),
    "format.new": _refuses("the record is of a newer format than this gitmem writes"),
    "format.unknown": _refuses("the record is of no format that ever existed"),
    "id.shape": _refuses("the id is not 12 characters of lower-case Crockford base32"),
    "kind.unknown": _refuses("the kind is not on the list"),
    "status.unknown": _refuses("the status is not on the list"),
    "origin.unknown": _refuses("the origin is not on the list"),
    "channel.unknown": _refuses("the channel is not on the list"),
    "audience.unknown": _refuses("the audience is not on the list"),
    "title.empty": _refuses("the title has no letters"),
    "text.empty": _refuses("an entry of a list has no text"),
    "text.long": _refuses("a text is over its limit"),
    "list.long": _refuses("a list has too many entries"),
    "record.long": _refuses("the texts together are over the limit of a file"),
    "key.shape": _refuses("the key is not lower-case words joined by dots, dashes or underscores"),
    "applies_to.shape": _refuses("a path pattern is not relative to the root of the repository"),
    "valid.time": _refuses("a validity bound is not an ISO date or time"),
    "valid.order": _refuses("the validity ends before it starts"),
    "decision.alternative": _refuses("a decision names nothing that it ruled out"),
    "reminder.cue": _refuses("a reminder has no cue"),
    "plan.steps": _refuses("a plan has no steps"),
    "concept.claims": _refuses("a concept has no claims"),
    "field.unknown": _refuses("a new record has a field that the format does not know"),
    "text.characters": _refuses("a text holds control or invisible characters"),
    "secret": _refuses("a text holds what looks like a secret"),
    "instruction": _refuses("a text that no person said addresses its reader with instructions"),
    "scope.project": _refuses("the record belongs to another project"),
    "audience.store": _refuses("the record is not for the team and would land where the team reads"),
    "audience.fixed": _refuses("a record would change for whom it is"),
    "channel.authority": _refuses("this channel may propose, but not do this"),
    "status.move": _refuses("the operation does not lead from the old state to the new one"),
    "reason.missing": _refuses("the change says no reason"),
    "field.immutable": _refuses("a field was changed that this operation may not change"),
    "origin.lower": _refuses("a record of a lower origin overwrites one of a higher origin"),
    "replacement.missing": _refuses("a superseded record names no existing replacement"),
    "replacement.kind": _refuses("the replacement is of another kind"),
    "replacement.scope": _refuses("the replacement is of another project or audience"),
    "evidence.missing": _refuses("nothing supports the claim"),
    "evidence.url_only": _refuses("only addresses support the claim"),
    "evidence.weak": _refuses("no support is of a type that the policy asks for"),
    "evidence.role": _refuses("the role of a reference is not on the list"),
    "evidence.shape": _refuses("a reference is malformed"),
    "evidence.unresolved": _refuses("a reference was not looked at"),
    "evidence.changed": _refuses("the cited bytes are not the ones that are there"),
    "evidence.gone": _refuses("the cited bytes are not there"),
    "evidence.unobservable": Severity("hold", "the cited bytes cannot be reached from here, and the policy waits"),
    "evidence.unreachable": _refuses("the cited bytes cannot be reached from here, and the policy refuses"),
    "evidence.elsewhere": _refuses("a memory for all of a user's projects cites what only one of them has"),
    "quote.absent": _refuses("the quote does not occur word for word in the cited bytes"),
    "quote.short": _refuses("the quote is too short to mean anything"),
    "human.unproven": _refuses("words are cited as a person's own and nothing shows that they are"),
    "test.failed": _refuses("a solution is supported by no test that passed and nothing else"),
    "memory.missing": _refuses("a cited memory does not exist"),
    "memory.withheld": _refuses("a cited memory may not be shown to the readers of this one"),
    "link.type": _refuses("the type of a link is not on the list"),
    "link.self": _refuses("a memory links to itself"),
    "link.missing": _refuses("a link leads to no memory of this project"),
    "link.private": _refuses("a link would tell the readers of a record of one that they may not read"),
    "link.why": _refuses("a differs_from link does not say why"),
    "problem.missing": _refuses("a solution or failed tactic names no problem"),
    "problem.kind": _refuses("what a solution or failed tactic names is not a problem"),
    "tombstoned": _refuses("the claim, or nearly the same one, was rejected"),
    "duplicate": _refuses("a live memory says nearly the same"),
    "key.taken": _refuses("another live memory holds the key"),
}


def reason(code: str, message: str, hint: str, where: str = "") -> Reason:
    """A reason whose code is in the table. `message` never quotes a text of the record: it may be a secret."""
    if code not in CODES:
        raise LookupError(f"{code} is not in gitmem.policy.codes")
    return Reason(code=code, message=message, hint=hint, where=where)


def shown_id(identifier: str) -> str:
    """An id for a message or a command in a hint; "ID" for a text that is none and may be anything."""
    return identifier if is_memory_id(identifier) else "ID"
