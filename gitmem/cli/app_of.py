"""One Typer application for one verb."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer


def single(function: Callable[..., Any], example: str) -> Callable[[], typer.Typer]:
    """A maker of the application of a verb that is one function; `example` ends its help."""

    def make() -> typer.Typer:
        app = blank()
        app.command(epilog=f"Example: {example}")(function)
        return app

    return make


def blank() -> typer.Typer:
    """An application without rich: what is shown is text that gitmem escaped itself."""
    return typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
