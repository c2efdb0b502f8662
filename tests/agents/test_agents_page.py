"""docs/agents.md: what it tells to put into the files of hosts is what gitmem answers to."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from gitmem.app.injection_budget import DEFAULT
from gitmem.app.injection_hosts import EVENTS
from gitmem.app.tools import TOOLS

PAGE = (Path(__file__).parent.parent.parent / "docs/agents.md").read_text()
BLOCKS = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]


def commands(data: Any, event: str = "") -> list[tuple[str, str]]:
    """(event, command) of every hook in a host's file."""
    if isinstance(data, list):
        return [found for item in data for found in commands(item, event)]
    if not isinstance(data, dict):
        return []
    own = [(event, str(data[key])) for key in ("command", "bash") if key in data]
    return [
        *own,
        *(
            found
            for key, value in data.items()
            for found in commands(value, event if key == "hooks" and event else key)
        ),
    ]


def test_every_snippet_names_the_event_that_it_stands_at_and_all_of_them() -> None:
    found = [pair for block in BLOCKS for pair in commands(block)]
    by_host: dict[str, set[str]] = {}
    for event, command in found:
        bell, host, named = command.split(" ")
        assert (bell, named) == ("DOORBELL", event)
        by_host.setdefault(host, set()).add(event)
    assert by_host == {host: set(events) for host, events in EVENTS.items() if host not in ("claude-code", "codex")}


def test_the_budgets_the_events_and_the_tools_are_the_ones_in_the_code() -> None:
    assert BLOCKS[0] == DEFAULT
    for host, events in EVENTS.items():
        for event in events:
            assert f"`{event}`" in PAGE, host
    for tool, row in TOOLS.items():
        (line,) = [
            line for line in PAGE.split("\n") if line.startswith(f"| `{tool}` | {'yes' if row.reads else 'no'} |")
        ]
        assert tool == "propose" or all(f"`{name}`" in line for name in row.takes)
