"""What becomes of two sides of the branch: a pure function of both trees and of what they had in common.

Who merges writes these files; who verifies a merge computes them again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from gitmem.app.merge_base import Base, readable, together
from gitmem.app.merge_between import Record, between
from gitmem.app.verify_view import JudgedView
from gitmem.app.workspace import Workspace
from gitmem.errors import CorruptRecord
from gitmem.model import layout
from gitmem.model.ids import is_memory_id
from gitmem.model.nouns import Config, Memory
from gitmem.model.records import (
    config_bytes,
    config_from_bytes,
    digest,
    edited_bytes,
    event_bytes,
    event_from_bytes,
    memory_bytes,
)
from gitmem.model.vocabulary import VISIBLE
from gitmem.share.events import merge_event
from gitmem.share.memory import Side, merged_memory
from gitmem.share.settings import merged_config, ruling
from gitmem.store.ahead import read_differing, read_paths
from gitmem.store.objects import Entry
from gitmem.store.remembering import Remembering
from gitmem.store.snapshot import Changed, changed_paths

File = bytes | Entry | None


@dataclass
class Joined:
    """`files`: what becomes of every path that the sides have differently. `records`: those that the merge changed
    itself, `kept` the ids of which it kept a second text, `disputed` those that contradict others or what was
    rejected.
    `withheld`: why a record that one side shows is not shown, by its path. `apart`: the sides have policies of which
    only a person can say which stands, so nothing may be merged.
    """

    files: dict[str, File] = field(default_factory=dict)
    records: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    disputed: list[str] = field(default_factory=list)
    withheld: dict[str, str] = field(default_factory=dict)
    apart: bool = False


def joined_views(workspace: Workspace, ours: JudgedView, theirs: JudgedView) -> Joined:
    """What becomes of the files of two commits. Reads only."""
    return joined(Base.of(workspace, ours.main.commit or "", theirs.main.commit or ""), ours, theirs)


def joined(base: Base, ours: JudgedView, theirs: JudgedView) -> Joined:
    """What gitmem makes of two sides. `joined(b, x, y)` and `joined(b, y, x)` give the same tree."""
    return _Merge(base, ours, theirs).joined()


class _Merge:
    def __init__(self, base: Base, ours: JudgedView, theirs: JudgedView) -> None:
        self.base = base
        self.ours = ours
        self.theirs = theirs
        backend = ours.main.backend
        read_differing(backend, ours.main.tree, theirs.main.tree)
        self.differing = list(changed_paths(backend, ours.main.tree, theirs.main.tree))
        if isinstance(backend, Remembering):
            backend.read_ahead(_to_read(self.differing))
        self.news: defaultdict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
        self.records: dict[str, Record] = {}
        self.out = Joined()

    def joined(self) -> Joined:
        for change in self.differing:
            if change.path.startswith(f"{layout.EVENTS}/"):
                self._event(change)
        self._read_ahead()
        for change in self.differing:
            if not change.path.startswith(f"{layout.EVENTS}/"):
                self._file(change)
        between(self.records, self.ours, self.theirs, self._standing())
        for identifier in sorted(self.records):
            self._write(identifier, self.records[identifier])
        return self.out

    def _read_ahead(self) -> None:
        """What both sides changed is compared with the base and looked up in the events."""
        both = [subject for subject, (mine, yours) in self.news.items() if mine and yours and is_memory_id(subject)]
        self.base.read_ahead([layout.memory_path(identifier) for identifier in both])
        for side in (self.ours, self.theirs):
            months = [month.name for month in side.main.children(layout.EVENTS)]
            folders = [f"{layout.EVENTS}/{month}/{i[0]}/{i[1]}/" for month in months for i in both]
            read_paths(self.ours.main.backend, side.main.tree, folders)

    def _event(self, change: Changed) -> None:
        """An event is there when either side has it."""
        subject = change.path.rsplit("/", 1)[-1].removesuffix(".json").partition(".")[2]
        if change.old is not None:
            self.news[subject][0].append(change.path)
        if change.new is not None:
            self.news[subject][1].append(change.path)
        self.out.files[change.path] = max((e for e in (change.old, change.new) if e is not None), key=lambda e: e.oid)

    def _file(self, change: Changed) -> None:
        path = change.path
        identifier = layout.memory_of_path(path)
        if identifier is not None:
            self._memory(change, identifier)
        elif (conflict := layout.conflict_of_path(path)) is not None:
            self.out.files[path] = self._conflict(change, conflict[0])
        elif layout.tombstone_of_path(path) is not None:
            self.out.files[path] = self._together(change)
        else:
            self._setting(change)

    # -- records ---------------------------------------------------------------------------------------------

    def _memory(self, change: Changed, identifier: str) -> None:
        mine, yours = self._read(change.old, change.path), self._read(change.new, change.path)
        one, other = (readable(raw, change.path) if raw is not None else None for raw in (mine, yours))
        if change.old is not None and change.new is not None and one is not None and other is not None:
            self._both(change, identifier, one, other)
            return
        # One side has it, or only one side's can be read.
        entry, raw, memory = (change.old, mine, one) if one is not None else (change.new, yours, other)
        if memory is None:
            self.out.files[change.path] = max((e for e in change[1:] if e is not None), key=lambda e: e.oid)
            return
        assert entry is not None and raw is not None  # noqa: S101 - they were read
        self.out.files[change.path] = entry
        self.records[identifier] = Record(memory, raw, entry, memory, None, (one, other))

    def _both(self, change: Changed, identifier: str, one: Memory, other: Memory) -> None:
        assert change.old is not None and change.new is not None  # noqa: S101 - the caller saw both
        mine, yours = self.news[identifier]
        if bool(mine) != bool(yours) or one == other:
            # Of equal records only comments or layout differ.
            first = self._entry_of(change) == change.old if one == other else bool(mine)
            entry, memory, past = (change.old, one, other) if first else (change.new, other, one)
            raw = self._read(entry, change.path) or b""
            self.out.files[change.path] = entry
            self.records[identifier] = Record(
                memory, raw, entry, memory, None if past == memory else past, (one, other)
            )
            return
        sides = Side(one, _newest(mine)), Side(other, _newest(yours))
        status = None if self.base.single else self._status_before(identifier, mine)
        whole = merged_memory(self.base.memory(identifier), *sides, base_status=status)
        entry = change.old if whole.winner is one else change.new
        made = Record(
            whole.memory, self._read(entry, change.path) or b"", entry, whole.winner, whole.loser, (one, other)
        )
        made.made = bool(mine or yours) or whole.memory not in (one, other)
        made.whole = whole
        made.reasons.append("both sides changed it")
        if whole.lost is not None:
            made.reasons.append(f"what one side made of {', '.join(whole.apart)} is kept in conflicts/")
            raw = memory_bytes(whole.lost)
            self.out.files[layout.conflict_path(identifier, digest(raw))] = raw
            self.out.kept.append(identifier)
        self.records[identifier] = made

    def _status_before(self, identifier: str, mine: Sequence[str]) -> str | None:
        """The state that the last event says which both sides have."""
        common = [path for path in self.ours.main.event_names(identifier) if path not in mine]
        for path in reversed(common):
            raw = self.ours.bytes_at(path)
            try:
                return event_from_bytes(raw, path=path).status_to if raw is not None else None
            except CorruptRecord:
                continue
        return None

    def _write(self, identifier: str, record: Record) -> None:
        """The record as it becomes, with the event of what the merge did to it."""
        path = layout.memory_path(identifier)
        if not record.made:
            self.out.files.setdefault(path, record.entry)
            return
        same = record.memory == record.before
        self.out.files[path] = record.entry if same else edited_bytes(record.raw, record.memory)
        event = merge_event(
            identifier,
            self._known(identifier),
            status_from=record.before.status,
            status_to=record.memory.status,
            before=digest(memory_bytes(record.before)),
            merged=digest(memory_bytes(record.merged)) if record.merged is not None else None,
            after=digest(memory_bytes(record.memory)),
            reason="; ".join(record.reasons),
        )
        self.out.files[layout.event_path(event.id, identifier)] = event_bytes(event)
        self.out.records.append(identifier)
        if record.memory.status == "disputed" and identifier not in self.out.kept:
            self.out.disputed.append(identifier)
        if record.memory.status not in VISIBLE:
            self.out.withheld[path] = "; ".join(record.reasons)

    def _known(self, identifier: str | None) -> Iterator[str]:
        for side in (self.ours, self.theirs):
            for path in side.main.event_names(identifier):
                yield path.rsplit("/", 1)[-1].partition(".")[0]

    # -- other files -----------------------------------------------------------------------------------------

    def _conflict(self, change: Changed, identifier: str) -> Entry | None:
        """A text that waits for a person: gone when the side without it knows all that the other one knows."""
        mine, yours = self.news[identifier]
        there = change.old or change.new
        if bool(mine) != bool(yours):
            return change.old if mine else change.new
        settled = self.base.read(change.path) is not None and not (mine and yours)
        return None if settled else there

    def _setting(self, change: Changed) -> None:
        mine, yours = self.news["branch"]
        if change.path == layout.CONFIG and self._ruled(change):
            return
        if change.old is not None and change.new is not None and bool(mine) != bool(yours):
            self.out.files[change.path] = change.old if mine else change.new
        elif change.path == layout.CONFIG and mine and yours:
            self._config(change)
        else:
            self.out.files[change.path] = self._together(change)

    def _ruled(self, change: Changed) -> bool:
        """The policy where keys of people protect it on a side; who knows more events counts for nothing there, for
        anybody can copy an event. False where it is merged as other settings."""
        if change.old is None or change.new is None:
            return False
        policies = self._policies(change)
        stands = "both" if policies is None else ruling(*policies)
        if stands == "both":
            return False
        if stands == "neither":
            self.out.apart = True
            return True
        entry = change.old if stands == "ours" else change.new
        self.out.files[change.path] = entry
        if all(self.news["branch"]):
            self._tell_policy(change, self._read(entry, change.path) or b"")
        return True

    def _policies(self, change: Changed) -> tuple[Config | None, Config, Config] | None:
        """The policy of the base and of both sides; None when one of them cannot be read."""
        old = self.base.read(change.path)
        try:
            one, other = (config_from_bytes(raw or b"", path=change.path) for raw in self._both_bytes(change))
            return (None if old is None else config_from_bytes(old, path=change.path)), one, other
        except CorruptRecord:
            return None

    def _config(self, change: Changed) -> None:
        policies = self._policies(change)
        if policies is None:
            self.out.files[change.path] = self._together(change)
            return
        begun = [next(iter(side.main.event_names(None)), "").rsplit("/", 1)[-1] for side in (self.ours, self.theirs)]
        raw = config_bytes(merged_config(*policies, ours_begun=begun[0], theirs_begun=begun[1]))
        self.out.files[change.path] = raw
        self._tell_policy(change, raw)

    def _tell_policy(self, change: Changed, raw: bytes) -> None:
        """The event of what became of the policy of two sides that both changed it."""
        first, second = sorted(side or b"" for side in self._both_bytes(change))
        event = merge_event(
            None,
            self._known(None),
            status_from=None,
            status_to=None,
            before=digest(first),
            merged=digest(second),
            after=digest(raw),
            reason="both sides changed the policy",
        )
        self.out.files[layout.event_path(event.id, None)] = event_bytes(event)

    def _together(self, change: Changed) -> File:
        made = together(change.path, self.base.read(change.path), *self._both_bytes(change))
        for entry, raw in zip(change[1:], self._both_bytes(change), strict=True):
            if raw == made:
                return entry
        return made

    def _entry_of(self, change: Changed) -> Entry:
        made = self._together_bytes(change)
        for entry, raw in zip(change[1:], self._both_bytes(change), strict=True):
            if raw == made and entry is not None:
                return entry
        raise AssertionError("one of the two is kept")  # pragma: no cover

    def _together_bytes(self, change: Changed) -> bytes | None:
        """Of two layouts of one record, the one that is new; both new, the greater."""
        mine, yours = self._both_bytes(change)
        base = self.base.read(change.path)
        if yours == base:
            return mine
        return yours if mine == base else max(mine or b"", yours or b"")

    def _both_bytes(self, change: Changed) -> tuple[bytes | None, bytes | None]:
        return self._read(change.old, change.path), self._read(change.new, change.path)

    def _read(self, entry: Entry | None, path: str) -> bytes | None:
        return None if entry is None else self.ours.main.backend.read(entry.oid)[1]

    def _standing(self) -> list[str]:
        """The digests of the tombstones that the sides have differently."""
        found = (layout.tombstone_of_path(change.path) for change in self.differing)
        return [key for key in found if key is not None]


def _to_read(differing: Iterable[Changed]) -> Iterator[str]:
    for change in differing:
        if not change.path.startswith(f"{layout.EVENTS}/"):
            yield from (entry.oid for entry in (change.old, change.new) if entry is not None)


def _newest(events: Sequence[str]) -> str:
    return max((path.rsplit("/", 1)[-1] for path in events), default="")
