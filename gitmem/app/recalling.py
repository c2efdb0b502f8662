"""recall: what still holds that answers a question, what belongs beside it, or an honest abstention."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from gitmem.app.equals import once
from gitmem.app.ground import Ground
from gitmem.app.meaning import learn
from gitmem.app.moments import Moment, moment
from gitmem.app.read_filters import Filters, about
from gitmem.app.structure import Beside, around, replacement
from gitmem.app.use import strengths
from gitmem.errors import UsageError
from gitmem.model.frozen import dataclass, field, replace
from gitmem.model.judgement import Filter
from gitmem.model.nouns import Memory
from gitmem.model.pattern import pattern
from gitmem.model.vocabulary import VISIBLE, WITHHELD
from gitmem.policy.visibility import visible, withheld_view
from gitmem.recall.query import EVERY_VERSION, Found, Hit, Query
from gitmem.recall.ranking import CANDIDATES

# Below this confidence the best hit answers by chance. On githist 7 % of the questions that have an answer fall below
# it, and 12 % of those asked of another project's memories, where there is none, reach it (docs/retrieval.md).
SURE: Final = 0.45
# Of a file that always changes with one that the question names, as a part of what that one counts: a guess that
# breaks what is nearly a tie.
COMPANION: Final = 0.5
# What says what happened rather than what holds. Whoever asks is told; unasked, how a session went never answers a
# prompt, and a change only when it is surer than that: of the questions of githist that have no answer 2 in 100 reach
# this, not 12. Chosen on replayed sessions (docs/agents.md, "How much of it is to the point").
HAPPENED: Final = ("change", "episode")
SURE_CHANGE: Final = 0.65
WORDS: Final = 2  # of a prompt, at the least, that a memory holds; or what it names exactly
# A hit whose confidence is a smaller part of the best one's is weak. githist, 10 hits: 8.1 of them are left at 0.4 and
# hit@5 is what it was on dev and rest, also where the first hit is no answer; hit@10 loses 0.2 points. At 0.5 6.2 are
# left and those lose 0.7 and 1.1 (docs/retrieval.md, "Weak hits").
WEAK: Final = 0.4
_NAMED: Final = 5  # files of a question that are looked up
_AROUND: Final = ".,;:!?()[]{}<>\"'`"
_REPLACED_HITS: Final = 10  # superseded hits that may give their place to others
_EVERY: Final = 3 * CANDIDATES  # more than is ever ranked
_NEAR_MISSES: Final = 20  # withheld candidates that are looked at when nothing may be said
_PUT_AWAY: Final = 3  # archived memories that are offered back
_EARLIER: Final = ("superseded", "wrong", "archived", "disputed")  # that once held, and are told of on request
_QUOTED: Final = pattern(r'"([^"]+)"')


@dataclass(frozen=True)
class Asked:
    """One or several questions with what applies to all. previous: the request before, for a follow-up.

    as_of: how the branch stood (a date, a revision or tag of memory or code). history: earlier values too. meaning:
    where there is a model; else by words alone. weak: also what is much less sure than the best (`WEAK`).
    """

    questions: tuple[str, ...]
    filters: Filters = field(default_factory=Filters)
    phrase: bool = False
    previous: str | None = None
    as_of: str | None = None
    history: bool = False
    meaning: bool = True
    weak: bool = True


@dataclass(frozen=True)
class Item:
    """One memory of an answer. drifts: for each reference what became of it at HEAD. earlier: "" for what holds,
    else what became of it. beside: what belongs to it. questions: which questions it answers, from 0. place: how it
    concerns the files that were asked about, or why it is told unasked; "" for an answer to words."""

    hit: Hit
    drifts: tuple[str, ...] = ()
    earlier: str = ""
    beside: tuple[Beside, ...] = ()
    questions: tuple[int, ...] = (0,)
    place: str = ""

    @property
    def memory(self) -> Memory:
        return self.hit.memory


@dataclass(frozen=True)
class Abstention:
    """Why there is no answer. withheld: memories that would have answered and that no reader is shown, by state.

    nearest: the confidence of the best that was found; threshold: what it would have taken.
    """

    searched: int
    withheld: Mapping[str, int]
    nearest: float
    threshold: float


@dataclass(frozen=True)
class Answer:
    """items: best first. total: memories that match. searched: that were looked at. abstained: for each question
    without an answer, by its number. moment: as of when. projects: whose memory it was."""

    items: tuple[Item, ...]
    total: int
    searched: int
    moment: Moment
    projects: tuple[str, ...]
    abstained: Mapping[int, Abstention] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def recall(ground: Ground, asked: Asked) -> Answer:
    """Raises UsageError for an empty question and NotFound for an `as_of` that names nothing."""
    if not asked.questions or not all(question.strip() for question in asked.questions):
        raise UsageError("recall what?", hint='gitmem recall "redis timeout"; gitmem list shows everything')
    asked = replace(asked, filters=placed(ground, asked.filters))
    ground = replace(ground, viewer=asked.filters.narrowed(ground.viewer))
    then = moment(ground, asked.as_of)
    seen = visible(ground.viewer, at=asked.filters.valid_at or then.at)
    doubt = learn(ground)
    asked = replace(asked, meaning=ground.index.is_learned())
    items: dict[tuple[str, int], Item] = {}
    abstained: dict[int, Abstention] = {}
    total = searched = 0
    for number, question in enumerate(asked.questions):
        found = search(ground, asked, question, then, seen)
        searched = max(searched, found.searched)
        if found.confidence < SURE and not (asked.phrase or _quoted(question)):
            abstained[number] = _abstention(ground, asked, question, then, found)
            continue
        total += found.total
        literal = asked.phrase or asked.history or _quoted(question)
        for hit in found.hits if asked.weak or literal else _strong(found):
            known = items.get((hit.id, hit.since))
            items[hit.id, hit.since] = (
                replace(known, questions=(*known.questions, number)) if known else _item(hit, seen, then, number)
            )
    made = _finished(ground, list(items.values()), seen, then)
    left = unplaced(ground, then)
    warnings = (*ground.warnings, *filter(None, [doubt or ground.index.doubt, left]))
    return Answer(made, total, searched, then, tuple(sorted(ground.viewer.projects)), abstained, warnings)


def _strong(found: Found) -> list[Hit]:
    """Without weak hits. A path, tag or key that was named makes a hit none."""
    return [hit for hit in found.hits if hit.confidence >= WEAK * found.confidence or "exact" in hit.lanes]


def placed(ground: Ground, filters: Filters) -> Filters:
    """As `gitmem.app.context.from_here`, which most questions do not need."""
    if filters.path is None:
        return filters
    from gitmem.app.context import from_here

    return from_here(ground, filters)


def sure(ground: Ground, asked: Asked, is_new: Callable[[Hit], bool]) -> tuple[Item, ...]:
    """What surely answers the first question, each by itself, and `is_new`; for a reader who did not ask, who is told
    nothing rather than why there is nothing. By words alone: a model takes a tenth to half of a second to load."""
    asked = replace(asked, meaning=False)
    then = moment(ground, None)
    seen = visible(ground.viewer, at=then.at)
    found = search(ground, asked, asked.questions[0], then, seen)
    hits = [hit for hit in found.hits if _unasked(hit) and is_new(hit)]
    return _finished(ground, [_item(hit, seen, then, 0) for hit in hits], seen, then)


def _unasked(hit: Hit) -> bool:
    """Whether a memory answers surely enough for somebody who did not ask. One word in common is mostly chance."""
    if hit.memory.kind == "episode" or (len(hit.matched) < WORDS and "exact" not in hit.lanes):
        return False
    return hit.confidence >= (SURE_CHANGE if hit.memory.kind == "change" else SURE)


def archived(ground: Ground, asked: Asked) -> tuple[Hit, ...]:
    """What was put away and would answer, each by itself, for a person who may bring it back; never for an agent.

    Nothing of an answer about the past, nor of one that tells earlier values anyhow."""
    if asked.as_of is not None or asked.history or asked.filters.statuses:
        return ()
    asked = replace(asked, filters=placed(ground, asked.filters), meaning=ground.index.is_learned())
    viewer = asked.filters.narrowed(ground.viewer)
    then = moment(ground, None)
    found: dict[str, Hit] = {}
    for question in asked.questions:
        query = query_of(asked, question, then, _PUT_AWAY)
        hits = ground.index.search(query, withheld_view(viewer, ("archived",))).hits
        path = asked.filters.path
        good = (
            hit
            for hit in hits
            if hit.confidence >= SURE and (path is None or about(hit.memory, path, asked.filters.former))
        )
        found.update((hit.id, hit) for hit in good)
    return tuple(found.values())[:_PUT_AWAY]


def _finished(ground: Ground, items: Sequence[Item], seen: Filter, then: Moment) -> tuple[Item, ...]:
    """The items with what belongs beside them and with what became of the lines that they cite."""
    found = around(ground, [item.memory for item in items], seen, then.position)
    return tuple(replace(item, beside=near, drifts=lost) for item, (near, lost) in zip(items, found, strict=True))


def unplaced(ground: Ground, then: Moment) -> str:
    """What is left out of an answer about the past: what is a user's own has an order of its own."""
    own = [label for label in ("private", "user") if ground.index.tips.get(label) and label in ground.viewer.audiences]
    if then.position is None or not own:
        return ""
    return f"memory of your own ({', '.join(own)}) is left out: only the branch is read as it was at an earlier time"


