"""`gitmem conflicts` and the driver that git calls to merge a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from gitmem.app import conflicts as app_conflicts
from gitmem.app.conflicts import Conflict
from gitmem.app.merge_driver import merge_file
from gitmem.app.propose_move import left_to_the_forge, propose_changes
from gitmem.app.read_filters import Filters
from gitmem.app.reading import listing
from gitmem.app.workspace import Found, View, open_workspace
from gitmem.app.writing import Mutation
from gitmem.cli.app_of import Id, asked, blank, single
from gitmem.cli.asked import show_asked
from gitmem.cli.door import Door
from gitmem.cli.remembering import drafts_of_file
from gitmem.cli.shown import SHORT, memory_data, memory_line
from gitmem.errors import UsageError
from gitmem.model.layout import MAIN
from gitmem.model.nouns import Draft

_ALL = 10_000  # disputed memories that are listed


def _data(conflict: Conflict) -> dict[str, Any]:
    return {
        "id": conflict.memory.id,
        "memory": memory_data(conflict.memory, MAIN),
        "why": conflict.why,
        "rivals": list(conflict.rivals),
        "kept": [
            {"name": kept.name, "memory": memory_data(kept.memory, MAIN), "diff": conflict.diff(kept)}
            for kept in conflict.kept
        ],
    }


def _line(door: Door, conflict: Conflict) -> None:
    door.say(memory_line(door, conflict.memory))
    if conflict.why:
        door.say(f"          {door.style(conflict.why, 'dim')}")
    for kept in conflict.kept:
        door.say(f"          {door.style(f'kept {kept.name}: {kept.memory.title}', 'dim')}")
    if conflict.rivals:
        named = ", ".join(rival[:SHORT] for rival in conflict.rivals)
        door.say(f"          {door.style(f'disputed with {named}', 'dim')}")


def listed(ctx: typer.Context) -> None:
    """What merges left for people to decide: second texts that were kept, and memories that are disputed."""
    if ctx.invoked_subcommand is not None:
        return
    door: Door = ctx.obj
    disputed = asked(door, lambda ground: listing(ground, Filters(statuses=("disputed",), limit=_ALL))).items
    found = app_conflicts.conflicts(open_workspace(door.env), [item.memory for item in disputed if item.ref == MAIN])
    for conflict in found:
        if door.as_json:
            door.data(_data(conflict))
        else:
            _line(door, conflict)
    if found:
        door.note('settle one: gitmem conflicts show ID, then gitmem conflicts resolve ID --take ours --because "…"')
    else:
        door.note("nothing to settle")


def shown(ctx: typer.Context, identifier: Id) -> None:
    """One memory to be settled, and what each text that was kept has otherwise."""
    door: Door = ctx.obj
    conflict = app_conflicts.conflict(open_workspace(door.env), identifier)
    if door.as_json:
        door.data(_data(conflict))
        return
    _line(door, conflict)
    for kept in conflict.kept:
        door.say()
        for line in conflict.diff(kept).split("\n"):
            style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "dim")
            door.say(f"  {door.style(line, style)}")


def resolved(
    ctx: typer.Context,
    identifier: Id,
    take: Annotated[
        str, typer.Option("--take", help="ours: what it says. theirs: the text that was kept, or its first digits.")
    ] = "",
    file: Annotated[Path | None, typer.Option("--file", "-f", help="A draft whose text it is to say instead.")] = None,
    because: Annotated[str, typer.Option("--because", help="Why.")] = "",
) -> None:
    """Settle one memory: it stands again, and what was kept beside it goes.

    What disputes it is superseded by it, or archived when it is of another kind. To keep both, gitmem restore each.
    """
    door: Door = ctx.obj
    if bool(take) == (file is not None):
        raise UsageError("say which text it is to have", hint="--take ours, --take theirs or --file DRAFT")
    taken: str | Draft = take
    if file is not None:
        drafts = drafts_of_file(door, str(file))
        if len(drafts) != 1:
            raise UsageError(f"{file} holds {len(drafts)} drafts", hint="one draft settles one memory")
        taken = drafts[0]
    workspace = open_workspace(door.env)
    if left_to_the_forge(workspace, "conflicts", identifier):
        app_conflicts.require_asked(identifier, taken, because)

        def make(view: View, found: Sequence[Found]) -> list[Mutation]:
            return app_conflicts.settling(view, identifier, taken, because)

        show_asked(door, propose_changes(workspace, "resolve", [identifier], make))
        return
    memory = app_conflicts.resolve(workspace, identifier, taken, because)
    if door.as_json:
        door.data({"id": memory.id, "status": memory.status, "memory": memory_data(memory, MAIN)})
        return
    door.say(memory_line(door, memory))
    door.note(f"{door.style('settled', 'green')}: gitmem log {memory.id[:SHORT]}")


def merge_driver(
    ctx: typer.Context,
    base: Annotated[Path, typer.Argument(help="The common file.", metavar="%O")],
    ours: Annotated[Path, typer.Argument(help="Our file; the merge is written over it.", metavar="%A")],
    theirs: Annotated[Path, typer.Argument(help="Their file.", metavar="%B")],
    path: Annotated[str, typer.Argument(help="Where it lies on the branch.", metavar="%P")],
) -> int:
    """Merge one file of the branch for git. Exit 1 leaves a conflict, which gitmem sync merges."""
    return 0 if merge_file(base, ours, theirs, path) else 1


def _group() -> typer.Typer:
    app = blank()
    app.callback(invoke_without_command=True, epilog="Example: gitmem conflicts")(listed)
    app.command("list", epilog="Example: gitmem conflicts list")(listed)
    app.command("show", epilog="Example: gitmem conflicts show 7k3q")(shown)
    example = 'Example: gitmem conflicts resolve 7k3q --take theirs --because "measured again"'
    app.command("resolve", epilog=example)(resolved)
    return app


APPLICATIONS = {
    "conflicts": _group,
    "merge-driver": single(merge_driver, "gitmem merge-driver %O %A %B %P"),
}
