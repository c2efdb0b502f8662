"""`gitmem package`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from gitmem.app.packages import package as package_of
from gitmem.app.packages import write_package
from gitmem.cli.app_of import single
from gitmem.cli.door import Door


def package(
    ctx: typer.Context,
    host: Annotated[
        str,
        typer.Argument(
            help="claude-code, codex, cursor, gemini-cli, antigravity, copilot-cli, opencode or pi.",
            metavar="HOST",
            show_default=False,
        ),
    ],
    to: Annotated[str, typer.Option("--to", help="A folder that is not there yet, or empty.", metavar="FOLDER")],
) -> None:
    """Write a folder that an agent host installs as its plugin: hooks, skill, commands, an entry for gitmem mcp.

    It names no path of this machine, so it can be given to others; they need gitmem on their PATH. Nothing is
    installed and nothing is downloaded. With a package installed, gitmem install is not needed for that host, and
    the other way round. What the host does not take is said.
    """
    door: Door = ctx.obj
    made = package_of(host)
    folder = door.env.cwd / to
    written = write_package(made, folder)
    install = [line.replace("FOLDER", shlex.quote(str(folder))) for line in made.install]
    if door.as_json:
        names = [str(path.relative_to(folder)) for path in written]
        door.data({"host": host, "folder": str(folder), "files": names, "install": install, "lacks": list(made.lacks)})
        return
    for path in written:
        door.say(f"written: {door.style(str(Path(to) / path.relative_to(folder)))}")
    for line in install:
        door.say(f"install: {door.style(line)}")
    for what in made.lacks:
        door.note(door.style(f"not in it: {what}"))


APPLICATIONS = {"package": single(package, "gitmem package claude-code --to gitmem-plugin")}
