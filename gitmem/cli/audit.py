"""`gitmem audit`."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Any

import typer

from gitmem.app import audit as app_audit
from gitmem.app.audit import Asked
from gitmem.app.workspace import open_workspace
from gitmem.cli.app_of import MOST, blank, which
from gitmem.cli.door import Door, counted
from gitmem.cli.flag_values import instant, known
from gitmem.cli.history import entry_data, shown_event
from gitmem.errors import Refused
from gitmem.model.records import to_data
from gitmem.model.text import one_line
from gitmem.model.vocabulary import CHANNELS, OPS


def verify(ctx: typer.Context) -> None:
    """Whether every event is there, each writer's chain whole, and each record what its events made of it.

    Looks at the whole history too. Exit 0 when nothing was tampered with, 3 when something was.
    """
    door: Door = ctx.obj
    bar = door.progress("auditing")
    found = app_audit.audit(open_workspace(door.env, long_lived=True), progress=bar)
    bar.close()
    if door.as_json:
        door.data(found.data())
    else:
        for fault in found.faults:
            what = f"{door.style(fault.path)}: {door.style(fault.message)}"
            door.say(f"{door.style('fault', 'red')}  {door.style(fault.code, 'yellow')}  {what}")
        for note in found.notes:
            what = f"{note.path}: {note.message}" if note.path else note.message
            door.say(f"{door.style('note', 'dim')}   {note.code}  {door.style(what)}")
        said = door.style("whole", "green") if found.clean else door.style(counted(len(found.faults), "fault"), "red")
        counts = [
            counted(found.events, "event"), counted(found.writers, "writer"), counted(found.records, "record"),
            counted(found.commits, "commit"),
        ]  # fmt: skip
        door.say(f"{said}: {', '.join(counts)}, at {found.commit[:12]}")
        by = ", ".join(f"{channel} {count}" for channel, count in found.channels.items())
        door.say(door.style(f"  through: {by}", "dim"))
        if found.refused:
            door.say(door.style(f"  refused here: {found.refused} (gitmem audit show --op refused)", "dim"))
    if not found.clean:
        raise Refused(
            f"the record of changes has {counted(len(found.faults), 'fault')}",
            hint="git log -p gitmem/main shows the commits; compare with a clone of somebody else",
        )


def show(
    ctx: typer.Context,
    since: Annotated[str | None, typer.Option(help="Recorded at or after a date or time.")] = None,
    until: Annotated[str | None, typer.Option(help="Recorded before a date or time.")] = None,
    actor: Annotated[str, typer.Option(help="Part of an author's, a principal's or a host's name.")] = "",
    channel: Annotated[list[str] | None, typer.Option(help="terminal, agent, …; may be repeated.")] = None,
    op: Annotated[list[str] | None, typer.Option(help="create, reject, refused, …; may be repeated.")] = None,
    limit: Annotated[int | None, typer.Option("--limit", "-n", min=1, max=MOST, help="At most so many.")] = None,
) -> None:
    """Events by time, actor, channel and operation, newest first; with --op refused what the gate turned down here."""
    door: Door = ctx.obj
    workspace = open_workspace(door.env)
    ops = known(OPS, op, "--op")
    asked = Asked(
        instant(since, "--since"), instant(until, "--until"), actor, known(CHANNELS, channel, "--channel"), ops
    )
    for one in islice(app_audit.shown(workspace, asked), limit):
        if isinstance(one, dict):
            _refused(door, one)
        elif door.as_json:
            door.data({**to_data(one.event), **entry_data(one)})
        else:
            shown_event(door, one)


def _refused(door: Door, data: dict[str, Any]) -> None:
    if door.as_json:
        door.data(data)
        return
    actor = data.get("actor") or {}
    head = f"{door.style(str(data.get('at'))[:19] + 'Z', 'dim')}  {door.style('refused', 'red')}"
    host = f" ({actor['host']})" if actor.get("host") else ""
    door.say(f"{head}  {data.get('asked')}  through {door.style(str(actor.get('channel')) + host)}, not on the branch")
    for reason in data.get("reasons") or ():
        if isinstance(reason, dict):
            door.say(f"    {reason.get('code')}: {door.style(one_line(str(reason.get('message')), 200))}")


def _application() -> typer.Typer:
    app = blank()
    app.callback(
        invoke_without_command=True, help="Who changed what, and whether the record of it is whole.",
        epilog="Example: gitmem audit verify",
    )(which)  # fmt: skip
    app.command(epilog="Example: gitmem audit verify")(verify)
    app.command(epilog="Example: gitmem audit show --since 2026-11-01 --channel agent --op refused")(show)
    return app


APPLICATIONS = {"audit": _application}
