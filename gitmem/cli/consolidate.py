"""`gitmem consolidate`."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import Annotated

import typer

from gitmem.app.consolidate import SECTIONS, Need
from gitmem.app.consolidate import consolidate as app_consolidate
from gitmem.app.workspace import open_workspace
from gitmem.cli.app_of import single
from gitmem.cli.door import Door, counted
from gitmem.cli.shown import memory_line
from gitmem.model.text import one_line

_TITLES = {
    "conflict": "to be settled",
    "waiting": "waiting for a verdict",
    "stale": "the code they cite changed",
    "ended": "true no more",
    "near": "say nearly the same",
    "lesson": "lessons that were taught more than once",
    "directive": "said for the whole team",
    "skill": "helped in two sessions",
    "unused": "told often and never used",
}
_SHOWN = 20  # of a section at a terminal


def consolidate(
    ctx: typer.Context,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be closed, and close nothing.")] = False,
) -> None:
    """Put in order, once a day: close what facts decided, and list what needs a person, each with its command.

    Closed are candidates that expired, were merged, rejected or overtaken elsewhere, and, at a person's terminal,
    memories that are true no more (gitmem restore brings one back). Near-duplicates, conflicts, stale ones and what
    could be offered are only listed. Run again right after, it changes nothing.
    """
    door: Door = ctx.obj
    found = app_consolidate(open_workspace(door.env, long_lived=True), dry_run=dry_run)
    if door.as_json:
        for item in found.closed:
            door.data({"closed": item.memory.id, "title": item.memory.title, "why": item.why, "dry_run": dry_run})
        for need in found.needs:
            door.data(_data(need))
        counts = Counter(need.section for need in found.needs)
        of_each = {name: counts[name] for name in SECTIONS}
        door.data({"summary": {"closed": len(found.closed), "needs": of_each, "dry_run": dry_run}})
        return
    for item in found.closed:
        closed = "would be closed" if dry_run else "closed"
        door.say(f"{closed}  {memory_line(door, item.memory)}\n    {door.style(one_line(item.why, 160), 'dim')}")
    for section, needs in groupby(found.needs, key=lambda need: need.section):
        _section(door, section, list(needs))
    door.note(f"{counted(len(found.closed), 'record')} closed, {counted(len(found.needs), 'matter')} for a person")


def _section(door: Door, section: str, needs: list[Need]) -> None:
    door.say(door.style(f"{_TITLES[section]} ({len(needs)})", "bold"))
    for need in needs[:_SHOWN]:
        door.say(f"  {memory_line(door, need.memories[0])}")
        door.say(f"    {door.style(one_line(need.why, 160), 'dim')}")
        for command in need.commands:
            door.say(f"    → {door.style(command, 'cyan')}")
    if len(needs) > _SHOWN:
        door.say(f"  {len(needs) - _SHOWN} more: gitmem consolidate --json")


def _data(need: Need) -> dict[str, object]:
    return {
        "needs": need.section,
        "ids": [memory.id for memory in need.memories],
        "title": need.memories[0].title,
        "why": need.why,
        "commands": list(need.commands),
    }


APPLICATIONS = {"consolidate": single(consolidate, "gitmem consolidate --dry-run")}
