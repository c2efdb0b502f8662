"""`log` and `blame`: who changed what, when, by which channel, why, and from what to what."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from gitmem.app import belief
from gitmem.app.signing import level, who_signed
from gitmem.app.workspace import Found, View, Workspace
from gitmem.model.layout import EVENTS, MAIN, MEMORIES, PLACES, TOMBSTONES, event_of_path, memory_path
from gitmem.model.nouns import Event, Memory
from gitmem.model.records import event_from_bytes, memory_from_bytes, to_data, tombstone_from_bytes
from gitmem.model.yaml_codec import emit
from gitmem.policy.review import ReviewLevel
from gitmem.policy.ssh_signature import NOT_SIGNED, Signed
from gitmem.store.objects import CommitInfo, parse_commit
from gitmem.store.port import Backend
from gitmem.store.snapshot import Snapshot, changed_paths, tree_of


@dataclass(frozen=True)
class Entry:
    """One event with the commit that brought it, who wrote that, and the change as a unified diff."""

    event: Event
    commit: str
    author: str
    ref: str
    title: str
    diff: str = ""
    signed: Signed = NOT_SIGNED

    @property
    def level(self) -> ReviewLevel:
        """What this change is worth as a review."""
        return level(self.event, self.signed)


@dataclass(frozen=True)
class Line:
    """One line of a memory's file and the event that it comes from."""

    text: str
    entry: Entry


def log(workspace: Workspace, prefix: str | None, *, limit: int | None = None, diffs: bool = True) -> Iterator[Entry]:
    """Events newest first: of one memory, or of the whole branch."""
    view = belief.believed_view(workspace)
    view.require_config()
    if prefix is None:
        return islice(_entries(view, None, diffs), limit)
    # One memory's events lie on the branch and in the inbox; what moves it from one to the other is told in both.
    entries = sorted(_entries(view, view.find(prefix), diffs), key=lambda entry: (entry.event.id, entry.ref == MAIN))
    told = {(entry.event.op, entry.event.at) for entry in entries if entry.ref == MAIN}
    once = [e for e in reversed(entries) if e.ref == MAIN or (e.event.op, e.event.at) not in told]
    return islice(iter(once), limit)


def _entries(view: View, found: Found | None, diffs: bool) -> Iterator[Entry]:
    for ref in (MAIN,) if found is None else PLACES.values():
        tip = view.place(ref).commit
        if tip is None:
            continue
        paths = _paths(view, found, ref) if found else ()
        if found and not paths:
            continue
        for commit in view.place(ref).backend.log(tip, paths=paths):
            yield from _of_commit(view, commit, ref, found, diffs)


def _paths(view: View, found: Found, ref: str) -> tuple[str, ...]:
    return tuple(view.place(ref).event_names(found.memory.id))


def _of_commit(view: View, commit: str, ref: str, found: Found | None, diffs: bool) -> Iterator[Entry]:
    backend = view.place(ref).backend
    info = parse_commit(backend.read(commit)[1])
    parents = [tree_of(backend, parent) for parent in info.parents]
    events: list[Event] = []
    blobs: dict[str, tuple[str | None, str | None]] = {}
    rejected: dict[str, str] = {}
    others = [Snapshot(backend, None, tree) for tree in parents[1:]]
    for changed in changed_paths(backend, parents[0] if parents else None, info.tree):
        if any(other.entry(changed.path) == changed.new for other in others):
            continue  # a merge brings it along; the commit that made it tells of it
        if (
            changed.path.startswith(EVENTS + "/")
            and changed.old is None
            and changed.new
            and event_of_path(changed.path)
        ):
            events.append(event_from_bytes(backend.read(changed.new.oid)[1], path=changed.path, trusted=True))
        elif changed.path.startswith(TOMBSTONES + "/") and changed.new is not None:
            tomb = tombstone_from_bytes(backend.read(changed.new.oid)[1], path=changed.path, trusted=True)
            rejected[tomb.history[-1].memory] = tomb.title
        elif changed.path.startswith(MEMORIES + "/"):
            blobs[changed.path] = (changed.old.oid if changed.old else None, changed.new.oid if changed.new else None)
    signed = who_signed(backend, commit)
    for event in sorted(events, key=lambda event: event.id, reverse=True):
        if found is not None and event.memory != found.memory.id:
            continue
        old, new = (_record(backend, oid) for oid in blobs.get(memory_path(event.memory or "--"), (None, None)))
        title = new.title if new else old.title if old else rejected.get(event.memory or "", "")
        yield Entry(event, commit, _who(info), ref, title, _diff(old, new) if diffs else "", signed)


def _record(backend: Backend, oid: str | None) -> Memory | None:
    return None if oid is None else memory_from_bytes(backend.read(oid)[1], trusted=True)


def _who(info: CommitInfo) -> str:
    return info.author.rpartition(">")[0] + ">"


def _diff(old: Memory | None, new: Memory | None) -> str:
    """What changed, as a unified diff of the canonical text; empty for a record that is new."""
    if old is None or new is None:
        return ""
    lines = [emit(to_data(side)).splitlines() for side in (old, new)]
    return "\n".join(list(difflib.unified_diff(lines[0], lines[1], lineterm="", n=1))[2:])


def blame(workspace: Workspace, prefix: str) -> list[Line]:
    """Each line of a memory's canonical text with the event that last set it."""
    view = belief.believed_view(workspace)
    view.require_config()
    found = view.find(prefix)
    source = view.place(found.ref)
    backend = source.backend
    path = memory_path(found.memory.id)
    tip = source.commit
    if tip is None:
        return []
    entries = {entry.commit: entry for entry in reversed(list(_entries(view, found, False)))}
    lines: list[Line] = []
    for commit in backend.log(tip, paths=[path])[::-1]:
        snap_tree = tree_of(backend, commit)
        entry = entries.get(commit)
        raw = Snapshot(backend, None, snap_tree).read(path)
        if raw is None or entry is None:
            continue
        text = emit(to_data(memory_from_bytes(raw, path=path, trusted=True))).splitlines()
        lines = _attributed(lines, text, entry)
    return lines


def _attributed(before: list[Line], text: list[str], entry: Entry) -> list[Line]:
    """Lines that were there keep their event; the others come from `entry`."""
    matcher = difflib.SequenceMatcher(a=[line.text for line in before], b=text, autojunk=False)
    made: list[Line] = []
    for tag, start, end, low, high in matcher.get_opcodes():
        made += before[start:end] if tag == "equal" else [Line(line, entry) for line in text[low:high]]
    return made
