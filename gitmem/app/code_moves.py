"""What git's hooks noted of the code: the commits and merges since which nobody looked for stale memories.

The hooks post-commit, post-merge and post-rewrite append ids to a file, in shell, outside of a rebase. The next command
of a person at a terminal takes the file and marks what cites a path that these commits changed; nothing runs meanwhile.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from gitmem.app.env import Env

if TYPE_CHECKING:
    from gitmem.app.ground import Ground
    from gitmem.model.nouns import Memory
    from gitmem.store.repository import Location

NOTED: Final = "code-moved"  # what the hooks append to
_TAKEN: Final = f"{NOTED}.taken"
_LIMIT: Final = 1024 * 1024  # bytes of it that are read


def waiting(private: Path) -> bool:
    """Whether something was noted that was not looked at yet."""
    return (private / NOTED).exists() or (private / _TAKEN).exists()


def take(location: Location) -> frozenset[str]:
    """The paths that the noted commits changed. They are noted until `done`."""
    file, taken = location.private / NOTED, location.private / _TAKEN
    if not taken.exists():
        try:
            file.rename(taken)
        except FileNotFoundError:
            return frozenset()
    from gitmem.store.followed import touched_by

    moves = []
    for line in taken.read_bytes()[:_LIMIT].decode("ascii", "replace").split("\n"):
        words = line.split(" ")
        oids = [word for word in words[1:] if word]
        if words[0] == "made" and len(oids) == 1:
            moves.append((f"{oids[0]}^", oids[0]))
        elif words[0] == "moved" and len(oids) == 2:
            moves.append((oids[0], oids[1]))
    return touched_by(location, list(dict.fromkeys(moves)))


def done(location: Location) -> None:
    """Forget what `take` gave."""
    (location.private / _TAKEN).unlink(missing_ok=True)


def mark_noted(env: Env) -> list[Memory]:
    """Mark what the noted commits made stale; the marked memories. Nothing where nothing waits, in the middle of a
    rebase, and for anybody but a person at a terminal."""
    from gitmem.store.at_rest import look

    if env.channel != "terminal":
        return []
    seen = look(env.start or env.cwd, env.environ, ())
    if seen is None or not waiting(seen.private):
        return []
    from gitmem.app.ground import answered
    from gitmem.app.marking import mark, may_mark
    from gitmem.app.stale import stale

    def look_again(ground: Ground) -> list[Memory]:
        location = ground.workspace.location
        if rebasing(location):
            return []
        paths = take(location)
        report = stale(ground, (), only=paths) if paths else None
        allowed = report is not None and all(may_mark(ground.view, one.memory) for one in report.to_mark)
        marked = mark(ground.workspace, report) if report is not None and allowed else []
        done(location)
        return marked

    return answered(env, look_again)


def rebasing(location: Location) -> bool:
    """Whether a rebase or `git am` is at work in this work tree."""
    return any((location.git_dir / name).exists() for name in ("rebase-merge", "rebase-apply"))
