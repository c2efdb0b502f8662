"""What a merge commit itself decided: it may only carry both sides on, and of a record the side that knows more.

A merge can hide a change in either direction: something that neither side had, or the older of two sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gitmem.app.facts import gather
from gitmem.app.verify_fault import Checked
from gitmem.app.verify_record import Ground
from gitmem.app.verify_view import JudgedView
from gitmem.errors import CorruptRecord
from gitmem.model import layout
from gitmem.model.claims import claim_digest
from gitmem.model.judgement import Change
from gitmem.model.nouns import Memory
from gitmem.model.records import event_from_bytes
from gitmem.model.vocabulary import VISIBLE
from gitmem.policy.gate import decide
from gitmem.store.objects import Entry
from gitmem.store.snapshot import Changed, changed_paths

_SETTINGS: Final = (layout.CONFIG, layout.ATTRIBUTES, layout.SCHEMA)
# Two clean sides may not go together: one rejected what the other says, both hold one key, both say the same.
_BETWEEN_SIDES: Final = frozenset({"tombstoned", "key.taken"})


@dataclass(frozen=True)
class Taken:
    """A path that the merge took from some parents although others have something else there."""

    path: str
    new: Entry | None
    sides: tuple[JudgedView, ...]
    others: tuple[JudgedView, ...]


def split(parents: Sequence[JudgedView], after: JudgedView) -> tuple[list[Changed], list[Taken]]:
    """What the commit made itself, and what it took from one of several parents.

    The `old` of a change is the first parent's entry, or that of the first parent that has the path.
    """
    backend, tree = after.main.backend, after.main.tree
    if len(parents) == 1:
        return list(changed_paths(backend, parents[0].main.tree, tree)), []
    differing: dict[str, Entry | None] = {}
    for parent in parents:
        differing.update((c.path, c.new) for c in changed_paths(backend, parent.main.tree, tree))
    own: list[Changed] = []
    taken: list[Taken] = []
    for path, new in sorted(differing.items()):
        entries = [parent.main.entry(path) for parent in parents]
        sides = tuple(p for p, entry in zip(parents, entries, strict=True) if entry == new)
        if sides:
            others = tuple(p for p, entry in zip(parents, entries, strict=True) if entry != new)
            taken.append(Taken(path, new, sides, others))
        else:
            own.append(Changed(path, next((entry for entry in entries if entry is not None), None), new))
    return own, taken


def check_taken(checked: Checked, taken: Sequence[Taken]) -> None:
    """Faults for every path where the merge went back behind one of its sides."""
    for item in taken:
        if item.path.startswith(f"{layout.EVENTS}/"):
            if item.new is None or any(side.main.entry(item.path) for side in item.others):
                checked.tip(
                    "event.rewritten", "the merge lost or replaced an event; events are only ever added", item.path
                )
        elif item.path.startswith(f"{layout.TOMBSTONES}/"):
            _tombstone(checked, item)
        elif (identifier := layout.memory_of_path(item.path)) is not None:
            _memory(checked, item, identifier)
        elif item.path in _SETTINGS and not _knows_more(item, None):
            checked.tip("merge.rollback", f"the merge took an older {item.path}", item.path)
        elif item.path == layout.README and item.new is None:
            checked.tip("file.removed", f"{item.path} was removed", item.path)


def check_together(ground: Ground, taken: Sequence[Taken]) -> None:
    """Faults for what the other sides brought and the first parent's records do not allow beside them."""
    for item in taken:
        identifier = layout.memory_of_path(item.path)
        memory = ground.after.memory(identifier) if identifier and item.new else None
        if memory is None or item.new is None or memory.status not in VISIBLE:
            continue
        ground.lookup.at(ground.after)
        if item.sides[0] is ground.before and not _gained_tombstone(ground, memory):
            continue
        change = Change(op="restore", before=memory, after=memory, reason="merged")
        facts = gather(ground.after, change, ground.lookup, channel="terminal")
        for reason in decide(change, facts, ground.config).reasons:
            if reason.code in _BETWEEN_SIDES:
                ground.checked.record(reason.code, reason.message, item.path, item.new.oid)
            elif reason.code == "duplicate":
                ground.checked.note(reason.code, reason.message, item.path)


def _gained_tombstone(ground: Ground, memory: Memory) -> bool:
    key = claim_digest(memory.scope.project, memory.kind, memory.title, memory.body)
    return ground.before.tombstone(key) != ground.after.tombstone(key)


def _tombstone(checked: Checked, item: Taken) -> None:
    key = layout.tombstone_of_path(item.path) or ""
    now = item.sides[0].tombstone(key) if item.new is not None else None
    for other in item.others:
        theirs = other.tombstone(key)
        if theirs is None:
            continue
        if now is None:
            checked.tip("tombstone.removed", "the merge lost a tombstone; gitmem lift is its opposite", item.path)
        elif now.history[: len(theirs.history)] != theirs.history:
            checked.tip("tombstone.rewritten", "the merge lost a part of a tombstone's history", item.path)


def _memory(checked: Checked, item: Taken, identifier: str) -> None:
    if item.new is None:
        if any(name for other in item.others for name in _names(other, identifier)):
            checked.tip("memory.removed", "the merge lost a memory that one side has", item.path)
    elif not _knows_more(item, identifier):
        message = "the merge took a side that does not know of every change to the record"
        checked.record("merge.rollback", message, item.path, item.new.oid)


def _knows_more(item: Taken, identifier: str | None) -> bool:
    """True when a side that was taken has every event of the subject that the other sides have."""
    theirs = {name for other in item.others for name in _names(other, identifier)}
    return any(theirs <= set(_names(side, identifier)) for side in item.sides)


def _names(view: JudgedView, identifier: str | None) -> Iterator[str]:
    for path in view.main.event_names(identifier):
        if identifier is not None or _is_policy(view, path):
            yield path


def _is_policy(view: JudgedView, path: str) -> bool:
    raw = view.bytes_at(path)
    try:
        event = event_from_bytes(raw, path=path) if raw is not None else None
    except CorruptRecord:
        return False
    return event is not None and event.op == "policy"
