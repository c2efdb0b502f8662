"""The chain of events that this clone writes to one ref: each names its predecessor by path and digest.

The state file is only a shortcut: whatever a crash kept from being saved is found again on the branch.
"""

from __future__ import annotations

from gitmem.app import state
from gitmem.app.workspace import Workspace
from gitmem.model.frozen import dataclass, replace
from gitmem.model.ids import memory_id
from gitmem.model.layout import EVENTS, event_of_path, event_path
from gitmem.model.nouns import Event, Previous
from gitmem.model.records import digest, event_bytes, event_from_bytes
from gitmem.store.snapshot import Snapshot, changed_paths, snapshot

_SCAN_LIMIT = 5000  # events by others since our last write above which a fresh chain is begun


@dataclass(frozen=True)
class Chain:
    """`writer` is a random name of this clone for one ref; `prev` its newest event there."""

    writer: str
    prev: Previous | None

    def append(self, event: Event) -> tuple[Chain, Event, str, bytes]:
        """The event linked into the chain, with its path and bytes, and the chain after it."""
        linked = replace(event, writer=self.writer, prev=self.prev)
        raw = event_bytes(linked)
        path = event_path(linked.id, linked.memory)
        return replace(self, prev=Previous(path, digest(raw))), linked, path, raw


def open_chain(workspace: Workspace, ref: str, base: Snapshot) -> Chain:
    """This clone's chain on `ref` as of `base`."""
    known = state.load(workspace.location.private, "chains").get(ref)
    if not isinstance(known, dict) or base.commit is None:
        return fresh_chain(workspace)
    try:
        chain = Chain(known["writer"], Previous(**known["prev"]) if known["prev"] else None)
        last = known["commit"]
    except (KeyError, TypeError):
        return fresh_chain(workspace)
    if last == base.commit:
        return chain
    if last is None or not workspace.backend.is_ancestor(last, base.commit):
        return fresh_chain(workspace)
    return _catch_up(workspace, chain, last, base) or fresh_chain(workspace)


def _catch_up(workspace: Workspace, chain: Chain, last: str, base: Snapshot) -> Chain | None:
    """The chain after whatever we published and did not note; None when there is too much to look through."""
    added = []
    for changed in changed_paths(workspace.backend, snapshot(workspace.backend, last).tree, base.tree):
        if changed.path.startswith(EVENTS + "/") and changed.new is not None and event_of_path(changed.path):
            added.append(changed.path)
            if len(added) > _SCAN_LIMIT:
                return None
    for path in sorted(added, key=lambda path: path.rsplit("/", 1)[-1]):
        raw = base.read(path)
        if raw is not None and event_from_bytes(raw, path=path, trusted=True).writer == chain.writer:
            chain = replace(chain, prev=Previous(path, digest(raw)))
    return chain


def fresh_chain(workspace: Workspace) -> Chain:
    """The chain of a writer that nobody has heard of."""
    return Chain(str(memory_id(workspace.env.random(8))), None)


def save_chains(workspace: Workspace, chains: dict[str, tuple[Chain, str]]) -> None:
    """Note the chains, each with the commit that holds its newest event."""
    folder = workspace.location.private
    noted = state.load(folder, "chains")
    for ref, (chain, commit) in chains.items():
        prev = {"path": chain.prev.path, "sha256": chain.prev.sha256} if chain.prev else None
        noted[ref] = {"writer": chain.writer, "prev": prev, "commit": commit}
    state.save(folder, "chains", noted)
