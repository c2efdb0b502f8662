"""`gitmem capture`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from gitmem.app import capture as app_capture
from gitmem.app.capture_sweep import Captured
from gitmem.app.doorbell import doorbell_path, renew_doorbell
from gitmem.app.hooks import program
from gitmem.app.workspace import open_workspace
from gitmem.cli.app_of import single
from gitmem.cli.door import Door, columns, counted
from gitmem.cli.learned import learned_data, say_learned
from gitmem.errors import GitmemError

_STYLES = {"failed": "red", "degraded": "yellow", "rewritten": "yellow", "waiting": "dim"}


def capture(
    ctx: typer.Context,
    paths: Annotated[
        list[Path] | None, typer.Argument(help="Transcripts. Without any: all of this repository.", metavar="PATH")
    ] = None,
    host: Annotated[str | None, typer.Option(help="Only this host; with PATH, whose transcript it is.")] = None,
) -> int:
    """Store what the agents' transcripts of this repository have gained, without secrets.

    Complete lines only, append-only, in refs that are never pushed unasked. Running it again stores nothing twice;
    while another run is at work it ends at once. What a person told an agent to do from now on becomes private memory.
    So does what failed and passed later, and how a session ended (`gitmem lessons`).
    """
    door: Door = ctx.obj
    sweep = app_capture.capture(open_workspace(door.env), paths or (), host)
    _renew_doorbell(door)
    if door.as_json:
        for item in sweep.sessions:
            door.data(_data(item))
        door.data(
            {
                "busy": sweep.busy,
                "captured": sum(item.bytes > 0 for item in sweep.sessions),
                "bytes": sum(item.bytes for item in sweep.sessions),
                "removed": sum(item.removed for item in sweep.sessions),
                "unchanged": sweep.unchanged,
                "archived": sweep.archived,
                "forgotten": [{"session": item.name, "why": item.why} for item in sweep.forgotten],
                "faults": dict(sweep.faults),
                **learned_data(sweep.learned),
                "lessons": [
                    {"problem": one.problem, "solution": one.solution, "title": one.title, "result": one.result}
                    for read in (sweep.taught.sessions if sweep.taught else ())
                    for one in read.lessons
                ],
                "watched": {name: [str(path) for path in folders] for name, folders in sweep.watched.items()},
            }
        )
        return 1 if sweep.failed else 0
    if sweep.busy:
        door.say("another capture is at work here; nothing to do")
        return 0
    rows = [(item.state, f"{item.host}/{item.session}", _amount(item)) for item in sweep.sessions]
    for item, line in zip(sweep.sessions, columns(rows), strict=True):
        door.say(door.style(line.rstrip(), *([_STYLES[item.state]] if item.state in _STYLES else [])))
    for name, fault in sweep.faults.items():
        door.say(f"{door.style('failed', 'red')}  {door.style(name)}: {door.style(fault)}")
    changed = sum(item.bytes > 0 for item in sweep.sessions)
    tail = f", {counted(sweep.archived, 'session')} archived" if sweep.archived else ""
    door.say(f"{counted(changed, 'session')} captured, {sweep.unchanged:,} unchanged{tail}")
    for gone in sweep.forgotten:
        door.say(f"forgotten  {door.style(gone.name)}: {door.style(gone.why)}")
    say_learned(door, sweep.learned)
    for read in sweep.taught.sessions if sweep.taught else ():
        for one in read.lessons:
            if one.result in ("learned", "again"):
                door.say(f"lesson {one.result}: {one.solution}  {door.style(one.title)}")
    for fault in sweep.taught.faults if sweep.taught else ():
        door.note(door.style(f"nothing was learned: {fault}", "yellow"))
    if not changed and not sweep.unchanged and not sweep.sessions:
        door.note("no transcript of this repository was found; looked for " + ", ".join(sweep.watched))
    return 1 if sweep.failed else 0


def _renew_doorbell(door: Door) -> None:
    """After an upgrade the hosts ring what this version ships, without another install."""
    path = doorbell_path(door.env.environ)
    if not path.exists():
        return
    try:
        renew_doorbell(path, program(sys.argv[:1]))
    except (OSError, GitmemError) as error:  # the capture is done
        door.note(f"the doorbell could not be renewed: {error}; run: gitmem install")


def _amount(item: Captured) -> str:
    parts = [f"{item.bytes:,} bytes"] if item.bytes else []
    parts += [f"{counted(item.removed, 'secret')} removed"] if item.removed else []
    return ", ".join([*parts, *([item.detail] if item.detail else [])])


def _data(item: Captured) -> dict[str, object]:
    return {
        "host": item.host,
        "session": item.session,
        "state": item.state,
        "bytes": item.bytes,
        "removed": item.removed,
        "detail": item.detail,
    }


APPLICATIONS = {"capture": single(capture, "gitmem capture")}
