"""How many tokens each block may take that comes unasked: the one place of these numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gitmem.app.user_settings import user_settings

DEFAULT: Final[Mapping[str, int]] = {"brief": 1200, "prompt": 800, "edit": 400}
# Of all that is told at one event: Claude Code, Codex and Cursor put longer text than 10,000 characters aside.
CEILING: Final = 2400


def budgets(environ: Mapping[str, str]) -> dict[str, int]:
    """Tokens of each block; 0 leaves it out. From `gitmem/inject.json` in XDG_CONFIG_HOME, else in ~/.config.

    Raises UsageError when that file says anything else than such numbers.
    """
    return {**DEFAULT, **user_settings(environ, "inject.json", DEFAULT, _fits, f"numbers from 0 to {CEILING}")}


def _fits(value: object) -> bool:
    return type(value) is int and 0 <= value <= CEILING
