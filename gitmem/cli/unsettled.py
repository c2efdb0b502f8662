"""A line for each candidate that closed itself."""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.app.settle import Settled, settle_quietly
from gitmem.app.workspace import Workspace
from gitmem.cli.door import Door
from gitmem.model.text import one_line


def _note(door: Door, settled: Sequence[Settled]) -> None:
    """On standard error: what is closed and why."""
    for item in settled:
        title = door.style(one_line(item.memory.title, 60))
        door.note(f"closed {item.memory.id[:8]} ({door.style(one_line(item.why, 120))}): {title}")


def note_closed(door: Door, workspace: Workspace) -> None:
    """Have candidates close themselves when a person comes by, and say which did."""
    if door.env.channel == "terminal":
        _note(door, settle_quietly(workspace))
