"""Whether what a record cites still stands in the code as it is now. A citation stays true of its commit either way.

The one place that gives a verdict: readers show it beside a hit, `gitmem stale` lists it, a mark rests on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

from gitmem.errors import GitmemError
from gitmem.evidence.committed import is_file
from gitmem.evidence.short import line_range
from gitmem.evidence.sources import Sources, is_plain_path
from gitmem.model.frozen import dataclass
from gitmem.model.nouns import EvidenceRef, FileRef
from gitmem.store.objects import Entry
from gitmem.store.snapshot import Snapshot, snapshot

if TYPE_CHECKING:
    from gitmem.evidence.comparison import Compared

Verdict = Literal["current", "moved", "changed", "gone", "unobservable"]
_Name = tuple[str, str, str, str | None, str | None]
VERDICTS: Final[tuple[Verdict, ...]] = ("current", "moved", "changed", "gone", "unobservable")


@dataclass(frozen=True)
class Drift:
    """What became of one reference at HEAD.

    path, lines: where it stands, or the definition that stands in its place when it changed (None: no lines do); the
    cited place when it is gone.
    detail: why nothing can be said, of `unobservable`. diff: what became of the lines, where it was asked for.
    """

    verdict: Verdict
    path: str
    lines: str | None = None
    detail: str = ""
    diff: tuple[str, ...] = ()


def drifts(
    refs: Sequence[FileRef],
    sources: Sources,
    *,
    diffs: bool = False,
    known: dict[str, Any] | None = None,
) -> list[Drift]:
    """The verdict on each reference. Only the cited paths are looked at, and git is started only for those that are not
    at HEAD or differ there. Raises nothing for what cannot be read: that is `unobservable`.

    known: what comparisons of two blobs gave before, as plain data; what is found out is added, what was not asked for
    is taken out.
    """
    if sources.head is None:
        return [Drift("unobservable", ref.path, ref.lines, "nothing is committed here yet") for ref in refs]
    return _Look(sources, sources.head, diffs, known).at(refs)


def said(verdict: str, path: str, cited: EvidenceRef) -> str:
    """A verdict as a few words beside a citation; empty where the citation can be followed as it is."""
    if verdict in ("changed", "gone"):
        return f"{verdict} at HEAD"
    return f"moved to {path}" if verdict == "moved" and isinstance(cited, FileRef) and path != cited.path else ""


class _Look:
    """One look at one commit of the code."""

    def __init__(self, sources: Sources, head: str, diffs: bool, known: dict[str, Any] | None) -> None:
        self._sources = sources
        self._head = head
        self._diffs = diffs
        self._code: Snapshot | None = None
        self._read: dict[str, bytes] = {}
        self._known = {} if known is None else known
        self._asked: dict[str, Any] = {}

    def at(self, refs: Sequence[FileRef]) -> list[Drift]:
        each = {_name(ref): ref for ref in sorted(refs, key=lambda ref: (ref.path, ref.blob))}  # each file read once
        found: dict[_Name, Drift] = {}
        absent: dict[_Name, FileRef] = {}
        for name, ref in each.items():
            try:
                here = self._entry(ref.path)
            except GitmemError as error:
                found[name] = _unobservable(ref, error.message)
                continue
            if ref.commit == self._head or (here is not None and here.oid == ref.blob):
                found[name] = Drift("current", ref.path, ref.lines)
            elif here is None:
                absent[name] = ref
            else:
                found[name] = self._compared(ref, ref.path, here.oid)
        found.update(self._followed(absent))
        drifted = {name: each[name] for name, drift in found.items() if drift.verdict in ("changed", "gone")}
        found.update(self._doubted(drifted))
        self._known.clear()
        self._known.update(self._asked)
        return [found[_name(ref)] for ref in refs]

    def _entry(self, path: str) -> Entry | None:
        """The file at a path of the code's tip; None when there is none, or something that is no file."""
        if not is_plain_path(path):
            return None
        if self._code is None:
            self._code = snapshot(self._sources.backend, self._head)
        entry = self._code.entry(path)
        return entry if entry is not None and is_file(entry) else None

    def _followed(self, absent: Mapping[_Name, FileRef]) -> dict[_Name, Drift]:
        """The verdicts on what is not where it was."""
        if not absent:
            return {}
        from gitmem.store.followed import renamed

        paths = {ref.path for ref in absent.values() if is_plain_path(ref.path)}
        to = renamed(self._sources.backend.location, self._head, paths)
        found = {}
        for name, ref in absent.items():
            if to is None:
                found[name] = _unobservable(ref, "git could not say in time what became of the file")
            elif ref.path not in to:
                found[name] = _unobservable(ref, f"the history of HEAD has no {ref.path}")
            else:
                path = to[ref.path]
                here = self._entry(path) if path is not None else None
                if path is None or here is None:
                    found[name] = self._gone(ref)
                elif here.oid == ref.blob:
                    found[name] = Drift("moved", path, ref.lines)
                else:
                    found[name] = self._compared(ref, path, here.oid)
        return found

    def _gone(self, ref: FileRef) -> Drift:
        return Drift("gone", ref.path, ref.lines, diff=self._all_gone(ref) if self._diffs else ())

    def _all_gone(self, ref: FileRef) -> tuple[str, ...]:
        from gitmem.evidence.comparison import Compared, File, difference

        rows = line_range(ref.lines) if ref.lines else None
        if rows is None:
            return ()
        try:
            return tuple(difference(File(ref.path, self._bytes(ref.blob)), None, rows, Compared("gone", rows)))
        except GitmemError:
            return ()

    def _compared(self, ref: FileRef, path: str, blob: str) -> Drift:
        from gitmem.evidence.comparison import File, compare, difference

        cited = line_range(ref.lines) if ref.lines is not None else None
        if ref.lines is not None and cited is None:
            return _unobservable(ref, "the cited lines are no range")
        key = "\0".join((ref.path, ref.blob, ref.lines or "", ref.symbol or "", path, blob))
        found = _remembered(self._known.get(key))
        if found is None or (self._diffs and found.state != "same"):
            try:
                old, new = File(ref.path, self._bytes(ref.blob)), File(path, self._bytes(blob))
            except GitmemError as error:
                return _unobservable(ref, error.message)
            if cited is not None and cited[1] > old.rows[1]:
                return _unobservable(ref, f"{ref.path} never had the lines {ref.lines}")
            found = found or compare(old, new, cited, ref.symbol)
        self._asked[key] = list(found)
        lines = None if cited is None or found.now is None or found.whole else _lines(found.now)
        if found.state == "same":
            stays = path == ref.path and (cited is None or (found.now is not None and found.now[0] == cited[0]))
            return Drift("current" if stays else "moved", path, lines)
        diff = tuple(difference(old, new, cited or old.rows, found)) if self._diffs else ()
        return Drift(found.state, path, lines if found.state == "changed" else ref.lines, diff=diff)

    def _doubted(self, drifted: Mapping[_Name, FileRef]) -> dict[_Name, Drift]:
        """Those of which HEAD may never have had what they cite: another branch, or a commit that is not here.

        That the code here differs says nothing about them, unless HEAD had the same bytes at that path once.
        """
        if not drifted:
            return {}
        from gitmem.store.followed import had, outside

        location = self._sources.backend.location
        known = {ref.commit for ref in drifted.values() if self._has(ref.commit)}
        beyond = outside(location, self._head, known)
        found = {}
        for name, ref in drifted.items():
            if ref.commit in known and (beyond is not None and ref.commit not in beyond):
                continue
            if not had(location, self._head, ref.path, ref.blob):
                here = "is not in the history of HEAD" if ref.commit in known else "is not in this clone"
                found[name] = _unobservable(ref, f"the cited commit {ref.commit[:10]} {here}")
        return found

    def _has(self, commit: str) -> bool:
        try:
            return self._sources.read(commit)[0] == "commit"
        except GitmemError:
            return False

    def _bytes(self, blob: str) -> bytes:
        known = self._read.get(blob)
        if known is None:
            known = self._read[blob] = self._sources.read(blob)[1]
        return known


def _remembered(row: Any) -> Compared | None:
    """What was found out before; None when there is nothing, or nothing that can be read."""
    from gitmem.evidence.comparison import Compared

    try:
        state, before, now, whole = row
        numbers = [*before, *(now or ())]
        plain = all(type(number) is int for number in numbers) and len(before) == 2 and len(now or before) == 2
    except (TypeError, ValueError):
        return None
    if not plain or state not in ("same", "changed", "gone"):
        return None
    return Compared(state, tuple(before), tuple(now) if now else None, whole is True)


def _name(ref: FileRef) -> _Name:
    return ref.path, ref.blob, ref.commit, ref.lines, ref.symbol


def _unobservable(ref: FileRef, why: str) -> Drift:
    return Drift("unobservable", ref.path, ref.lines, why)


def _lines(rows: tuple[int, int]) -> str:
    return str(rows[0]) if rows[0] == rows[1] else f"{rows[0]}-{rows[1]}"
