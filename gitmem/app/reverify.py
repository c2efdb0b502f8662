"""reverify: a person looked at a memory again. It still holds: its code is cited anew as it is today, and it is active
again. Or it does not: another one takes its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gitmem.app.facts import Lookup, sources
from gitmem.app.moves import expanded, find_for, refused, require_person, subject_of, supersede
from gitmem.app.remember import Remembered
from gitmem.app.stale import Cited, Standing, standings
from gitmem.app.workspace import Found, View, Workspace
from gitmem.app.writing import Mutation, status_change, write
from gitmem.errors import GitmemError, UsageError
from gitmem.evidence.drift import Drift
from gitmem.evidence.resolvers import expand
from gitmem.evidence.sources import Sources
from gitmem.model.citations import citation
from gitmem.model.frozen import replace
from gitmem.model.layout import INBOX
from gitmem.model.nouns import Draft, EvidenceRef, FileRef, Memory
from gitmem.model.vocabulary import VISIBLE

_SHOWN: Final = 8  # characters of an id in a command


def reverify(
    workspace: Workspace, prefixes: Sequence[str], evidence: Sequence[str], because: str, *, dry_run: bool = False
) -> list[Found]:
    """Confirm memories: what moved or changed is cited at HEAD, what is gone is no longer cited, `evidence` is added.

    All of them or none. Raises UsageError when nothing that is left supports one: it needs `evidence`; and when one
    would change without a reason. What is as it was needs none.
    """
    require_one(prefixes, evidence)
    same: list[Found] = []

    def plan(view: View, _: Lookup) -> list[Mutation]:
        found = {item.memory.id: item for item in (find_for(view, "reverify", prefix) for prefix in prefixes)}
        for item in found.values():
            require_person(view, "reverify", item.memory, because, here=dry_run)
        mutations = confirming(view, list(found.values()), evidence, because)
        changed = {mutation.change.after.id for mutation in mutations}
        same[:] = [item for identifier, item in found.items() if identifier not in changed]
        return mutations

    done = write(workspace, plan, subject=subject_of("reverify"), dry_run=dry_run).judged
    return [*(Found(item.mutation.change.after, item.mutation.ref) for item in done), *same]


def unexplained(prefixes: Sequence[str], instead: str = "") -> UsageError:
    named = f"{' '.join(prefixes)}{instead}"
    return UsageError("say what you saw: a reason is kept with it", hint=f'gitmem reverify {named} --because "…"')


def to_confirm(workspace: Workspace, prefixes: Sequence[str], evidence: Sequence[str]) -> list[Standing]:
    """The memories that a confirmation would change, with what became of their code, for a person to look at. Raises
    what `reverify` raises."""
    from gitmem.app.belief import believed_view

    found = reverify(workspace, prefixes, evidence, "looked at", dry_run=True)
    view = believed_view(workspace)
    before = [view.find(item.memory.id).memory for item in found]
    changed = [old for old, item in zip(before, found, strict=True) if old != item.memory]
    return standings(changed, sources(view, workspace.env.channel), diffs=True)


def require_one(prefixes: Sequence[str], evidence: Sequence[str]) -> None:
    """Raise UsageError where nothing is named, or evidence for more than one."""
    if not prefixes:
        raise UsageError("reverify which memories?", hint="gitmem stale lists those whose code changed")
    if evidence and len(prefixes) > 1:
        raise UsageError("evidence is for one memory", hint=f"gitmem reverify {prefixes[0]} --evidence file:PATH:LINES")


def confirming(view: View, found: Sequence[Found], evidence: Sequence[str], because: str) -> list[Mutation]:
    """What confirming memories changes; nothing of those that stand as they are."""
    added = expanded(view, evidence)
    mutations = []
    for item in found:
        memory = item.memory
        if memory.status not in VISIBLE or item.ref == INBOX:
            raise refused(
                view, memory, "restore", f"{memory.id} is {memory.status}: reverify is not possible", "status.move",
                "only what is shown can be confirmed", f"gitmem log {memory.id} tells what became of it",
            )  # fmt: skip
        cited = _evidence(view, memory, added)
        why = because.strip()
        if memory.status != "active":
            mutations.append(Mutation(status_change(memory, "restore", "active", why, evidence=cited), item.ref))
        elif cited != memory.evidence:
            mutations.append(Mutation(status_change(memory, "edit", "active", why, evidence=cited), item.ref))
    if mutations and not because.strip():
        raise unexplained([item.memory.id for item in found])
    return mutations


def replaced(workspace: Workspace, prefix: str, title: str, evidence: Sequence[str], because: str) -> Remembered:
    """Put a new claim in the place of a memory; without `evidence` it cites what the old one did, as it is today."""
    from gitmem.app.belief import believed_view

    view = believed_view(workspace)
    old = find_for(view, "reverify", prefix).memory
    cited: tuple[EvidenceRef | str, ...] = tuple(evidence) or _evidence(view, old, [])
    if not because.strip():
        raise unexplained([prefix], ' --instead "…"')
    return supersede(workspace, prefix, Draft(old.kind, title, evidence=cited), because.strip())


def _evidence(view: View, memory: Memory, added: Sequence[EvidenceRef]) -> tuple[EvidenceRef, ...]:
    """The evidence of a memory with its code cited as it is at HEAD."""
    where = sources(view, view.workspace.env.channel)
    found = {id(one.ref): one for standing in standings([memory], where) for one in standing.cited}
    kept: list[EvidenceRef] = []
    for ref in memory.evidence:
        one = found.get(id(ref))
        again = ref if one is None else _again(memory, one, where, bool(added))
        if again is not None and again not in kept:
            kept.append(again)
    cited = (*kept, *(ref for ref in added if ref not in kept))
    if not any(ref.role == "supports" for ref in cited):
        raise _nothing_left(memory, "all that supports it is gone")
    return cited


def _again(memory: Memory, one: Cited, where: Sources, others: bool) -> FileRef | None:
    """A reference at HEAD; None when what it cites is gone, or changed and is replaced by other evidence."""
    ref, drift = one.ref, one.drift
    if drift.verdict == "unobservable" or (drift.verdict == "current" and drift.lines == ref.lines):
        return ref
    if drift.verdict == "gone" or (drift.verdict == "changed" and others):
        return None
    if drift.verdict == "changed" and ref.symbol and "=" in ref.symbol:
        now = _short(ref, drift, ref.symbol.partition("=")[0])
        raise _nothing_left(memory, f"{ref.symbol.partition('=')[0]} is no longer {ref.symbol.partition('=')[2]}", now)
    if drift.verdict == "changed" and ref.lines is not None and drift.lines is None:
        raise _nothing_left(memory, f"no lines of {drift.path} take the place of {citation(ref)}")
    try:
        made = expand(_short(ref, drift, ref.symbol), where)
    except GitmemError:  # the name stands several times, or in a language that is not parsed here
        made = expand(_short(ref, drift, None), where)
    return replace(made, role=ref.role) if isinstance(made, FileRef) else None


def _short(ref: FileRef, drift: Drift, symbol: str | None) -> str:
    if symbol:
        return f"file:{drift.path}::{symbol}"
    return f"file:{drift.path}" + (f"@HEAD:{drift.lines}" if drift.lines and ref.lines else "")


def _nothing_left(memory: Memory, why: str, now: str = "file:PATH:LINES") -> UsageError:
    named = memory.id[:_SHOWN]
    return UsageError(
        f"{named} cannot be confirmed as it is: {why}",
        hint=f"still true: gitmem reverify {named} --evidence {now}; "
        f'no longer: gitmem reverify {named} --instead "…" --evidence {now} --because "…"; '
        f'never was: gitmem wrong {named} --because "…"',
    )
