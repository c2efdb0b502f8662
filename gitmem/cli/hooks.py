"""`gitmem hooks`, and `gitmem hook-impl` that the hooks call."""

from __future__ import annotations

from typing import Annotated

import typer

from gitmem.app import hooks as app_hooks
from gitmem.app.githooks import Report
from gitmem.app.workspace import open_workspace
from gitmem.cli.app_of import blank, single
from gitmem.cli.door import Door


def install(
    ctx: typer.Context,
    strict: Annotated[
        bool, typer.Option("--strict", help="Also reference-transaction: it sees every ref that moves.")
    ] = False,
    server: Annotated[bool, typer.Option("--server", help="For a bare repository: pre-receive and update.")] = False,
    sessions: Annotated[
        bool,
        typer.Option(
            "--sessions",
            help="Also post-commit, post-merge and post-rewrite: which session made a commit, what it made stale.",
        ),
    ] = False,
    trailer: Annotated[
        bool,
        typer.Option(
            "--trailer", help="Also commit-msg: an agent's commit names its session, Gitmem-Session: HOST/ID."
        ),
    ] = False,
) -> None:
    """Install pre-push and a guard for a checked-out memory branch. Hooks that are there keep working.

    Local hooks are a help, not a wall: --no-verify, core.hooksPath and programs on libgit2 pass them by. What
    they let through is still verified before it is believed.
    """
    door: Door = ctx.obj
    report = app_hooks.install(
        open_workspace(door.env), strict=strict, server=server, sessions=sessions, trailer=trailer
    )
    _report(door, report, "installed")


def uninstall(ctx: typer.Context) -> None:
    """Take the hooks out; what was there before is put back byte for byte."""
    door: Door = ctx.obj
    _report(door, app_hooks.uninstall(open_workspace(door.env)), "taken out")


def _report(door: Door, report: Report, done: str) -> None:
    if door.as_json:
        door.data(
            {
                "changed": [str(path) for path in report.changed],
                "to_add": [{"path": str(line.path), "line": line.line, "why": line.why} for line in report.lines],
                "said": report.said,
            }
        )
        return
    for path in report.changed:
        door.say(f"{done}: {door.style(str(path))}")
    if not report.changed:
        door.say("nothing to change")
    for line in report.lines:
        door.say(f"add this line to {door.style(str(line.path))} ({door.style(line.why)}):")
        door.say(f"  {door.style(line.line)}")
    for said in report.said:
        door.note(door.style(said))


def status(ctx: typer.Context) -> None:
    """Which hooks git would really run."""
    door: Door = ctx.obj
    states, note = app_hooks.status(open_workspace(door.env))
    for state in states:
        if door.as_json:
            door.data({"name": state.name, "state": state.state, "detail": state.detail, "path": str(state.path)})
        else:
            style = {"installed": "green", "absent": "dim"}.get(state.state, "yellow")
            door.say(f"{state.name:<22}{door.style(state.state.ljust(11), style)}{door.style(state.detail)}")
    if note:
        if door.as_json:
            door.data({"note": note})
        else:
            door.say(f"{door.style('note', 'yellow')}: {door.style(note)}")


def hook_impl(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="The hook.")],
    arguments: Annotated[list[str] | None, typer.Argument(help="What git gave it.")] = None,
) -> int:
    """What the git hooks call. Reads the hook's input on standard input."""
    door: Door = ctx.obj
    stream = getattr(door.env.stdin, "buffer", None)
    raw = stream.read() if stream is not None else door.env.stdin.read().encode()
    status_code, lines = app_hooks.decide_hook(door.env, name, arguments or [], raw)
    for line in lines:
        door.env.stderr.write(f"{door.style(line)}\n")
    return status_code


def _group() -> typer.Typer:
    app = blank()
    app.command(epilog="Example: gitmem hooks install")(install)
    app.command(epilog="Example: gitmem hooks uninstall")(uninstall)
    app.command(epilog="Example: gitmem hooks status")(status)
    app.callback(invoke_without_command=True, epilog="Example: gitmem hooks install")(_bare)
    return app


def _bare(ctx: typer.Context) -> None:
    """Install, remove or show the git hooks."""
    if ctx.invoked_subcommand is None:
        status(ctx)


APPLICATIONS = {
    "hooks": _group,
    "hook-impl": single(hook_impl, "gitmem hook-impl pre-push origin url < lines"),
}
