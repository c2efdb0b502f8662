"""Where a record lands: one table, by who it came from and for whom it is.

| channel                                       | for whom          | lands                          |
|-----------------------------------------------|-------------------|--------------------------------|
| a person at a terminal, review `local`        | the team          | gitmem/main, active            |
| a person at a terminal, review `forge`        | the team          | the inbox, candidate           |
| a person at a terminal                        | private, user     | that store, active             |
| capture, a person's own words or an observed fact | private       | the private store, active      |
| capture, anything else                        | anybody           | the inbox, candidate           |
| an agent, a tool, an import, ci, a forge      | anybody           | the inbox, candidate           |
"""

from __future__ import annotations

from typing import Final

from gitmem.model.layout import HOMES, INBOX
from gitmem.model.nouns import Config
from gitmem.model.vocabulary import Channel, Op

# What capture may write for its own user at once: quoted words of that person, and facts that it saw happen.
_CAUGHT: Final = frozenset({"human", "observed"})
# The moves of a memory of the branch that a person proposes, and a merge decides, where review is on the forge.
LEFT_TO_THE_FORGE: Final[frozenset[Op]] = frozenset(
    {"reject", "lift", "archive", "restore", "dispute", "retract", "edit"}
)


def lands(channel: Channel, config: Config | None, audience: str = "team", origin: str = "") -> str:
    """The place (of `layout.PLACES`) of a new record; INBOX means as a candidate, every other one as active.

    config: of the store that it is for; without one nothing is let in. origin: as the gate derived it, which only
    capture is asked for.
    """
    if config is None or audience not in HOMES:
        return INBOX
    if channel == "capture":
        return HOMES["private"] if audience == "private" and origin in _CAUGHT else INBOX
    return HOMES[audience] if decides(channel, config, audience) else INBOX


def decides(channel: Channel, config: Config, audience: str = "team") -> bool:
    """Whether this channel lets records in, changes and rejects them: a person at a terminal, about the team's memory
    only where review is local; what is a person's own is never reviewed by others."""
    return channel == "terminal" and (audience != "team" or config.review == "local")
