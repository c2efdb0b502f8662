"""Writing: objects first, the ref last. A lost race costs a retry and never half a state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timezone

from gitmem.store.objects import Entry, Identity, commit_bytes, empty_tree, object_id
from gitmem.store.port import Backend, RefMove
from gitmem.store.snapshot import Snapshot
from gitmem.store.tree_edit import Edit, edited_tree, nested

TOOL = Identity("gitmem", "gitmem@localhost.invalid")
_ROOT_DATE = datetime(2026, 1, 1, tzinfo=timezone.utc)
_ROOT_MESSAGE = "gitmem: root of the memory branch"


class Transaction:
    """Edits of the files of one snapshot, made into one commit. The ref moves in `publish`, not here.

    A snapshot of a tree without a commit gives a commit without a parent.
    """

    def __init__(self, backend: Backend, base: Snapshot | None, *, merges: Sequence[str] = ()) -> None:
        """`merges`: the further parents of the commit, which is then made whatever it changes."""
        self._backend = backend
        self._base = base
        self._merges = tuple(merges)
        self._edits: dict[str, Edit] = {}

    def put(self, path: str, data: bytes) -> None:
        self._edits[path] = data

    def graft(self, path: str, entry: Entry) -> None:
        """Put a file or folder that the repository has already at `path`."""
        self._edits[path] = entry

    def delete(self, path: str) -> None:
        self._edits[path] = None

    def commit(
        self,
        message: str,
        author: Identity,
        committer: Identity,
        when: datetime,
        *,
        sign: Callable[[bytes], bytes] | None = None,
    ) -> str:
        """Write blobs, trees and the commit durably; give the commit's id. Equal input gives an equal id.

        When the edits change nothing, that is the base commit and nothing is written. Unsigned without `sign`, whatever
        the user's gpgsign says: a memory written in the background must not wait for a passphrase.
        """
        commit, objects = self.prepared(message, author, committer, when, sign=sign)
        if objects:
            self._backend.write(objects)
        return commit

    def prepared(
        self,
        message: str,
        author: Identity,
        committer: Identity,
        when: datetime,
        *,
        sign: Callable[[bytes], bytes] | None = None,
    ) -> tuple[str, list[tuple[str, bytes]]]:
        """As `commit`, writing nothing: the commit's id, and the objects that have to be written for it."""
        base = self._base
        none = empty_tree(self._backend.object_format)
        staged: dict[str, tuple[str, bytes]] = {}
        tree = edited_tree(self._backend, base.tree if base else none, nested(self._edits), staged)
        if tree is None:
            tree = none
            staged[none] = ("tree", b"")
        if base and base.commit and tree == base.tree and not self._merges:
            return base.commit, []
        parents = [*([base.commit] if base and base.commit else []), *self._merges]
        data = commit_bytes(tree, parents, author, committer, when, message)
        if sign:
            data = sign(data)
        return object_id("commit", data, self._backend.object_format), [*staged.values(), ("commit", data)]


def publish(backend: Backend, moves: Sequence[RefMove]) -> None:
    """Move the refs, all or none. RefMoved: take a new snapshot, judge again, try again."""
    backend.move_refs(moves)


def root_commit(backend: Backend) -> str:
    """Write the root of every memory branch: the same id in every clone of one object format.

    So two clones that both began offline still share a root.
    """
    backend.write([("tree", b""), ("commit", _root_bytes(backend))])
    return root_commit_id(backend)


def root_commit_id(backend: Backend) -> str:
    """The id that `root_commit` gives, without writing anything."""
    return object_id("commit", _root_bytes(backend), backend.object_format)


def _root_bytes(backend: Backend) -> bytes:
    return commit_bytes(empty_tree(backend.object_format), (), TOOL, TOOL, _ROOT_DATE, _ROOT_MESSAGE)
