"""One Typer application for one verb, and the argument that most verbs take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final, TypeVar

import typer

from gitmem.app.ground import Ground, answered
from gitmem.cli.door import Door
from gitmem.errors import UsageError

T = TypeVar("T")
MOST: Final = 1_000_000_000  # the largest number that an option takes, where nothing else bounds it
Id = Annotated[
    str, typer.Argument(help="The memory's id, or 4 or more of its first characters.", metavar="ID", show_default=False)
]


def single(function: Callable[..., Any], example: str) -> Callable[[], typer.Typer]:
    """A maker of the application of a verb that is one function; `example` ends its help."""

    def make() -> typer.Typer:
        app = blank()
        app.command(epilog=f"Example: {example}")(function)
        return app

    return make


def which(ctx: typer.Context) -> None:
    """A verb of several parts that does nothing by itself. Raises UsageError with the parts when none is named."""
    if ctx.invoked_subcommand is None:
        parts = list(getattr(ctx.command, "commands", ()))
        verb = ctx.command_path.removeprefix("gitmem ")
        raise UsageError(f"gitmem {verb} needs to know what: {', '.join(parts)}", hint=f"gitmem {verb} --help")


def blank() -> typer.Typer:
    """An application without rich: what is shown is text that gitmem escaped itself."""
    return typer.Typer(
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def asked(door: Door, ask: Callable[[Ground], T]) -> T:
    """What `ask` finds out, and a line on standard error for what may be missing from it."""
    notes: dict[str, None] = {}

    def noted(ground: Ground) -> T:
        notes.update(dict.fromkeys(ground.warnings))
        return ask(ground)

    try:
        return answered(door.env, noted)
    finally:
        for note in notes:
            door.note(door.style(f"note: {note}", "yellow"))
