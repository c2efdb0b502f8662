"""`gitmem doctor`, `reindex`, `schema` and `completion`."""

from __future__ import annotations

from typing import Annotated

import typer

from gitmem.app import doctor as app_doctor
from gitmem.app import upkeep
from gitmem.app.meaning import make_all
from gitmem.app.workspace import open_workspace
from gitmem.cli import completion as scripts
from gitmem.cli.app_of import asked, single
from gitmem.cli.door import Door, counted
from gitmem.errors import UsageError
from gitmem.model.schema import NAMES, schema_text


def doctor(ctx: typer.Context) -> int:
    """What is wrong or at risk here, each with what to do. Exit 0 when nothing is wrong, 1 when something is."""
    door: Door = ctx.obj
    findings = app_doctor.examine(open_workspace(door.env))
    for finding in findings:
        if door.as_json:
            door.data(
                {"topic": finding.topic, "state": finding.state, "message": finding.message, "hint": finding.hint}
            )
            continue
        style = {"fine": "green", "note": "yellow"}.get(finding.state, "red")
        door.say(f"{door.style(finding.state.ljust(6), style)}{finding.topic:<12}{door.style(finding.message)}")
        if finding.hint:
            door.say(f"                  {door.style('→ ' + finding.hint, 'dim')}")
    return 1 if any(finding.state == "fault" for finding in findings) else 0


def reindex(
    ctx: typer.Context,
    forget: Annotated[
        bool, typer.Option("--forget", help="Forget what was believed; verify the whole branch.")
    ] = False,
    meaning: Annotated[
        bool, typer.Option("--meaning", help="Only make the vectors of meaning that are missing (an optional extra).")
    ] = False,
) -> None:
    """Build the search index anew from the branch."""
    door: Door = ctx.obj
    if meaning:
        if forget:
            raise UsageError(
                "--meaning makes no index anew", hint="gitmem reindex --forget, then gitmem reindex --meaning"
            )
        model, count = asked(door, make_all)
        if door.as_json:
            door.data({"model": model, "vectors": count})
        else:
            door.say(f"{door.style('learned', 'green')} {counted(count, 'version')} of memories ({model})")
        return
    count, rejected = upkeep.reindex(open_workspace(door.env, long_lived=True), forget=forget)
    if door.as_json:
        door.data({"records": count, "not_believed": list(rejected)})
        return
    door.say(f"{door.style('indexed', 'green')} {counted(count, 'record')}")
    for why in rejected:
        door.note(door.style(f"not believed: {why}", "yellow"))


def schema(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help=", ".join(NAMES), metavar="NAME")] = "memory",
) -> None:
    """Print a JSON Schema of the format."""
    door: Door = ctx.obj
    if name not in NAMES:
        raise UsageError(f"there is no schema {name!r}", hint=f"one of {', '.join(NAMES)}")
    door.out(schema_text(name))


def completion(
    ctx: typer.Context,
    shell: Annotated[str, typer.Argument(help=", ".join(scripts.SCRIPTS), metavar="SHELL")] = "bash",
) -> None:
    """Print the completion script of a shell. Nothing is installed: you decide where it goes."""
    door: Door = ctx.obj
    door.out(scripts.script(shell))


APPLICATIONS = {
    "doctor": single(doctor, "gitmem doctor"),
    "reindex": single(reindex, "gitmem reindex"),
    "schema": single(schema, "gitmem schema draft"),
    "completion": single(completion, 'eval "$(gitmem completion bash)"'),
}
