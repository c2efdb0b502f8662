"""What mends what verification found: for each kind of fault the command that does, never one that breaks more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace

from gitmem.app.verify import Report
from gitmem.app.verify_approvals import MISSING
from gitmem.app.verify_fault import Fault
from gitmem.app.verify_settled import TAKEN, missing_from, record_at
from gitmem.app.verify_view import judged_view
from gitmem.app.workspace import ASTRAY, Workspace
from gitmem.errors import CorruptRecord, NotFound
from gitmem.model.ids import is_memory_id
from gitmem.model.layout import EVENTS, MAIN, memory_of_path
from gitmem.store.objects import empty_tree, parse_commit
from gitmem.store.snapshot import changed_paths, snapshot


def mending(workspace: Workspace, report: Report) -> list[str]:
    """What to do about the faults of a report, in the order in which to do it."""
    told: list[str] = []
    if any(fault.code == MISSING for fault in report.faults):
        told.append("have it approved on the forge, by somebody else and at this commit, and run the check again")
        report = replace(report, faults=tuple(fault for fault in report.faults if fault.code != MISSING))
        if report.clean:
            return told
    with suppress(CorruptRecord, NotFound):
        told += _astray(workspace, report)
        told += _by_commit(workspace, report)
    return told or ["git log -p gitmem/main shows the commits"]


def undoing(commit: str, tip: str, remote: str | None) -> str:
    """The command that brings back what `commit` took away, on top of `tip`, here or in a remote."""
    made = f'$(git commit-tree {commit[:12]}^^{{tree}} -p {tip[:12]} -m "bring back what {commit[:10]} took away")'
    if remote is None:
        return f"git update-ref {MAIN} {made}"
    return f"git push {remote} {made}:{MAIN}"


def _astray(workspace: Workspace, report: Report) -> Iterator[str]:
    head = judged_view(workspace, report.head)
    for path in dict.fromkeys(fault.path for fault in report.faults if fault.code in ASTRAY):
        memory = record_at(head, path)
        for lost in missing_from(head, memory) if memory is not None else ():
            if is_memory_id(lost):
                yield f'a person runs: gitmem edit {memory_of_path(path)} --unlink {lost} --because "…"'
            else:
                yield f'a person runs: gitmem archive {memory_of_path(path)} --because "…"'


def _by_commit(workspace: Workspace, report: Report) -> Iterator[str]:
    faults = [fault for fault in report.faults if fault.code not in ASTRAY]
    taking = next((fault.commit for fault in faults if fault.code in TAKEN), None)
    if taking is not None:
        own = report.head == workspace.backend.ref(MAIN)
        command = undoing(taking, "gitmem/main" if own else report.head, None if own else "REMOTE")
        yield (
            f"{taking[:10]} took away what gitmem had written, as a git revert of a commit of gitmem does; "
            f"this brings it back: {command}"
        )
    plain = _named(fault for fault in faults if fault.code not in TAKEN)
    by_hand = [commit for commit in plain if not _brings_events(workspace, commit)]
    if by_hand and taking is None:
        yield (
            f"git log -p gitmem/main shows the commits; a git revert of {_short(by_hand)} mends what is read: "
            "no event was added there"
        )
    by_gitmem = [commit for commit in plain if commit not in by_hand]
    if by_gitmem and taking is None:
        yield (
            f"never revert {_short(by_gitmem)}, which added events; answer it with another move: "
            'gitmem edit, archive or wrong ID --because "…"'
        )


def _named(faults: Iterable[Fault]) -> list[str]:
    return list(dict.fromkeys(fault.commit for fault in faults))


def _short(commits: list[str]) -> str:
    more = f" and {len(commits) - 3} more" if len(commits) > 3 else ""
    return ", ".join(commit[:10] for commit in commits[:3]) + more


def _brings_events(workspace: Workspace, commit: str) -> bool:
    backend = workspace.backend
    parents = parse_commit(backend.read(commit)[1]).parents
    old = snapshot(backend, parents[0]).entry(EVENTS) if parents else None
    new = snapshot(backend, commit).entry(EVENTS)
    nothing = empty_tree(backend.object_format)
    changes = changed_paths(backend, old.oid if old else nothing, new.oid if new else nothing)
    return any(change.old is None for change in changes)
