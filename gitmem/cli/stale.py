"""`gitmem stale` and `gitmem reverify`: memories whose code is not what it was, and looking at them again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from gitmem.app import code_moves, marking
from gitmem.app.ground import Ground
from gitmem.app.propose_move import left_to_the_forge, propose_changes
from gitmem.app.reverify import confirming, replaced, require_one, reverify, to_confirm, unexplained
from gitmem.app.stale import Cited, Report, Standing, next_commands, stale
from gitmem.app.workspace import Found, View, open_workspace
from gitmem.app.writing import Mutation
from gitmem.cli import remember as flags
from gitmem.cli.app_of import asked, single
from gitmem.cli.asked import show_asked
from gitmem.cli.door import Door
from gitmem.cli.remembering import show_remembered
from gitmem.cli.shown import memory_data, memory_line
from gitmem.errors import UsageError
from gitmem.model.citations import citation
from gitmem.model.records import to_data

_STYLES = {"current": "green", "moved": "green", "changed": "yellow", "gone": "red", "unobservable": "yellow"}
_TOLD = ("gone", "changed", "unobservable")


def look(
    ctx: typer.Context,
    paths: Annotated[
        list[str] | None,
        typer.Argument(help="Files or folders (default: all).", metavar="[PATH]...", show_default=False),
    ] = None,
    mark: Annotated[
        bool, typer.Option("--mark", help="Give what changed the state maybe_stale, and what is gone stale.")
    ] = False,
    changed: Annotated[
        bool, typer.Option("--changed", help="Only what the noted commits changed: gitmem hooks install --sessions.")
    ] = False,
    everything: Annotated[bool, typer.Option("--all", help="Also what stands as it was, or was only moved.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Exit 1 when anything is changed or gone.")] = False,
) -> None:
    """Which memories cite code that is not what it was at HEAD, and how it differs.

    current: it stands there. moved: elsewhere in its file, or under the file's new name. changed, gone: look again.
    unobservable: the cited bytes are not here, or never were in the history of HEAD. Code is compared by definition
    where its language is parsed, so layout and comments elsewhere do not count. The exit code is 0 but for --check.
    """
    door: Door = ctx.obj
    if changed and paths:
        raise UsageError("--changed takes no paths", hint="gitmem stale --changed, or gitmem stale PATH")
    found: list[Report] = []
    marked: list[Any] = []

    def ask(ground: Ground) -> None:
        location = ground.workspace.location
        only = code_moves.take(location) if changed else None
        found.append(stale(ground, paths or (), only=only))
        if mark:
            marked.extend(marking.mark(ground.workspace, found[-1]))
            if changed:
                code_moves.done(location)

    try:
        asked(door, ask)
    finally:
        if found:
            _show(door, found[-1], everything)
    if marked:
        many = "1 memory" if len(marked) == 1 else f"{len(marked):,} memories"
        door.note(f"marked {many}; less weight from now on, until somebody looked again")
    if check and any(one.verdict in ("changed", "gone") for one in found[-1].standings):
        raise typer.Exit(1)


def _show(door: Door, report: Report, everything: bool) -> None:
    shown = [one for one in report.standings if everything or one.verdict in _TOLD]
    counts = {verdict: report.count(verdict) for verdict in _STYLES}
    if door.as_json:
        for one in shown:
            door.data(_data(one))
        door.data({"head": report.head, "looked_at": len(report.standings), **counts})
        return
    for one in shown:
        door.say(memory_line(door, one.memory))
        for cited in one.cited:
            if everything or cited.drift.verdict != "current":
                for line in _lines(door, cited):
                    door.say(line)
        for command in next_commands(one):
            door.say(f"    {door.style('→ ' + command, 'dim')}")
    told = ", ".join(f"{number:,} {verdict}" for verdict, number in counts.items() if number)
    door.note(f"{len(report.standings):,} looked at{': ' + told if told else ''}")
    if report.to_mark:
        door.note(door.style("→ gitmem stale --mark lets them weigh less until somebody looked again", "dim"))


def _lines(door: Door, cited: Cited) -> list[str]:
    drift = cited.drift
    place = f"{drift.path}:{drift.lines}" if drift.lines else drift.path
    now = f" now {place}" if drift.verdict in ("moved", "changed") else ""
    why = f" ({drift.detail})" if drift.detail else ""
    verdict = door.style(drift.verdict.ljust(8), _STYLES[drift.verdict])
    lines = [f"    {verdict}  {door.style(citation(cited.ref))}{door.style(now + why, 'dim')}"]
    styles = {"+": ("green",), "-": ("red",), "@": ("cyan",)}
    return [*lines, *(f"      {door.style(line, *styles.get(line[:1], ()))}" for line in drift.diff)]


def _data(one: Standing) -> dict[str, Any]:
    memory = one.memory
    return {
        "id": memory.id, "title": memory.title, "status": memory.status, "verdict": one.verdict,
        "mark": one.mark or None,
        "cited": [
            {
                "ref": to_data(cited.ref), "citation": citation(cited.ref), "verdict": cited.drift.verdict,
                "path": cited.drift.path, "lines": cited.drift.lines, "detail": cited.drift.detail,
                "diff": list(cited.drift.diff),
            }
            for cited in one.cited
        ],
        "next": list(next_commands(one)),
    }  # fmt: skip


def again(
    ctx: typer.Context,
    identifiers: Annotated[list[str], typer.Argument(help="Ids of memories.", metavar="ID...", show_default=False)],
    evidence: flags.Evidence = None,
    instead: Annotated[
        str | None, typer.Option("--instead", help="It no longer holds: what does, as a new title.", metavar="TITLE")
    ] = None,
    because: flags.Because = "",
) -> None:
    """You looked at the code again: the memory still holds, and cites it as it is today.

    What moved or changed is cited at HEAD, what is gone is cited no more, and the memory is active again. With
    --instead another memory takes its place. Without --because you are shown what changed and asked for the reason.
    For a person at a terminal; an agent proposes with gitmem supersede.
    """
    door: Door = ctx.obj
    workspace = open_workspace(door.env)
    if not because.strip() and instead is None:
        pending = to_confirm(workspace, identifiers, evidence or ())
        if pending and (door.as_json or not door.env.stdin.isatty()):
            raise unexplained(identifiers)
        because = _reason(door, pending) if pending else ""
        if pending and not because:
            door.say("nothing was changed")
            return
    if instead is not None:
        if len(identifiers) != 1:
            raise UsageError("--instead is for one memory", hint='gitmem reverify ID --instead "what holds now"')
        show_remembered(door, replaced(workspace, identifiers[0], instead, evidence or (), because), dry_run=False)
        return
    if identifiers and any(left_to_the_forge(workspace, "reverify", each) for each in identifiers):
        require_one(identifiers, evidence or ())

        def make(view: View, found: Sequence[Found]) -> list[Mutation]:
            return confirming(view, found, evidence or (), because)

        show_asked(door, propose_changes(workspace, "reverify", identifiers, make))
        return
    for found in reverify(workspace, identifiers, evidence or (), because):
        if door.as_json:
            data = memory_data(found.memory, found.ref)
            door.data({"id": found.memory.id, "status": found.memory.status, "memory": data})
            continue
        door.say(memory_line(door, found.memory))
        for ref in found.memory.evidence:
            door.say(f"    {door.style('↳ ' + citation(ref), 'dim')}")


def _reason(door: Door, pending: list[Standing]) -> str:
    """What a person answers who was shown what changed; "" for no."""
    for one in pending:
        door.say(memory_line(door, one.memory))
        for cited in one.cited:
            for line in _lines(door, cited):
                door.say(line)
    many = "it still holds" if len(pending) == 1 else "they still hold"
    door.out(f"Why is it that {many}? (Enter alone changes nothing) ")
    door.flush()
    return door.env.stdin.readline().strip()


APPLICATIONS = {
    "stale": single(look, "gitmem stale src"),
    "reverify": single(again, 'gitmem reverify 7k3q --because "the retry is still three times"'),
}
