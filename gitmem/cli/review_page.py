"""How one candidate looks in a review: what it says, what it rests on, and what stands against it."""

from __future__ import annotations

from collections.abc import Iterator

from gitmem.app.review import Cited, Waiting, likeness
from gitmem.cli.door import Door
from gitmem.cli.shown import SHORT, evidence_line, status_text
from gitmem.model.judgement import Neighbour
from gitmem.model.layout import INBOX
from gitmem.model.nouns import Memory
from gitmem.model.text import one_line

_UNITS = ((86400, "day"), (3600, "hour"), (60, "minute"))


def age_text(seconds: float) -> str:
    """`3 days`, the largest unit that fits."""
    for size, name in _UNITS:
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {name}{'s' * (count != 1)}"
    return "less than a minute"


def batch_line(door: Door, batch: tuple[str, str], count: int) -> str:
    """The heading of what one session brought on one day."""
    day, session = batch
    many = "1 candidate" if count == 1 else f"{count} candidates"
    return door.style(f"── {day or 'no date'}  {one_line(session, 80)}  ({many})", "bold")


def review_page(door: Door, item: Waiting) -> Iterator[str]:
    """One candidate in full, line by line."""
    memory = item.memory
    yield f"{door.style(memory.id, 'bold')}  {memory.kind}  {status_text(door, memory.status)}{_where(item)}"
    yield door.style(memory.title, "bold")
    for line in memory.body.split("\n") if memory.body else ():
        yield f"  {door.style(line)}".rstrip()
    yield from _facts(door, item)
    yield "  evidence, as it resolves now"
    if not item.cited:
        yield f"    {door.style('none', 'red')}"
    for cited in item.cited:
        yield from _evidence(door, cited)
    for label, memories in (("replaces", item.replaces), ("key held by", filter(None, [item.key_holder]))):
        for other in memories:
            yield f"  {door.style(label, 'yellow')} {_other(door, other)}"
    for near in item.neighbours:
        yield f"  {door.style(likeness(near), 'yellow')} ({near.similarity:.2f}): {_near(door, near)}"
    for rejected in item.rejected:
        when = f" on {rejected.at[:10]}" if rejected.at else ""
        yield f"  {door.style('rejected before', 'red')}{door.style(when)}: {_near(door, rejected.neighbour)}"
        if rejected.reason:
            yield f"    because: {door.style(one_line(rejected.reason, 300))}"
    for reason in item.reasons:
        said = f"{door.style(reason.code, 'yellow')}: {door.style(reason.message)}"
        yield f"  {door.style('the gate today', 'red')}: {said}"
    if item.alone:
        yield f"  decide this one alone: {door.style('; '.join(item.alone), 'yellow')}"
    yield f"  a verdict here is review level {item.level.level}, {door.style(item.level.label)}"


def _where(item: Waiting) -> str:
    return "" if item.ref == INBOX else "  (on gitmem/main already, withheld)"


def _facts(door: Door, item: Waiting) -> Iterator[str]:
    memory, proposal = item.memory, item.proposal
    if proposal is not None:
        actor = proposal.actor
        by = f"{actor.channel}" + (f" ({actor.host})" if actor.host else "") + f", principal {actor.principal}"
        yield f"  {'proposed':<13} {door.style(f'{age_text(item.age)} ago, by {by}; session {item.session}')}"
        if proposal.reason:
            yield f"  {'because':<13} {door.style(one_line(proposal.reason, 300))}"
    facts = [
        ("origin", memory.origin),
        ("key", memory.key or ""),
        ("tags", ", ".join(memory.tags)),
        ("paths", ", ".join(memory.applies_to)),
        ("aliases", "; ".join(memory.aliases)),
        ("valid", " to ".join(filter(None, (memory.valid.start, memory.valid.until)))),
        ("cue", memory.cue or ""),
        *(("ruled out", f"{option.title}: {option.why}") for option in memory.alternatives),
        *(("step", step.text) for step in memory.steps),
        *(("claim", claim) for claim in memory.claims),
        *(("grounding", text) for text in memory.groundings),
        *((link.type, link.to + (f" ({link.why})" if link.why else "")) for link in memory.links),
    ]
    for name, value in facts:
        if value:
            yield f"  {name:<13} {door.style(value)}"


def _evidence(door: Door, cited: Cited) -> Iterator[str]:
    yield f"    {evidence_line(door, cited.resolution, cited.drift)}"
    for number, text, own in cited.lines:
        mark = door.style(">", "green") if own else " "
        yield f"      {mark} {number:>5}  {door.style(text, *(() if own else ('dim',)))}"
    if not cited.lines and cited.resolution.text:
        for line in cited.resolution.text.split("\n")[:12]:
            yield f"      {door.style('>', 'green')} {door.style(one_line(line, 200))}"


def _near(door: Door, near: Neighbour) -> str:
    title = door.style(one_line(near.title, 100))
    return f"{door.style(near.id[:SHORT], 'bold')} {status_text(door, near.status)}, {near.where}: {title}"


def _other(door: Door, memory: Memory) -> str:
    said = f"{door.style(memory.id[:SHORT], 'bold')} {status_text(door, memory.status)}"
    return f"{said} ({memory.origin}): {door.style(one_line(memory.title, 100))}"
