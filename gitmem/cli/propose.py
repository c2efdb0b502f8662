"""`gitmem propose`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from gitmem.app import propose as app_propose
from gitmem.app import propose_body, propose_push
from gitmem.app.belief import believed_view
from gitmem.app.workspace import Workspace, open_workspace
from gitmem.cli.app_of import single
from gitmem.cli.door import Door, counted
from gitmem.cli.shown import memory_line
from gitmem.cli.unsettled import note_closed
from gitmem.errors import GitmemError, NotFound, UsageError
from gitmem.model.text import one_line


def propose(
    ctx: typer.Context,
    identifiers: Annotated[
        list[str] | None,
        typer.Argument(help="Candidates; without any, all that wait.", metavar="ID...", show_default=False),
    ] = None,
    push: Annotated[bool, typer.Option("--push", help="Push the branch, and what was not pushed before.")] = False,
    remote: Annotated[str | None, typer.Option(help="To which remote, where there are several.")] = None,
    name: Annotated[
        str | None, typer.Option(help="What the proposal is called; with --push, one that was made before.")
    ] = None,
    text: Annotated[
        Path | None, typer.Option("--body", help="Write the text of the pull request here; - is standard output.")
    ] = None,
    status: Annotated[
        bool, typer.Option("--status", help="The proposals of this clone, and how far they are.")
    ] = False,
) -> None:
    """Cut a branch gitmem/propose/NAME from gitmem/main with one commit a memory, for review by pull request.

    Programs may propose, too. Nothing leaves this machine without --push.
    """
    door: Door = ctx.obj
    workspace = open_workspace(door.env)
    if status:
        if identifiers or push or name or text:
            raise UsageError("--status takes nothing beside it", hint="gitmem propose --status")
        _status(door, workspace)
        return
    if remote is not None and not push:
        raise UsageError("--remote belongs to --push", hint=f"gitmem propose --push --remote {one_line(remote, 40)}")
    note_closed(door, workspace)
    if push and name is not None and not identifiers and _is_here(workspace, name):
        _tell_pushed(door, name, propose_push.push(workspace, name, remote), {"name": name})
        return
    before = app_propose.unpushed(believed_view(workspace), remote) if push and name is None and not identifiers else []
    try:
        offer = app_propose.propose(workspace, identifiers or (), name=name)
    except NotFound:
        if not before:
            raise
        _push_all(door, workspace, before, remote)
        return
    said = propose_body.body(offer, believed_view(workspace).require_config())
    app_propose.note_text(workspace, offer.name, propose_body.title(offer), said)
    data: dict[str, Any] = {
        "name": offer.name,
        "branch": offer.branch,
        "base": offer.base,
        "tip": offer.tip,
        "memories": [
            {"id": item.memory.id, "status": item.memory.status, "commit": item.commit} for item in offer.items
        ],
        "left_out": [
            {"id": memory.id, "reasons": [{"code": r.code, "message": r.message, "hint": r.hint} for r in reasons]}
            for memory, reasons in offer.left
        ],
        "title": propose_body.title(offer),
        "body": said,
    }
    if not door.as_json:
        _tell(door, offer)
    if text is not None:
        _write(door, text, said)
    if push:
        _tell_pushed(door, offer.name, propose_push.push(workspace, offer.name, remote), data)
        _push_all(door, workspace, before, remote)
    elif door.as_json:
        door.data(data)
    else:
        door.note(f"next: gitmem propose --push --name {offer.name}")


def _push_all(door: Door, workspace: Workspace, names: list[str], remote: str | None) -> None:
    """Push proposals that were made before."""
    for name in names:
        _tell_pushed(door, name, propose_push.push(workspace, name, remote), {"name": name})


def _is_here(workspace: Workspace, name: str) -> bool:
    return any(standing.name == name for standing in app_propose.standings(believed_view(workspace)))


def _tell(door: Door, offer: app_propose.Offer) -> None:
    door.say(f"{door.style(offer.branch, 'bold')}  {counted(len(offer.items), 'commit')} on {offer.base[:12]}")
    for item in offer.items:
        door.say(f"  {memory_line(door, item.memory)}")
    for memory, reasons in offer.left:
        door.note(f"left out: {memory.id[:8]} {door.style(one_line(memory.title, 60))}")
        for reason in reasons:
            door.note(f"    {door.style(reason.code, 'yellow')}: {door.style(reason.message)}")
    if offer.waits:
        door.note("merged, these stay candidates until a person accepts them: gitmem review")
    door.note("review level 0, unproven: no key proves who proposed")


def _write(door: Door, where: Path, text: str) -> None:
    if str(where) == "-":
        door.out(text)
        return
    try:
        where.write_text(text, encoding="utf-8")
    except OSError as error:
        raise GitmemError(f"{where} could not be written: {error.strerror}", hint="--body - prints it") from None
    door.note(f"the text of the pull request is in {door.style(str(where))}")


def _tell_pushed(door: Door, name: str, pushed: propose_push.Pushed, data: dict[str, Any]) -> None:
    if door.as_json:
        told = {"remote": pushed.remote, "result": pushed.result, "url": pushed.url, "opened": pushed.opened or None}
        door.data({**data, "pushed": {**told, "said": pushed.said}})
        return
    what = "is there already" if pushed.result == "there" else "pushed"
    door.say(f"{door.style(what, 'green')}: {name} to {door.style(pushed.remote)}")
    if pushed.opened:
        door.say(f"the pull request: {door.style(pushed.url)}")
        return
    if pushed.said:
        door.note(door.style(pushed.said))
    if pushed.url:
        door.say(f"open the pull request: {door.style(pushed.url)}")
        door.note("its text: gitmem propose --json, or --body FILE when it is made")


def _status(door: Door, workspace: Workspace) -> None:
    found = app_propose.standings(believed_view(workspace))
    for item in found:
        if door.as_json:
            told = {"waiting": item.waiting, "merged": item.merged, "accepted_here": item.here, "pushed": item.pushed}
            rows = {name: list(value) for name, value in told.items()}
            door.data({"name": item.name, "tip": item.tip, "state": item.state, **rows})
            continue
        total, merged = len(item.merged) + len(item.waiting), len(item.merged) - len(item.here)
        counts = [f"{merged} of {total} merged"] if merged or not item.here else []
        counts += [f"{len(item.here)} of {total} accepted here"] if item.here else []
        count = ", ".join(counts)
        where = f", pushed to {', '.join(item.pushed)}" if item.pushed else ", not pushed" if item.waiting else ""
        style = "yellow" if item.waiting else "green"
        door.say(f"{door.style(item.name, 'bold')}  {door.style(item.state, style)}  {count}{door.style(where)}")
    if not found:
        door.note("nothing is proposed")


APPLICATIONS = {"propose": single(propose, "gitmem propose 7k3q 2m8r --push --remote origin")}
