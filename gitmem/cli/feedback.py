"""`gitmem feedback`."""

from __future__ import annotations

from typing import Annotated

import typer

from gitmem.app.feedback import Feedback
from gitmem.app.feedback import feedback as app_feedback
from gitmem.app.moves import move
from gitmem.app.propose_move import left_to_the_forge, propose_move
from gitmem.app.workspace import open_workspace
from gitmem.cli.app_of import Id, single
from gitmem.cli.asked import show_asked
from gitmem.cli.door import Door
from gitmem.cli.remembering import show_remembered
from gitmem.cli.shown import memory_line

_SAID = {
    "credited": "credited here: it is told before others that are as near, and does not fade",
    "counted": "counted as a use of it",
    "known": "you said so before",
}


def feedback(
    ctx: typer.Context,
    identifier: Id,
    verdict: Annotated[str, typer.Argument(help="useful or wrong.", metavar="useful|wrong", show_default=False)],
    because: Annotated[str, typer.Option("--because", help="Why it is wrong.")] = "",
) -> None:
    """Say that a memory was useful, which is counted in this clone alone, or that it is wrong.

    A person who says wrong is asked whether to withhold it for good or until it is settled. From an agent it waits
    in the inbox and is never let in: a person answers it with wrong or dispute of the memory, or rejects it. Nothing
    changes the memory without a person's answer.
    """
    door: Door = ctx.obj
    workspace = open_workspace(door.env)
    told = app_feedback(workspace, identifier, verdict, because)
    if door.as_json:
        candidate = told.candidate.memory.id if told.candidate else None
        door.data(
            {"id": told.memory.id, "result": told.result, "commands": list(told.commands), "candidate": candidate}
        )
        return
    if told.result in _SAID:
        door.say(f"{memory_line(door, told.memory)}\n  {_SAID[told.result]}")
    elif told.candidate is not None:
        show_remembered(door, told.candidate, dry_run=False, answers=told.commands)
    else:
        _ask(door, told, because)


def _ask(door: Door, told: Feedback, because: str) -> None:
    """A person's own answer is what withholds it."""
    door.say(memory_line(door, told.memory))
    for command in told.commands:
        door.say(f"  {door.style(command)}")
    verbs = [command.split()[1] for command in told.commands]
    if door.env.channel != "terminal" or verbs != ["wrong", "dispute"]:
        return
    door.out("[w]rong: withheld for good; [d]isputed: withheld until it is settled; [n]othing now: ")
    door.flush()
    answer = door.env.stdin.readline().strip().lower()
    verb = {"w": "wrong", "wrong": "wrong", "d": "dispute", "disputed": "dispute", "dispute": "dispute"}.get(answer)
    if verb is None:
        door.say("nothing was changed")
        return
    workspace = open_workspace(door.env)
    if left_to_the_forge(workspace, verb, told.memory.id):
        show_asked(door, propose_move(workspace, verb, told.memory.id, because))
        return
    moved = move(workspace, verb, told.memory.id, because)
    door.say(memory_line(door, moved.memory))


APPLICATIONS = {"feedback": single(feedback, 'gitmem feedback 7k3q wrong --because "the timer was removed"')}
