"""Rules about other records: links, likeness to a live or a rejected one, the exclusive key."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gitmem.model.claims import claim_digest
from gitmem.model.judgement import Change, Facts, Neighbour, Reason
from gitmem.model.nouns import Config, Memory
from gitmem.model.vocabulary import KIND_CLASS, LINK_TYPES, PROBLEM_LINK, VISIBLE, WAITING
from gitmem.policy.codes import reason, shown_id
from gitmem.policy.near import NEAR
from gitmem.policy.secrets import find_secrets
from gitmem.policy.texts import claims

_TYPED: Final = re.compile(r"[A-Za-z0-9]{1,12}")  # what may be repeated: too short to hold a secret
_ENTERING: Final = frozenset({"create", "import", "accept"})
_LIVE: Final = frozenset({*VISIBLE, "candidate", "disputed"})
_BELIEVING: Final = frozenset({"accept", "restore", "lift"})
_UNREJECTED: Final = frozenset({"lift", "reject"})


def links(change: Change, facts: Facts, config: Config | None) -> Iterator[Reason]:
    known = change.before.links if change.before is not None and not claims(change) else ()
    for number, link in enumerate(change.after.links):
        where = f"links[{number}]"
        if link in known:
            continue
        if link.type not in LINK_TYPES:
            hint = f"use one of {', '.join(LINK_TYPES)}"
            yield reason("link.type", f"{where} is of no type that gitmem knows", hint, f"{where}.type")
        if link.type == "differs_from" and not any(char.isalnum() for char in link.why or ""):
            hint = f'say it: --distinct-from {shown_id(link.to)} --because "…"'
            yield reason("link.why", f"{where} does not say in what the two differ", hint, f"{where}.why")
        if link.to == change.after.id:
            yield reason("link.self", f"{where} leads back to the memory itself", "leave it out", f"{where}.to")
        elif not _is_here(facts.linked.get(link.to), config):
            typed = f" ({link.type} {link.to})" if _TYPED.fullmatch(link.to) and link.type in LINK_TYPES else ""
            message = f"{where}{typed} leads to no memory of this project"
            yield reason("link.missing", message, "gitmem list --status all shows the ids", f"{where}.to")
        elif not told_to(change.after, facts.linked[link.to]):
            message = f"{where} leads to a memory that is not for all who read this one, and would tell them of it"
            yield reason("link.private", message, "leave it out, or gitmem promote that one first", f"{where}.to")
        elif link.to in facts.waiting:
            message = f"{where} leads to {shown_id(link.to)}, which lies in the inbox of this clone and nowhere else"
            yield reason("link.missing", message, let_in_first(facts.linked[link.to]), f"{where}.to")


def let_in_first(memory: Memory) -> str:
    """What to do before a record that others read may name one of this clone's inbox."""
    if memory.status not in WAITING:
        return "leave it out: nobody lets that one in any more"
    return f"gitmem accept {shown_id(memory.id)} first, then say this again; or leave it out"


def _is_here(memory: Memory | None, config: Config | None) -> bool:
    return memory is not None and (config is None or memory.scope.project in config.projects)


def told_to(memory: Memory, other: Memory) -> bool:
    """Whether all who may read `memory` may know of `other`."""
    return memory.scope.audience != "team" or other.scope.audience == "team"


def names_its_problem(change: Change, facts: Facts, config: Config | None) -> Iterator[Reason]:
    after = change.after
    kind = PROBLEM_LINK.get(after.kind)
    if kind is None or not claims(change):
        return
    problems = [link.to for link in after.links if link.type == kind]
    if not problems:
        message = f"the {after.kind.replace('_', ' ')} does not name its problem"
        hint = f"name it: --{kind.replace('_', '-')} ID; gitmem list --kind problem shows the problems"
        yield reason("problem.missing", message, hint, "links")
    for problem in problems:
        linked = facts.linked.get(problem)
        if linked is not None and linked.kind != "problem":
            message = f"{shown_id(linked.id)} is a {linked.kind}, not a problem"
            yield reason("problem.kind", message, "gitmem list --kind problem shows the problems", "links")


def not_rejected(change: Change, facts: Facts, config: Config | None) -> Iterator[Reason]:
    """A rejected claim does not come back: not under a new id or kind, not restated, not by a replacement."""
    if change.op in _UNREJECTED or not (claims(change) or _claim_changed(change)):
        return
    tombstone = facts.tombstone
    seen = {change.after.id}
    if tombstone is not None and tombstone.standing:
        last = tombstone.history[-1]
        seen.add(last.memory)
        said = f"this claim was rejected as {_named(last.memory, tombstone.title, facts)}{_because(last.reason, facts)}"
        yield reason("tombstoned", said, _after_a_rejection(last.memory, facts), "title")
    if change.before is not None and change.op == "edit" and not _claim_changed(change):
        return  # an old record beside a rejected one may still get evidence and tags
    whys = {near.id: near.reason for near in facts.neighbours if near.reason}
    for near in facts.neighbours:
        rejected = near.status == "wrong" or near.where == "tombstone"
        if rejected and near.similarity >= NEAR and near.id not in seen:
            seen.add(near.id)
            name = _named(near.id, near.title, facts)
            said = f"its {near.matched} says nearly what was rejected as {name}{_because(whys.get(near.id, ''), facts)}"
            yield reason("tombstoned", said, _after_a_rejection(near.id, facts), near.matched)


