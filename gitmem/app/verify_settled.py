"""Faults that a later commit of the same range took away: what is read is good, so they become notes.

Three kinds, and no other: a record that named a memory which is not there and no longer does; commits that were undone
whole, so that the tree is what it was before them; and a record that a hand changed and a later commit put back, where
nothing was told of it and nothing was built on it in between. An object that was put back for another stays one that
failed: what is read of the commits in between leaves it out.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from typing import Final

from gitmem.app.verify_fault import Fault
from gitmem.app.verify_view import JudgedView, judged_view
from gitmem.app.workspace import ASTRAY, Workspace
from gitmem.model.ids import is_memory_id
from gitmem.model.layout import EVENTS, memory_of_path
from gitmem.model.nouns import Memory, MemoryRef
from gitmem.store.objects import parse_commit
from gitmem.store.snapshot import Snapshot, changed_paths, snapshot, tree_of

_PUT_AWAY: Final = frozenset({"archived", "wrong", "superseded"})
_LASTING: Final = ("secret", "tree.", "object.", "commit.", "history.")  # what stays in it however it ends
_UNREAD: Final = ("tree.", "object.", "history.")  # what says that a commit was not fit to be judged


def settled(
    workspace: Workspace, commits: Sequence[str], faults: Sequence[Fault]
) -> tuple[tuple[Fault, ...], tuple[Fault, ...]]:
    """The faults that still stand after the last of `commits` (the oldest first), and notes on the others."""
    standing: list[Fault] = []
    notes: list[Fault] = []
    if not faults or not commits:
        return tuple(faults), ()
    head = judged_view(workspace, commits[-1])
    lasting = [fault.code.startswith(_LASTING) for fault in faults]
    undone = {} if all(lasting) else _undone(workspace, commits, faults)
    for fault, lasts in zip(faults, lasting, strict=True):
        by = undone.get((fault.commit, "")) or undone.get((fault.commit, fault.path))
        if by is not None and not lasts:
            last = snapshot(workspace.backend, by).entry(fault.path) if fault.path else None
            blob = None if last is not None and last.oid == fault.blob else fault.blob
            said = f"{fault.message}; {by[:10]} undid it"
            notes.append(replace(fault, message=said, reach="record", blob=blob))
        elif fault.code in ASTRAY and _mended(head, fault):
            notes.append(replace(fault, message=f"{fault.message}; it was mended later", blob=None))
        else:
            standing.append(fault)
    return tuple(standing), tuple(notes)


def missing_from(view: JudgedView, memory: Memory) -> list[str]:
    """The ids that a record names and that lie nowhere in this commit."""
    return [lost for lost in dict.fromkeys(_names(memory)) if not is_memory_id(lost) or view.memory(lost) is None]


def record_at(view: JudgedView, path: str) -> Memory | None:
    """The record at a path, None when there is none that can be read or the path is of none."""
    identifier = memory_of_path(path)
    return None if identifier is None else view.memory(identifier)


def _mended(head: JudgedView, fault: Fault) -> bool:
    memory = record_at(head, fault.path)
    entry = head.main.entry(fault.path)
    if memory is None or entry is None or entry.oid == fault.blob:
        return False
    return memory.status in _PUT_AWAY or not missing_from(head, memory)


_Undone = Mapping[tuple[str, str], str]  # by commit and path, or "" for all of the commit: the commit that undid it


def _undone(workspace: Workspace, commits: Sequence[str], faults: Sequence[Fault]) -> _Undone:
    """What a later commit took back, along a line without merges. Of a commit that put one record back its own faults
    are not among them: it is judged as what brings that record."""
    found: dict[tuple[str, str], str] = {}
    places = {commit: number for number, commit in enumerate(commits)}
    unread = {fault.commit for fault in faults if fault.code.startswith(_UNREAD)}
    taking = {fault.commit for fault in faults if fault.code in TAKEN}
    faulty: dict[int, set[str]] = {}
    for fault in faults:
        if fault.commit in places and fault.commit not in unread:
            faulty.setdefault(places[fault.commit], set()).add(fault.path)
    if not faulty:
        return found
    line = _Line(workspace, commits, min(faulty), unread)
    for start in sorted(faulty):
        if (commits[start], "") in found:
            continue
        end = line.undone(start, taking=commits[start] in taking)
        if end is not None:
            found.update({(each, ""): commits[end] for each in commits[start : end + 1]})
            continue
        for path in faulty[start]:
            end = line.put_back(start, path)
            if end is not None:
                found.update({(each, path): commits[end] for each in commits[start:end]})
    return found


class _Line:
    """The commits from `first` on: which follow each other alone, and what each of them changed."""

    def __init__(self, workspace: Workspace, commits: Sequence[str], first: int, unread: Set[str]) -> None:
        self.workspace = workspace
        self.commits = commits
        self.parts: dict[int, int] = {}  # commits of one number follow each other, each with one parent
        self.befores: dict[int, str] = {}  # the tree that each found
        self.trees: dict[int, str] = {}
        self.alike: dict[str, list[int]] = {}  # the commits that made one tree
        self.touching: dict[str, list[int]] = {}  # those that changed one path
        self.events: list[int] = []  # those that changed events
        self.named: dict[int, frozenset[str]] = {}
        backend, part = workspace.backend, 0
        for number in range(first, len(commits)):
            info = parse_commit(backend.read(commits[number])[1])
            if commits[number] in unread:
                return
            if len(info.parents) != 1:
                part += 1
                continue
            before = tree_of(backend, info.parents[0])
            part += number == first or info.parents[0] != commits[number - 1]
            self.parts[number], self.befores[number], self.trees[number] = part, before, info.tree
            self.alike.setdefault(info.tree, []).append(number)
            for path in {change.path for change in changed_paths(backend, before, info.tree)}:
                self.touching.setdefault(path, []).append(number)
                if path.startswith(f"{EVENTS}/") and self.events[-1:] != [number]:
                    self.events.append(number)

    def undone(self, start: int, *, taking: bool) -> int | None:
        """The commit after which everything is as it was before `start`. No event may have been added and taken away in
        between, unless `start` is what took events away."""
        if start not in self.parts:
            return None
        end = self._next(self.alike.get(self.befores[start], ()), start)
        told = end is not None and not taking and bisect_left(self.events, start) < bisect_left(self.events, end + 1)
        return None if told else end

    def put_back(self, start: int, path: str) -> int | None:
        """The commit after which one record is as it was before `start`, with the same events. None when something that
        changed until then names it: that may have been let in for what it said."""
        identifier = memory_of_path(path)
        if identifier is None or start not in self.parts:
            return None
        before = self._snapshot(self.befores[start])
        entry = before.entry(path)
        for end in self.touching.get(path, ()):
            if end <= start:
                continue
            if self.parts.get(end) != self.parts[start]:
                return None
            after = self._snapshot(self.trees[end])
            if after.entry(path) == entry:
                same = after.event_names(identifier) == before.event_names(identifier)
                named = any(identifier in self._named(number) for number in range(start, end + 1))
                return end if same and not named else None
        return None

    def _snapshot(self, tree: str) -> Snapshot:
        return Snapshot(self.workspace.backend, None, tree)

    def _next(self, numbers: Sequence[int], start: int) -> int | None:
        place = bisect_left(numbers, start + 1)
        found = numbers[place] if place < len(numbers) else None
        return found if found is not None and self.parts[found] == self.parts[start] else None

    def _named(self, number: int) -> frozenset[str]:
        """The ids that the records name which a commit changed."""
        if number not in self.named:
            backend = self.workspace.backend
            view = judged_view(self.workspace, self.commits[number])
            changes = changed_paths(backend, self.befores[number], self.trees[number])
            records = [record_at(view, change.path) for change in changes if change.new is not None]
            self.named[number] = frozenset(name for memory in records if memory is not None for name in _names(memory))
        return self.named[number]


def _names(memory: Memory) -> list[str]:
    links = [link.to for link in memory.links]
    return links + [ref.id for ref in memory.evidence if isinstance(ref, MemoryRef)]


TAKEN: Final = frozenset({"event.rewritten"})  # codes of a commit that took away what gitmem had written
