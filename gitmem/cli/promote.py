"""`gitmem promote`."""

from __future__ import annotations

from typing import Annotated

import typer

from gitmem.app.promote import promote as app_promote
from gitmem.app.workspace import open_workspace
from gitmem.cli.app_of import Id, single
from gitmem.cli.door import Door
from gitmem.cli.remembering import show_remembered
from gitmem.model.citations import citation
from gitmem.model.nouns import TranscriptRef


def promote(
    ctx: typer.Context,
    identifier: Id,
    because: Annotated[str, typer.Option("--because", help="Why the team should have it; the log keeps it.")] = "",
) -> None:
    """Propose a memory of your own to the team, as a candidate that has to be accepted.

    Its evidence is looked at again and its origin derived again. When it is accepted a private one is archived; one
    for all of your projects stays.
    """
    door: Door = ctx.obj
    item, resolutions = app_promote(open_workspace(door.env), identifier, because)
    show_remembered(door, item, dry_run=False)
    for resolution in resolutions:
        if isinstance(resolution.ref, TranscriptRef):
            said = "the session is on this machine alone: others see its quote, and that it cannot be looked at there"
            door.note(f"  {door.style(citation(resolution.ref))}: {said}")


APPLICATIONS = {"promote": single(promote, 'gitmem promote 7k3q --because "all of us do it so"')}
