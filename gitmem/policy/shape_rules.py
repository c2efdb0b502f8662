"""Rules about one record by itself: known words, limits, what each kind needs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from gitmem.model.ids import is_memory_id
from gitmem.model.judgement import Change, Facts, Reason
from gitmem.model.nouns import Config, Memory
from gitmem.model.times import parse_instant
from gitmem.model.vocabulary import (
    AUDIENCES,
    BODY_LIMIT,
    CHANNELS,
    FORMAT,
    ITEM_LIMIT,
    KEY_LIMIT,
    KINDS,
    ORIGIN_RANK,
    QUOTE_LIMIT,
    REASON_LIMIT,
    STATUSES,
    TAG_LIMIT,
    TITLE_LIMIT,
)
from gitmem.policy.codes import reason
from gitmem.policy.texts import claims

_KEY: Final = re.compile(r"[a-z0-9]+(?:[._-][a-z0-9]+)*", re.ASCII)
_GLOB_LIMIT: Final = 300  # characters of one path pattern
# Whoever writes a record by hand mistypes a field; these only carry what another writer wrote.
_CARRYING_OPS: Final = frozenset({"import", "merge"})
_CARRYING_CHANNELS: Final = frozenset({"import", "ci", "forge"})


def known_format(change: Change, facts: Facts, config: Config | None) -> Iterator[Reason]:
    number = change.after.format
    if type(number) is int and number > FORMAT:
        message = f"the record is of format {number}, which is too new: this gitmem writes format {FORMAT}"
        yield reason("format.new", message, "upgrade gitmem, then try again", "format")
    elif type(number) is not int or number < 1:
        yield reason(
            "format.unknown", "the record names no format that ever existed", f"write format: {FORMAT}", "format"
        )


def known_words(change: Change, facts: Facts, config: Config | None) -> Iterator[Reason]:
    after = change.after
    if not is_memory_id(after.id):
        yield reason("id.shape", "the id is not one that gitmem made", "leave the id to gitmem remember", "id")
    lists: list[tuple[str, str, str, Iterable[str]]] = [
        ("kind.unknown", "kind", after.kind, KINDS),
        ("status.unknown", "status", after.status, STATUSES),
        ("origin.unknown", "origin", after.origin, ORIGIN_RANK),
        ("channel.unknown", "channel", facts.channel, CHANNELS),
        ("audience.unknown", "scope.audience", after.scope.audience, AUDIENCES),
    ]
    for code, where, word, known in lists:
        if word not in known:
            yield reason(code, f"the {where} is not one that gitmem knows", f"use one of {', '.join(known)}", where)


def limits(change: Change, facts: Facts, config: Config | None) -> Iterator[Reason]:
    if len(change.reason) > REASON_LIMIT:
        yield _too_long("reason", len(change.reason), REASON_LIMIT)
    if not claims(change):
        return
    after = change.after
    if not any(char.isalnum() for char in after.title):
        yield reason("title.empty", "the title has no letters", "say the claim in one line as the title", "title")
    for where, text, limit in _limited(after):
        if len(text) > limit:
            yield _too_long(where, len(text), limit)
    for where, text in _entries(after):
        if not text.strip():
            yield reason("text.empty", f"{where} has no text", "write it or leave it out", where)
    for where in (
        "aliases",
        "alternatives",
        "steps",
        "claims",
        "groundings",
        "applies_to",
        "tags",
        "links",
        "evidence",
    ):
        count = len(getattr(after, where))
        if count > ITEM_LIMIT:
            hint = "split the memory into several that link to each other"
            yield reason("list.long", f"{where} has {count} entries; the limit is {ITEM_LIMIT}", hint, where)


def _too_long(where: str, length: int, limit: int) -> Reason:
    message = f"{where} is {length} characters long; the limit is {limit}"
    return reason("text.long", message, "shorten it; cite a file for what is long", where)


def _limited(memory: Memory) -> Iterator[tuple[str, str, int]]:
    yield "title", memory.title, TITLE_LIMIT
    yield "body", memory.body, BODY_LIMIT
    yield "cue", memory.cue or "", TITLE_LIMIT
    for where, items, limit in (
        ("aliases", memory.aliases, TITLE_LIMIT),
        ("claims", memory.claims, REASON_LIMIT),
        ("groundings", memory.groundings, REASON_LIMIT),
        ("tags", memory.tags, TAG_LIMIT),
    ):
        yield from ((f"{where}[{number}]", item, limit) for number, item in enumerate(items))
    for number, alternative in enumerate(memory.alternatives):
        yield f"alternatives[{number}].title", alternative.title, TITLE_LIMIT
        yield f"alternatives[{number}].why", alternative.why, REASON_LIMIT
    for number, step in enumerate(memory.steps):
        yield f"steps[{number}].text", step.text, REASON_LIMIT
    for number, link in enumerate(memory.links):
        yield f"links[{number}].why", link.why or "", REASON_LIMIT
    for number, ref in enumerate(memory.evidence):
        yield f"evidence[{number}].quote", ref.quote or "", QUOTE_LIMIT


def _entries(memory: Memory) -> Iterator[tuple[str, str]]:
    for where, items in (
        ("aliases", memory.aliases),
        ("claims", memory.claims),
        ("groundings", memory.groundings),
        ("tags", memory.tags),
    ):
        yield from ((f"{where}[{number}]", item) for number, item in enumerate(items))
    for number, alternative in enumerate(memory.alternatives):
        yield f"alternatives[{number}].title", alternative.title
        yield f"alternatives[{number}].why", alternative.why
    yield from ((f"steps[{number}].text", step.text) for number, step in enumerate(memory.steps))


def key_and_paths(change: Change, facts: Facts, config: Config | None) -> Iterator[Reason]:
    after = change.after
    if not claims(change):
        return
    if after.key is not None and not (len(after.key) <= KEY_LIMIT and _KEY.fullmatch(after.key)):
        message = (
            f"the key is not up to {KEY_LIMIT} lower-case letters and digits joined by dots, dashes or underscores"
        )
        yield reason("key.shape", message, "write it like python.version", "key")
    for number, pattern in enumerate(after.applies_to):
        if not is_relative_path(pattern) or len(pattern) > _GLOB_LIMIT:
            message = f"applies_to[{number}] is not a path pattern relative to the root of the repository"
            yield reason("applies_to.shape", message, 'write it like "services/api/**"', f"applies_to[{number}]")


def is_relative_path(path: str) -> bool:
    """True for a path with "/" between its parts that stays below the root: no "..", no drive, no backslash."""
    if not path.strip() or "\\" in path or re.match(r"[A-Za-z]:", path):
        return False
    return not path.startswith(("/", "~")) and ".." not in path.split("/")


def validity(change: Change, facts: Facts, config: Config | None) -> Iterator[Reason]:
    if not claims(change):
        return
    bounds = []
    for where, text in (("valid.from", change.after.valid.start), ("valid.until", change.after.valid.until)):
        if text is None:
            continue
        try:
            bounds.append(parse_instant(text))
        except (ValueError, OverflowError):
            hint = "write it like 2026-03-02 or 2026-03-02T10:00:00Z"
            yield reason("valid.time", f"{where} is not an ISO date or time", hint, where)
    if len(bounds) == 2 and bounds[0] >= bounds[1]:
        hint = "valid.until is the first moment at which it is no longer true"
        yield reason("valid.order", "the validity ends before it starts", hint, "valid")


def what_the_kind_needs(change: Change, facts: Facts, config: Config | None) -> Iterator[Reason]:
    after = change.after
    if not claims(change):
        return
    if after.kind == "decision" and not after.alternatives:
        hint = 'add at least one: --ruled-out "title: why"'
        yield reason("decision.alternative", "the decision names nothing that it ruled out", hint, "alternatives")
    if after.kind == "reminder" and not (after.cue or "").strip():
        hint = 'add --cue "…": the words or the path at which to be reminded'
        yield reason("reminder.cue", "the reminder does not say when to remind", hint, "cue")
    if after.kind == "plan" and not after.steps:
        yield reason("plan.steps", "the plan has no steps", 'add --step "…", once for each', "steps")
    if after.kind == "concept" and not after.claims:
        yield reason("concept.claims", "the concept claims nothing", 'add --claim "…", once for each', "claims")


def known_fields(change: Change, facts: Facts, config: Config | None) -> Iterator[Reason]:
    """A field that this format does not know is kept where it already was, and not taken from whoever types it."""
    carried = change.op in _CARRYING_OPS or facts.channel in _CARRYING_CHANNELS or not claims(change)
    before = change.before.extra if change.before is not None else {}
    if carried:
        return
    for number, (name, value) in enumerate(change.after.extra.items()):
        if name not in before or before[name] != value:
            message = f"the record has a field that format {FORMAT} does not know (unknown field {number + 1})"
            yield reason("field.unknown", message, "gitmem schema draft prints the fields", "extra")


RULES: Final = (known_format, known_words, limits, key_and_paths, validity, what_the_kind_needs, known_fields)
