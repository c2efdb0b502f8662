"""What a merge commit itself decided: only what gitmem makes of the two sides, or of a record the side that knows more.

A merge can hide a change in either direction: something that neither side had, or the older of two sides. It is all
one who merged: gitmem, a forge's button or a person's `git merge`; what comes out is judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from gitmem.app.facts import gather
from gitmem.app.merge_base import readable
from gitmem.app.merge_sides import File, joined_views
from gitmem.app.signing import people_of
from gitmem.app.verify_fault import Checked
from gitmem.app.verify_record import Ground
from gitmem.app.verify_view import JudgedView
from gitmem.app.workspace import Workspace
from gitmem.errors import CorruptRecord
from gitmem.model import layout
from gitmem.model.claims import claim_digest
from gitmem.model.judgement import Change
from gitmem.model.nouns import Memory
from gitmem.model.records import event_from_bytes
from gitmem.model.vocabulary import VISIBLE
from gitmem.policy.gate import decide
from gitmem.store.objects import Entry, object_id
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


@dataclass(frozen=True)
class Unexplained:
    """What of a merge commit is not what gitmem makes of its sides, and has to be judged otherwise.

    `made`: the changes that are; `untold`: the records among these of which no event tells, as when a forge merged.
    `withheld`: why a record that was taken as it is should not be shown, by its path.
    """

    own: list[Changed]
    taken: list[Taken]
    made: list[Changed]
    untold: tuple[str, ...] = ()
    withheld: Mapping[str, str] = field(default_factory=dict)


def unexplained(
    workspace: Workspace, parents: Sequence[JudgedView], after: JudgedView, own: list[Changed], taken: list[Taken]
) -> Unexplained:
    """Compare a merge commit with what gitmem makes of its sides. More than two sides are explained by nothing."""
    if len(parents) != 2:
        return Unexplained(own, taken, [])
    backend = after.main.backend
    expected = joined_views(workspace, *parents)

    def as_expected(path: str, entry: Entry | None) -> bool:
        if path not in expected.files:
            return False
        wanted = expected.files[path]
        if isinstance(wanted, bytes):
            return entry is not None and entry.oid == object_id("blob", wanted, backend.object_format)
        return (entry and (entry.mode, entry.oid)) == (wanted and (wanted.mode, wanted.oid))

    made = [change for change in own if as_expected(change.path, change.new)]
    left = [change for change in own if not as_expected(change.path, change.new)]
    alike = [change for change in left if _says_the_same(after, change, expected.files.get(change.path))]
    made += alike
    rest = [item for item in taken if not as_expected(item.path, item.new)]
    # Of the events that come out, those that a merge writes itself are bytes; the others lie on a side.
    written = [path for path, data in expected.files.items() if isinstance(data, bytes) and _told_of(path)]
    told = {_told_of(path) for path in written if after.main.entry(path) is not None}
    untold = tuple(
        change.path
        for change in made
        if (identifier := layout.memory_of_path(change.path)) is not None and identifier not in told
    )
    return Unexplained([c for c in left if c not in alike], rest, made, untold, expected.withheld)


def _told_of(path: str) -> str:
    """The subject of an event path, "" for another path."""
    return path.rsplit("/", 1)[-1].removesuffix(".json").partition(".")[2] if layout.event_of_path(path) else ""


def _says_the_same(after: JudgedView, change: Changed, wanted: File) -> bool:
    """A forge that merged two texts line by line may have got the very record, in another layout."""
    identifier = layout.memory_of_path(change.path)
    if identifier is None or not isinstance(wanted, bytes):
        return False
    found = after.memory(identifier)
    return found is not None and found == readable(wanted, change.path)


def check_own(checked: Checked, own: Sequence[Changed]) -> None:
    """Faults for what the merge made and gitmem does not make of its sides."""
    for change in own:
        if change.path.startswith(f"{layout.MEMORIES}/") and change.new is not None:
            message = "the merge made of the record what follows from neither side"
            checked.record("merge.own", message, change.path, change.new.oid)
        elif change.path.startswith((f"{layout.CONFLICTS}/", f"{layout.EVENTS}/")) and change.old is None:
            checked.tip("merge.own", "the merge brought a file that neither side has", change.path)


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
        elif item.path.startswith(f"{layout.CONFLICTS}/"):
            checked.tip("conflict.removed", "the merge lost or brought back a text that waits for a person", item.path)
        elif item.path in _SETTINGS and (_protected(item) or not _knows_more(item, None)):
            checked.tip("merge.rollback", f"the merge took an older {item.path}", item.path)
        elif item.path == layout.README and item.new is None:
            checked.tip("file.removed", f"{item.path} was removed", item.path)


def check_together(ground: Ground, taken: Sequence[Taken], withheld: Mapping[str, str]) -> None:
    """Faults for what the other sides brought and the first parent's records do not allow beside them.

    `withheld`: what gitmem would have said, by path, had it merged.
    """
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
        found = decide(change, facts, ground.config).reasons
        if item.path in withheld and not any(reason.code in _BETWEEN_SIDES for reason in found):
            ground.checked.record("merge.disputed", withheld[item.path], item.path, item.new.oid)
        for reason in found:
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


def _protected(item: Taken) -> bool:
    """The policy of sides that name people is what gitmem makes of them, whatever events lie beside it."""
    return item.path == layout.CONFIG and any(people_of(side.config) for side in (*item.sides, *item.others))


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
