"""How long and how much is kept of captured sessions: the one place where that is said. Without it all is kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gitmem.app.user_settings import user_settings
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
    hint = f"its keys are {', '.join(_KEYS)}, both optional"
    data = user_settings(environ, "retention.json", _KEYS, _fits, "whole numbers above 0", hint)
    return Retention(data.get("days"), data.get("bytes"))


def _fits(value: object) -> bool:
    return type(value) is int and value >= 1
