"""What a record is compared with while a range of commits is verified."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import Final

from gitmem.app.claim_set import ClaimSet, claims_of
from gitmem.app.facts import Claim, Lookup, claim_of, record_changes, tombstone_claim
from gitmem.app.verify_view import JudgedView, judged_view
from gitmem.app.workspace import Workspace
from gitmem.model.claims import claim_digest
from gitmem.model.layout import TOMBSTONES, memory_of_path, memory_path, tombstone_of_path, tombstone_path
from gitmem.model.nouns import Memory, Tombstone
from gitmem.model.vocabulary import KIND_CLASS
from gitmem.store.snapshot import snapshot

_MISSED: Final = 2000  # records that an index has not seen and that are compared by themselves


class RangeLookup:
    """Near-duplicates and key holders at the commit being judged: the records of the base, and what came since."""

    def __init__(self, beneath: Beneath) -> None:
        self._beneath = beneath
        self._recent = ClaimSet()
        self._touched: set[tuple[str, str]] = set()
        self._digests: dict[str, str] = {}  # of tombstones, by the memory that was rejected
        self._now = beneath.view

    def at(self, view: JudgedView) -> None:
        """The commit that is judged next: what its tree does not have is on another side of a merge."""
        self._now = view

    def rejected(self, tomb: Tombstone) -> None:
        """From here on the claim is rejected, where its tombstone is, or is not any more."""
        for entry in tomb.history:
            self.replace("tombstone", entry.memory, None)
        if tomb.standing:
            self._digests[tomb.history[-1].memory] = tomb.digest
            self.replace("tombstone", tomb.history[-1].memory, tombstone_claim(tomb))

    def replace(self, where: str, identifier: str, claim: Claim | None) -> None:
        """From here on the record reads like this; None takes it away."""
        self._touched.add((where, identifier))
        if claim is None:
            self._recent.remove(where, identifier)
        else:
            self._recent.add(claim)

    def candidates(self, memory: Memory) -> Iterator[Claim]:
        yield from (claim for claim in self._recent.candidates(memory) if self._is_here(claim))
        for claim in self._under().candidates(memory):
            known = (claim.where, claim.id) in self._touched or claim.where not in ("main", "tombstone")
            if not known and self._is_here(claim):
                yield claim

    def key_holders(self, key: str) -> Iterator[str]:
        yield from self._recent.key_holders(key)
        yield from self._under().key_holders(key)

    def _is_here(self, claim: Claim) -> bool:
        if claim.where == "main":
            if claim.status != "wrong":
                return self._now.main.entry(memory_path(claim.id)) is not None
            there = self._now.memory(claim.id)  # it may have been rejected on another side of a merge
            return there is not None and there.status == "wrong"
        known = self._digests.get(claim.id)
        digests = [known] if known is not None else self._digests_of(claim)
        return any(self._now.main.entry(tombstone_path(digest)) is not None for digest in digests)

    def _digests_of(self, claim: Claim) -> list[str]:
        """Under which names the tombstone of a rejected claim may lie."""
        kind = next((kind for kind, name in KIND_CLASS.items() if name == claim.kind), "fact")
        projects = self._beneath.view.config.projects if self._beneath.view.config is not None else ()
        return [claim_digest(project, kind, claim.title, claim.body) for project in projects]

    def _under(self) -> Lookup:
        return self._beneath.lookup


class Beneath:
    """The records of the base of a range, which several ranges may stand on.

    They are looked up in the search index, with what it has not seen of them; where there is none, or too much is
    missing, all are read once.
    """

    def __init__(self, workspace: Workspace, base: str | None) -> None:
        self._workspace = workspace
        self._base = base
        self.view = judged_view(workspace, base)

    @cached_property
    def lookup(self) -> Lookup:
        return self._indexed() or self._read()

    def _indexed(self) -> Lookup | None:
        from gitmem.app.catch_up import opened_index
        from gitmem.app.facts import IndexOnly

        if self._base is None:
            return None
        index, backend = opened_index(self._workspace), self._workspace.backend
        seen = index.tips.get("main")
        if not seen or backend.resolve(seen) is None:
            return None
        if backend.is_ancestor(self._base, seen):
            return IndexOnly(self.view, index)
        if not backend.is_ancestor(seen, self._base):
            return None
        changed = list(islice(record_changes(backend, snapshot(backend, seen), self.view.main), _MISSED + 1))
        if len(changed) > _MISSED:
            return None
        fresh = ClaimSet()
        stale = set()
        for path in (change.path for change in changed):
            identifier = memory_of_path(path)
            if identifier is not None:
                stale.add(("main", identifier))
                memory = self.view.memory(identifier)
                if memory is not None:
                    fresh.add(claim_of(memory, "main"))
            else:
                self._tombstone(fresh, path)
        return _Behind(fresh, IndexOnly(self.view, index, stale))

    def _read(self) -> Lookup:
        made = claims_of(self.view.memories(), "main")
        for path, _ in self.view.main.walk(TOMBSTONES):
            self._tombstone(made, path)
        return made

    def _tombstone(self, made: ClaimSet, path: str) -> None:
        tomb = self.view.tombstone(tombstone_of_path(path) or "-" * 64)
        if tomb is not None and tomb.standing:
            made.add(tombstone_claim(tomb))


class _Behind:
    """What an index offers that has not seen all of the base, and the rest."""

    def __init__(self, fresh: ClaimSet, seen: Lookup) -> None:
        self._fresh = fresh
        self._seen = seen

    def candidates(self, memory: Memory) -> Iterator[Claim]:
        yield from self._fresh.candidates(memory)
        yield from self._seen.candidates(memory)

    def key_holders(self, key: str) -> Iterator[str]:
        yield from self._fresh.key_holders(key)
        yield from self._seen.key_holders(key)
