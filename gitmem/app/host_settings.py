"""The agent hosts that `gitmem install` knows: where each keeps its hooks, how it writes them, and what ours are."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from gitmem.app.doorbell import doorbell_path
from gitmem.app.env import Env
from gitmem.app.host_hooks import GROUPED, Hook, Shape
from gitmem.app.injection_hosts import EVENTS
from gitmem.errors import NoHome, UsageError
from gitmem.model.frozen import dataclass

WAIT: Final = 15  # seconds; what an agent should know takes a fraction of one, and more after a large fetch


@dataclass(frozen=True)
class Host:
    """Where a host keeps its own files and its hooks.

    home: below HOME; home_variable names it instead, and `below` is what is added then. user: its file there, "" when
    it runs no hook of the user in a repository. project: the file of one repository, for this person there. rings:
    its events at which it rings; anchor: the one that tells that it does. edits: which of its tools write files.
    signs: of these, one lies in its folder when it is this host's. plugin: the source of a whole file of ours,
    which is written only for whoever names the host.
    """

    home_variable: str
    home: str
    user: str
    project: str
    rings: tuple[str, ...]
    anchor: str
    edits: str = ""
    shape: Shape = GROUPED
    below: str = ""
    signs: tuple[str, ...] = ()
    plugin: str = ""


_CURSOR: Final = Shape(grouped=False, version=True, typed=False)
_COPILOT: Final = Shape(grouped=False, version=True, command="bash", timeout="timeoutSec")
_ANTIGRAVITY: Final = Shape(grouped=False, section="gitmem", inside=MappingProxyType({"enabled": True}))
_CLAUDE_RINGS: Final = ("SessionStart", "Stop", "SessionEnd")

HOSTS: Final[Mapping[str, Host]] = {
    "claude-code": Host(
        "CLAUDE_CONFIG_DIR", ".claude", "settings.json", ".claude/settings.local.json", _CLAUDE_RINGS, "Stop",
        "Edit|MultiEdit|Write|NotebookEdit",
    ),
    "codex": Host(
        "CODEX_HOME", ".codex", "hooks.json", ".codex/hooks.json", _CLAUDE_RINGS, "Stop", "apply_patch|Edit|Write"
    ),
    "cursor": Host(
        "", ".cursor", "hooks.json", ".cursor/hooks.json", ("stop", "sessionEnd"), "stop",
        "Write|StrReplace|ApplyPatch|Edit", _CURSOR,
    ),
    "gemini-cli": Host(
        "GEMINI_CLI_HOME", ".gemini", "settings.json", ".gemini/settings.json",
        ("SessionStart", "AfterAgent", "SessionEnd"), "AfterAgent", shape=Shape(second=1000), below=".gemini",
        signs=("settings.json", "tmp", "projects.json"),
    ),
    "copilot-cli": Host(
        "COPILOT_HOME", ".copilot", "hooks/gitmem.json", ".github/hooks/gitmem.json", ("agentStop", "sessionEnd"),
        "agentStop", shape=_COPILOT,
    ),
    "antigravity": Host(
        "", ".gemini/antigravity-cli", "", ".agents/hooks.json", ("Stop",), "Stop", shape=_ANTIGRAVITY,
    ),
    "opencode": Host(
        "XDG_CONFIG_HOME", ".config/opencode", "plugins/gitmem.js", ".opencode/plugins/gitmem.js", ("idle",), "idle",
        below="opencode", plugin="opencode.js",
    ),
    "pi": Host(
        "PI_CODING_AGENT_DIR", ".pi/agent", "extensions/gitmem.ts", ".pi/extensions/gitmem.ts", ("idle",), "idle",
        plugin="pi.ts",
    ),
}  # fmt: skip


def host_home(env: Env, name: str) -> Path:
    """The folder of a host's own files. Raises GitmemError when there is no home."""
    host = HOSTS[name]
    if named := env.environ.get(host.home_variable):
        return env.cwd / named / host.below
    if not env.environ.get("HOME"):
        raise NoHome("there is no HOME, so no host can be found", hint="set HOME")
    return Path(env.environ["HOME"]) / host.home


def here(env: Env) -> list[str]:
    """The hosts that are on this machine, by their folders."""
    return [name for name in HOSTS if _is_here(env, name)]


def settings_file(env: Env, name: str, work_tree: Path | None) -> Path | None:
    """The file that tells the host what to run: in `work_tree` only, or for the user; None where it has none.

    Raises UsageError for one of a repository that lies outside of it, by a link.
    """
    host = HOSTS[name]
    if work_tree is None:  # a link of whoever keeps these files elsewhere stays
        return Path(os.path.realpath(host_home(env, name) / host.user)) if host.user else None
    return inside(work_tree, host.project)


def inside(work_tree: Path, name: str) -> Path:
    """A file of the work tree, links followed. Raises UsageError when they lead out of it."""
    path = Path(os.path.realpath(work_tree / name))
    if not path.is_relative_to(os.path.realpath(work_tree)):
        raise UsageError(f"{name} is a link that leads out of this repository, to {path}", hint="put a file there")
    return path


def command(env: Env, name: str) -> str:
    """What the host runs: always the same, so that a host that asks for trust asks once."""
    return f"{shlex.quote(str(doorbell_path(env.environ)))} {name}"


def hooks(name: str, bell: str, *, inject: bool) -> list[Hook]:
    """All that a host runs, by the command of its doorbell; without `inject` only what captures."""
    host = HOSTS[name]
    rings = [Hook(event, bell) for event in host.rings]
    told = [
        Hook(event, f"{bell} {event}", host.edits if moment == "edit" else "", WAIT)
        for event, moment in (EVENTS[name] if inject else {}).items()
    ]
    return [*rings, *told]


def _is_here(env: Env, name: str) -> bool:
    home, signs = host_home(env, name), HOSTS[name].signs
    return home.is_dir() and (not signs or any((home / sign).exists() for sign in signs))
