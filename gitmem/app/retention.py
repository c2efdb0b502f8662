"""How long and how much is kept of captured sessions: the one place where that is said. Without it all is kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gitmem.errors import UsageError
from gitmem.model.frozen import dataclass

_KEYS: Final = ("days", "bytes")


@dataclass(frozen=True)
class Retention:
    """`days` without a new byte after which a session may go; `bytes` of transcripts above which the oldest do.
    None: no limit."""

    days: int | None = None
    bytes: int | None = None

    @property
    def is_set(self) -> bool:
        return self.days is not None or self.bytes is not None

    def __str__(self) -> str:
        parts = [f"{self.days:,} days"] if self.days is not None else []
        parts += [f"{self.bytes:,} bytes"] if self.bytes is not None else []
        return " and ".join(parts) or "for ever"


def retention(environ: Mapping[str, str]) -> Retention:
    """From `gitmem/retention.json` in XDG_CONFIG_HOME, else in ~/.config: `{"days": 365, "bytes": 2000000000}`.

    Raises UsageError when that file says anything else.
    """
    path = retention_file(environ)
    try:
        raw = path.read_bytes() if path else b"{}"
    except (FileNotFoundError, NotADirectoryError):
        return Retention()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict) or any(
        name not in _KEYS or type(value) is not int or value < 1 for name, value in data.items()
    ):
        raise UsageError(
            f"{path} is no JSON object of whole numbers above 0", hint=f"its keys are {', '.join(_KEYS)}, both optional"
        )
    return Retention(data.get("days"), data.get("bytes"))


def retention_file(environ: Mapping[str, str]) -> Path | None:
    named, home = environ.get("XDG_CONFIG_HOME", ""), environ.get("HOME", "")
    if named.startswith("/"):  # the specification says to ignore a relative one
        return Path(named) / "gitmem/retention.json"
    return Path(home) / ".config/gitmem/retention.json" if home else None
