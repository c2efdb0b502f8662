"""`gitmem install` in Cursor, Gemini CLI, Copilot CLI, Antigravity CLI, OpenCode and Pi, by the installed command.

The shapes and places are those that the hosts document; tests/agents/test_install.py has the rest for Claude Code and
Codex, and all of it is one code.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gitmem.app.host_settings import HOSTS
from gitmem.app.injection_hosts import EVENTS
from tests.agents.test_install import Home
from tests.conftest import git

# What a person had there before, laid out in their own way.
CURSOR = '{"version": 1,\n "hooks": {"stop": [{"command": "./lint.sh", "failClosed": false}]}}\n'
GEMINI = '{\n\t"context": {"fileName": ["AGENTS.md"]},\n\t"security": {}\n}\n'
ANTIGRAVITY = '{\n  "mine": {"enabled": true, "Stop": [{"type": "command", "command": "./say.sh", "timeout": 3}]}\n}'


@pytest.fixture
def home(tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.delenv("XDG_CONFIG_HOME")
    found = Home(tmp_path / "it's home", repo)
    for folder in (".cursor", ".gemini/antigravity-cli", ".copilot", ".config/opencode", ".pi/agent"):
        (found.path / folder).mkdir(parents=True)
    (found.path / ".cursor/hooks.json").write_text(CURSOR)
    (found.path / ".gemini/settings.json").write_text(GEMINI)
    return found


def read(path: Path) -> Any:
    return json.loads(path.read_bytes())


def snapshot(home: Home) -> dict[str, bytes]:
    return {
        str(path.relative_to(top)): path.read_bytes() if path.is_file() else b""
        for top in (home.path, home.repo)
        for path in top.rglob("*")
        if ".git/" not in str(path) and ".local" not in path.parts
    }


def test_each_host_gets_the_hooks_that_it_documents_where_it_reads_them(home: Home) -> None:
    bell = shlex.quote(str(home.bell))
    done = home.run("install", "--yes")
    assert done.code == 0
    cursor = read(home.path / ".cursor/hooks.json")
    assert cursor["version"] == 1 and cursor["hooks"]["stop"][0] == {"command": "./lint.sh", "failClosed": False}
    assert cursor["hooks"]["stop"][1] == {"command": f"{bell} cursor", "timeout": 5}
    assert set(cursor["hooks"]) == {*EVENTS["cursor"], "stop", "sessionEnd"}
    (edit,) = cursor["hooks"]["preToolUse"]
    assert edit["matcher"] == "Write|StrReplace|ApplyPatch|Edit" and edit["command"] == f"{bell} cursor preToolUse"

    gemini = read(home.path / ".gemini/settings.json")
    assert gemini["context"] == {"fileName": ["AGENTS.md"]}
    assert set(gemini["hooks"]) == {*EVENTS["gemini-cli"], "AfterAgent", "SessionEnd"}
    (group,) = gemini["hooks"]["BeforeAgent"]
    command = f"{bell} gemini-cli BeforeAgent"
    assert group == {"hooks": [{"type": "command", "command": command, "timeout": 15_000}]}  # milliseconds

    copilot = read(home.path / ".copilot/hooks/gitmem.json")
    assert copilot["version"] == 1 and set(copilot["hooks"]) == {*EVENTS["copilot-cli"], "agentStop", "sessionEnd"}
    (handler,) = copilot["hooks"]["agentStop"]
    assert handler == {"type": "command", "bash": f"{bell} copilot-cli", "timeoutSec": 5}

    for only_named in ("antigravity is here", "opencode is here", "pi is here"):
        assert only_named in done.err
    assert "gitmem install antigravity --project" in done.err
    assert not (home.path / ".config/opencode/plugins").exists()
    # As in the tests of Claude Code: what stands there is what a shell runs.
    (home.repo / ".git/gitmem/spool").mkdir(parents=True)
    (home.repo / ".git/gitmem/spool/waiting").write_text(f"{os.getpid()}\n")
    ran = subprocess.run(
        ["sh", "-c", handler["bash"]], cwd=home.repo, input="{}", capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    assert (home.repo / ".git/gitmem/spool/copilot-cli.rung").exists()


def test_again_changes_nothing_and_uninstall_gives_back_every_byte(home: Home) -> None:
    (home.repo / ".agents").mkdir()
    (home.repo / ".agents/hooks.json").write_text(ANTIGRAVITY)
    before = snapshot(home)
    assert home.run("install", "--yes").code == 0
    named = ("install", "antigravity", "copilot-cli", "opencode", "pi", "--project", "--yes")
    done = home.run(*named)
    assert done.code == 0 and "do not commit it" in done.err
    plugin = (home.repo / ".opencode/plugins/gitmem.js").read_text()
    assert plugin.startswith("// Written by `gitmem install opencode`") and json.dumps(str(home.bell)) in plugin
    antigravity = read(home.repo / ".agents/hooks.json")
    assert antigravity["mine"]["Stop"] and antigravity["gitmem"]["enabled"] is True
    assert set(antigravity["gitmem"]) == {"enabled", "Stop", "PreInvocation"}
    assert antigravity["gitmem"]["Stop"][0]["command"].endswith("doorbell' antigravity")
    after = snapshot(home)
    assert home.run(*named).out.startswith("nothing to change") and snapshot(home) == after
    assert home.run("uninstall", "--yes").code == 0
    assert snapshot(home) == before


def test_of_a_file_that_was_changed_since_only_what_is_ours_goes(home: Home) -> None:
    (home.repo / ".agents").mkdir()
    (home.repo / ".agents/hooks.json").write_text("{}")
    assert home.run("install", "cursor", "copilot-cli", "--yes").code == 0
    assert home.run("install", "antigravity", "--project", "--yes").code == 0
    cursor, copilot = home.path / ".cursor/hooks.json", home.path / ".copilot/hooks/gitmem.json"
    antigravity = home.repo / ".agents/hooks.json"
    cursor.write_text(cursor.read_text().replace("./lint.sh", "./lint-all.sh"))
    for path in (copilot, antigravity):  # as an editor may save it
        path.write_text(json.dumps(read(path)))
    assert home.run("uninstall", "--yes").code == 0
    assert read(cursor) == {"version": 1, "hooks": {"stop": [{"command": "./lint-all.sh", "failClosed": False}]}}
    assert not copilot.exists() and read(antigravity) == {}


def test_without_injection_only_what_captures_is_there(home: Home) -> None:
    assert home.run("install", "cursor", "opencode", "--yes").code == 0
    assert home.run("install", "cursor", "opencode", "--no-inject", "--yes").code == 0
    assert set(read(home.path / ".cursor/hooks.json")["hooks"]) == {"stop", "sessionEnd"}
    assert "const INJECT = false" in (home.path / ".config/opencode/plugins/gitmem.js").read_text()


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        (".cursor/hooks.json", '{"hooks": {"stop": [{"command": "x"}]}}', "no version"),
        (".cursor/hooks.json", '{"version": 1, "hooks": {"stop": ["x"]}}', "no hook"),
        (".cursor/hooks.json", '{"version": "1", "hooks": {}}', "no version"),
        (".gemini/settings.json", "// mine\n{}", "Expecting"),
        (".copilot/hooks/gitmem.json", '{"hooks": []}', "no JSON object"),
    ],
)
def test_a_file_that_its_host_would_not_read_is_refused_and_nothing_is_written(
    home: Home, name: str, text: str, why: str
) -> None:
    (home.path / name).parent.mkdir(exist_ok=True)
    (home.path / name).write_text(text)
    before = snapshot(home)
    refused = home.run("install", "--yes")
    assert refused.code == 2 and why in refused.err and name in refused.err and snapshot(home) == before
    (home.path / name).write_text("{}")
    assert home.run("install", "--yes").code == 0
    assert read(home.path / name).get("version", 1) == 1


def test_a_plugin_file_of_somebody_else_and_a_link_out_of_the_repository_are_left_alone(home: Home) -> None:
    theirs = home.path / ".pi/agent/extensions/gitmem.ts"
    theirs.parent.mkdir()
    theirs.write_text("export default () => {}\n")
    refused = home.run("install", "pi", "--yes")
    assert refused.code == 2 and "not written by gitmem install" in refused.err
    outside = home.path / "elsewhere.json"
    outside.write_text("{}")
    (home.repo / ".cursor").mkdir()
    (home.repo / ".cursor/hooks.json").symlink_to(outside)
    refused = home.run("install", "cursor", "--project", "--yes")
    assert refused.code == 2 and "leads out of this repository" in refused.err
    assert home.run("uninstall", "--yes").code == 0
    assert theirs.read_text() == "export default () => {}\n" and outside.read_text() == "{}"
    theirs.unlink()
    assert home.run("install", "pi", "--yes").code == 0 and theirs.exists()


def test_antigravity_is_for_one_repository_and_agents_are_refused(home: Home) -> None:
    before = snapshot(home)
    refused = home.run("install", "antigravity", "--yes")
    assert refused.code == 2 and "--project" in refused.err
    for words in (("cursor",), ("opencode",), ("--timer",), ("--agents-md",)):
        assert home.run("install", *words, "--yes", CURSOR_AGENT="1").code == 3
    assert snapshot(home) == before and git(home.repo, "status", "--porcelain") == ""


def test_status_tells_where_each_of_them_rings_and_at_which_events_it_asks(home: Home) -> None:
    (home.repo / ".git/gitmem").mkdir()
    (home.path / ".cursor/projects").mkdir()
    assert home.run("install", "cursor", "opencode", "--yes").code == 0
    rows = {row.get("host"): row for row in home.run("status", "--json").lines}
    assert rows["cursor"]["installed"] == [str(home.path / ".cursor/hooks.json")]
    assert set(rows["cursor"]["told"]) == set(EVENTS["cursor"])
    assert rows["opencode"]["installed"] == [str(home.path / ".config/opencode/plugins/gitmem.js")]
    assert set(rows["opencode"]["told"]) == set(EVENTS["opencode"])
    assert home.run("uninstall", "opencode", "--yes").code == 0
    rows = {row.get("host"): row for row in home.run("status", "--json").lines}
    assert not rows.get("opencode", {}).get("installed") and rows["cursor"]["installed"]


def test_every_host_that_is_told_something_can_be_installed() -> None:
    assert set(HOSTS) == set(EVENTS)
    assert all(host.anchor in host.rings for host in HOSTS.values())
