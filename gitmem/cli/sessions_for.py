"""`gitmem sessions for`: which sessions made a commit, or touched a file."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from gitmem.app.workspace import open_workspace
from gitmem.cli.door import Door, counted
from gitmem.model.times import format_instant


def made(
    ctx: typer.Context,
    what: Annotated[str, typer.Argument(help="A commit, or a file or folder.", metavar="COMMIT|PATH")],
) -> None:
    """The sessions that made a commit, or that touched a file.

    A commit is known again after an amend, a rebase, a squash or a cherry-pick. When two sessions may have made it,
    nothing is claimed. `gitmem hooks install --sessions` lets git note what it commits.
    """
    from gitmem.app import session_commits

    door: Door = ctx.obj
    workspace = open_workspace(door.env)
    commit = session_commits.asked_commit(workspace, what)
    if commit is None:
        _say_touched(door, session_commits.sessions_of_path(workspace, what), what)
        return
    answer = session_commits.sessions_of_commit(workspace, commit)
    for item in answer.made:
        cite = f"transcript:{item.stored.manifest.name}#{item.record}" if item.record else ""
        if door.as_json:
            own = {"session": item.stored.manifest.name, "cite": cite, "commit": item.commit, "basis": item.basis}
            door.data({**own, "shown": item.shown})
            continue
        how = {"itself": "", "rewritten": ", rewritten since", "patch": ", the same patch", "tree": ", the same tree"}
        by = "git said so" if item.shown else "by the time of its command" if item.record else "the message says so"
        door.say(f"{item.commit[:12]}  {door.style(item.stored.manifest.name)}  {by}{how.get(item.basis, '')}")
        if cite:
            door.say(f"    {door.style('↳ ' + cite, 'dim')}")
    if door.as_json:
        count = {"made": len(answer.made), "declined": answer.declined, "absent": list(answer.absent)}
        door.data({"summary": {"commit": answer.commit, **count}})
        return
    for name in answer.absent:
        door.say(f"{answer.commit[:12]}  {door.style(name)}  the message says so; that session is not here")
    if answer.declined:
        door.say(f"not claimed: {door.style(answer.declined)}")
    elif not answer.made and not answer.absent:
        door.say(f"no captured session is known to have made {answer.commit[:12]}")


def _say_touched(door: Door, found: Any, path: str) -> None:
    for item in found:
        last = format_instant(item.last) if item.last else None
        if door.as_json:
            door.data({"session": item.stored.manifest.name, "times": item.times, "last": last})
        else:
            door.say(f"{(last or '')[:16]:<16}  {door.style(item.stored.manifest.name)}  {counted(item.times, 'time')}")
    if not found and not door.as_json:
        door.say(f"no captured session is known to have touched {door.style(path)}")
