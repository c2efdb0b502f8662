"""How much a verdict is worth as a review, and which additions may be let in several at once. Both are computed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from gitmem.model.judgement import Change, Decision, Facts
from gitmem.model.nouns import Actor
from gitmem.policy.near import NEAR

UNPROVEN: Final = "unproven"  # the principal of whoever no key names
# What tells a reader how to work or what was decided is read by itself.
_TELLING: Final = frozenset({"convention", "preference", "procedure", "decision"})
_SAID_ELSEWHERE: Final = frozenset({"imported", "external"})
_WEIGHTY_LINKS: Final = frozenset({"supersedes", "contradicts", "differs_from"})


class ReviewLevel(NamedTuple):
    """`level` 0 to 4 as docs/trust.md numbers them; `label` says it in words."""

    level: int
    label: str


def review_level(reviewer: Actor, proposer: Actor | None) -> ReviewLevel:
    """The level of a verdict by `reviewer` on what `proposer` brought (None: nobody tells who that was).

    0 unproven: no key says who decided. 1 keyed: a person's key that is not the proposer's. The levels above need
    what no actor of this version has: the forge's word, a touch, a quorum.
    """
    if reviewer.principal == UNPROVEN:
        article = "an" if reviewer.channel[0] in "aeiou" else "a"
        where = (
            "decided on the forge" if reviewer.channel == "forge" else f"{article} {reviewer.channel} of one machine"
        )
        return ReviewLevel(0, f"unproven ({where})")
    if self_approval(reviewer, proposer):
        return ReviewLevel(0, f"unproven (proposed and decided by {reviewer.principal})")
    return ReviewLevel(1, f"keyed ({reviewer.principal})")


def self_approval(reviewer: Actor, proposer: Actor | None) -> bool:
    """True when it is proven that one principal decides on what it proposed itself."""
    return proposer is not None and reviewer.principal == proposer.principal != UNPROVEN


def weighty(change: Change, facts: Facts, decision: Decision) -> tuple[str, ...]:
    """Why a candidate is to be decided alone, each in a few words; nothing for an addition of low risk."""
    return tuple(dict.fromkeys(_weighty(change, facts, decision)))


def _weighty(change: Change, facts: Facts, decision: Decision) -> Iterator[str]:
    memory = change.after
    if decision.verdict != "admit":
        yield "the gate refuses it today"
    if any(near.similarity >= NEAR for near in facts.neighbours):
        yield "something says nearly the same"
    elif facts.neighbours:
        yield "something has the same title"
    if any(link.type in _WEIGHTY_LINKS for link in memory.links):
        yield "it replaces or contradicts another memory"
    if memory.key is not None:
        yield "it holds a key"
    if memory.kind in _TELLING:
        yield f"a {memory.kind} tells readers what to do"
    if memory.origin in _SAID_ELSEWHERE:
        yield f"its origin is {memory.origin}"
    if any(r.state != "verified" for r in facts.resolutions):
        yield "not all of its evidence stands"
    if any(ref.role != "supports" for ref in memory.evidence):
        yield "some of its evidence speaks against it"
