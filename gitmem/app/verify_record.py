"""The judgement of one record that a commit changed: do its events tell of it, and would the gate let it in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from gitmem.app.facts import gather
from gitmem.app.verify_fault import Checked
from gitmem.app.verify_view import JudgedView
from gitmem.errors import CorruptRecord
from gitmem.model.claims import claim_digest
from gitmem.model.ids import is_memory_id
from gitmem.model.judgement import Change, Facts
from gitmem.model.layout import memory_path
from gitmem.model.nouns import Config, Event, Memory, Proposal
from gitmem.model.records import digest, event_from_bytes, memory_bytes
from gitmem.model.vocabulary import VISIBLE, Channel
from gitmem.policy.codes import CODES, shown_id
from gitmem.policy.gate import decide
from gitmem.policy.origin import derive_origin, lineage, source_channel
from gitmem.policy.transitions import check_move

if TYPE_CHECKING:
    from gitmem.app.verify_lookup import RangeLookup

_CREATES: Final = frozenset({"create", "import", "accept"})
_SAYING: Final = _CREATES | {"edit", "lift"}  # what gives a record its origin


@dataclass(frozen=True)
class Ground:
    """What the records of one commit are judged on: the state before it, the state it made, the policy before it.

    `changed` are the paths that the commit changed.
    """

    checked: Checked
    before: JudgedView
    after: JudgedView
    config: Config | None
    lookup: RangeLookup
    changed: frozenset[str]


@dataclass(frozen=True)
class Record:
    """One changed record: its path and object, what it was (None: nothing readable), what it is, the digest of that.

    `plain`: the texts of what it is were looked at already, by `policy.text_rules.is_plain`.
    """

    path: str
    blob: str
    old: Memory | None
    new: Memory
    digest: str
    plain: bool = False


def judge(ground: Ground, record: Record, events: Sequence[Event]) -> None:
    """Put every fault of the record into `ground.checked`."""
    checked, new = ground.checked, record.new
    checked.records += 1
    if not events and (last := last_event(ground.after, new.id)) and last.after == record.digest:
        checked.note("record.restored", "put back to what its last event says", record.path)
        record, told = replace(record, old=None), [last]
    else:
        found = _told(ground, record, events)
        if found is None:
            return
        told = found
        _superseded(ground, record)
    derived: set[str] = set()
    for event, change in _changes(record, told):
        # The sides of a merge that was squashed are not there to be looked at: its text is judged as one that is new.
        looked_at = replace(change, op="edit") if event.op == "merge" else change
        facts = gather(
            ground.after, looked_at, ground.lookup, channel=_channel(event, events),
            private_store=ground.after.workspace.is_user_store, proposed=event.proposed,
        )  # fmt: skip
        if record.plain:
            facts = replace(facts, plain=record.new)
        _gate(ground, record, event, change, facts)
        if event.op in _SAYING:
            derived |= {_derived(record.new, facts, said.op, said.actor.channel) for said in _said_by(event)}
    _origin(ground, record, told[0].op, derived)
    _rejected(ground, record)


def in_order(events: Sequence[Event], start: str | None) -> tuple[list[Event], bool]:
    """The events as one step after another from a record with the digest `start`; False when some do not follow.

    Clocks of two clones differ, so the digests say the order and the time in the ids only breaks ties. What led to the
    other side of a merge is no step of these, and follows as well.
    """
    left = sorted(events, key=lambda event: event.id)
    told: list[Event] = []
    now = start
    while left:
        event = next((e for e in left if now in (e.before, e.merged) and (now is not None or e.before is None)), None)
        if event is None and not told and start is None:  # a candidate that another clone's inbox held
            event = next((e for e in left if e.op == "accept"), None)
        if event is None:
            return told, not _beside(told, left)
        left.remove(event)
        told.append(event)
        now = event.after
    return told, True


def _beside(told: Sequence[Event], left: list[Event]) -> list[Event]:
    """Those of `left` that lead to no side of a merge."""
    sides = {side for event in told if event.op == "merge" for side in (event.before, event.merged)}
    while leading := [event for event in left if event.after in sides and event.after is not None]:
        left = [event for event in left if event not in leading]
        sides |= {side for event in leading for side in (event.before, event.merged)}
    return left


def last_event(view: JudgedView, identifier: str) -> Event | None:
    """The newest event of a memory by the time in its id."""
    for path in reversed(view.main.event_names(identifier)):
        raw = view.bytes_at(path)
        try:
            return event_from_bytes(raw, path=path) if raw is not None else None
        except CorruptRecord:
            return None
    return None


def _told(ground: Ground, record: Record, events: Sequence[Event]) -> list[Event] | None:
    """The events in order, or None when they do not tell of this change."""

    def fault(code: str, message: str) -> None:
        ground.checked.record(code, message, record.path, record.blob)

    old, new = record.old, record.new
    if not events:
        fault("event.missing", "the record changed and no event says by whom and why")
        return None
    told, complete = in_order(events, digest(memory_bytes(old)) if old else None)
    if not complete:
        fault("event.digest", "the event does not say what the record was")
        return None
    status = old.status if old else None
    for event in told:
        before = event.status_from if status is None and event.op == "accept" else status
        if event.status_from != before and event.op != "merge":  # which tells of two states that it merged
            fault("event.digest", "the event does not say which state the record was in")
            return None
        move = check_move(event.op, before, event.status_to or "")
        if move is not None:
            fault(move.code, move.message)
        status = event.status_to
    if told[-1].after != record.digest or status != new.status:
        fault("event.digest", "the event does not say what the record became")
        return None
    first = told[0]
    if old is None and first.op == "accept" and len(told) == 1:
        candidate = replace(new, status=first.status_from or "candidate")
        if first.before != digest(memory_bytes(candidate)):
            fault("event.digest", "what was accepted is not what was proposed")
    return told


def _changes(record: Record, told: Sequence[Event]) -> Iterator[tuple[Event, Change]]:
    """The change that each event made. Of a squash only both ends are known: the text is taken to have changed once,
    with the last edit or else the first event."""
    old, new = record.old, record.new
    edits = [number for number, event in enumerate(told) if event.op in ("edit", "merge")]
    turn = edits[-1] if edits and old is not None else 0
    for number, event in enumerate(told):
        status = event.status_to or new.status
        before = _before(event, (old or new) if number <= turn else new, first=number == 0 and old is None)
        after = new if number >= turn or old is None else old
        if after.status != status:
            after = replace(after, status=status)
        yield event, Change(op=event.op, before=before, after=after, reason=event.reason)


def _before(event: Event, content: Memory, *, first: bool) -> Memory | None:
    if first and event.op != "accept":
        return None if event.status_from is None else replace(content, status=event.status_from)
    return replace(content, status=event.status_from or "candidate")


def _gate(ground: Ground, record: Record, event: Event, change: Change, facts: Facts) -> None:
    if record.new.status not in VISIBLE and record.new.status != "candidate":
        # In the end nobody is shown it, so it stands in nobody's way.
        facts = replace(facts, neighbours=(), tombstone=None, key_holder=None)
    seen_then = "verified" in event.gate.evidence or not record.new.evidence
    for reason in decide(change, facts, ground.config).reasons:
        if CODES[reason.code].verdict == "hold" and seen_then:
            ground.checked.note(reason.code, reason.message, record.path)
        else:
            ground.checked.record(reason.code, reason.message, record.path, record.blob)


def _origin(ground: Ground, record: Record, op: str, derived: set[str]) -> None:
    """A new record has the origin that the gate gives to what its events say; later changes are the gate's to judge."""
    if record.old is None and op in _CREATES and record.new.origin not in derived:
        given = " or ".join(sorted(derived))
        message = f"the origin says {record.new.origin}; the channel gives {given}"
        ground.checked.record("origin.claimed", message, record.path, record.blob)


