"""What every read lane may ask for besides words."""

from __future__ import annotations

from datetime import datetime

from gitmem.model.frozen import dataclass


@dataclass(frozen=True)
class Filters:
    """Empty does not ask. since, until: recorded in [since, until). valid_at: true at that instant."""

    kinds: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    path: str | None = None
    key: str | None = None
    origins: tuple[str, ...] = ()
    scope: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    valid_at: datetime | None = None
    inbox: bool = False
    limit: int = 50
