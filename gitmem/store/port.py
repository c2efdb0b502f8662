"""The port to git: what the rest of gitmem may ask of a repository. Two implementations pass one contract suite."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from gitmem.store.repository import Location

BULK = 200  # objects in one write above which they become one pack


class RefMove(NamedTuple):
    """One ref from `old` to `new`; None is absent. `reason` goes to the reflog."""

    ref: str
    new: str | None
    old: str | None
    reason: str


class Backend(Protocol):
    """Reads objects, writes objects, moves refs.

    Every method may raise GitmemError for a failure of git itself. An object that is not there is NotFound, one
    that is there and cannot be read is CorruptRecord.
    """

    @property
    def name(self) -> str:
        """`git` or `libgit2`."""

    @property
    def location(self) -> Location: ...

    @property
    def object_format(self) -> str:
        """`sha1` or `sha256`."""

    def ref(self, name: str) -> str | None:
        """What a full ref name points at, or None when there is no such ref."""

    def refs(self, prefix: str) -> list[tuple[str, str]]:
        """(name, object id) of every ref below `prefix` (which ends with a slash), sorted by name."""

    def resolve(self, revision: str) -> str | None:
        """The commit that any git revision names; None if there is none. Raises Ambiguous for a short id of two."""

    def read(self, oid: str) -> tuple[str, bytes]:
        """(kind, data)."""

    def read_many(self, oids: Iterable[str]) -> Iterator[tuple[str, str, bytes]]:
        """(id, kind, data) in the order asked, streamed."""

    def size(self, oid: str) -> int:
        """Bytes of the object, from its header: nothing is inflated."""

    def write(self, objects: Sequence[tuple[str, bytes]]) -> None:
        """Store (kind, data) durably: on the disk when this returns. More than `BULK` become one pack.

        They are remembered until the next `move_refs`, which writes again what a `git prune` took meanwhile.
        """

    def move_refs(self, moves: Sequence[RefMove]) -> None:
        """All or none, compare-and-swap, durable. RefMoved when one is not at its `old`; Locked for a lock file."""

    def log(
        self,
        tip: str,
        *,
        base: str | None = None,
        first_parent: bool = False,
        paths: Sequence[str] = (),
        limit: int | None = None,
    ) -> list[str]:
        """Commits reachable from `tip` and not from `base` that touch `paths`, newest first."""

    def is_ancestor(self, old: str, new: str) -> bool: ...

    def close(self) -> None: ...
