"""Verification of what is for this user alone: the private ref of this clone, and the user's own store.

The store is a branch as any other and is verified as one. The private ref has no config and links to the team's memory,
so its records are looked at as they lie there: each reads strictly, lies where it belongs, is what its last event says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from gitmem.app.belief import inert_view, reconsider
from gitmem.app.verify_fault import Fault
from gitmem.app.workspace import View, Workspace
from gitmem.errors import CorruptRecord, Refused
from gitmem.model.layout import INBOX, LABELS, MEMORIES, PRIVATE, memory_of_path
from gitmem.model.records import digest, event_from_bytes, memory_bytes, memory_from_bytes
from gitmem.policy.visibility import fits
from gitmem.store.inspection import inspect_tree

if TYPE_CHECKING:
    from gitmem.app.verify import Report


def with_own(workspace: Workspace, report: Report) -> Report:
    """The report on the branch with what is wrong with the user's own. What is written beside a branch of which nothing
    is believed is not looked at; the report says why."""
    try:
        return replace(report, faults=(*report.faults, *own_faults(workspace)))
    except Refused:
        if not report.clean:
            return report
        reconsider(workspace)  # what the branch was refused for is mended, such as history that was not here
        return replace(report, faults=(*report.faults, *own_faults(workspace)))


def own_faults(workspace: Workspace) -> list[Fault]:
    view = inert_view(workspace)
    found = [*_private(view), *_inbox(view)]
    store = workspace.user
    if store is not None:
        from gitmem.app.verify import verify

        found += [replace(fault, path=f"user.git {fault.path}".strip()) for fault in verify(store).faults]
    return found


def _inbox(view: View) -> Iterator[Fault]:
    """Records of the inbox that say of themselves what only a decision can: by whatever door, it was none."""
    here = view.inbox
    for path, raw in here.read_all(MEMORIES) if here.commit is not None and not view.inbox_own else ():
        try:
            fitting = fits(LABELS[INBOX], memory_from_bytes(raw, path=path))
        except CorruptRecord:
            continue  # doctor names it
        if not fitting:
            yield Fault("inbox.status", "nobody let this record in; it is not read", here.commit or "", path)


def _private(view: View) -> Iterator[Fault]:
    here = view.place(PRIVATE)
    commit = here.commit or ""
    tip = view.workspace.backend.ref(PRIVATE)
    if tip is not None and tip != here.commit:
        yield Fault("private.foreign", f"{PRIVATE} is at {tip[:12]}, which this clone did not write", tip)
    if here.commit is None:
        return
    faults = inspect_tree(here.backend, here.tree)
    yield from (Fault(f"tree.{fault.code}", fault.message, commit, fault.path) for fault in faults)
    for path, raw in here.read_all(MEMORIES) if not faults else ():
        try:
            memory = memory_from_bytes(raw, path=path)
        except CorruptRecord as error:
            yield Fault("record.shape", error.message, commit, path)
            continue
        if memory_of_path(path) != memory.id or not fits(LABELS[PRIVATE], memory):
            yield Fault("audience.store", "the record does not belong where it lies; it is not read", commit, path)
        names = here.event_names(memory.id)
        last = here.read(names[-1]) if names else None
        if last is None or event_from_bytes(last, path=names[-1]).after != digest(memory_bytes(memory)):
            yield Fault("event.missing", "no event tells of the record as it is", commit, path)