def _named(identifier: str, title: str, facts: Facts) -> str:
    """A rejected record with its title, which was judged when it was let in or proposed."""
    return f"{shown_id(identifier)}, “{title}”," if _is_plain(title, facts) else shown_id(identifier)


def _because(why: str, facts: Facts) -> str:
    return f" because: {why}" if _is_plain(why, facts) else ""


def _after_a_rejection(identifier: str, facts: Facts) -> str:
    """What is left to do: for a program nothing, for a person to say that it was right after all."""
    if facts.channel in ("agent", "tool"):
        return "do not propose it again, in these words or others; only a person can lift the rejection"
    return f'gitmem lift {shown_id(identifier)} --because "…"'


def _is_plain(text: str, facts: Facts) -> bool:
    """Whether a text of a rejected record can be told: it may have been rejected for the secret in it."""
    return bool(text) and text.isprintable() and len(text) <= 200 and not find_secrets(text, facts.exact_secrets)


def _claim_changed(change: Change) -> bool:
    before, after = change.before, change.after
    if before is None or after.kind not in KIND_CLASS or before.kind not in KIND_CLASS:
        return True
    old, new = (claim_digest(m.scope.project, m.kind, m.title, m.body) for m in (before, after))
    return old != new


def not_known_already(change: Change, facts: Facts, config: Config | None) -> Iterator[Reason]:
    if not claims(change) or (change.op == "edit" and not _claim_changed(change)):
        return
    after = change.after
    excused = {*after.linked("supersedes"), after.id}
    excused |= {link.to for link in after.links if link.type == "differs_from" and (link.why or "").strip()}
    # Belief in one candidate is not stopped by another candidate that says the same.
    live = frozenset(VISIBLE) | {"disputed"} if change.op in _BELIEVING else _LIVE
    if change.op in _ENTERING and not after.linked("supersedes"):
        live |= {"superseded"}  # what was replaced comes back by replacing its replacement, not beside it
    for near in _first_of_each(facts.neighbours):
        if near.status in live and near.where != "tombstone" and near.similarity >= NEAR and near.id not in excused:
            message = f"{shown_id(near.id)} ({near.status}) says nearly the same"
            yield reason("duplicate", message, _instead(near, facts), shown_id(near.id))


def _instead(near: Neighbour, facts: Facts) -> str:
    """What there is to do about a record that is there already."""
    name = shown_id(near.id)
    both = f'or say why both: --distinct-from {name} --because "…"'
    if near.where == "batch":
        return f"leave one out; {both}"
    if near.status == "superseded":
        return f"gitmem log {name} names what replaced it; to go back, supersede that one; {both}"
    if near.status == "candidate":
        if facts.channel == "terminal" and near.where == "inbox":
            one = f'let that one in: gitmem accept {name}; or take it back: gitmem retract {name} --because "…"'
            return f'{one}; or keep both: gitmem accept {name}, then this with --distinct-from {name} --because "…"'
        if facts.channel == "terminal":
            return f"let that one in: gitmem accept {name}; {both}"
        return f"it waits for a person already: gitmem show {name}; {both}"
    return f"change that one: gitmem edit {name}; replace it: gitmem supersede {name}; {both}"


def _first_of_each(neighbours: tuple[Neighbour, ...]) -> Iterator[Neighbour]:
    """One entry for a record that lies on the branch and in the inbox."""
    seen: set[tuple[str, str]] = set()
    for near in neighbours:
        if (near.id, near.status) not in seen:
            seen.add((near.id, near.status))
            yield near


def key_is_free(change: Change, facts: Facts, config: Config | None) -> Iterator[Reason]:
    after, holder = change.after, facts.key_holder
    if after.key is None or holder is None or not claims(change):
        return
    same = (holder.key, holder.scope.project, holder.scope.audience) == (
        after.key,
        after.scope.project,
        after.scope.audience,
    )
    if same and holder.id != after.id and holder.id not in after.linked("supersedes"):
        message = f"{shown_id(holder.id)} already holds this key"
        yield reason("key.taken", message, f"gitmem supersede {shown_id(holder.id)}", "key")


RULES: Final = (links, names_its_problem, not_rejected, not_known_already, key_is_free)
