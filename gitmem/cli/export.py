"""`gitmem export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gitmem.app import export as app_export
from gitmem.app.workspace import open_workspace
from gitmem.cli import flag_values
from gitmem.cli.app_of import single
from gitmem.cli.door import Door
from gitmem.cli.reading import Audience
from gitmem.errors import UsageError
from gitmem.model.vocabulary import AUDIENCES


def export(
    ctx: typer.Context,
    bundle: Annotated[Path | None, typer.Option(help="Write the branch as a git bundle to this file.")] = None,
    audience: Audience = None,
    everything: Annotated[bool, typer.Option("--all", help="Withheld and expired ones and tombstones too.")] = False,
) -> None:
    """What may be shown and is true now as JSON lines, or the branch with its history as a git bundle.

    What is for you alone is left out unless --audience names it, and is never in a bundle, which is read with plain
    git: git fetch FILE refs/heads/gitmem/main.
    """
    door: Door = ctx.obj
    audiences = flag_values.known(AUDIENCES, audience, "--audience") or ("team",)
    if bundle is not None and audiences != ("team",):
        raise UsageError("a bundle is of the team's memory alone", hint="leave --audience out, or --bundle")
    workspace = open_workspace(door.env, long_lived=bundle is None)
    if bundle is not None:
        target = bundle if bundle.is_absolute() else door.env.cwd / bundle
        tip = app_export.bundle(workspace, target)
        if door.as_json:
            door.data({"bundle": str(target), "tip": tip})
        else:
            door.say(f"wrote {door.style(str(target))}: gitmem/main at {tip[:12]}")
        return
    for record in app_export.records(workspace, everything=everything, audiences=audiences):
        door.data(record)


APPLICATIONS = {"export": single(export, "gitmem export --all > memory.jsonl")}
