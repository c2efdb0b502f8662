"""How many tokens each block may take that comes unasked: the one place of these numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gitmem.errors import UsageError

DEFAULT: Final[Mapping[str, int]] = {"brief": 1200, "prompt": 800, "edit": 400}
# Of all that is told at one event: Claude Code, Codex and Cursor put longer text than 10,000 characters aside.
CEILING: Final = 2400


def budgets(environ: Mapping[str, str]) -> dict[str, int]:
    """Tokens of each block; 0 leaves it out. From `gitmem/inject.json` in XDG_CONFIG_HOME, else in ~/.config.

    Raises UsageError when that file says anything else than such numbers.
    """
    path = budget_file(environ)
    try:
        raw = path.read_bytes() if path else b"{}"
    except (FileNotFoundError, NotADirectoryError):
        return dict(DEFAULT)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict) or any(
        name not in DEFAULT or type(value) is not int or not 0 <= value <= CEILING for name, value in data.items()
    ):
        raise UsageError(
            f"{path} is no JSON object of numbers from 0 to {CEILING}", hint=f"its keys are {', '.join(DEFAULT)}"
        )
    return {**DEFAULT, **data}


def budget_file(environ: Mapping[str, str]) -> Path | None:
    named, home = environ.get("XDG_CONFIG_HOME", ""), environ.get("HOME", "")
    if named.startswith("/"):
        return Path(named) / "gitmem/inject.json"
    return Path(home) / ".config/gitmem/inject.json" if home else None
