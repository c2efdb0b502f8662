"""Rules about the move: whose record, who may, from which state to which, and what may not change on the way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Final

from gitmem.model.judgement import Change, Facts, Reason
from gitmem.model.nouns import Config, Memory
from gitmem.model.vocabulary import STATUSES, VISIBLE
from gitmem.policy.codes import reason, shown_id
from gitmem.policy.landing import LEFT_TO_THE_FORGE
from gitmem.policy.origin import adds_only, origin_of, rank
from gitmem.policy.texts import WITHDRAWING, claims
from gitmem.policy.transitions import check_move

_NEEDS_NO_REASON: Final = frozenset({"create", "import"})
_PROPOSERS: Final = frozenset({"agent", "tool", "capture", "import", "merge"})
_DECIDERS: Final = frozenset({"terminal", "forge"})
_DECIDING: Final = frozenset({"accept", "reject", "lift", "restore", "mark", "redact", "policy"})
# What a move between states may touch besides the state; a superseded record ends when the next one starts.
_MOVED: Final = frozenset({"status", "links", "evidence"})
_MOVED_TOO: Final = {"supersede": frozenset({"valid"}), "lift": frozenset({"origin"})}
_MOVES: Final = WITHDRAWING | {"accept", "restore", "lift"}
_FIXED: Final = ("id", "kind", "key", "format")


def own_project(change: Change, facts: Facts, config: Config | None) -> Iterator[Reason]:
    if config is not None and change.after.scope.project not in config.projects:
        message = "the record belongs to another project than this repository"
        yield reason("scope.project", message, "gitmem doctor names the project of this repository", "scope.project")


def fitting_store(change: Change, facts: Facts, config: Config | None) -> Iterator[Reason]:
    """What is on the branch is read by everybody who has the repository."""
    before, after = change.before, change.after
    if claims(change) and after.scope.audience in ("private", "user") and not facts.private_store:
        message = "the record is for its writer only, and everything on gitmem/main is read by the whole team"
        yield reason("audience.store", message, "gitmem remember --private, or --user", "scope.audience")
    if before is not None and before.scope.audience != after.scope.audience:
        message = f"{shown_id(before.id)} is for the audience {before.scope.audience}, and stays so"
        hint = f"gitmem promote {shown_id(before.id)} proposes it to the team; remember anew what is for fewer"
        yield reason("audience.fixed", message, hint, "scope.audience")


def authority(change: Change, facts: Facts, config: Config | None) -> Iterator[Reason]:
    """A program may propose. Belief, and who may read, are decided by a person: here, or by merging on the forge."""
    if facts.channel == "forge" and change.op in _DECIDING | LEFT_TO_THE_FORGE:
        merges = config is not None and config.review == "forge" and change.op in LEFT_TO_THE_FORGE | {"accept"}
        if not merges:
            message = f"the policy does not leave {change.op} to the forge"
            yield reason("channel.authority", message, "a person does this at a terminal", "op")
        elif change.op != "accept" and facts.asked != "terminal":
            message = f"a person at a terminal asks the forge for {change.op}, and nobody did"
            yield reason("channel.authority", message, "a person proposes it: gitmem wrong ID, and the like", "op")
    if facts.channel not in _PROPOSERS:
        return
    before, after = change.before, change.after
    hint = "a person does this at a terminal: gitmem accept ID, and the like"
    if change.op in _DECIDING:
        yield reason("channel.authority", f"{change.op} is not for the channel {facts.channel}", hint, "op")
    shared = after.scope.audience == "team" or facts.channel != "capture"
    if before is None and after.status in VISIBLE and shared:
        message = f"the channel {facts.channel} may add candidates, not what everybody is shown"
        yield reason("channel.authority", message, hint, "status")


def legal_move(change: Change, facts: Facts, config: Config | None) -> Iterator[Reason]:
    if change.after.status not in STATUSES:
        return  # status.unknown says it
    fault = check_move(change.op, change.before.status if change.before is not None else None, change.after.status)
    if fault is not None:
        yield fault


def says_why(change: Change, facts: Facts, config: Config | None) -> Iterator[Reason]:
    if change.op not in _NEEDS_NO_REASON and not any(char.isalnum() for char in change.reason):
        yield reason("reason.missing", "the change does not say why", 'add --because "…"', "reason")


def fixed_fields(change: Change, facts: Facts, config: Config | None) -> Iterator[Reason]:
    before, after = change.before, change.after
    if before is None:
        return
    changed = [field.name for field in fields(Memory) if getattr(before, field.name) != getattr(after, field.name)]
    faults = [name for name in changed if name in _FIXED]
    if before.scope.project != after.scope.project:
        faults.append("scope.project")
    if change.op in _MOVES:
        allowed = _MOVED | _MOVED_TOO.get(change.op, frozenset())
        faults += [name for name in changed if name not in allowed and name not in faults]
        if "scope.project" in faults and "scope" in faults:
            faults.remove("scope")
    if before.origin != after.origin and "origin" not in faults and not _rederived(change, facts):
        faults.append("origin")
    for name in faults:
        hint = "write a new memory and supersede this one: gitmem supersede " + shown_id(before.id)
        if change.op in _MOVES:
            hint = f"change it by itself first: gitmem edit {shown_id(before.id)}"
        yield reason("field.immutable", f"{change.op} may not change {name}", hint, name)


def _rederived(change: Change, facts: Facts) -> bool:
    return change.op in ("edit", "lift", "merge") and change.after.origin == origin_of(change, facts)


def higher_origin_stays(change: Change, facts: Facts, config: Config | None) -> Iterator[Reason]:
    """What a person said is not overwritten by what a program inferred, neither in place nor by a replacement."""
    before, after = change.before, change.after
    if after.status == "candidate" or (facts.channel in _DECIDERS and change.op in ("accept", "supersede")):
        return  # a proposal overwrites nothing, and whoever lets it in has decided
    mine = origin_of(change, facts)
    replaced = after.linked("supersedes") if after.status in VISIBLE else ()  # what is put away overwrites nothing
    overwritten = [facts.linked[old] for old in replaced if old in facts.linked]
    if change.op == "edit" and before is not None and not adds_only(before, after):
        overwritten.append(before)
    for old in overwritten:
        if rank(mine) < rank(old.origin):
            message = (
                f"this would be of origin {mine} and overwrite {shown_id(old.id)}, which is of origin {old.origin}"
            )
            hint = f"a person may at a terminal: gitmem edit {shown_id(old.id)}, gitmem supersede {shown_id(old.id)}"
            yield reason("origin.lower", message, hint, shown_id(old.id))
    if change.op == "supersede":
        for new in _replacements(after, facts):
            if rank(new.origin) < rank(after.origin):
                message = f"{shown_id(new.id)} is of origin {new.origin} and would replace one of origin {after.origin}"
                hint = f"a person may do it at a terminal: gitmem supersede {shown_id(after.id)}"
                yield reason("origin.lower", message, hint, shown_id(new.id))


def fitting_replacement(change: Change, facts: Facts, config: Config | None) -> Iterator[Reason]:
    after = change.after
    pairs = [(facts.linked[old], after) for old in after.linked("supersedes") if old in facts.linked]
    if change.op == "supersede":
        replacements = _replacements(after, facts)
        pairs += [(after, new) for new in replacements]
        if not replacements:
            message = "the memory is superseded by nothing that exists"
            yield reason(
                "replacement.missing", message, f"gitmem supersede {shown_id(after.id)} writes both sides", "links"
            )
    for old, new in pairs:
        if old.kind != new.kind:
            message = f"{shown_id(new.id)} is a {new.kind} and {shown_id(old.id)} is a {old.kind}"
            hint = f"retract the old one instead: gitmem retract {shown_id(old.id)}"
            yield reason("replacement.kind", message, hint, "links")
        if (old.scope.project, old.scope.audience) != (new.scope.project, new.scope.audience):
            message = f"{shown_id(new.id)} and {shown_id(old.id)} are not for the same project and audience"
            yield reason("replacement.scope", message, "write the replacement for the same readers", "links")


def _replacements(after: Memory, facts: Facts) -> list[Memory]:
    return [facts.linked[new] for new in after.linked("superseded_by") if new in facts.linked and new != after.id]


RULES: Final = (
    own_project,
    fitting_store,
    authority,
    legal_move,
    says_why,
    fixed_fields,
    higher_origin_stays,
    fitting_replacement,
)
