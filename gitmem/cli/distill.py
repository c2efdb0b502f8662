"""`gitmem distill`."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import typer

from gitmem.app.distill import SYSTEM, Sent, framed, require_wanted
from gitmem.app.distill import distill as app_distill
from gitmem.app.distill_model import carrier_of
from gitmem.app.sessions import session as named
from gitmem.app.workspace import open_workspace
from gitmem.cli.app_of import single
from gitmem.cli.door import Door, counted

_COLOURS = {"candidate": "green", "known": "dim", "refused": "yellow"}


def distill(
    ctx: typer.Context,
    session: Annotated[
        str,
        typer.Argument(
            help="[HOST/] and the id of a captured session, or the first characters of it.",
            metavar="SESSION",
            show_default=False,
        ),
    ],
    by: Annotated[
        str,
        typer.Option("--with", help='command:"PROGRAM ARGUMENTS", or openai:ADDRESS of an endpoint.', metavar="MODEL"),
    ] = "",
    model: Annotated[str, typer.Option("--model", help="The name of the model, for an endpoint.")] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be sent, and send nothing. Needs no setting.")
    ] = False,
) -> int:
    """Have a model of yours draft candidates from one captured session. Off until {"distill": true} in learn.json.

    A program gets the session on standard input and answers on standard output; it is started without a shell, in an
    empty folder. An endpoint is sent one request, with the key in GITMEM_DISTILL_KEY if there is one. Every quote that
    comes back is looked up in what is stored, and what stands up waits in the inbox for a person.
    """  # fmt: skip
    door: Door = ctx.obj
    workspace = open_workspace(door.env, long_lived=True)
    if dry_run:
        sent = framed(workspace, named(workspace, session))
        door.say(door.style(SYSTEM))
        door.say()
        for line in sent.text.split("\n"):
            door.say(door.style(line))
        _note_left(door, sent)
        return 0
    require_wanted(workspace)
    carrier = carrier_of(by, model)
    sent, drafted = app_distill(workspace, named(workspace, session), carrier)
    for one in drafted:
        if door.as_json:
            door.data({"result": one.result, "id": one.id or None, "title": one.title, "why": one.why})
            continue
        door.say(f"{door.style(one.result, _COLOURS[one.result])}  {one.id[:8]}  {door.style(one.title)}".rstrip())
        if one.why:
            door.say(f"    {door.style(one.why, 'dim')}")
    counts = Counter(one.result for one in drafted)
    if door.as_json:
        door.data({"summary": {"sent": len(sent.turns), "characters": len(sent.text), "left_out": sent.left_out,
                               "secret": sent.secret, **counts}})  # fmt: skip
        return 0
    _note_left(door, sent)
    door.note(f"{counted(counts['candidate'], 'candidate')} of {counted(len(drafted), 'draft')}; gitmem review")
    return 0


def _note_left(door: Door, sent: Sent) -> None:
    door.note(f"{counted(len(sent.turns), 'turn')}, {len(sent.text):,} characters")
    if sent.left_out:
        door.note(f"{counted(sent.left_out, 'turn')} left out for want of room")
    if sent.secret:
        door.note(f"{counted(sent.secret, 'turn')} left out: a secret is seen in them by the rules of today")


APPLICATIONS = {"distill": single(distill, 'gitmem distill 8c2f --with command:"llm -m small"')}