def query_of(asked: Asked, question: str, then: Moment, limit: int) -> Query:
    filters = asked.filters
    phrases = () if asked.phrase else _quoted(question)
    return Query(
        texts=(question,), phrase=asked.phrase, phrases=phrases, kinds=filters.kinds, statuses=filters.statuses,
        tags=filters.tags, key=filters.key, path=filters.path, origins=filters.origins, since=filters.since,
        until=filters.until, position=EVERY_VERSION if asked.history else then.position, previous=asked.previous,
        limit=limit, upto=then.position, meaning=asked.meaning, called=tuple(filters.former.names),
    )  # fmt: skip


def _quoted(question: str) -> tuple[str, ...]:
    """What stands in double quotes. Most questions have none, and the pattern takes time to compile."""
    return tuple(_QUOTED.findall(question)) if '"' in question else ()


def standing(ground: Ground, question: str) -> tuple[dict[str, float], tuple[str, ...]]:
    """Where the reader stands in the work tree, the files that the question names and, less, what changes with them;
    and the words that name a place, whether there is anything or not."""
    words = {word.strip(_AROUND) for word in question.split() if "." in word or "/" in word}
    paths = {word for word in words if "/" in word and "://" not in word}
    top = ground.work_tree
    if top is None:
        return {}, tuple(sorted(paths))
    here = os.path.relpath(os.path.realpath(ground.env.start or ground.env.cwd), top)
    places = {} if here == "." or here.startswith("..") else {here: 1.0}
    named = sorted(word for word in words if _is_there(top, word))[:_NAMED]
    if named:
        from gitmem.app.cochange import touched

        companions = touched(ground).companions(named)
        places.update({path: COMPANION * share for path, share in companions.items()})
    return {**places, **dict.fromkeys(named, 1.0)}, tuple(sorted(paths.union(named)))


