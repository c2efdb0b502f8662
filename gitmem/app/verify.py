"""Verification of commits of the memory branch: what a hook, CI and the reader itself call.

Every commit is judged as it was made: the files it changed, the events it brought, by the gate that judges
every other door. Nothing is checked out; nothing of the content is executed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from gitmem.app.markdown import cell
from gitmem.app.verify_commit import check_commit
from gitmem.app.verify_fault import Checked, Fault
from gitmem.app.verify_lookup import Beneath, RangeLookup
from gitmem.app.verify_settled import settled
from gitmem.app.workspace import Workspace
from gitmem.errors import CorruptRecord, NotFound, UsageError
from gitmem.model.layout import MAIN
from gitmem.model.text import counted
from gitmem.store.remembering import Remembering
from gitmem.store.transaction import root_commit_id

SHOWN: Final = 200  # faults printed in a Markdown report

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Report:
    """What verification of `base`..`head` found. `notes` are remarks that refuse nothing.

    `target`: the commit for which the merge of `head` into it was judged as well. `approved`: whose approval of `head`
    counts, by the forge; `asked`: how many the policy of the target asks for.
    """

    base: str | None
    head: str
    commits: int
    records: int
    faults: tuple[Fault, ...] = ()
    notes: tuple[Fault, ...] = field(default=())
    target: str | None = None
    asked: int = 0
    approved: tuple[str, ...] = ()

    @property
    def clean(self) -> bool:
        return not self.faults

    def failed(self) -> list[Fault]:
        """The records that are to be left out, also where one was put back later: those of the commits in between."""
        put_back = (note for note in self.notes if note.blob is not None)
        return [*only(self.faults, "record"), *put_back]

    def data(self) -> dict[str, Any]:
        """The report for `--json`."""
        return {
            "base": self.base,
            "head": self.head,
            "merged_into": self.target,
            "approvals": {"asked": self.asked, "by": list(self.approved)},
            "commits": self.commits,
            "records": self.records,
            "clean": self.clean,
            "faults": [fault.data() for fault in self.faults],
            "notes": [note.data() for note in self.notes],
        }


def verify(
    workspace: Workspace,
    *,
    base: str | None = None,
    head: str | None = None,
    progress: Progress | None = None,
) -> Report:
    """Verify the commits of `base`..`head`; without a base the whole branch, without a head its tip."""
    backend = workspace.backend
    tip = backend.resolve(head) if head is not None else backend.ref(MAIN)
    if tip is None:
        if head is not None:
            raise NotFound(f"{head!r} names no commit here", hint="git fetch it first")
        raise NotFound(f"{workspace.location.title} has no gitmem memory yet", hint="gitmem init")
    start = None
    if base is not None:
        start = backend.resolve(base)
        if start is None:
            raise NotFound(f"{base!r} names no commit here", hint="git fetch it first")
        if not backend.is_ancestor(start, tip):
            fault = Fault(
                "history.rewritten",
                f"{tip[:12]} does not descend from {start[:12]}: the branch was rewound or rewritten",
                tip,
            )
            return Report(start, tip, 0, 0, (fault,))
    return verify_range(workspace, start, tip, progress=progress)


def verify_range(
    workspace: Workspace,
    base: str | None,
    head: str,
    *,
    progress: Progress | None = None,
    beneath: Beneath | None = None,
) -> Report:
    """Judge every commit that `head` adds to `base`, oldest first; none that follows one which cannot be read. What a
    later one of them mended is a note.

    `beneath`: the records of `base`, where several ranges stand on them.
    """
    backend = Remembering(workspace.backend)
    # What lies in the work tree is this clone's own and of this moment: it proves nothing for or against a commit.
    workspace = replace(workspace, backend=backend, location=replace(workspace.location, work_tree=None))
    commits = backend.log(head, base=base)[::-1]
    lookup = RangeLookup(beneath or Beneath(workspace, base))
    faults: list[Fault] = []
    notes: list[Fault] = []
    records = 0
    for number, commit in enumerate(commits, 1):
        checked = _checked(workspace, commit, lookup)
        faults += checked.faults
        notes += checked.notes
        records += checked.records
        if progress is not None:
            progress(number, len(commits))
        if not checked.readable:
            if number < len(commits):
                after = counted(len(commits) - number, "commit")
                were = "was" if number == len(commits) - 1 else "were"
                said = f"the {after} after it {were} not looked at"
                notes.append(Fault("history.unjudged", said, commit))
            break
    else:
        if base is None and root_commit_id(backend) not in commits:
            faults.append(Fault("history.root", "the branch does not begin at the root of every gitmem branch", head))
    standing, mended = settled(workspace, commits, faults)
    return Report(base, head, len(commits), records, standing, (*notes, *mended))


def _checked(workspace: Workspace, commit: str, lookup: RangeLookup) -> Checked:
    try:
        return check_commit(workspace, commit, lookup)
    except (CorruptRecord, NotFound) as error:
        if isinstance(error, CorruptRecord) and "object" in error.details:
            raise  # it is this clone's disk that failed, and nothing can be said about what was written
        checked = Checked(commit, readable=False)
        checked.tip("object.damaged", error.message)
        return checked


def markdown(report: Report) -> str:
    """The report as a comment for a pull request."""
    head = "✅ **gitmem: verified**" if report.clean else f"❌ **gitmem: {counted(len(report.faults), 'fault')}**"
    span = f"`{report.base[:12]}`..`{report.head[:12]}`" if report.base else f"everything up to `{report.head[:12]}`"
    lines = [head, "", f"{counted(report.commits, 'commit')}, {counted(report.records, 'record')} in {span}.", ""]
    if report.target is not None:
        lines += [f"Judged as merged into `{report.target[:12]}`, by a merge commit and as one commit.", ""]
    if report.asked or report.approved:
        names = ", ".join(cell(name, code=True) for name in report.approved[:SHOWN]) or "nobody"
        lines += [f"Approved by {names}: {len(report.approved)} of {report.asked} that the policy asks for.", ""]
    for title, faults in (("Faults", report.faults), ("Notes", report.notes)):
        if not faults:
            continue
        lines += [f"### {title}", "", "| commit | file | code | what |", "|---|---|---|---|"]
        lines += [
            f"| `{f.commit[:12]}` | {cell(f.path, code=True)} | `{f.code}` | {cell(f.message)} |"
            for f in faults[:SHOWN]
        ]
        if len(faults) > SHOWN:
            lines.append(f"| | | | and {len(faults) - SHOWN} more: `gitmem verify --json` lists all |")
        lines.append("")
    return "\n".join(lines)


def only(faults: tuple[Fault, ...], reach: Literal["record", "tip"]) -> Iterator[Fault]:
    """The faults that concern one record, or those that make the whole tip unbelievable."""
    return (fault for fault in faults if fault.reach == reach)


def require_range(base: str | None, head: str | None, everything: bool) -> None:
    """Raise UsageError for a call that contradicts itself. One that says nothing means everything."""
    if everything and (base is not None or head is not None):
        raise UsageError("--all takes neither --base nor --head", hint="gitmem verify --all")


def require_target_alone(base: str | None, everything: bool) -> None:
    """Raise UsageError when what a request is merged into is named beside another base."""
    if base is not None or everything:
        hint = "gitmem verify --merge-into origin/gitmem/main --head HEAD"
        raise UsageError("--merge-into takes --head, and neither --base nor --all", hint=hint)
