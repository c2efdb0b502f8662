"""What gitmem may learn by itself from captured sessions: the one place where that is switched off."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gitmem.app.user_settings import user_file, user_settings

FILE: Final = "learn.json"
DEFAULT: Final[Mapping[str, bool]] = {"directives": True, "lessons": True, "use": True, "distill": False}


def learns(environ: Mapping[str, str], what: str) -> bool:
    """Whether `what` is learned. From `gitmem/learn.json` in XDG_CONFIG_HOME, else in ~/.config.

    Raises UsageError when that file says anything else than such truth values.
    """
    said = user_settings(environ, FILE, DEFAULT, lambda value: type(value) is bool, "true and false")
    return bool({**DEFAULT, **said}[what])


def learn_file(environ: Mapping[str, str]) -> Path | None:
    return user_file(environ, FILE)