def _is_there(top: Path, path: str) -> bool:
    return bool(path) and not path.startswith(("/", "..")) and (top / path).exists()


def search(ground: Ground, asked: Asked, question: str, then: Moment, seen: Filter) -> Found:
    """The hits that may be shown, with their number as far as it is known. A superseded one gives its place to its
    replacement."""
    limit, path = asked.filters.limit, asked.filters.path
    if asked.history:
        wide = withheld_view(ground.viewer, (*VISIBLE, *_EARLIER))
        found = ground.index.search(query_of(asked, question, then, 4 * limit if path is None else _EVERY), wide)
        every = [
            hit
            for hit in _once(found.hits, seen, then)
            if path is None or about(hit.memory, path, asked.filters.former)
        ]
        told = every[:limit]
        total = len(every) if found.total == len(found.hits) else found.total
        sure = max((hit.confidence for hit in told), default=0.0)
        return replace(found, hits=tuple(told), total=total, confidence=sure)
    replaced = withheld_view(ground.viewer, ("superseded",))
    most = limit + _REPLACED_HITS if path is None else _EVERY  # the index knows only about which folder a pattern is
    places, named = standing(ground, question)
    used = strengths(ground.private, ground.env.environ, ground.now) if asked.as_of is None else {}
    query = replace(query_of(asked, question, then, most), places=places, aside=named, used=used)
    found = ground.index.search(query, seen, also=replaced)
    hits: dict[str, Hit] = {}
    looked_at = 0
    cut = found.total > len(found.hits)
    for hit in found.hits:
        if cut and len(hits) >= limit and hit.score < min(kept.score for kept in hits.values()):
            break  # nothing that is left could come among those
        looked_at += 1
        better: Hit | None = hit
        if hit.memory.status == "superseded":
            better = replacement(ground.index, hit.memory, seen, then.position)
            if better is not None:
                worth = round(hit.score * VISIBLE.get(better.memory.status, 0.0), 6)
                better = replace(
                    better, score=worth, matched=hit.matched, lanes={"replaces": hit.score}, confidence=hit.confidence
                )
        if (
            better is not None
            and seen.admits(better.memory)
            and (path is None or about(better.memory, path, asked.filters.former))
        ):
            kept = hits.get(better.id)
            if kept is None or better.score > kept.score:
                hits[better.id] = better
    ranked = sorted(hits.values(), key=lambda hit: (-hit.score, -hit.recorded, hit.id))
    order = [hits[identifier] for identifier in once(hit.memory for hit in ranked)]
    total = len(order) if looked_at == found.total else found.total
    sure = max((hit.confidence for hit in order[:limit]), default=0.0)
    return replace(found, hits=tuple(order[:limit]), total=total, confidence=sure)


