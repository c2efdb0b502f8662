"""A repository opened for one command, and what may be read in it.

`View` is the only way to the records: it shows the believed state of the branch, never its raw tip.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final

from gitmem.app.env import Env
from gitmem.errors import Ambiguous, NotFound
from gitmem.model.frozen import dataclass, field
from gitmem.model.ids import id_prefix
from gitmem.model.judgement import Viewer
from gitmem.model.layout import (
    CONFIG,
    INBOX,
    LABELS,
    MAIN,
    MEMORIES,
    PLACES,
    PRIVATE,
    USER,
    memory_of_path,
    memory_path,
    tombstone_path,
)
from gitmem.model.nouns import Config, Memory, Tombstone
from gitmem.model.records import config_from_bytes, memory_from_bytes, tombstone_from_bytes
from gitmem.model.vocabulary import AUDIENCES, STATUSES
from gitmem.policy.visibility import fits, withheld_view
from gitmem.store.objects import empty_tree
from gitmem.store.port import Backend
from gitmem.store.repository import Location, locate, open_backend
from gitmem.store.snapshot import Snapshot, snapshot

if TYPE_CHECKING:
    from pathlib import Path

    from gitmem.recall.search_index import SearchIndex
    from gitmem.store.identity import Writer

ASTRAY: Final = ("link.missing", "memory.missing")  # codes of a record that names a memory which is not there
_KEPT: Final = 16 * 1024 * 1024  # bytes of objects that a process that stays keeps


@dataclass(frozen=True)
class Workspace:
    """One repository, one command."""

    env: Env
    location: Location
    backend: Backend

    @cached_property
    def writer(self) -> Writer:
        """Whose names stand in what is written here, and what signs it."""
        from gitmem.store.identity import writer

        return writer(self.location, self.env.environ, self.env.channel)

    @cached_property
    def indexes(self) -> dict[Path, SearchIndex]:
        """The search index that the writes of this process have open, by its folder."""
        return {}

    @cached_property
    def user(self) -> Workspace | None:
        """The user's own store, None when there is none. In that store itself there is no other."""
        from gitmem.app.user_store import opened

        return opened(self)

    @cached_property
    def is_user_store(self) -> bool:
        """Whether this is the user's own store itself."""
        from gitmem.app.user_store import store_path

        path = store_path(self.env.environ)
        return path is not None and os.path.realpath(path) == os.path.realpath(self.location.common_dir)

    def close(self) -> None:
        own = self.__dict__.get("user")
        if own is not None:
            own.close()
        self.backend.close()


def open_workspace(env: Env, *, long_lived: bool = False, meanwhile: Callable[[], None] | None = None) -> Workspace:
    """Find and open the repository. `long_lived`: many reads will follow, so a slow start pays.

    `meanwhile`: what may be done while git looks for it, such as imports; objects will be read soon after.
    """
    start = env.start if env.start is not None else env.cwd
    location = locate(start, environ=env.environ, named=env.start is not None, meanwhile=meanwhile)
    backend = open_backend(location, long_lived=long_lived, at_once=meanwhile is not None)
    if long_lived:
        from gitmem.store.remembering import Remembering

        backend = Remembering(backend, _KEPT)
    return Workspace(env, location, backend)


def workspace_at(env: Env, location: Location, *, long_lived: bool) -> Workspace:
    """The repository that was found already."""
    return Workspace(env, location, open_backend(location, long_lived=long_lived))


@lru_cache(maxsize=256)
def read_memory(raw: bytes, path: str, trusted: bool) -> Memory:
    """The memory in these bytes. The gate asks for the same few several times a write."""
    return memory_from_bytes(raw, path=path, trusted=trusted)


@dataclass(frozen=True)
class Found:
    """A memory and where it lies: MAIN, PRIVATE, USER or INBOX."""

    memory: Memory
    ref: str


