"""Where a change lands: on the reviewed branch, or in the inbox of this clone."""

from __future__ import annotations

from typing import Literal

from gitmem.model.nouns import Config
from gitmem.model.vocabulary import Channel


def lands(channel: Channel, config: Config | None) -> Literal["main", "inbox"]:
    """`main` for a person at a terminal where review is local; `inbox` for everybody and everything else."""
    if channel == "terminal" and config is not None and config.review == "local":
        return "main"
    return "inbox"
