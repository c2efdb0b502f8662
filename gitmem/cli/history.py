"""`gitmem log` and `gitmem blame`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from gitmem.app import history
from gitmem.app.history import Entry
from gitmem.app.workspace import open_workspace
from gitmem.cli.app_of import MOST, Id, single
from gitmem.cli.door import Door
from gitmem.model.layout import LABELS, MAIN
from gitmem.model.records import to_data
from gitmem.model.text import one_line


def log(
    ctx: typer.Context,
    identifier: Annotated[
        str | None, typer.Argument(help="One memory; without it the whole branch.", metavar="ID")
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", "-n", min=1, max=MOST, help="At most so many events.")] = None,
    diff: Annotated[bool, typer.Option("--diff/--no-diff", help="Show what changed.")] = True,
) -> None:
    """Who changed what, when, by which channel, and why, newest first."""
    door: Door = ctx.obj
    for entry in history.log(open_workspace(door.env), identifier, limit=limit, diffs=diff):
        if door.as_json:
            own = {**entry_data(entry), "ref": entry.ref, "diff": entry.diff}
            door.data({**to_data(entry.event), **own})
            continue
        shown_event(door, entry)


def entry_data(entry: Entry) -> dict[str, Any]:
    """What the commit of an event tells beside it, for `--json`: who signed it and what that is worth."""
    signer = entry.signed.signer
    return {
        "commit": entry.commit,
        "author": entry.author,
        "signature": entry.signed.state,
        "signer": signer.principal if signer and entry.signed.state == "good" else None,
        "review": {"level": entry.level.level, "label": entry.level.label},
    }


def shown_event(door: Door, entry: Entry) -> None:
    """One event as `log` and `audit show` print it."""
    event = entry.event
    moved = event.status_to and event.status_to != event.status_from
    move = f"{event.status_from or 'new'} → {event.status_to}  " if moved else ""
    where = "" if entry.ref == MAIN else f"({LABELS[entry.ref]})  "
    subject = event.memory[:8] if event.memory else "branch"
    head = f"{door.style(event.at[:19] + 'Z', 'dim')}  {door.style(event.op, 'bold')}  {subject}  {door.style(move)}"
    door.say(f"{head}{where}{door.style(one_line(entry.title, 70))}")
    host = f" ({event.actor.host})" if event.actor.host else ""
    door.say(
        f"    by {door.style(entry.author)} through {event.actor.channel}{door.style(host)};"
        f" commit {entry.commit[:10]}; {door.style(f'review {entry.level.level}, {entry.level.label}')}"
    )
    if event.proposed:
        by = event.proposed.actor
        host = f" ({by.host})" if by.host else ""
        door.say(f"    proposed {door.style(event.proposed.at[:19] + 'Z')} through {by.channel}{door.style(host)}")
    if event.reason:
        door.say(f"    because {door.style(one_line(event.reason, 300))}")
    for line in entry.diff.split("\n") if entry.diff else ():
        style = {"+": "green", "-": "red", "@": "cyan"}.get(line[:1], "dim")
        door.say(f"      {door.style(line, style)}")


def blame(
    ctx: typer.Context,
    identifier: Id,
) -> None:
    """Which event each line of a memory comes from."""
    door: Door = ctx.obj
    lines = history.blame(open_workspace(door.env), identifier)
    for line in lines:
        event = line.entry.event
        if door.as_json:
            door.data(
                {
                    "line": line.text,
                    "commit": line.entry.commit,
                    "author": line.entry.author,
                    "event": event.id,
                    "op": event.op,
                    "at": event.at,
                    "channel": event.actor.channel,
                    "proposed_by": event.proposed.actor.channel if event.proposed else None,
                }
            )
            continue
        head = f"{line.entry.commit[:10]}  {event.at[:10]}  {event.actor.channel:<9} {event.op:<10}"
        door.say(f"{door.style(head, 'dim')}{door.style(line.text)}")


APPLICATIONS = {"log": single(log, "gitmem log 7k3q"), "blame": single(blame, "gitmem blame 7k3q")}
