"""All adapters by host: ours, loaded when they are asked for, and those of installed plugins.

A plugin names a module or object that satisfies `adapter.Adapter` in the entry point group `gitmem.adapters`, under the
name of its host. It cannot take the name of a host that gitmem knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, cast

from gitmem.errors import GitmemError, UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from gitmem.capture.adapter import Adapter

GROUP: Final = "gitmem.adapters"
_BUILT_IN: Final = {
    "claude-code": "claude_code",
    "codex": "codex",
    "cursor": "cursor",
    "gemini-cli": "gemini_cli",
    "antigravity": "antigravity",
    "opencode": "opencode",
    "copilot-cli": "copilot_cli",
    "pi": "pi",
    "aider": "aider",
    "jsonl": "jsonl",
}
_ASKED: Final = ("host", "rules", "suffix", "origins", "watched", "open", "turns")


def adapters() -> Mapping[str, Adapter]:
    """Host to adapter, ours first. Reading an entry loads it; GitmemError when a plugin does not load or fit."""
    return _Adapters()


class _Adapters(Mapping[str, "Adapter"]):
    def __getitem__(self, host: str) -> Adapter:
        if host in _BUILT_IN:
            return cast("Adapter", import_module(f"gitmem.capture.{_BUILT_IN[host]}"))
        return _load(_plugins()[host])

    def __contains__(self, host: object) -> bool:
        return host in _BUILT_IN or host in _plugins()

    def __iter__(self) -> Iterator[str]:
        return iter([*_BUILT_IN, *_plugins()])

    def __len__(self) -> int:
        return len(_BUILT_IN) + len(_plugins())


@cache
def _plugins() -> Mapping[str, EntryPoint]:
    from importlib.metadata import entry_points

    found = sorted(entry_points(group=GROUP), key=lambda entry: entry.name)
    return {entry.name: entry for entry in found if entry.name not in _BUILT_IN}


def _load(entry: EntryPoint) -> Adapter:
    hint = "uninstall the package that brings it, or install a version that fits this gitmem"
    try:
        loaded: Any = entry.load()
    except Exception as error:  # whatever a foreign package raises while it loads
        raise GitmemError(f"the adapter {entry.name} ({entry.value}) does not load: {error}", hint=hint) from error
    missing = [name for name in _ASKED if not hasattr(loaded, name)]
    if missing or loaded.host != entry.name:
        what = f"has no {', '.join(missing)}" if missing else f"calls itself {loaded.host!r}"
        raise UsageError(f"the adapter {entry.name} ({entry.value}) {what}", hint=hint)
    return cast("Adapter", loaded)
