"""`gitmem init`."""

from __future__ import annotations

from typing import Annotated

import typer

from gitmem.app import init as app_init
from gitmem.app.workspace import open_workspace
from gitmem.cli.app_of import single
from gitmem.cli.door import Door


def init(
    ctx: typer.Context,
    remote: Annotated[
        str | None, typer.Option(help="Ask this remote first (default: origin, or the only one).")
    ] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Ask no remote; adopt what git clone brought.")] = False,
    project: Annotated[str | None, typer.Option(help="The project's id (default: folder name and random).")] = None,
) -> None:
    """Begin the memory of this repository, or adopt the one that its remote has.

    Makes the branch gitmem/main. Never checks anything out, never touches your work tree, staging area,
    configuration or current branch. Running it again changes nothing.
    """
    door: Door = ctx.obj
    made = app_init.init(open_workspace(door.env), remote=remote, offline=offline, project=project)
    if door.as_json:
        door.data(
            {
                "result": made.result,
                "repository": made.repository,
                "project": made.project,
                "commit": made.commit,
                "remote": made.remote,
                "trusted": made.trusted,
                "asked": made.asked,
            }
        )
        return
    what = {
        "created": f"created gitmem/main for project {made.project}",
        "adopted": f"adopted gitmem/main of {made.remote}, project {made.project}, all of it verified"
        + ("" if made.asked else f"; as this clone has it, {made.remote} was not reached"),
        "present": f"gitmem/main is already here, project {made.project}",
    }[made.result]
    door.say(door.style(what, "green"))
    door.say(f"  repository  {door.style(made.repository)}")
    door.say(f"  commit      {made.commit[:12]}")
    if not made.trusted:
        door.say("next: gitmem trust     (it came from elsewhere: nothing of it is shown before you have looked)")
        return
    door.say("next: gitmem import --list     (notes that are already here)")
    door.say('      gitmem remember --kind fact "…" --evidence file:PATH:LINES')


APPLICATIONS = {"init": single(init, "gitmem init")}