def _stood(hit: Hit, then: Moment) -> bool:
    """Whether no later version had taken its place at a moment."""
    return hit.current or (then.position is not None and hit.until > then.position)


def _once(hits: Sequence[Hit], seen: Filter, then: Moment) -> Iterator[Hit]:
    """Each value of a memory once, as it stands now where it does: what holds, then earlier values that said something
    else."""
    told: dict[tuple[str, str, str], Hit] = {}
    for hit in sorted(hits, key=lambda hit: not (_stood(hit, then) and seen.admits(hit.memory))):
        memory = hit.memory
        if _stood(hit, then) or memory.status in VISIBLE:
            value = (memory.id, memory.title, memory.body)
            if value not in told or (_stood(hit, then) and not _stood(told[value], then)):
                told[value] = hit
    yield from told.values()


def _item(hit: Hit, seen: Filter, then: Moment, number: int) -> Item:
    memory = hit.memory
    earlier = ""
    if not _stood(hit, then):
        earlier = "an earlier version"
    elif memory.status not in VISIBLE:
        earlier = {"superseded": "superseded", "wrong": "rejected as wrong"}.get(memory.status, memory.status)
    elif not seen.admits(memory):
        earlier = "not true then"
    return Item(hit, earlier=earlier, questions=(number,))


def _abstention(ground: Ground, asked: Asked, question: str, then: Moment, found: Found) -> Abstention:
    """How many memories in a withheld state would have answered."""
    wide = withheld_view(ground.viewer, WITHHELD)
    query = replace(query_of(asked, question, then, _NEAR_MISSES), refs=(), statuses=())
    answering = {hit.id: hit.memory.status for hit in ground.index.search(query, wide).hits if hit.confidence >= SURE}
    return Abstention(found.searched, dict(Counter(answering.values())), found.confidence, SURE)
