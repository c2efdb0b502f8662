"""`gitmem context` and `gitmem brief` as Typer reads them: what is told without a question."""

from __future__ import annotations

from typing import Annotated

import typer

from gitmem.cli import brief as brief_run
from gitmem.cli import context as context_run
from gitmem.cli.app_of import single

Form = Annotated[str, typer.Option("--format", help="text, or prompt: a framed block for a model.", metavar="FORM")]
Full = Annotated[bool, typer.Option("--full", help="Every word of each memory and all of its citations.")]


def context(
    ctx: typer.Context,
    paths: Annotated[list[str], typer.Argument(help="Files or folders; they need not exist yet.", metavar="PATH")],
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=10_000, help="At most so many.")
    ] = context_run.LIMIT,
    budget: Annotated[
        int | None, typer.Option(min=0, max=1_000_000, help="At most so many tokens; 400 for --format prompt.")
    ] = None,
    form: Form = "text",
    full: Full = False,
) -> None:
    """What still holds for these files, to be read before an edit: rules and known traps first.

    Memories whose paths cover a file or a folder above it, that cite it, or, with less weight, that are about a file
    which changes with it.
    """
    context_run.run(ctx.obj, paths=paths, limit=limit, budget=budget, form=form, full=full)


def brief(
    ctx: typer.Context,
    peek: Annotated[
        bool, typer.Option("--peek", help="Leave the mark from which the next brief tells what changed.")
    ] = False,
    budget: Annotated[
        int | None, typer.Option(min=0, max=1_000_000, help="At most so many tokens; 1,200 but for --json.")
    ] = None,
    form: Form = "text",
    full: Full = False,
) -> None:
    """What to know at the start of a session: standing rules, open plans, reminders that are due, known traps of the
    files that are worked on, what sessions taught in the last 14 days, what changed since the last brief, and what
    waits for a person.
    """
    brief_run.run(ctx.obj, peek=peek, budget=budget, form=form, full=full)


APPLICATIONS = {
    "context": single(context, "gitmem context src/pool.py"),
    "brief": single(brief, "gitmem brief --peek"),
}
