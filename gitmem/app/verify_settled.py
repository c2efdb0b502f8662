"""Faults that a later commit of the same range took away: what is read is good, so they become notes.

Two kinds, and no other: a record that named a memory which is not there and no longer does, and commits that took
events away and were undone whole, so that the tree is what it was before them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from gitmem.app.verify_fault import Fault
from gitmem.app.verify_view import JudgedView, judged_view
from gitmem.app.workspace import ASTRAY, Workspace
from gitmem.model.ids import is_memory_id
from gitmem.model.layout import memory_of_path
from gitmem.model.nouns import Memory, MemoryRef
from gitmem.store.objects import parse_commit
from gitmem.store.snapshot import tree_of

_PUT_AWAY: Final = frozenset({"archived", "wrong", "superseded"})
_LASTING: Final = ("secret", "tree.", "object.", "commit.")  # what stays in the history however it ends


def settled(
    workspace: Workspace, commits: Sequence[str], faults: Sequence[Fault]
) -> tuple[tuple[Fault, ...], tuple[Fault, ...]]:
    """The faults that still stand after the last of `commits` (the oldest first), and notes on the others."""
    standing: list[Fault] = []
    notes: list[Fault] = []
    if not faults or not commits:
        return tuple(faults), ()
    head = judged_view(workspace, commits[-1])
    undone = _undone(workspace, commits, faults)
    for fault in faults:
        by = undone.get(fault.commit)
        if by is not None and not fault.code.startswith(_LASTING):
            notes.append(replace(fault, message=f"{fault.message}; {by[:10]} undid it", reach="record"))
        elif fault.code in ASTRAY and _mended(head, fault):
            notes.append(replace(fault, message=f"{fault.message}; it was mended later"))
        else:
            standing.append(fault)
    return tuple(standing), tuple(notes)


def missing_from(view: JudgedView, memory: Memory) -> list[str]:
    """The ids that a record names and that lie nowhere in this commit."""
    named = [link.to for link in memory.links]
    named += [ref.id for ref in memory.evidence if isinstance(ref, MemoryRef)]
    return [lost for lost in dict.fromkeys(named) if not is_memory_id(lost) or view.memory(lost) is None]


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


def _undone(workspace: Workspace, commits: Sequence[str], faults: Sequence[Fault]) -> Mapping[str, str]:
    """Commits that together changed nothing, because one of them took events away and a later one brought the tree of
    before back: each with that later one. Only along a line without merges."""
    backend = workspace.backend
    found: dict[str, str] = {}
    places = {commit: number for number, commit in enumerate(commits)}
    for start in sorted({places[fault.commit] for fault in faults if fault.code in TAKEN and fault.commit in places}):
        info = parse_commit(backend.read(commits[start])[1])
        if commits[start] in found or len(info.parents) != 1:
            continue
        before = tree_of(backend, info.parents[0])
        for number in range(start + 1, len(commits)):
            info = parse_commit(backend.read(commits[number])[1])
            if list(info.parents) != [commits[number - 1]]:
                break
            if info.tree == before:
                found.update(dict.fromkeys(commits[start : number + 1], commits[number]))
                break
    return found


TAKEN: Final = frozenset({"event.rewritten"})  # codes of a commit that took away what gitmem had written
