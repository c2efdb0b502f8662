"""Verification of commits of the memory branch: what a hook, CI and the reader itself call.

Every commit is judged as it was made: the files it changed, the events it brought, by the gate that judges
every other door. Nothing is checked out; nothing of the content is executed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from gitmem.app.claim_set import ClaimSet, claims_of
from gitmem.app.facts import Claim, Lookup, tombstone_claim
from gitmem.app.verify_commit import Fault, check_commit
from gitmem.app.workspace import Workspace, raw_view
from gitmem.errors import NotFound, UsageError
from gitmem.model.layout import MAIN, TOMBSTONES
from gitmem.model.nouns import Memory
from gitmem.model.records import tombstone_from_bytes
from gitmem.store.transaction import root_commit_id

SHOWN: Final = 200  # faults printed in a Markdown report

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Report:
    """What verification of `base`..`head` found. `notes` are remarks that refuse nothing."""

    base: str | None
    head: str
    commits: int
    records: int
    faults: tuple[Fault, ...] = ()
    notes: tuple[Fault, ...] = field(default=())

    @property
    def clean(self) -> bool:
        return not self.faults

    def data(self) -> dict[str, Any]:
        """The report for `--json`."""
        return {
            "base": self.base,
            "head": self.head,
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
    tip = backend.resolve(head) if head else backend.ref(MAIN)
    if tip is None:
        if head:
            raise NotFound(f"{head!r} names no commit here", hint="git fetch it first")
        raise NotFound(f"{workspace.location.title} has no gitmem memory yet", hint="gitmem init")
    start = None
    if base:
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


def verify_range(workspace: Workspace, base: str | None, head: str, *, progress: Progress | None = None) -> Report:
    """Judge every commit that `head` adds to `base`, oldest first."""
    backend = workspace.backend
    commits = backend.log(head, base=base)[::-1]
    lookup = RangeLookup(workspace, base)
    faults: list[Fault] = []
    notes: list[Fault] = []
    records = 0
    for number, commit in enumerate(commits, 1):
        checked = check_commit(workspace, commit, lookup)
        faults += checked.faults
        notes += checked.notes
        records += checked.records
        if progress is not None:
            progress(number, len(commits))
    if base is None and root_commit_id(backend) not in commits:
        faults.append(Fault("history.root", "the branch does not begin at the root of every gitmem branch", head))
    return Report(base, head, len(commits), records, tuple(faults), tuple(notes))


class RangeLookup:
    """Near-duplicates and key holders at the commit being judged: the records of the base, and what came since.

    The base is looked up in the search index when that has seen all of it; otherwise its records are read once.
    """

    def __init__(self, workspace: Workspace, base: str | None) -> None:
        self._workspace = workspace
        self._base = base
        self._below: Lookup | None = None
        self._recent = ClaimSet()
        self._touched: set[tuple[str, str]] = set()

    def replace(self, where: str, identifier: str, claim: Claim | None) -> None:
        """From here on the record reads like this; None takes it away."""
        self._touched.add((where, identifier))
        if claim is None:
            self._recent.remove(where, identifier)
        else:
            self._recent.add(claim)

    def candidates(self, memory: Memory) -> Iterator[Claim]:
        yield from self._recent.candidates(memory)
        for claim in self._under().candidates(memory):
            if (claim.where, claim.id) not in self._touched:
                yield claim

    def key_holders(self, key: str) -> Iterator[str]:
        yield from self._recent.key_holders(key)
        yield from self._under().key_holders(key)

    def _under(self) -> Lookup:
        if self._below is None:
            self._below = self._indexed() or self._read()
        return self._below

    def _indexed(self) -> Lookup | None:
        from gitmem.app.catch_up import opened_index
        from gitmem.app.facts import IndexOnly

        if self._base is None:
            return None
        index = opened_index(self._workspace)
        seen = index.tips.get("main")
        if seen is None or not self._workspace.backend.is_ancestor(self._base, seen):
            return None
        return IndexOnly(raw_view(self._workspace, self._base), index)

    def _read(self) -> Lookup:
        if self._base is None:
            return ClaimSet()
        view = raw_view(self._workspace, self._base)
        made = claims_of(view.memories(), "main")
        for path, raw in view.main.read_all(TOMBSTONES):
            tomb = tombstone_from_bytes(raw, path=path, trusted=True)
            if tomb.standing:
                made.add(tombstone_claim(tomb))
        return made


def markdown(report: Report) -> str:
    """The report as a comment for a pull request."""
    head = "✅ **gitmem: verified**" if report.clean else f"❌ **gitmem: {len(report.faults)} faults**"
    span = f"`{report.base[:12]}`..`{report.head[:12]}`" if report.base else f"everything up to `{report.head[:12]}`"
    lines = [head, "", f"{report.commits} commits, {report.records} records in {span}.", ""]
    for title, faults in (("Faults", report.faults), ("Notes", report.notes)):
        if not faults:
            continue
        lines += [f"### {title}", "", "| commit | file | code | what |", "|---|---|---|---|"]
        lines += [
            f"| `{f.commit[:12]}` | {_cell(f.path, code=True)} | `{f.code}` | {_cell(f.message)} |"
            for f in faults[:SHOWN]
        ]
        if len(faults) > SHOWN:
            lines.append(f"| | | | and {len(faults) - SHOWN} more: `gitmem verify --json` lists all |")
        lines.append("")
    return "\n".join(lines)


def _cell(text: str, *, code: bool = False) -> str:
    """Text in a Markdown table cell that a hostile author cannot break out of."""
    from gitmem.model.text import one_line

    safe = one_line(text, 300)
    if code:
        return f"`{safe.replace('`', '').replace('|', '')}`" if safe else ""
    for char in "\\`*_{}[]()<>#+!|@":
        safe = safe.replace(char, f"&#{ord(char)};")
    return safe


def only(faults: tuple[Fault, ...], reach: Literal["record", "tip"]) -> Iterator[Fault]:
    """The faults that concern one record, or those that make the whole tip unbelievable."""
    return (fault for fault in faults if fault.reach == reach)


def require_range(base: str | None, head: str | None, everything: bool) -> None:
    """Raise UsageError unless the call says what to verify."""
    if everything and (base or head):
        raise UsageError("--all takes neither --base nor --head", hint="gitmem verify --all")
    if not everything and base is None and head is None:
        raise UsageError("say what to verify", hint="gitmem verify --all, or gitmem verify --base A --head B")
