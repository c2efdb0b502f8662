"""`gitmem status`."""

from __future__ import annotations

from typing import Annotated

import typer

from gitmem.app import status as app_status
from gitmem.app.status import Health, HostHealth
from gitmem.app.workspace import open_workspace
from gitmem.cli.app_of import single
from gitmem.cli.door import Door, counted
from gitmem.cli.learned import say_proposals
from gitmem.model.times import format_instant

_UNTOLD = 3  # failures of hooks that are shown; --json gives all of the last day
_STYLES = {"fresh": "green", "stale": "yellow", "unknown": "red", "absent": "dim"}


def status(
    ctx: typer.Context,
    check: Annotated[bool, typer.Option("--check", help="Exit 1 when anything is stale, unknown or damaged.")] = False,
) -> int:
    """Whether every host's sessions are captured, what they take, what waits, and whether the index has seen all.

    fresh: captured, or under way for less than 15 minutes. stale: something waits or went wrong. unknown: it cannot
    be told. Of hooks that tell an agent something: when each last asked, and what went wrong in the last day.
    """
    door: Door = ctx.obj
    health = app_status.status(open_workspace(door.env))
    if door.as_json:
        for host in health.hosts:
            door.data(_host_data(host))
        door.data(_data(health))
    else:
        _shown(door, health)
    return 1 if check and not health.is_fine else 0


def _shown(door: Door, health: Health) -> None:
    for host in health.hosts:
        if host.state != "absent":
            _line(door, host.state, host.host, _about(host), host.hint)
    memory = health.memory
    waits = f", {counted(memory.candidates, 'candidate')} waiting" if memory.candidates else ""
    _line(door, memory.state, "memory", f"{memory.reason}{waits}", memory.hint)
    say_proposals(door, health.proposals)
    for damage in health.damaged:
        _line(door, "unknown", "session", damage, "gitmem sessions verify")
    for failure in health.untold[-_UNTOLD:]:
        about = f"{failure['host']} {failure['event']} at {failure['at']}: {failure['message']}"
        _line(
            door, "stale", "hooks", f"nothing was told: {about}", "gitmem brief, gitmem recall show whether it goes now"
        )
    if not health.has_room:
        _line(door, "stale", "disk", f"{health.free:,} bytes are free", "make room: nothing can be captured soon")
    if absent := [host.host for host in health.hosts if host.state == "absent"]:
        door.say(door.style(f"not here  {', '.join(absent)}", "dim"))
    door.say(
        f"{counted(health.sessions, 'session')}, {health.bytes:,} bytes, "
        f"in git {counted(health.objects, 'object')} of {health.disk:,} bytes"
    )
    gone = f", {health.forgotten:,} forgotten" if health.forgotten else ""
    door.say(f"kept      {door.style(health.retention)}{gone}")
    for one in health.live:
        door.say(f"at work   {door.style(one.session)}, last record {format_instant(one.last)[:16].replace('T', ' ')}")
    if health.capturing:
        door.say("a capture is at work now")


def _line(door: Door, state: str, name: str, about: str, hint: str) -> None:
    door.say(f"{door.style(state.ljust(10), _STYLES[state])}{door.style(name.ljust(13))}{door.style(about)}")
    if hint:
        door.say(f"{'':<23}{door.style('→ ' + hint, 'dim')}")


def _about(host: HostHealth) -> str:
    parts = [host.reason, counted(host.sessions, "session")]
    if host.installed:
        parts.append(f"rang {host.rung}" if host.rung else "installed, never rang here")
    parts += [f"{event} {f'asked {at}' if at else 'never asked here'}" for event, at in host.told.items()]
    return ", ".join(parts)


def _host_data(host: HostHealth) -> dict[str, object]:
    return {
        "host": host.host,
        "state": host.state,
        "reason": host.reason,
        "hint": host.hint,
        "sessions": host.sessions,
        "waiting": host.waiting,
        "swept": host.swept,
        "rung": host.rung,
        "installed": [str(path) for path in host.installed],
        "told": dict(host.told),
    }


def _data(health: Health) -> dict[str, object]:
    return {
        "fine": health.is_fine,
        "sessions": health.sessions,
        "bytes": health.bytes,
        "retention": health.retention,
        "forgotten": health.forgotten,
        "objects": health.objects,
        "disk": health.disk,
        "damaged": list(health.damaged),
        "capturing": health.capturing,
        "free": health.free,
        "proposals": [{"id": one.id, "title": one.title} for one in health.proposals],
        "live": [{"session": one.session, "last": format_instant(one.last)} for one in health.live],
        "untold": [dict(failure) for failure in health.untold],
        "memory": {
            "state": health.memory.state,
            "reason": health.memory.reason,
            "candidates": health.memory.candidates,
        },
    }


APPLICATIONS = {"status": single(status, "gitmem status --check")}
