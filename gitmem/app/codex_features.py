"""Whether Codex was told to run no hooks at all, in its `config.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

_KEYS: Final = ("hooks", "codex_hooks")  # the second is the name of earlier versions


def switched_off(environ: Mapping[str, str], *folders: Path) -> Path | None:
    """The file in the user's `CODEX_HOME`, or in one of `folders`, that says so; None when none does or can be read."""
    import tomllib

    home = environ.get("CODEX_HOME") or f"{environ.get('HOME', '')}/.codex"
    for folder in dict.fromkeys((Path(home), *folders)):
        path = folder / "config.toml"
        try:
            features = tomllib.loads(path.read_text("utf-8")).get("features")
        except (OSError, ValueError):  # Codex itself refuses what is no TOML
            continue
        if isinstance(features, dict) and any(features.get(key) is False for key in _KEYS):
            return path
    return None
