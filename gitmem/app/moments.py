"""As of when: from what a person typed to a position in the history of the branch."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Final

from gitmem.app.ground import Ground
from gitmem.errors import NotFound
from gitmem.model.frozen import dataclass
from gitmem.model.times import format_instant, parse_instant

TOO_EARLY: Final = "gitmem log shows when it began; a date is 00:00 UTC of that day, a revision the time of its commit"


@dataclass(frozen=True)
class Moment:
    """position: in the first-parent history of the branch, None for its tip. commit: of the branch, there.

    at: the instant that was named, the present when none was; what is true then is asked for unless said otherwise.
    """

    position: int | None
    commit: str
    at: datetime


def moment(ground: Ground, as_of: str | None) -> Moment:
    """`as_of`: a date or time, a revision or tag of the memory branch, or one of the code, which stands for its date.

    Raises NotFound when it names nothing, or a time before the branch began.
    """
    if as_of is None:
        return Moment(None, ground.commit, ground.now)
    positions = ground.index.positions()
    try:
        at = parse_instant(as_of)
        position = positions.at(at.timestamp())
    except ValueError:
        position, at = _of_revision(ground, as_of)
    if not position:  # the first commit of every branch is the same empty one
        raise NotFound(f"gitmem/main did not exist yet at {as_of} ({format_instant(at)[:16]}Z)", hint=TOO_EARLY)
    there = positions.commit(position)
    return Moment(None if position == len(positions) - 1 else position, there, at)


def _of_revision(ground: Ground, named: str) -> tuple[int | None, datetime]:
    from gitmem.app.reading import committed

    backend = ground.workspace.backend
    commit = backend.resolve(named)
    if commit is None:
        raise NotFound(
            f"{named!r} names no commit here and is no date",
            hint="a date is like 2026-03-02; git log gitmem/main lists the commits",
        )
    positions, at = ground.index.positions(), committed(ground.workspace, commit)
    position = positions.find(commit)
    if position is not None:
        return position, datetime.fromtimestamp(positions.time(position), timezone.utc)
    if backend.is_ancestor(positions.commit(0), commit):
        raise NotFound(
            f"{named!r} is no state that gitmem/main was in: it is a side of a merge, or was never believed",
            hint=f"gitmem recall --as-of {format_instant(at)} asks for the branch at its time",
        )
    return positions.at(at.timestamp()), at
