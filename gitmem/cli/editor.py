"""Text from the user's editor, opened again with the reasons on top until it is taken."""

from __future__ import annotations

from collections.abc import Callable

from gitmem.app.env import edit_text
from gitmem.cli.door import Door
from gitmem.errors import Ambiguous, GitmemError, NotFound, Refused, UsageError
from gitmem.model.text import escape

_MARK = "#! "


def until_taken(door: Door, start: str, take: Callable[[str], None]) -> None:
    """Open the editor on `start` and hand what was written to `take`; what it refuses is opened again.

    Leaving the text as it is ends it: nothing is written, and the last refusal is the answer.
    """
    text, shown = start, start
    refused: GitmemError | None = None
    while True:
        edited = edit_text(door.env, shown, ".yaml")
        written = text if edited is None else _without_reasons(edited)
        if written == text:
            raise refused or UsageError(
                "the text was left as it was; nothing was written", hint="change it, save and close, to write it"
            )
        try:
            take(written)
        except (UsageError, Refused, NotFound, Ambiguous) as error:
            refused, text, shown = error, written, _with_reasons(error, written)
        else:
            return


def _with_reasons(error: GitmemError, text: str) -> str:
    """`text` below the reasons why it was not taken, as comments."""
    lines = [*error.message.split("\n"), *([f"→ {error.hint}"] if error.hint else [])]
    for reason in error.reasons if isinstance(error, Refused) else ():
        lines += [f"{reason.code} {reason.where}: {reason.message}", f"  → {reason.hint}"]
    lines.append("Mend it and save, or close it as it is to stop.")
    return "".join(f"{_MARK}{escape(line)}\n" for line in lines) + text


def _without_reasons(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith(_MARK))
