"""What a search index says of itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from gitmem.model.frozen import dataclass, shape


@dataclass(frozen=True)
class State:
    """What an index says of itself, written with its data, so never ahead of it.

    tips: the commit of each ref that it shows. generation: of the files beside it. cards: bytes of cards. steps,
    checksum, oid: of the positions. replaced: True once a version was taken out or put anew, from when on tantivy's
    own counts are too high.
    """

    tips: Mapping[str, str]
    generation: int = 0
    timeline: int = 0
    cards: int = 0
    steps: int = 0
    checksum: int = 0
    oid: int = 20
    replaced: bool = False


def state_text(state: State) -> str:
    """As it is written into the index."""
    return json.dumps({name: getattr(state, name) for name in shape(State).names}, sort_keys=True)


def state_from_text(text: str) -> State:
    """Raises ValueError or TypeError for anything else."""
    return State(**json.loads(text))


def stamp(path: Path) -> tuple[int, int, int] | None:
    """What changes when the file is replaced, as every update of the index does."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
