"""What was learned from what a person said, in a line or two each."""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.app.directives import Kept, Learned
from gitmem.cli.door import Door
from gitmem.model.nouns import Memory
from gitmem.model.text import one_line


def say_learned(door: Door, learned: Learned) -> None:
    """After a capture: what is remembered from now on, what it replaces, what could be offered to the team."""
    for kept in learned.kept:
        instead = f", in the place of “{one_line(kept.replaces, 60)}”" if kept.replaces else ""
        about = f"{_title(kept.memory)} ({kept.memory.kind}, private{instead})"
        door.say(f"{door.style('learned', 'green')}  {kept.memory.id}  {door.style(about)}")
    say_proposals(door, [kept.memory for kept in learned.kept if kept.is_for_team])
    for turned in learned.turned:
        title = door.style(one_line(turned.title, 60))
        door.note(f"not learned from {turned.session}: {title}")
        for why in turned.reasons:
            door.note(f"  {door.style(one_line(why, 200))}")
    for fault in learned.faults:
        door.note(f"directives: {door.style(one_line(fault, 200))}")


def say_proposals(door: Door, memories: Sequence[Memory]) -> None:
    """What speaks of the whole team and is private, with the command that offers it."""
    for memory in memories:
        door.say(f"{memory.id} speaks of the whole team and only you are told it; offer it: gitmem promote {memory.id}")


def _title(memory: Memory) -> str:
    return one_line(memory.title, 80)


def learned_data(learned: Learned) -> dict[str, object]:
    return {
        "learned": [_kept(kept) for kept in learned.kept],
        "not_learned": [
            {"title": item.title, "session": item.session, "reasons": list(item.reasons)} for item in learned.turned
        ],
        "unheard": list(learned.faults),
    }


def _kept(kept: Kept) -> dict[str, object]:
    memory = kept.memory
    return {
        "id": memory.id,
        "kind": memory.kind,
        "title": memory.title,
        "status": memory.status,
        "replaces": list(memory.linked("supersedes")),
        "team": kept.is_for_team,
        "promote": f"gitmem promote {memory.id}" if kept.is_for_team else None,
    }
