"""`gitmem export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gitmem.app import export as app_export
from gitmem.app.workspace import open_workspace
from gitmem.cli.app_of import single
from gitmem.cli.door import Door


def export(
    ctx: typer.Context,
    bundle: Annotated[Path | None, typer.Option(help="Write the branch as a git bundle to this file.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Withheld and expired ones and tombstones too.")] = False,
) -> None:
    """What may be shown and is true now as JSON lines, or the branch with its history as a git bundle.

    The bundle is read with plain git: git fetch FILE refs/heads/gitmem/main.
    """
    door: Door = ctx.obj
    workspace = open_workspace(door.env, long_lived=bundle is None)
    if bundle is not None:
        target = bundle if bundle.is_absolute() else door.env.cwd / bundle
        tip = app_export.bundle(workspace, target)
        if door.as_json:
            door.data({"bundle": str(target), "tip": tip})
        else:
            door.say(f"wrote {door.style(str(target))}: gitmem/main at {tip[:12]}")
        return
    for record in app_export.records(workspace, everything=everything):
        door.data(record)


APPLICATIONS = {"export": single(export, "gitmem export --all > memory.jsonl")}
