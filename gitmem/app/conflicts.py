"""What a merge left for people to decide: second texts of a memory, and memories that dispute each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gitmem.app.belief import believed_view
from gitmem.app.facts import Lookup
from gitmem.app.moves import find_for, require_person, require_reason
from gitmem.app.workspace import View, Workspace
from gitmem.app.writing import Mutation, status_change, write
from gitmem.errors import Ambiguous, CorruptRecord, NotFound, Refused, UsageError
from gitmem.model import layout
from gitmem.model.judgement import Change
from gitmem.model.layout import MAIN
from gitmem.model.nouns import Draft, Link, Memory
from gitmem.model.records import event_from_bytes, memory_bytes, memory_from_bytes
from gitmem.model.vocabulary import VISIBLE

_DIGITS = 8  # of a kept text's digest that are shown
# What a kept text says where it differs; its lists are in the memory already, and its state is a person's to give.
_SAID = ("title", "body", "cue", "steps", "valid")


@dataclass(frozen=True)
class Kept:
    """The record of the side that gave way, as it was. `name`: the first digits of its digest; `path`: its file."""

    name: str
    path: str
    memory: Memory


@dataclass(frozen=True)
class Conflict:
    """One memory to be settled. `rivals`: the ids of those that it cannot stand beside. `why`: what the merge said."""

    memory: Memory
    kept: tuple[Kept, ...]
    rivals: tuple[str, ...]
    why: str

    def diff(self, kept: Kept) -> str:
        """What the kept text has otherwise than the memory."""
        from difflib import unified_diff

        now, then = (memory_bytes(m).decode().splitlines() for m in (self.memory, kept.memory))
        return "\n".join(unified_diff(now, then, "the memory", f"kept {kept.name}", lineterm="", n=1))


def conflicts(workspace: Workspace, disputed: Iterable[Memory]) -> list[Conflict]:
    """Everything to be settled: what has a second text, and what is `disputed`, as the index found it; by id."""
    view = believed_view(workspace)
    ids = {entry.name for entry in view.main.children(layout.CONFLICTS)} | {memory.id for memory in disputed}
    found = (view.memory(identifier) for identifier in sorted(ids))
    return [_conflict(view, memory) for memory in found if memory is not None]


def conflict(workspace: Workspace, prefix: str) -> Conflict:
    """What there is to settle about one memory. Raises NotFound when there is nothing."""
    view = believed_view(workspace)
    return _to_settle(view, prefix)


def resolve(workspace: Workspace, prefix: str, take: str | Draft, reason: str) -> Memory:
    """Settle one memory: it stands, says what `take` says, and what was kept beside it goes.

    `take` is `ours` (what the memory says), `theirs` (the one kept text), the first digits of a kept text, or a draft
    whose text it is to say. What disputes it is superseded by it, or archived when it is of another kind.
    """
    require_asked(prefix, take, reason)

    def plan(view: View, _: Lookup) -> list[Mutation]:
        memory = _to_settle(view, prefix).memory
        require_person(view, "conflicts resolve", memory, reason)
        return settling(view, prefix, take, reason)

    def subject(mutations: Sequence[Mutation]) -> str:
        return f"settle {mutations[0].change.after.id}" if mutations else "settle"

    outcome = write(workspace, plan, subject=subject)
    ours = outcome.judged[0].mutation.change.after.id
    return [item.mutation.change.after for item in outcome.judged if item.mutation.change.after.id == ours][-1]


def require_asked(prefix: str, take: str | Draft, reason: str) -> None:
    """Raise UsageError where nobody says why."""
    require_reason(reason, f"gitmem conflicts resolve {prefix} {_asked(take)}")


def settling(view: View, prefix: str, take: str | Draft, reason: str) -> list[Mutation]:
    """What settling one memory changes."""
    found = _to_settle(view, prefix)
    memory = found.memory
    said = _said(found, take)
    settled = tuple(kept.path for kept in found.kept)
    if said == memory and memory.status != "disputed":
        # Nothing of it changes; that the other text goes has its event.
        op: Any = "edit" if memory.status in VISIBLE else "merge"
        return [Mutation(Change(op, memory, before=memory, reason=reason), MAIN, settles=settled)]
    if memory.status not in VISIBLE and memory.status not in ("disputed", "archived", "candidate"):
        raise _not_from_here(memory)
    rivals = [rival for rival in map(view.memory, found.rivals) if rival is not None]
    if memory.status == "disputed" or memory.status == "archived":
        links = [Link("supersedes", rival.id) for rival in rivals if rival.kind == memory.kind]
        back = status_change(memory, "restore", "active", reason, links=(*memory.links, *links))
    else:
        back = Change("edit", memory, before=memory, reason=reason)
    stands = back.after
    mutations = [Mutation(back, MAIN, settles=settled)] if back.op == "restore" else []
    new = replace(stands, **{name: getattr(said, name) for name in _SAID})
    if new != stands:
        mutations.append(Mutation(Change("edit", new, before=stands, reason=reason), MAIN, settles=settled))
    return [*mutations, *(_gives_way(rival, memory, reason) for rival in rivals)]


def _to_settle(view: View, prefix: str) -> Conflict:
    found = find_for(view, "conflicts", prefix)
    there = _conflict(view, found.memory) if found.ref == MAIN else None
    if there is None or (not there.kept and there.memory.status != "disputed"):
        raise NotFound(f"{found.memory.id} is {found.memory.status}, with nothing to settle", hint="gitmem conflicts")
    return there


def _asked(take: str | Draft) -> str:
    """The flag by which a person asked for this text."""
    return "--file DRAFT" if isinstance(take, Draft) else f"--take {take}"


def _said(found: Conflict, take: str | Draft) -> Memory:
    """The memory with the text that is taken."""
    memory = found.memory
    if isinstance(take, Draft):
        if take.kind != memory.kind:
            raise UsageError(f"the draft is a {take.kind} and {memory.id} is a {memory.kind}", hint="keep its kind")
        return replace(memory, **{name: getattr(take, name) for name in _SAID})
    if take == "ours":
        return memory
    chosen = [kept for kept in found.kept if take == "theirs" or kept.name.startswith(take)]
    named = ", ".join(kept.name for kept in found.kept)
    if not chosen:
        raise NotFound(
            f"no other text of {memory.id} is kept" + (f" as {take!r}; there is {named}" if named else ""),
            hint=f"gitmem conflicts show {memory.id}",
        )
    if len(chosen) > 1:
        raise Ambiguous(
            f"{len(chosen)} other texts of {memory.id} are kept: {named}", hint=f"--take {chosen[0].name} takes one"
        )
    return replace(memory, **{name: getattr(chosen[0].memory, name) for name in _SAID})


def _gives_way(rival: Memory, memory: Memory, reason: str) -> Mutation:
    if rival.kind != memory.kind:
        return Mutation(status_change(rival, "retract", "archived", reason), MAIN)
    links = (*rival.links, Link("superseded_by", memory.id))
    return Mutation(status_change(rival, "supersede", "superseded", reason, links=links), MAIN)


def _not_from_here(memory: Memory) -> Refused:
    ways = {
        "wrong": f'gitmem lift {memory.id} --because "…" first, then take the other text',
        "superseded": "supersede what replaced it with the other text",
    }
    return Refused(
        f"{memory.id} is {memory.status}: another text does not bring it back; nothing was written",
        hint=ways.get(memory.status, f"gitmem log {memory.id}"),
    )


def _conflict(view: View, memory: Memory) -> Conflict:
    kept = []
    for entry in view.main.children(f"{layout.CONFLICTS}/{memory.id}"):
        path = f"{layout.CONFLICTS}/{memory.id}/{entry.name}"
        named, raw = layout.conflict_of_path(path), view.main.read(path)
        if named is None or raw is None:
            continue
        try:
            kept.append(Kept(named[1][:_DIGITS], path, memory_from_bytes(raw, path=path)))
        except CorruptRecord:
            continue  # `verify` says so
    rivals = sorted(_rivals(view, memory)) if memory.status == "disputed" else []
    return Conflict(memory, tuple(kept), tuple(rivals), _why(view, memory.id))


def _rivals(view: View, memory: Memory) -> set[str]:
    """The disputed memories that took the place of the same one, or that hold the same key."""
    from gitmem.app.facts import index_lookup

    named: set[str] = set()
    for identifier in memory.linked("supersedes"):
        old = view.memory(identifier)
        named |= set(old.linked("superseded_by")) if old is not None else set()
    if memory.key is not None:
        named |= set(index_lookup(view).key_holders(memory.key))
    found = (view.memory(identifier) for identifier in named - {memory.id})
    return {other.id for other in found if other is not None and _disputes(other, memory)}


def _disputes(other: Memory, memory: Memory) -> bool:
    beside = bool(set(other.linked("supersedes")) & set(memory.linked("supersedes")))
    same_key = memory.key is not None and (other.key, other.scope) == (memory.key, memory.scope)
    return other.status == "disputed" and (beside or same_key)


def _why(view: View, identifier: str) -> str:
    """What the newest event that withheld it says."""
    for path in reversed(view.main.event_names(identifier)):
        raw = view.main.read(path)
        event = event_from_bytes(raw, path=path, trusted=True) if raw is not None else None
        if event is not None and event.op in ("merge", "dispute"):
            return event.reason
    return ""
