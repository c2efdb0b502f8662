"""`gitmem skill`: list what may become a skill, and write one on a person's word."""

from __future__ import annotations

from difflib import unified_diff
from typing import Annotated

import typer

from gitmem.app import skills
from gitmem.app.belief import believed_view
from gitmem.app.workspace import open_workspace
from gitmem.cli.app_of import Id, blank
from gitmem.cli.door import Door, counted
from gitmem.cli.shown import memory_line
from gitmem.errors import UsageError


def listed(ctx: typer.Context) -> None:
    """Procedures and solutions with credit from two sessions or more, and whether a SKILL.md of them is there."""
    door: Door = ctx.obj
    found = skills.qualified(believed_view(open_workspace(door.env)))
    for skill in found:
        if door.as_json:
            door.data(_data(skill))
            continue
        state = f"written: {skill.path}" if skill.written else f"gitmem skill propose {skill.memory.id[:8]}"
        door.say(memory_line(door, skill.memory))
        door.say(f"    credit from {counted(skill.sessions, 'session')}; {door.style(state)}")
    if not found:
        door.note("none: a procedure or solution needs credit from two sessions (docs/learning.md)")


def propose(
    ctx: typer.Context,
    identifier: Id,
    to: Annotated[
        str, typer.Option("--to", help="The folder of skills, from the top of the work tree.", metavar="FOLDER")
    ] = skills.FOLDER,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the file and write nothing.")] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask. For scripts of a person, never for an agent.")
    ] = False,
) -> int:
    """Show the SKILL.md that a memory would become, ask, and write it. A file that is not of this memory stays."""
    door: Door = ctx.obj
    workspace = open_workspace(door.env)
    skill = skills.proposed(workspace, identifier, to)
    if door.as_json:
        door.data(_data(skill) | {"text": skill.text})
    else:
        before = (skill.before or "").splitlines()
        for line in unified_diff(before, skill.text.splitlines(), "", str(skill.path), lineterm="", n=2):
            door.say(door.style(line, *{"+": ["green"], "-": ["red"]}.get(line[:1], [])))
    if skill.written:
        door.note(f"{skill.path} says this already")
        return 0
    if dry_run:
        return 0
    if door.env.channel != "terminal":
        skills.write_skill(workspace, skill)  # raises: it is for a person
    if skill.memory.scope.audience != "team":
        door.note("it is memory of your own: whoever has the repository reads this file once it is committed")
    if not yes and not _agreed(door):
        return 1
    written = skills.write_skill(workspace, skill)
    door.note(f"written: {door.style(str(written))}")
    return 0


def _agreed(door: Door) -> bool:
    if door.as_json:
        raise UsageError("nobody is there to be asked; nothing was written", hint="--yes, or without --json")
    door.out("Write this? [y/N] ")
    door.flush()
    agreed = door.env.stdin.readline().strip().lower() in ("y", "yes")
    if not agreed:
        door.say("nothing was written")
    return agreed


def _data(skill: skills.Skill) -> dict[str, object]:
    memory = skill.memory
    return {
        "id": memory.id,
        "kind": memory.kind,
        "title": memory.title,
        "sessions": skill.sessions,
        "path": str(skill.path),
        "written": skill.written,
        "command": None if skill.written else f"gitmem skill propose {memory.id[:8]}",
    }


def _group() -> typer.Typer:
    app = blank()
    app.callback(invoke_without_command=True, epilog="Example: gitmem skill list")(_bare)
    app.command("list", epilog="Example: gitmem skill list")(listed)
    app.command("propose", epilog="Example: gitmem skill propose 7k3q --dry-run")(propose)
    return app


def _bare(ctx: typer.Context) -> None:
    """Skills made of memories that helped."""
    if ctx.invoked_subcommand is None:
        listed(ctx)


APPLICATIONS = {"skill": _group}