def _said_by(event: Event) -> tuple[Event | Proposal, ...]:
    """Who said the text of a record: whoever let it in, or whoever proposed it."""
    return (event,) if event.proposed is None else (event, event.proposed)


def _channel(event: Event, events: Sequence[Event]) -> Channel:
    """By which channel a change came; what a merge says came by those of its sides."""
    said = any(other.actor.channel == "terminal" for other in events)
    return "terminal" if event.op == "merge" and said else event.actor.channel


def _derived(memory: Memory, facts: Facts, op: str, channel: str) -> str:
    came_by = source_channel(op, channel)  # type: ignore[arg-type]
    return derive_origin(came_by, facts.resolutions, lineage(memory, facts.linked))


def _superseded(ground: Ground, record: Record) -> None:
    """Both sides of a supersession stand in one commit."""

    def fault(message: str) -> None:
        ground.checked.record("supersede.half", message, record.path, record.blob)

    old, new = record.old, record.new
    if new.status == "superseded" and (old is None or old.status != "superseded"):
        pairs = [_changed_with(ground, identifier) for identifier in new.linked("superseded_by")]
        if not any(pair is not None and new.id in pair.linked("supersedes") for pair in pairs):
            fault("superseded, and its replacement is not in the same commit")
    known = old.linked("supersedes") if old else ()
    for identifier in new.linked("supersedes") if new.status != "candidate" else ():
        other = None if identifier in known else _changed_with(ground, identifier)
        if identifier not in known and (other is None or other.status != "superseded"):
            fault(f"it supersedes {shown_id(identifier)}, which did not change in this commit")


def _rejected(ground: Ground, record: Record) -> None:
    """`wrong` has its tombstone, and what was lifted has none that stands."""
    old, new = record.old, record.new
    was = old is not None and old.status == "wrong"
    if (new.status == "wrong") == was:
        return
    projects = ground.config.projects if ground.config is not None else (new.scope.project,)
    tombs = [ground.after.tombstone(claim_digest(project, new.kind, new.title, new.body)) for project in projects]
    standing = any(tomb is not None and tomb.standing for tomb in tombs)
    if not was and not standing:
        message = "found wrong, and no tombstone keeps it out"
        ground.checked.record("tombstone.missing", message, record.path, record.blob)
    if was and standing:
        message = "lifted, and its tombstone still stands"
        ground.checked.record("tombstone.standing", message, record.path, record.blob)


def _changed_with(ground: Ground, identifier: str) -> Memory | None:
    """A memory that changed in the same commit."""
    if not is_memory_id(identifier) or memory_path(identifier) not in ground.changed:
        return None
    return ground.after.memory(identifier)
