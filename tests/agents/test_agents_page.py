"""docs/agents.md: what it says of hosts, packages, budgets and tools is what the code has."""

from __future__ import annotations

import json
import re
from pathlib import Path

from gitmem.app.host_settings import HOSTS
from gitmem.app.injection_budget import DEFAULT
from gitmem.app.injection_hosts import EVENTS
from gitmem.app.packages import package
from gitmem.app.tools import TOOLS

PAGE = (Path(__file__).parent.parent.parent / "docs/agents.md").read_text()
BLOCKS = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)]


# Events of hosts whose plugins are ours: the page names the host's own.
PLUGINS = {name for name, host in HOSTS.items() if host.plugin}


def rows(*columns: str) -> dict[str, list[str]]:
    """The table with these columns, by the first cell of each row."""
    lines = PAGE.split("\n")
    at = lines.index(f"| {' | '.join(columns)} |") + 2
    end = next(n for n in range(at, len(lines)) if not lines[n].startswith("|"))
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[at:end]]
    return {row[0].strip("`"): row[1:] for row in cells}


def test_the_files_of_hosts_are_those_that_install_writes() -> None:
    found = rows("host", "file of the user", "file of a repository", "rings for capture")
    assert list(found) == list(HOSTS)
    for name, (user, project, rings) in found.items():
        host = HOSTS[name]
        assert user == (f"`~/{host.home}/{host.user}`" if host.user else user) and bool(host.user) == (
            "none" not in user
        )
        assert project == f"`{host.project}`"
        assert name in PLUGINS or set(re.findall(r"`(\w+)`", rings)) == set(host.rings)
        assert host.home_variable in PAGE


def test_what_a_package_has_is_what_the_page_says() -> None:
    found = rows("host", "hooks", "skill", "commands", "server", "installed by", "not in it")
    assert list(found) == list(HOSTS)
    for name, (_, _, commands, server, *_) in found.items():
        files = package(name).files
        assert (commands == "no") == (not any(path.startswith(("commands/", "prompts/")) for path in files)), name
        has_server = any(b'"mcp"' in content for content in files.values())
        assert (server == "no") == (not has_server), name


def test_the_budgets_the_events_and_the_tools_are_the_ones_in_the_code() -> None:
    assert BLOCKS[0] == DEFAULT
    for host, events in EVENTS.items():
        for event in () if host in PLUGINS else events:
            assert f"`{event}`" in PAGE, host
    for tool, row in TOOLS.items():
        (line,) = [
            line for line in PAGE.split("\n") if line.startswith(f"| `{tool}` | {'yes' if row.reads else 'no'} |")
        ]
        assert tool == "propose" or all(f"`{name}`" in line for name in row.takes)
