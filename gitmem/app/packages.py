"""`gitmem package`: a folder that a host installs as its plugin: hooks, skill, commands, an entry for `gitmem mcp`.

All of them come from the files in `packages/` and from what `gitmem install` writes for the host; only the layout
differs. A package names no path of this machine: its doorbell finds gitmem on PATH.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from gitmem import __version__
from gitmem.app.agents import plugin_text
from gitmem.app.doorbell import doorbell_text
from gitmem.app.host_settings import HOSTS, hooks
from gitmem.app.shipped import shipped
from gitmem.errors import GitmemError, UsageError
from gitmem.model.frozen import dataclass

_ABOUT: Final = "Memory of a repository, kept in git with evidence: recalled when it matters, proposed for review"
_SERVER: Final = {"command": "gitmem", "args": ["mcp"]}
_SERVERS: Final = {"mcpServers": {"gitmem": _SERVER}}
_DOORBELL: Final = "doorbell"
_SKILL: Final = "skills/gitmem/SKILL.md"
_BESIDE: Final = 'decodeURIComponent(new URL("../gitmem/doorbell", import.meta.url).pathname)'
_NO_EDIT: Final = "before an edit: the host takes no context there"


@dataclass(frozen=True)
class Package:
    """files: content by path in the folder. install: what a person does with the folder. lacks: what the host does
    not take, or not surely."""

    host: str
    files: Mapping[str, bytes]
    install: tuple[str, ...]
    lacks: tuple[str, ...] = ()


def package(host: str) -> Package:
    """The package of a host. Raises UsageError for one that has none."""
    make = _MAKERS.get(host)
    if make is None:
        raise UsageError(f"there is no package for {host!r}", hint=f"one of: {', '.join(_MAKERS)}")
    return make()


def write_package(made: Package, folder: Path) -> list[Path]:
    """Write it into a folder that is not there or empty; the files, in order.

    Raises UsageError when something is in it, GitmemError when it cannot be written.
    """
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise UsageError(f"{folder} is not empty; nothing was written", hint="name a new folder")
        written = []
        for name, content in sorted(made.files.items()):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            path.chmod(0o755 if path.name == _DOORBELL else 0o644)
            written.append(path)
    except OSError as error:
        raise GitmemError(
            f"cannot write {error.filename or folder}: {error.strerror}", hint="name another folder"
        ) from None
    return written


def _claude_code() -> Package:
    return Package(
        "claude-code",
        {
            ".claude-plugin/plugin.json": _json(_manifest(license="Apache-2.0")),
            "hooks/hooks.json": _hooks("claude-code", '"${CLAUDE_PLUGIN_ROOT}/doorbell"'),
            ".mcp.json": _json(_SERVERS),
            **_common(),
            **_commands("commands", "$ARGUMENTS"),
        },
        (
            "claude --plugin-dir FOLDER          # for one session",
            "cp -R FOLDER ~/.claude/skills/gitmem   # for good; /plugin lists it as gitmem@skills-dir",
        ),
    )


def _codex() -> Package:
    inside = {
        ".codex-plugin/plugin.json": _json(_manifest()),
        "hooks/hooks.json": _hooks("codex", '"${PLUGIN_ROOT}/doorbell"'),
        ".mcp.json": _json(_SERVERS),
        **_common(),
    }
    policy = {"installation": "AVAILABLE", "authentication": "ON_INSTALL"}
    entry = {"name": "gitmem", "source": {"source": "local", "path": "./plugins/gitmem"}, "policy": policy}
    market = {"name": "gitmem", "plugins": [{**entry, "category": "Developer Tools"}]}
    return Package(
        "codex",
        {
            ".agents/plugins/marketplace.json": _json(market),
            **{f"plugins/gitmem/{name}": content for name, content in inside.items()},
        },
        ("codex plugin marketplace add FOLDER", "codex, then /plugins: install gitmem; then /hooks: trust its hooks"),
        (
            "commands: codex documents none for plugins",
            "hooks, in releases that leave out those of plugins: gitmem install codex puts them in",
        ),
    )


def _cursor() -> Package:
    return Package(
        "cursor",
        {
            ".cursor-plugin/plugin.json": _json(_manifest(license="Apache-2.0")),
            "hooks/hooks.json": _hooks("cursor", '"${CURSOR_PLUGIN_ROOT}/doorbell"'),
            "mcp.json": _json(_SERVERS),
            **_common(),
            **_commands("commands", "the words after the command"),
        },
        ("cp -R FOLDER ~/.cursor/plugins/local/gitmem", "Cursor: reload the window"),
        ("at a prompt, surely: Cursor takes context there and does not document it",),
    )


def _gemini_cli() -> Package:
    manifest = {**_manifest(), "contextFileName": "GITMEM.md", **_SERVERS}
    return Package(
        "gemini-cli",
        {
            "gemini-extension.json": _json(manifest),
            "hooks/hooks.json": _hooks("gemini-cli", '"${extensionPath}/doorbell"'),
            "GITMEM.md": _source("agents.md").encode(),
            **_common(),
            **{
                f"commands/gitmem/{name}.toml": "".join(
                    f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in
                    (("description", about), ("prompt", text.replace("@ARGUMENTS@", "{{args}}")))
                ).encode()
                for name, about, text in _sources()
            },
        },
        ("gemini extensions install FOLDER",),
        (_NO_EDIT,),
    )  # fmt: skip


def _antigravity() -> Package:
    return Package(
        "antigravity",
        {
            "hooks.json": _hooks("antigravity", "./gitmem/doorbell"),
            "mcp_config.json": _json(_SERVERS),
            _SKILL: _source("skill.md").encode(),
            "gitmem/doorbell": doorbell_text(None),
        },
        (
            "mkdir -p .agents && cp -Rn FOLDER/. .agents/   # in the repository; what is there stays",
            "merge hooks.json and mcp_config.json by hand where they were there",
        ),
        (
            "a place for the user: agy runs a hook of the user outside of every repository",
            "commands: agy documents none",
            "before an edit: a hook there would have to give leave",
            "after compaction: no event",
        ),
    )


def _copilot_cli() -> Package:
    manifest = _manifest(skills="skills/", hooks="hooks.json", mcpServers=".mcp.json")
    return Package(
        "copilot-cli",
        {
            "plugin.json": _json(manifest),
            "hooks.json": _hooks("copilot-cli", '"${PLUGIN_ROOT}/doorbell"'),
            ".mcp.json": _json(_SERVERS),
            **_common(),
        },
        ("copilot plugin install FOLDER",),
        (
            "commands: copilot documents none for plugins",
            "at a prompt, surely: copilot is reported to drop what hooks of plugins say there; "
            "gitmem install copilot-cli puts them where it does not",
            _NO_EDIT,
        ),
    )


def _opencode() -> Package:
    server = {"$schema": "https://opencode.ai/config.json",
              "mcp": {"gitmem": {"type": "local", "command": ["gitmem", "mcp"], "enabled": True}}}  # fmt: skip
    return Package(
        "opencode",
        {
            "plugins/gitmem.js": plugin_text("opencode", "package", _BESIDE, inject=True),
            "gitmem/doorbell": doorbell_text(None),
            "gitmem/mcp.json": _json(server),
            _SKILL: _source("skill.md").encode(),
            **_commands("commands", "$ARGUMENTS", "gitmem-"),
        },
        (
            "mkdir -p .opencode && cp -Rn FOLDER/. .opencode/   # in a repository, or ~/.config/opencode for all",
            "the server: copy what gitmem/mcp.json says into opencode.json",
        ),
        (
            _NO_EDIT,
            "OpenCode 2, surely: it documents no names for what a hook of a prompt is given",
            "OpenCode 1 before 1.3.4",
        ),
    )


def _pi() -> Package:
    manifest = {
        "name": "gitmem-pi", "version": __version__, "private": True, "description": _ABOUT, "license": "Apache-2.0",
        "keywords": ["pi-package"],
        "pi": {"extensions": ["./extensions"], "skills": ["./skills"], "prompts": ["./prompts"]},
    }  # fmt: skip
    return Package(
        "pi",
        {
            "package.json": _json(manifest),
            "extensions/gitmem.ts": plugin_text("pi", "package", _BESIDE, inject=True),
            "gitmem/doorbell": doorbell_text(None),
            _SKILL: _source("skill.md").encode(),
            **_commands("prompts", "$@", "gitmem-"),
        },
        ("pi install FOLDER   # it is used where it lies",),
        ("the server: pi documents none for packages; put it into ~/.pi/agent/mcp.json", _NO_EDIT),
    )


_MAKERS: Final[Mapping[str, Callable[[], Package]]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "cursor": _cursor,
    "gemini-cli": _gemini_cli,
    "copilot-cli": _copilot_cli,
    "antigravity": _antigravity,
    "opencode": _opencode,
    "pi": _pi,
}


def _manifest(**more: str) -> dict[str, str]:
    return {"name": "gitmem", "version": __version__, "description": _ABOUT, **more}


def _common() -> dict[str, bytes]:
    return {_SKILL: _source("skill.md").encode(), _DOORBELL: doorbell_text(None)}


def _hooks(name: str, bell: str) -> bytes:
    """The hooks that `gitmem install` puts in, as a file of the package."""
    shape = HOSTS[name].shape
    events: dict[str, list[Any]] = {}
    for hook in hooks(name, f"{bell} {name}", inject=True):
        events.setdefault(hook.event, []).append(shape.written(hook))
    return _json(shape.file(events))


def _commands(folder: str, arguments: str, prefix: str = "") -> dict[str, bytes]:
    """The commands in Markdown; `arguments` is how the host names what was typed behind one."""
    return {
        f"{folder}/{prefix}{name}.md": f"---\ndescription: {about}\n---\n{text}".replace(
            "@ARGUMENTS@", arguments
        ).encode()
        for name, about, text in _sources()
    }


def _sources() -> list[tuple[str, str, str]]:
    """Name, description and text of each command."""
    found = []
    for path in sorted((shipped("packages") / "commands").glob("*.md")):
        _, front, text = path.read_text(encoding="utf-8").split("---\n", 2)
        found.append((path.stem, front.strip().removeprefix("description: "), text))
    return found


def _source(name: str) -> str:
    return (shipped("packages") / name).read_text(encoding="utf-8")


def _json(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data, indent=2, ensure_ascii=False).encode() + b"\n"
