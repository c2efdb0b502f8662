"""`gitmem verify`."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from gitmem.app import verify as app_verify
from gitmem.app.verify_approvals import read_approvals
from gitmem.app.verify_mending import mending
from gitmem.app.verify_own import with_own
from gitmem.app.verify_request import verify_request
from gitmem.app.workspace import open_workspace
from gitmem.cli.app_of import single
from gitmem.cli.door import Door, counted
from gitmem.errors import Refused, UsageError


class Format(str, Enum):  # noqa: UP042
    text = "text"
    json = "json"
    markdown = "markdown"


def verify(
    ctx: typer.Context,
    base: Annotated[str | None, typer.Option(help="What is verified already.")] = None,
    head: Annotated[str | None, typer.Option(help="What to verify (default: gitmem/main).")] = None,
    everything: Annotated[bool, typer.Option("--all", help="The whole branch; the same without --base.")] = False,
    target: Annotated[
        str | None,
        typer.Option("--merge-into", help="Verify --head as a pull request into this branch: the merge as well."),
    ] = None,
    approvals: Annotated[
        Path | None,
        typer.Option(help="What the forge says about who approved it, as JSON (docs/review.md). With --merge-into."),
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="markdown is a comment for a pull request.")] = Format.text,
) -> None:
    """Check commits of the memory branch as every reader does.

    Names and modes, YAML, schema, the gate, transitions, both sides of a supersession, tombstones, events and
    their chains, digests. Without --base and --head what is for you alone too. Exit 0 when all is well, 3 when
    something is refused.
    """
    door: Door = ctx.obj
    app_verify.require_range(base, head, everything)
    workspace = open_workspace(door.env, long_lived=True)
    if approvals is not None and target is None:
        hint = "gitmem verify --merge-into origin/gitmem/main --head HEAD --approvals FILE"
        raise UsageError("--approvals takes --merge-into: a request is approved, not a branch", hint=hint)
    given = None if approvals is None else read_approvals(door.env.cwd / approvals)
    bar = door.progress("verifying")
    if target is not None:
        app_verify.require_target_alone(base, everything)
        report = verify_request(workspace, target=target, head=head, approvals=given, progress=bar)
    else:
        report = app_verify.verify(workspace, base=base, head=head, progress=bar)
        if base is None and head is None:
            report = with_own(workspace, report)
    bar.close()
    if door.as_json or form is Format.json:
        door.data(report.data())
    elif form is Format.markdown:
        door.env.stdout.write(app_verify.markdown(report))
    else:
        for fault in report.faults:
            door.say(
                f"{door.style('fault', 'red')}  {fault.commit[:10]}  {door.style(fault.code, 'yellow')}  "
                f"{door.style(fault.path)}: {door.style(fault.message)}"
            )
        for note in report.notes:
            what = door.style(f"{note.path}: {note.message}")
            door.say(f"{door.style('note', 'dim')}   {note.commit[:10]}  {note.code}  {what}")
        said = "clean" if report.clean else counted(len(report.faults), "fault")
        count = f"{counted(report.commits, 'commit')}, {counted(report.records, 'record')}"
        door.say(f"{door.style(said, 'green' if report.clean else 'red')}: {count}")
    if not report.clean:
        raise Refused(
            f"verification found {counted(len(report.faults), 'fault')}",
            hint="; ".join(mending(workspace, report)),
        )


APPLICATIONS = {"verify": single(verify, "gitmem verify --base origin/gitmem/main --head HEAD")}
