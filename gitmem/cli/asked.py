"""How a proposal of one move is shown: where review is on the forge, that is what a person's word becomes."""

from __future__ import annotations

from gitmem.app.propose_move import Asked, body
from gitmem.cli.door import Door
from gitmem.cli.shown import memory_line


def show_asked(door: Door, asked: Asked) -> None:
    """The branch, the memory as it is still, and how the proposal gets to the forge."""
    memory = asked.change.after if asked.closed else asked.change.before or asked.change.after
    if door.as_json:
        branch = {"name": asked.name, "branch": asked.branch, "base": asked.base, "tip": asked.tip, "verb": asked.verb}
        texts = {"title": asked.title, "body": body(asked)}
        door.data({"id": memory.id, "status": memory.status, "proposed": {**branch, **texts}})
        return
    door.say(memory_line(door, memory))
    told = f"proposed in {asked.branch}; it stays as it is until that is merged on the forge"
    if asked.closed:
        told = f"rejected in this clone; that it cannot be learned again by anybody is proposed in {asked.branch}"
    door.note(door.style(told, "yellow"))
    door.note(f"next: gitmem propose --push --name {asked.name}")
