"""How far the versions that the index holds were reviewed: worked out while the history is read, for recall.

Only a branch whose policy names signers is looked at; everywhere else every level is 0 and nothing is read for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gitmem.app.signing import bears_signature, level, signature, signers_at
from gitmem.app.workspace import View
from gitmem.model.layout import event_of_path
from gitmem.model.nouns import Event
from gitmem.model.records import event_from_bytes, memory_from_bytes
from gitmem.policy.origin import keeps_words
from gitmem.store.first_parent import FileChange
from gitmem.store.objects import parse_commit
from gitmem.store.snapshot import changed_paths, tree_of

# What says a text or lets it in. Another move leaves the review where it was.
SAYING: Final = frozenset({"create", "import", "edit", "accept", "lift", "merge"})


class ReviewLevels:
    """The levels of what the branch gained since a commit (None: since it began)."""

    def __init__(self, view: View, since: str | None) -> None:
        self._backend: Final = view.main.backend
        self._signed: Final[dict[str, tuple[str, int]]] = {}
        self.counted: Final = view.config is not None and bool(view.config.signers)
        if view.main.commit is not None and self.counted:
            self._look(view.main.commit, since)

    def of_version(self, events: Iterable[FileChange], before: int, record: FileChange) -> int:
        """The level of a version that these new events made of one of the level `before` (0: of none). `record`: the
        memory's file, before and after."""
        for change in sorted(events, key=lambda change: change.path.rsplit("/", 1)[-1], reverse=True):
            op, level = self._signed.get(change.path, ("", 0))
            if not op and before and change.new:
                op = self._event(change.path, change.new).op
            if op in SAYING and not (op == "edit" and self._keeps_words(record)):
                return level
        return before

    def _keeps_words(self, record: FileChange) -> bool:
        if record.old is None or record.new is None:
            return False
        before, after = (
            memory_from_bytes(self._backend.read(oid)[1], trusted=True) for oid in (record.old, record.new)
        )
        return keeps_words(before, after)

    def _look(self, tip: str, since: str | None) -> None:
        """Note what events of signed commits are worth."""
        commits = self._backend.log(tip, base=since)
        for commit, _, raw in self._backend.read_many(commits):
            parents = parse_commit(raw).parents
            if not parents or not bears_signature(raw):
                continue
            signed = signature(raw, signers_at(self._backend, parents[0]))
            if signed.state != "good":
                continue
            for changed in changed_paths(
                self._backend, tree_of(self._backend, parents[0]), tree_of(self._backend, commit)
            ):
                if changed.old is None and changed.new and event_of_path(changed.path):
                    event = self._event(changed.path, changed.new.oid)
                    if event.op in SAYING:
                        self._signed[changed.path] = (event.op, level(event, signed).level)

    def _event(self, path: str, oid: str) -> Event:
        return event_from_bytes(self._backend.read(oid)[1], path=path, trusted=True)
