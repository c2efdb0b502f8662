"""Candidates whose words a proposal gives to a memory of the branch: which they are, and whether that was merged."""

from __future__ import annotations

from gitmem.app import state
from gitmem.app.workspace import View, Workspace
from gitmem.model.layout import EVENTS
from gitmem.model.nouns import Memory
from gitmem.model.records import digest, memory_bytes
from gitmem.store.snapshot import changed_paths, tree_of

_STATE = "taken-in"


def note_offered(workspace: Workspace, candidate: Memory, into: str, *, base: str, tip: str) -> None:
    """Remember that the proposal `base`..`tip` gives the memory `into` what a candidate adds."""
    backend = workspace.backend
    changes = changed_paths(backend, tree_of(backend, base), tree_of(backend, tip))
    event = next(c.path for c in changes if c.path.startswith(f"{EVENTS}/") and c.path.endswith(f".{into}.json"))
    noted = state.load(workspace.location.private, _STATE)
    noted[candidate.id] = {"into": into, "event": event, "digest": digest(memory_bytes(candidate))}
    state.save(workspace.location.private, _STATE, noted)


def taken_in(view: View, candidate: Memory) -> str | None:
    """The memory of gitmem/main that has what a candidate adds by now: its event is there, however it was merged.

    None for a candidate that was edited since: what it says now was not offered.
    """
    known = state.load(view.workspace.location.private, _STATE).get(candidate.id)
    if not isinstance(known, dict) or not {"into", "event", "digest"} <= known.keys():
        return None
    into, event, then = str(known["into"]), str(known["event"]), known["digest"]
    merged = then == digest(memory_bytes(candidate)) and view.main.entry(event) is not None
    return into if merged else None
