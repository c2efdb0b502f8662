"""A backend that keeps what it read lately: verification looks at the same trees and sources again and again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from gitmem.store.port import Backend, RefMove
from gitmem.store.repository import Location

KEPT: Final = 48 * 1024 * 1024  # bytes of objects that are kept; the oldest go first
_LARGE: Final = 4 * 1024 * 1024  # an object above this is not kept


class Remembering:
    """See `gitmem.store.port.Backend`. Objects never change, so what was read once stays right."""

    def __init__(self, backend: Backend, kept: int = KEPT) -> None:
        self._backend = backend
        self._kept = kept
        self._objects: OrderedDict[str, tuple[str, bytes]] = OrderedDict()
        self._bytes = 0

    @property
    def name(self) -> str:
        return self._backend.name

    @property
    def location(self) -> Location:
        return self._backend.location

    @property
    def object_format(self) -> str:
        return self._backend.object_format

    def ref(self, name: str) -> str | None:
        return self._backend.ref(name)

    def refs(self, prefix: str) -> list[tuple[str, str]]:
        return self._backend.refs(prefix)

    def resolve(self, revision: str) -> str | None:
        return self._backend.resolve(revision)

    def read(self, oid: str) -> tuple[str, bytes]:
        found = self._objects.get(oid)
        if found is None:
            found = self._backend.read(oid)
            self._keep(oid, *found)
        else:
            self._objects.move_to_end(oid)
        return found

    def read_ahead(self, oids: Iterable[str]) -> None:
        """Read many objects at once, so that `read` finds them. What does not fit is read again when it is asked."""
        wanted = list(dict.fromkeys(oid for oid in oids if oid not in self._objects))
        for oid, kind, data in self._backend.read_many(wanted):
            self._keep(oid, kind, data)

    def read_many(self, oids: Iterable[str]) -> Iterator[tuple[str, str, bytes]]:
        return self._backend.read_many(oids)

    def size(self, oid: str) -> int:
        found = self._objects.get(oid)
        return len(found[1]) if found is not None else self._backend.size(oid)

    def write(self, objects: Sequence[tuple[str, bytes]]) -> None:
        self._backend.write(objects)

    def move_refs(self, moves: Sequence[RefMove]) -> None:
        self._backend.move_refs(moves)

    def log(
        self,
        tip: str,
        *,
        base: str | None = None,
        first_parent: bool = False,
        paths: Sequence[str] = (),
        limit: int | None = None,
    ) -> list[str]:
        return self._backend.log(tip, base=base, first_parent=first_parent, paths=paths, limit=limit)

    def is_ancestor(self, old: str, new: str) -> bool:
        return self._backend.is_ancestor(old, new)

    def close(self) -> None:
        self._backend.close()

    def _keep(self, oid: str, kind: str, data: bytes) -> None:
        if len(data) > _LARGE:
            return
        self._objects[oid] = (kind, data)
        self._bytes += len(data)
        while self._bytes > self._kept:
            _, (_, gone) = self._objects.popitem(last=False)
            self._bytes -= len(gone)
