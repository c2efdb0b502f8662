"""What the user says for all repositories: the files of `gitmem/` in XDG_CONFIG_HOME, else in ~/.config."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from gitmem.errors import UsageError


def user_file(environ: Mapping[str, str], name: str) -> Path | None:
    """Where the file or folder `name` lies; None where there is no home."""
    named, home = environ.get("XDG_CONFIG_HOME", ""), environ.get("HOME", "")
    if named.startswith("/"):  # the specification says to ignore a relative one
        return Path(named) / "gitmem" / name
    return Path(home) / ".config/gitmem" / name if home else None


def user_settings(
    environ: Mapping[str, str], name: str, keys: Collection[str], fits: Callable[[Any], bool], kind: str, hint: str = ""
) -> dict[str, Any]:
    """The JSON object in the file `name`, with some of `keys`, each of a value that `fits`; {} when there is no file.

    kind: what the values are, for the error. Raises UsageError for a file that says anything else.
    """
    path = user_file(environ, name)
    try:
        raw = path.read_bytes() if path else b"{}"
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict) or any(key not in keys or not fits(value) for key, value in data.items()):
        raise UsageError(f"{path} is no JSON object of {kind}", hint=hint or f"its keys are {', '.join(keys)}")
    return data
