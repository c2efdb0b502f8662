"""Reminders that came up, so that each comes up once: ids and versions, in this clone's private folder.

A reminder that was changed since is due again. One whose cue is the start of every session comes at each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gitmem.app import state
from gitmem.app.cues import recurs

if TYPE_CHECKING:
    from gitmem.app.recalling import Item
    from gitmem.recall.query import Hit

STATE: Final = "reminded"
MOST: Final = 500


def not_yet(private: Path) -> Callable[[Hit], bool]:
    """Whether a memory is still to be told unasked: every one but a reminder that came up."""
    known = frozenset(_known(private))
    return lambda hit: hit.memory.kind != "reminder" or recurs(hit.memory) or _version(hit) not in known


def note(private: Path, told: Iterable[Item]) -> None:
    """Remember which reminders were told."""
    hits = [hit for item in told for hit in (item.hit, *(near.hit for near in item.beside))]
    new = [_version(hit) for hit in hits if hit.memory.kind == "reminder" and not recurs(hit.memory)]
    known = _known(private)
    if set(new) - set(known):
        state.save(private, STATE, {"told": list(dict.fromkeys((*known, *new)))[-MOST:]})


def _known(private: Path) -> list[str]:
    told = state.load(private, STATE).get("told")
    return [one for one in told if isinstance(one, str)] if isinstance(told, list) else []


def _version(hit: Hit) -> str:
    return f"{hit.id}:{hit.changed}"
