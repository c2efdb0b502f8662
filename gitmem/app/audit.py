"""`gitmem audit`: whether the record of who changed what is whole, and what it says.

`verify` judges commits as they were made; this looks at what lies there now, which also tells of a history that was
squashed, cut or written anew: every event is there, each writer's chain has no gap, and each record is what its
events say that it became.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from gitmem.app.history import Entry, log
from gitmem.app.outbox import refusals
from gitmem.app.verify import verify_range
from gitmem.app.verify_fault import Fault
from gitmem.app.workspace import Workspace
from gitmem.errors import CorruptRecord, NotFound
from gitmem.model.layout import CONFIG, EVENTS, MAIN, MEMORIES, event_of_path, memory_of_path
from gitmem.model.nouns import Event, Memory
from gitmem.model.records import (
    config_bytes,
    config_from_bytes,
    digest,
    event_from_bytes,
    memory_bytes,
    memory_from_bytes,
)
from gitmem.model.times import parse_instant
from gitmem.share.events import WRITER as MERGE_WRITER
from gitmem.store.snapshot import Snapshot, snapshot

Progress = Callable[[int, int], None]
_BRANCH: Final = "branch"  # stands for the memory in the name of an event about none


@dataclass(frozen=True)
class Audited:
    """What was found at one commit. channels: events by the channel that they name. chains: how many a writer began;
    more than one says that a clone lost its state, not that anything is wrong. refused: writes that the gate of this
    clone turned down and that its outbox still holds."""

    commit: str
    commits: int
    events: int
    records: int
    writers: int
    channels: Mapping[str, int]
    refused: int
    faults: tuple[Fault, ...] = ()
    notes: tuple[Fault, ...] = field(default=())

    @property
    def clean(self) -> bool:
        return not self.faults

    def data(self) -> dict[str, Any]:
        """The report for `--json`."""
        return {
            **{name: getattr(self, name) for name in ("commit", "commits", "events", "records", "writers", "refused")},
            "channels": dict(self.channels),
            "clean": self.clean,
            "faults": [fault.data() for fault in self.faults],
            "notes": [note.data() for note in self.notes],
        }


@dataclass(frozen=True)
class Told:
    """One event with its file and the SHA-256 of that."""

    event: Event
    path: str
    sha256: str


def audit(workspace: Workspace, *, progress: Progress | None = None) -> Audited:
    """Look at everything that gitmem/main holds and came from. Raises NotFound when there is no branch."""
    backend = workspace.backend
    tip = backend.ref(MAIN)
    if tip is None:
        raise NotFound(f"{workspace.location.title} has no gitmem memory yet", hint="gitmem init")
    report = verify_range(workspace, None, tip, progress=progress)
    now = snapshot(backend, tip)
    faults = list(report.faults)
    told = list(_told(now, faults))
    notes = [*report.notes, *_chains(told, tip, faults)]
    records = _records(now, told, tip, faults)
    _settings(now, told, tip, faults)
    channels: defaultdict[str, int] = defaultdict(int)
    for one in told:
        channels[one.event.actor.channel] += 1
    return Audited(
        commit=tip,
        commits=report.commits,
        events=len(told),
        records=records,
        writers=len({one.event.writer for one in told}),
        channels=dict(sorted(channels.items())),
        refused=sum(1 for _ in refusals(workspace)),
        faults=_once(faults),
        notes=tuple(notes),
    )


def _once(faults: list[Fault]) -> tuple[Fault, ...]:
    """One line for what both the history and the present state tell."""
    return tuple({(fault.code, fault.path, fault.message): fault for fault in faults}.values())


def _told(now: Snapshot, faults: list[Fault]) -> Iterator[Told]:
    for path, raw in now.read_all(EVENTS):
        try:
            event = event_from_bytes(raw, path=path)
        except CorruptRecord as error:
            faults.append(Fault("event.shape", error.message, now.commit or "", path))
            continue
        if event_of_path(path) != event.id:
            message = "the event is not the one that its name says"
            faults.append(Fault("event.path", message, now.commit or "", path))
        yield Told(event, path, digest(raw))


def _chains(told: list[Told], tip: str, faults: list[Fault]) -> Iterator[Fault]:
    """Faults for links that lead nowhere, to other bytes or to one event from two; notes for chains begun anew."""
    there = {one.path: one for one in told}
    followed: dict[str, str] = {}
    begun: defaultdict[str, int] = defaultdict(int)
    for one in sorted(told, key=lambda one: one.event.id):
        prev = one.event.prev
        if one.event.writer == MERGE_WRITER:
            continue  # of no clone, and the same whoever merged
        if prev is None:
            begun[one.event.writer] += 1
            continue
        before = there.get(prev.path)
        if before is None:
            faults.append(Fault("audit.gap", f"the event before it is gone: {prev.path}", tip, one.path))
        elif before.sha256 != prev.sha256:
            faults.append(Fault("audit.edited", "it was edited after the next event was written", tip, prev.path))
        elif before.event.writer != one.event.writer:
            faults.append(Fault("audit.chain", "it goes on from another writer's event", tip, one.path))
        elif prev.path in followed:
            message = f"two events say that they follow {prev.path}: {followed[prev.path]} does too"
            faults.append(Fault("audit.fork", message, tip, one.path))
        else:
            followed[prev.path] = one.path
    for writer, count in sorted(begun.items()):
        if count > 1:
            yield Fault("audit.begun", f"the writer {writer} began its chain {count} times", tip)


def _records(now: Snapshot, told: list[Told], tip: str, faults: list[Fault]) -> int:
    """Faults for records that no event made what they are. The number of records."""
    became: defaultdict[str, set[str | None]] = defaultdict(set)
    for one in told:
        became[one.event.memory or _BRANCH].add(one.event.after)
    count = 0
    for path, raw in now.read_all(MEMORIES):
        identifier = memory_of_path(path)
        if identifier is None:
            continue
        count += 1
        try:
            memory: Memory = memory_from_bytes(raw, path=path)
        except CorruptRecord as error:
            faults.append(Fault("record.shape", error.message, tip, path, "record"))
            continue
        if digest(raw) in became[identifier] or digest(memory_bytes(memory)) in became[identifier]:
            continue
        message = "no event tells of it" if not became[identifier] else "it is not what its last event made of it"
        faults.append(Fault("audit.untold", message, tip, path, "record"))
    return count


def _settings(now: Snapshot, told: list[Told], tip: str, faults: list[Fault]) -> None:
    raw = now.read(CONFIG)
    became = {one.event.after for one in told if one.event.memory is None}
    if raw is not None and not {digest(raw), digest(config_bytes(config_from_bytes(raw, path=CONFIG)))} & became:
        faults.append(Fault("audit.untold", "no event tells of this policy", tip, CONFIG))


@dataclass(frozen=True)
class Asked:
    """Which events to show: recorded in [since, until), by these channels and operations, by an author or principal
    whose name holds `actor`."""

    since: datetime | None = None
    until: datetime | None = None
    actor: str = ""
    channels: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()

    def admits(self, at: datetime, channel: str, op: str, names: str) -> bool:
        return (
            (self.since is None or at >= self.since)
            and (self.until is None or at < self.until)
            and (not self.channels or channel in self.channels)
            and (not self.ops or op in self.ops)
            and self.actor.casefold() in names.casefold()
        )


def shown(workspace: Workspace, asked: Asked) -> Iterator[Entry | dict[str, Any]]:
    """The events of the branch and the refused writes of this clone that are asked for, newest first; the events keep
    the order of the log."""
    turned_down = refused(workspace, asked) if not asked.ops or "refused" in asked.ops else iter(())
    waiting = next(turned_down, None)
    for entry in told_of(workspace, asked) if asked.ops != ("refused",) else ():
        while waiting is not None and parse_instant(str(waiting["at"])) >= parse_instant(entry.event.at):
            yield waiting
            waiting = next(turned_down, None)
        yield entry
    if waiting is not None:
        yield waiting
        yield from turned_down


def told_of(workspace: Workspace, asked: Asked) -> Iterator[Entry]:
    """The events of the branch that are asked for, newest first."""
    for entry in log(workspace, None, diffs=False):
        event = entry.event
        names = f"{entry.author} {event.actor.principal} {event.actor.host or ''}"
        if asked.admits(parse_instant(event.at), event.actor.channel, event.op, names):
            yield entry


def refused(workspace: Workspace, asked: Asked) -> Iterator[dict[str, Any]]:
    """The refused writes of this clone that are asked for, newest first: they never reached the branch."""
    for data in refusals(workspace):
        actor = data.get("actor")
        channel, host = (actor.get("channel"), actor.get("host")) if isinstance(actor, dict) else (None, None)
        try:
            at = parse_instant(str(data.get("at")))
        except ValueError:
            continue
        if asked.admits(at, str(channel), "refused", str(host or "")):
            yield data
