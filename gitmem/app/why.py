"""why: what recall made of a question, and why a memory is in the answer or is not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gitmem.app.ground import Ground
from gitmem.app.meaning import learn
from gitmem.app.moments import Moment, moment
from gitmem.app.read_filters import about
from gitmem.app.recalling import SURE, Asked, placed, query_of, search
from gitmem.app.remember import let_in_by_the_forge
from gitmem.app.workspace import View
from gitmem.errors import UsageError
from gitmem.model.frozen import dataclass, replace
from gitmem.model.judgement import Filter
from gitmem.model.layout import INBOX
from gitmem.model.nouns import Memory
from gitmem.model.vocabulary import VISIBLE, WAITING
from gitmem.policy.visibility import visible, withheld_view
from gitmem.recall.query import EVERY_VERSION, Found, Hit, Query, Term
from gitmem.recall.ranking import CANDIDATES, ORIGIN_WEIGHT

_EVERY: Final = 3 * CANDIDATES  # more than tantivy is asked for, so all that was ranked


@dataclass(frozen=True)
class Ranked:
    """A memory with its place in the order, from 1, and what its score is made of.

    lanes: what was added up. factors: what the sum was multiplied with, by name.
    """

    rank: int
    hit: Hit
    factors: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Explained:
    """One memory that was asked about. reasons: why it is not in the answer, all of them; empty when it is."""

    memory: Memory
    reasons: tuple[str, ...]
    ranked: Ranked | None


@dataclass(frozen=True)
class Why:
    """terms: what the question was reduced to. filters: what had to be met. ranked: the first of the order."""

    terms: tuple[Term, ...]
    filters: tuple[str, ...]
    ranked: tuple[Ranked, ...]
    found: Found
    moment: Moment
    threshold: float
    expected: Explained | None


def why(ground: Ground, asked: Asked, expected: str | None) -> Why:
    """Raises UsageError without exactly one question, and NotFound or Ambiguous for the memory that is expected."""
    if len(asked.questions) != 1 or not asked.questions[0].strip():
        raise UsageError("why what? one question is needed", hint='gitmem why "redis timeout" 7k3q')
    learn(ground)
    asked = replace(asked, filters=placed(ground, asked.filters), meaning=ground.index.is_learned())
    question = asked.questions[0]
    ground = replace(ground, viewer=asked.filters.narrowed(ground.viewer))
    then = moment(ground, asked.as_of)
    seen = visible(ground.viewer, at=asked.filters.valid_at or then.at)
    wide = replace(asked, filters=replace(asked.filters, limit=_EVERY))
    found = search(ground, wide, question, then, seen)
    order = tuple(Ranked(number, hit, _factors(hit)) for number, hit in enumerate(found.hits, 1))
    explained = None if expected is None else _explained(ground, asked, then, seen, order, found, expected)
    query = query_of(asked, question, then, 1)
    return Why(
        tuple(ground.index.terms(query)), tuple(_filters(asked, then, seen)), order[: asked.filters.limit], found,
        then, SURE, explained,
    )  # fmt: skip


def _factors(hit: Hit) -> tuple[tuple[str, float], ...]:
    from gitmem.model.vocabulary import ORIGIN_RANK

    memory = hit.memory
    standing = (memory.status, VISIBLE.get(memory.status, min(VISIBLE.values())))
    if "replaces" in hit.lanes:  # the origin of what it replaces is in there
        return (standing,)
    return (
        standing,
        (memory.origin, ORIGIN_WEIGHT[ORIGIN_RANK.get(memory.origin, 0)]),
    )


def _filters(asked: Asked, then: Moment, seen: Filter) -> Iterator[str]:
    """What every hit had to meet, in words."""
    filters = asked.filters
    yield f"project {' or '.join(sorted(seen.projects))}, audience {' or '.join(sorted(seen.audiences))}"
    if seen.own:
        yield f"for the audience user: project {' or '.join(sorted(seen.own))}"
    yield f"state {', '.join(s for s in VISIBLE if s in seen.statuses)}"
    if seen.valid_at is not None:
        yield f"true at {seen.valid_at.isoformat()}"
    yield "at any time" if asked.history else f"on record at {then.commit[:12]}"
    for name, values in (
        ("kind", filters.kinds), ("status", filters.statuses), ("tag", filters.tags), ("origin", filters.origins)
    ):  # fmt: skip
        if values:
            yield f"{name} {', '.join(values)}"
    for name, value in (
        ("key", filters.key), ("path", filters.path), ("since", filters.since), ("until", filters.until)
    ):  # fmt: skip
        if value is not None:
            yield f"{name} {value}"


def _explained(
    ground: Ground, asked: Asked, then: Moment, seen: Filter, order: tuple[Ranked, ...], found: Found, expected: str
) -> Explained:
    there = ground.view.find(expected)
    ranked = next((one for one in order if one.hit.id == there.memory.id), None)
    if ranked is not None:
        reasons = tuple(_not_among_the_first(ranked, asked, found))
        return Explained(ranked.hit.memory, reasons, ranked)
    if there.ref == INBOX:
        return Explained(there.memory, (_in_the_inbox(ground.view, there.memory),), None)
    stood = ground.index.versions([there.memory.id], None, EVERY_VERSION if asked.history else then.position)
    if not stood:
        return Explained(there.memory, (f"it was not on record at {then.commit[:12]}",), None)
    memory = stood[0].memory
    reasons = (*_hidden(memory, seen), *_filtered(stood[0], asked), *_words(ground, asked, then, memory))
    return Explained(memory, reasons or ("more than 100 others hold more of these words",), None)


def _in_the_inbox(view: View, memory: Memory) -> str:
    if memory.status in WAITING and let_in_by_the_forge(view, memory):
        return f"it waits in the inbox as {memory.status}: gitmem propose {memory.id[:8]} --push offers it on the forge"
    if memory.status in WAITING:
        return f"it waits in the inbox as {memory.status}: gitmem accept {memory.id[:8]} lets it in"
    return f"it was never let in and is {memory.status} in the inbox: gitmem log {memory.id[:8]} tells why"


def _not_among_the_first(ranked: Ranked, asked: Asked, found: Found) -> Iterator[str]:
    if found.confidence < SURE:
        yield f"the best hit holds {found.confidence:.0%} of what was asked, an answer {SURE:.0%}: nothing is shown"
    if ranked.rank > asked.filters.limit:
        yield f"{ranked.rank - 1} come before it: --limit {ranked.rank}"


def _hidden(memory: Memory, seen: Filter) -> Iterator[str]:
    """What the one visibility predicate has against it."""
    if memory.status not in seen.statuses:
        following = memory.linked("superseded_by")
        instead = f" by {following[0][:8]}" if following else ""
        yield f"it is {memory.status}{instead}: gitmem log {memory.id[:8]} tells why"
    if memory.scope.project not in seen.projects:
        yield f"it belongs to the project {memory.scope.project}"
    if memory.scope.audience not in seen.audiences:
        yield f"it is for the audience {memory.scope.audience}"
    if seen.valid_at is not None and not replace(seen, valid_at=None).admits(memory):
        return
    if seen.valid_at is not None and not seen.admits(memory):
        start, until = memory.valid.start or "ever", memory.valid.until or "ever"
        yield f"it holds from {start} until {until}, not at {seen.valid_at.isoformat()}"


def _filtered(hit: Hit, asked: Asked) -> Iterator[str]:
    """Which flags leave it out."""
    memory, filters = hit.memory, asked.filters
    if filters.kinds and memory.kind not in filters.kinds:
        yield f"--kind: it is a {memory.kind}"
    if filters.statuses and memory.status not in filters.statuses:
        yield f"--status: it is {memory.status}"
    if filters.origins and memory.origin not in filters.origins:
        yield f"--origin: it is {memory.origin}"
    missing = [tag for tag in filters.tags if tag.casefold() not in {own.casefold() for own in memory.tags}]
    if missing:
        yield f"--tag: it has no tag {', '.join(missing)}"
    if filters.key is not None and memory.key != filters.key:
        yield f"--key: its key is {memory.key or 'not set'}"
    if filters.path is not None and not about(memory, filters.path, filters.former):
        yield f"--path: it is not about {filters.path}"
    recorded = hit.recorded
    if filters.since is not None and recorded < filters.since.timestamp() * 1e6:
        yield "--since: it was recorded earlier"
    if filters.until is not None and recorded >= filters.until.timestamp() * 1e6:
        yield "--until: it was recorded later"


def _words(ground: Ground, asked: Asked, then: Moment, memory: Memory) -> Iterator[str]:
    wide = withheld_view(ground.viewer, (memory.status,))
    query: Query = replace(query_of(Asked(asked.questions), asked.questions[0], then, 1), only=memory.id)
    found = ground.index.search(query, wide)
    if asked.phrase and not ground.index.search(replace(query, phrase=True), wide).hits:
        yield "--phrase: it does not hold these words in this order"
    if not found.hits:
        yield "it holds none of these words, nor one that is spelt like them"
    elif found.confidence < SURE:
        held = ", ".join(found.hits[0].matched) or "none"
        yield f"of these words it holds {found.confidence:.0%}: {held}"
