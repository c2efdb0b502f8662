"""Reading refs without a process, and saying what git means when it will not move one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gitmem.errors import GitmemError, Locked, NotFound, RefMoved, UnsupportedRepository
from gitmem.model.pattern import pattern
from gitmem.model.text import one_line
from gitmem.store.objects import is_object_id
from gitmem.store.port import RefMove

if TYPE_CHECKING:
    from gitmem.store.program import Completed
    from gitmem.store.repository import Location

_LOCK = pattern(r"Unable to create '([^']+\.lock)'")
_MOVED = pattern(r"but expected|reference already exists|unable to resolve reference|reference is missing")
_IN_THE_WAY = pattern(r"'(refs/[^']+)' exists; cannot create '(refs/[^']+)'|cannot process '(refs/[^']+)'")


def read_ref(location: Location, name: str) -> str | None:
    """The object that a full ref name holds, or None."""
    if location.ref_format == "files":
        # A loose ref wins; git writes packed-refs before it drops the loose one, so this order misses none.
        try:
            text = (location.common_dir / name).read_text("ascii", "replace").strip()
            if is_object_id(text, location.object_format):
                return text
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return _packed_ref(location, name)
    return dict(_listed(location, name)).get(name)


def list_refs(location: Location, prefix: str) -> list[tuple[str, str]]:
    return _listed(location, prefix)  # for git too, a slash at the end means below it and not the ref itself


def _packed_ref(location: Location, name: str) -> str | None:
    try:
        packed = (location.common_dir / "packed-refs").read_bytes()
    except FileNotFoundError:
        return None
    end = b"\n" + packed
    at = end.find(b" " + name.encode("utf-8", "surrogateescape") + b"\n")
    return end[end.rfind(b"\n", 0, at) + 1 : at].decode("ascii") if at >= 0 else None


def _listed(location: Location, pattern: str) -> list[tuple[str, str]]:
    done = location.git("for-each-ref", "--format=%(refname) %(objectname)", "--", pattern)
    if done.status:
        raise done.failure(f"the refs below {pattern} cannot be listed")
    rows = (line.rpartition(" ") for line in done.lines)
    return [(name, oid) for name, _, oid in rows]


def refusal(done: Completed, moves: Sequence[RefMove]) -> GitmemError:
    """The error for a refused `git update-ref --stdin`."""
    names = ", ".join(move.ref for move in moves)
    if lock := _LOCK.search(done.err):
        return Locked(f"{names}: the lock file {lock[1]} is in the way", details={"path": lock[1]})
    if way := _IN_THE_WAY.search(done.err):
        return in_the_way(way[1] or way[3], names)
    if "nonexistent object" in done.err:
        return NotFound(f"{names}: the commit that it should point at is not in the repository")
    if _MOVED.search(done.err):
        return RefMoved(f"{names}: not where it was expected to be", details={"git": one_line(done.err, 300)})
    return done.failure(f"{names} could not be moved")


def in_the_way(there: str, wanted: str) -> UnsupportedRepository:
    branch = there.removeprefix("refs/heads/")
    return UnsupportedRepository(
        f"{there} is in the way of {wanted}: git cannot hold both a name and names below it",
        hint=f"git branch -m {branch} <another name>" if there.startswith("refs/heads/") else f"rename {there}",
    )
