"""What gitmem may learn by itself from captured sessions: the one place where that is switched off."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gitmem.errors import UsageError

DEFAULT: Final[Mapping[str, bool]] = {"directives": True, "lessons": True, "use": True, "distill": False}


def learns(environ: Mapping[str, str], what: str) -> bool:
    """Whether `what` is learned. From `gitmem/learn.json` in XDG_CONFIG_HOME, else in ~/.config.

    Raises UsageError when that file says anything else than such truth values.
    """
    path = learn_file(environ)
    try:
        raw = path.read_bytes() if path else b"{}"
    except (FileNotFoundError, NotADirectoryError):
        return DEFAULT[what]
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict) or any(
        name not in DEFAULT or type(value) is not bool for name, value in data.items()
    ):
        raise UsageError(f"{path} is no JSON object of true and false", hint=f"its keys are {', '.join(DEFAULT)}")
    return bool({**DEFAULT, **data}[what])


def learn_file(environ: Mapping[str, str]) -> Path | None:
    named, home = environ.get("XDG_CONFIG_HOME", ""), environ.get("HOME", "")
    if named.startswith("/"):  # the specification says to ignore a relative one
        return Path(named) / "gitmem/learn.json"
    return Path(home) / ".config/gitmem/learn.json" if home else None