@dataclass(frozen=True)
class View:
    """The records as believed at one moment. `quarantined` names paths whose bytes failed verification, `failed` for
    each path the blobs that failed there at any time.

    `inbox_own`: every commit of the inbox was written by this clone, so its records need no check of types.
    `doubts`: what of the branch is not believed, in a line each. `private`: this user's own memory about this project;
    None where only the branch is looked at, and then the user's own store is not looked at either.
    """

    workspace: Workspace
    main: Snapshot
    inbox: Snapshot
    quarantined: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    inbox_own: bool = False
    doubts: tuple[str, ...] = ()
    failed: Mapping[str, frozenset[str]] = field(default_factory=dict)
    private: Snapshot | None = None

    @cached_property
    def user(self) -> View | None:
        """What is believed of the user's own store; None when there is none, or it cannot be read (`doubts` of what
        is told say so)."""
        from gitmem.app.user_store import believed

        return None if self.private is None else believed(self.workspace)

    def place(self, ref: str) -> Snapshot:
        """The files of MAIN, INBOX, PRIVATE or USER."""
        if ref in (MAIN, INBOX):
            return self.main if ref == MAIN else self.inbox
        backend = self.workspace.backend
        here = self.private if ref == PRIVATE else self.user.main if self.user else None
        return here or Snapshot(backend, None, empty_tree(backend.object_format))

    def config_for(self, audience: str) -> Config | None:
        """The config by which records for `audience` are judged: that of the store that they are for."""
        if audience != "user":
            return self.config
        return self.user.config if self.user else None

    @cached_property
    def config(self) -> Config | None:
        raw = self.main.read(CONFIG)
        return None if raw is None else config_from_bytes(raw, path=CONFIG, trusted=True)

    def require_config(self) -> Config:
        """The config, or NotFound when this repository has no memory yet."""
        if self.config is None:
            raise NotFound(f"{self.workspace.location.title} has no gitmem memory yet", hint="gitmem init")
        return self.config

    @property
    def viewer(self) -> Viewer:
        """Who reads here: the user of this clone, of this project, with what is that user's own."""
        own = self.config_for("user")
        return Viewer(
            self.config.projects if self.config else frozenset(), frozenset(AUDIENCES),
            own.projects if own else frozenset(),
        )  # fmt: skip

    def memory(self, identifier: str, ref: str = MAIN) -> Memory | None:
        """One memory of one ref in any state, or None. What is quarantined does not exist, nor what lies where its
        audience does not belong."""
        path = memory_path(identifier)
        if path in self.left_out(ref):
            return None
        raw = self.place(ref).read(path)
        memory = None if raw is None else read_memory(raw, path, self.trusts(ref))
        return memory if memory is not None and fits(LABELS[ref], memory) else None

    def left_out(self, ref: str) -> Mapping[str, tuple[str, ...]]:
        """The paths of a place whose bytes failed verification, and why."""
        if ref == USER:
            return self.user.quarantined if self.user else {}
        return self.quarantined if ref == MAIN else {}

    def trusts(self, ref: str) -> bool:
        """Whether the records of a place were verified, so that they need no check of types."""
        return ref != INBOX or self.inbox_own

    def anywhere(self, identifier: str) -> Found | None:
        """The memory on the branch, else of the user's own, else in the inbox."""
        for ref in PLACES.values():
            memory = self.memory(identifier, ref)
            if memory is not None:
                return Found(memory, ref)
        return None

    def find(self, prefix: str) -> Found:
        """The one memory of this project, in any state, whose id begins with what a person typed. Raises NotFound or
        Ambiguous with candidates."""
        wanted = id_prefix(prefix)
        ids = sorted({identifier for ref in PLACES.values() for identifier in self.place(ref).memory_ids(wanted)})
        own = withheld_view(self.viewer, STATUSES)
        found = [item for item in map(self.anywhere, ids) if item is not None and own.admits(item.memory)]
        if len(found) == 1:
            return found[0]
        if found:
            lines = "\n".join(f"  {item.memory.id}  {item.memory.title}" for item in found[:10])
            raise Ambiguous(
                f"{prefix!r} begins {len(found)} ids:\n{lines}",
                hint="type more of the id",
                details={"ids": [item.memory.id for item in found]},
            )
        hidden = next((memory_path(i) for i in ids if memory_path(i) in self.quarantined), None)
        if hidden is not None:
            why = "; ".join(self.quarantined[hidden])
            raise NotFound(f"{hidden} failed verification and is not believed: {why}", hint="gitmem verify --all")
        raise NotFound(f"no memory begins with {prefix!r}", hint="gitmem list, or gitmem list --inbox")

    def find_astray(self, prefix: str) -> Found | None:
        """The record of the branch with this id, when it is left out only because it names what is not there."""
        wanted = id_prefix(prefix)
        for path, reasons in self.quarantined.items():
            if (memory_of_path(path) or "").startswith(wanted) and all(why.startswith(ASTRAY) for why in reasons):
                raw = self.main.read(path)
                memory = None if raw is None else memory_from_bytes(raw, path=path)
                mine = memory is not None and fits(LABELS[MAIN], memory)
                if memory is not None and mine and withheld_view(self.viewer, STATUSES).admits(memory):
                    return Found(memory, MAIN)
        return None

    def memories(self, ref: str = MAIN) -> Iterator[Memory]:
        """Every memory of a ref in every state, streamed in path order."""
        hidden = self.left_out(ref)
        for path, raw in self.place(ref).read_all(MEMORIES):
            if memory_of_path(path) and path not in hidden:
                memory = memory_from_bytes(raw, path=path, trusted=self.trusts(ref))
                if fits(LABELS[ref], memory):
                    yield memory

    def tombstone(self, digest: str, ref: str = MAIN) -> Tombstone | None:
        path = tombstone_path(digest)
        raw = None if path in self.left_out(ref) else self.place(ref).read(path)
        return None if raw is None else tombstone_from_bytes(raw, path=path, trusted=True)


def raw_view(workspace: Workspace, main: str | None = None) -> View:
    """The view of one commit of the branch (or of none) and the inbox, with nothing quarantined."""
    backend = workspace.backend
    branch = snapshot(backend, main) if main else Snapshot(backend, None, empty_tree(backend.object_format))
    return View(workspace, branch, snapshot(backend, INBOX))
