"""The judgement of what is on the branch beside memories and events: the policy, the attributes, tombstones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from gitmem.app.signing import people_of, signature
from gitmem.app.verify_fault import Checked
from gitmem.app.verify_record import Ground, in_order
from gitmem.app.verify_view import JudgedView
from gitmem.errors import CorruptRecord
from gitmem.model import layout
from gitmem.model.claims import claim_digest
from gitmem.model.nouns import Config, Event, Tombstone
from gitmem.model.records import (
    config_from_bytes,
    digest,
    memory_bytes,
    memory_from_bytes,
    texts,
    tombstone_from_bytes,
)
from gitmem.model.vocabulary import KIND_CLASS
from gitmem.policy.secrets import find_secrets
from gitmem.store.snapshot import Changed

_SETTINGS: Final = (layout.CONFIG, layout.ATTRIBUTES, layout.SCHEMA)
# A filter, a diff or a merge driver starts a program of whoever checks the branch out.
_PASSIVE: Final = frozenset({"text", "-text", "eol=lf", "merge=binary", "-merge", "-diff", "binary"})


def policy(checked: Checked, before: JudgedView, after: JudgedView) -> Config | None:
    """The policy that judges a commit: the one of the state before it, or its own when that had none."""
    raw = after.bytes_at(layout.CONFIG)
    if raw is None:
        checked.tip("config.missing", "there is no gitmem.yaml", layout.CONFIG)
        return None
    try:
        new = config_from_bytes(raw, path=layout.CONFIG)
    except CorruptRecord as error:
        checked.tip("config.shape", error.message, layout.CONFIG)
        return None
    old = before.config
    if old is None:
        return new
    if new.project != old.project and old.project not in new.aliases:
        checked.tip("config.project", "the project id changed", layout.CONFIG)
    return old


def signed_policy(checked: Checked, before: JudgedView, raw: bytes) -> None:
    """A fault when gitmem.yaml changed, the policy before names people by their keys, and none of them signed.

    raw: the bytes of the commit.
    """
    people = people_of(before.config)
    if people and signature(raw, people).state != "good":
        names = ", ".join(sorted({one.principal for one in people}))
        message = f"the policy changed without the signature of one whom the policy before it names ({names})"
        checked.tip("policy.unsigned", message, layout.CONFIG)


def settings(checked: Checked, before: JudgedView, after: JudgedView, events: Sequence[Event]) -> None:
    """The policy events of a commit against what became of gitmem.yaml."""
    changes = [event for event in events if event.op == "policy"]
    for event in events:
        path = layout.event_path(event.id, None)
        if event.op != "policy":
            checked.tip("event.loose", f"an event tells of {event.op} and names no memory", path)
        elif before.config is not None and event.actor.channel != "terminal":
            checked.tip("policy.authority", f"a {event.actor.channel} channel changed the policy", path)
    old, new = before.bytes_at(layout.CONFIG), after.bytes_at(layout.CONFIG)
    if not changes:
        return
    told, complete = in_order(changes, digest(old) if old is not None else None)
    if not complete or new is None or told[-1].after != digest(new):
        where = layout.event_path(changes[-1].id, None)
        checked.tip("event.digest", "the event does not say what gitmem.yaml was and became", where)


def others(checked: Checked, after: JudgedView, changes: Sequence[Changed], *, told: bool) -> None:
    """The few files beside the records: they change only with an event that says so."""
    for change in changes:
        path = change.path
        if path in _SETTINGS and not told:
            checked.tip("event.missing", f"{path} changed and no event says by whom and why", path)
        elif path in (*_SETTINGS, layout.README) and change.new is None:
            checked.tip("file.removed", f"{path} was removed", path)
        if path == layout.ATTRIBUTES and change.new is not None:
            active = next(_active(after.bytes_at(path) or b""), None)
            if active is not None:
                checked.tip(
                    "attributes.active", f"line {active} may start a program where the branch is checked out", path
                )


def _active(raw: bytes) -> Iterator[int]:
    """The lines of a .gitattributes that set anything but how text is kept."""
    for number, line in enumerate(raw.decode("utf-8", "replace").splitlines(), 1):
        words = line.split()
        if words and not words[0].startswith("#") and (words[0].startswith("[") or not _PASSIVE.issuperset(words[1:])):
            yield number


def tombstone(ground: Ground, change: Changed, events_of: Callable[[str], Sequence[Event]]) -> None:
    """One changed tombstone: only ever added to, by a person, with the event that tells of it."""
    checked, path = ground.checked, change.path
    if change.new is None:
        checked.tip("tombstone.removed", "a tombstone was removed; gitmem lift is its opposite", path)
        return
    raw = ground.after.bytes_at(path)
    try:
        new = tombstone_from_bytes(raw or b"", path=path)
    except CorruptRecord as error:
        checked.tip("record.shape", error.message, path)
        return
    if layout.tombstone_of_path(path) != new.digest:
        checked.tip("tombstone.path", "the file is not named by the digest in it", path)
    if ground.config is not None and new.project not in ground.config.projects:
        checked.tip("scope.project", "the tombstone belongs to another project", path)
    if (new.title or new.body) and not _says_its_claim(new):
        checked.tip("tombstone.digest", "the digest is not that of the claim", path)
    kept = _history_before(ground, change)
    added = new.history[len(kept) :]
    if new.history[: len(kept)] != kept or not added:
        checked.tip("tombstone.rewritten", "the history of a tombstone was rewritten", path)
    for entry in added:
        told = [event for event in events_of(entry.memory) if event.id == entry.event]
        if not told or told[0].op != entry.op or told[0].reason != entry.reason:
            checked.tip("event.missing", f"no event tells of this {entry.op}", path)
        elif not _by_a_person(ground, told[0]):
            checked.tip("channel.authority", f"a {told[0].actor.channel} channel wrote a tombstone", path)
    ground.lookup.rejected(new)


def _by_a_person(ground: Ground, event: Event) -> bool:
    """Whether a person wrote a tombstone: at a terminal, or by asking the forge where the policy leaves it that."""
    if event.actor.channel == "forge" and ground.config is not None and ground.config.review == "forge":
        return event.proposed is not None and event.proposed.actor.channel == "terminal"
    return event.actor.channel == "terminal"


def conflict(ground: Ground, change: Changed, events_of: Callable[[str], Sequence[Event]]) -> None:
    """One changed file of conflicts/: a merge keeps a text there, and whoever settles it takes it away."""
    checked, path = ground.checked, change.path
    found = layout.conflict_of_path(path)
    if found is None:
        return  # the tree says so
    events = events_of(found[0])
    if change.new is None:
        if not events:
            checked.tip("conflict.removed", "a text that waited for a person was removed, and no event says why", path)
        return
    raw = ground.after.bytes_at(path) or b""
    try:
        memory = memory_from_bytes(raw, path=path)
    except CorruptRecord as error:
        checked.tip("record.shape", error.message, path)
        return
    if memory.id != found[0] or digest(memory_bytes(memory)) != found[1]:
        checked.tip("conflict.path", "the text is not the one that its name says", path)
    if change.old is None and not any(event.op == "merge" for event in events):
        checked.tip("conflict.loose", "a text is kept beside a memory, and no merge tells of it", path)
    if any(find_secrets(text) for _, text in texts(memory)):
        checked.tip("secret", "a text that is kept beside a memory holds what looks like a secret", path)


def _history_before(ground: Ground, change: Changed) -> tuple[object, ...]:
    old = ground.before.tombstone(layout.tombstone_of_path(change.path) or "") if change.old is not None else None
    return old.history if old is not None else ()


def _says_its_claim(tomb: Tombstone) -> bool:
    kinds = (kind for kind, name in KIND_CLASS.items() if name == tomb.kind_class)
    return any(claim_digest(tomb.project, kind, tomb.title, tomb.body) == tomb.digest for kind in kinds)
