"""brief: what to know at the start of a session. It never widens: what is not there is said, not made up for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Final

from gitmem.app import state
from gitmem.app.cochange import worked_on
from gitmem.app.context import Near, Ranked, about, best, nearness, with_structure
from gitmem.app.cues import due, due_at
from gitmem.app.equals import claim
from gitmem.app.ground import Ground
from gitmem.app.moments import Moment
from gitmem.app.plans import open_plans
from gitmem.app.recalling import Item
from gitmem.app.reminded import not_yet, note
from gitmem.app.use import faded, note_told
from gitmem.errors import GitmemError
from gitmem.model.frozen import dataclass
from gitmem.model.judgement import Filter
from gitmem.model.nouns import Memory
from gitmem.model.text import counted
from gitmem.model.vocabulary import LESSON, WAITING
from gitmem.policy.visibility import visible, withheld_view
from gitmem.recall.document import from_microseconds
from gitmem.recall.query import Hit, Query

_STATE: Final = "brief"
_LOOKED_AT: Final = 40  # newest memories of a sort; beyond them only what is about the files that are worked on
# A rule that is about other files than those that are worked on, and one that is about no file: by judgement.
_ELSEWHERE: Final = 0.4
_EVERYWHERE: Final = 0.9
_FADING: Final = ("standing", "traps")  # sections from which an inference goes that was told often and never used
_LATELY: Final = timedelta(days=14)
_WITHDRAWN: Final = ("superseded", "wrong", "archived", "disputed")


@dataclass(frozen=True)
class Section:
    """name: standing, plans, reminders, traps, lessons or changed. items: best first. total: so many there are."""

    name: str
    title: str
    items: tuple[Item, ...]
    total: int


@dataclass(frozen=True)
class Brief:
    """sections: those that have something, the steadiest first. places: the files that are worked on.

    since: the commit of the branch at the last brief, None when there was none. withdrawn: memories that stopped
    holding since then, by state; their words are withheld. waiting: candidates in the inbox. capture: one line about
    it, empty when nothing was ever captured here. searched: memories that a reader may see. private: the folder of
    this clone's own state.
    """

    sections: tuple[Section, ...]
    places: tuple[str, ...]
    since: str | None
    withdrawn: Mapping[str, int]
    waiting: int
    capture: str
    searched: int
    moment: Moment
    projects: tuple[str, ...]
    private: Path
    warnings: tuple[str, ...]

    def in_turn(self) -> Iterator[tuple[str, Item]]:
        """(section, item) in the order in which they are let into a budget: first some of each, then the rest."""
        rows = [(section.name, iter(section.items)) for section in self.sections]
        for name, items in rows:
            yield from ((name, item) for item in islice(items, _FIRST[name]))
        for name, items in rows:
            yield from ((name, item) for item in items)

    def turn_of(self) -> Callable[[Item], int]:
        """The place of an item in a block: its section, the steadiest first."""
        places = {item.memory.id: place for place, part in enumerate(self.sections) for item in part.items}
        return lambda item: places[item.memory.id]

    def news(self) -> list[str]:
        """What there is to say besides memories to whoever did not ask, a line each."""
        said = []
        if self.withdrawn:
            told = ", ".join(f"{count} {status}" for status, count in self.withdrawn.items())
            said.append(f"since the last brief: {told}; they hold no more")
        if self.waiting:
            wait = "1 candidate waits" if self.waiting == 1 else f"{self.waiting} candidates wait"
            said.append(f"{wait} for a person: gitmem list --inbox")
        return said

    def notes(self) -> list[str]:
        """What there is to say besides memories, a line each."""
        said = []
        if not self.sections:
            many = "1 memory" if self.searched == 1 else f"{self.searched:,} memories"
            said.append(
                f"nothing to tell: of {many} none is a rule, an open plan, a reminder that is due, or a known trap of "
                "the files that are worked on"
                if self.searched
                else "nothing is remembered here yet: gitmem remember, or gitmem import --list for notes that are here"
            )
        return [*said, *self.news(), *([self.capture] if self.capture else [])]


# Of each section so many before any section has more; and so many at most.
_FIRST: Final[Mapping[str, int]] = {"standing": 6, "plans": 1, "reminders": 3, "traps": 4, "lessons": 2, "changed": 2}
_MOST: Final[Mapping[str, int]] = {"standing": 20, "plans": 3, "reminders": 5, "traps": 8, "lessons": 4, "changed": 10}
_TITLES: Final[Mapping[str, str]] = {
    "standing": "conventions and preferences",
    "plans": "open plans",
    "reminders": "reminders",
    "traps": "known traps of the files that are worked on",
    "lessons": "what sessions taught lately",
    "changed": "new or changed since the last brief",
}


def brief(ground: Ground) -> Brief:
    """What holds now, of what this reader may see."""
    seen = visible(ground.viewer, at=ground.now)
    places = worked_on(ground)
    since, position = _last(ground)
    found = {
        "standing": _standing(ground, places, seen),
        "plans": open_plans(ground, seen),
        "reminders": _reminders(ground, places, seen),
        "traps": _traps(ground, places, seen),
    }
    trapped = {hit.id for hit, _ in found["traps"]}
    found["lessons"] = [pair for pair in _lessons(ground, seen) if pair[0].id not in trapped]
    unused = faded(ground.private, ground.env.environ)
    for name in _FADING if unused else ():
        found[name] = [(hit, near) for hit, near in found[name] if not (hit.id in unused and _fades(hit))]
    told = {claim(hit.memory) for ranked in found.values() for hit, _ in ranked}
    if position is not None:
        found["changed"] = [pair for pair in _changed(ground, position, seen) if claim(pair[0].memory) not in told]
    sections = [
        Section(name, _TITLES[name], with_structure(ground, ranked[: _MOST[name]], seen), len(ranked))
        for name, ranked in found.items()
        if ranked
    ]
    index, viewer = ground.index, ground.viewer
    withdrawn = {
        status: index.search(Query(after=position, limit=1), withheld_view(viewer, (status,))).searched
        for status in (_WITHDRAWN if position is not None else ())
    }
    return Brief(
        sections=tuple(sections),
        places=places,
        since=since if position is not None else None,
        withdrawn={status: count for status, count in withdrawn.items() if count},
        waiting=index.search(Query(refs=("inbox",), limit=1), withheld_view(viewer, WAITING)).searched,
        capture=_capture(ground),
        searched=index.search(Query(limit=1), seen).searched,
        moment=Moment(None, ground.commit, ground.now),
        projects=tuple(sorted(viewer.projects)),
        private=ground.private,
        warnings=ground.warnings,
    )


def remember_told(told: Brief, shown: Iterable[Item], environ: Mapping[str, str]) -> None:
    """The next brief tells what changes from here on, a reminder that was shown comes up no more, and an inference that
    was told often and never used fades. A clone that may not be written to tells it all again."""
    items = list(shown)
    with suppress(GitmemError):
        state.save(told.private, _STATE, {"commit": told.moment.commit})
        note(told.private, items)
        note_told(told.private, environ, [item.memory.id for item in items if _fades(item.hit)])


def _fades(hit: Hit) -> bool:
    """What was concluded, and neither said by a person nor seen."""
    return hit.memory.origin == "inferred"


def _last(ground: Ground) -> tuple[str | None, int | None]:
    """The commit of the last brief and its position; None when there was none, or the branch no longer has it."""
    commit = state.load(ground.private, _STATE).get("commit")
    try:
        return (commit, ground.index.positions().find(commit)) if isinstance(commit, str) else (None, None)
    except ValueError:  # what is there is no object id
        return None, None


def _standing(ground: Ground, places: Sequence[str], seen: Filter) -> list[Ranked]:
    """Rules: those about the files that are worked on, those about all files, then the others."""
    kinds = ("convention", "preference")
    newest = ground.index.search(Query(kinds=kinds, limit=_LOOKED_AT), seen)
    near = about(ground, places, seen, _MOST["standing"], kinds) if places and newest.total > _LOOKED_AT else []
    return best([*near, *((hit, _rule(hit.memory, places)) for hit in newest.hits)])


def _rule(memory: Memory, places: Sequence[str]) -> Near:
    near = nearness(memory, places)
    if near is not None:
        return near
    if memory.applies_to:
        return Near(_ELSEWHERE, f"applies to {memory.applies_to[0]}")
    return Near(_EVERYWHERE, "")


def _reminders(ground: Ground, places: Sequence[str], seen: Filter) -> list[Ranked]:
    hits = ground.index.search(Query(kinds=("reminder",), limit=_LOOKED_AT), seen).hits
    fresh = not_yet(ground.private)
    told = ((hit, due(hit.memory, ground.now) or due_at(hit.memory, ground.now, places)) for hit in hits if fresh(hit))
    return best((hit, Near(1.0, why)) for hit, why in told if why)


def _traps(ground: Ground, places: Sequence[str], seen: Filter) -> list[Ranked]:
    """What failed, and problems that nothing visible solves, for the files that are worked on."""
    if not places:
        return []
    found = about(ground, places, seen, 4 * _MOST["traps"], ("failed_tactic", "problem"))
    problems = [hit.id for hit, _ in found if hit.memory.kind == "problem"]
    solutions = ground.index.linking([f"solves:{identifier}" for identifier in problems], seen)
    solved = {identifier for hit in solutions for identifier in hit.memory.linked("solves")}
    return [pair for pair in found if pair[0].id not in solved]


def _lessons(ground: Ground, seen: Filter) -> list[Ranked]:
    """What failed and then passed in sessions of the last days, the newest first; what solved it stands beside it. A
    user's own memory has no place on the branch, so that a lesson is in none of its changes."""
    hits = ground.index.search(Query(kinds=("problem",), tags=(LESSON,), limit=_LOOKED_AT), seen).hits
    since = ground.now - _LATELY
    return [(hit, Near(1.0, "")) for hit in hits if from_microseconds(hit.changed) >= since]


def _changed(ground: Ground, position: int, seen: Filter) -> list[Ranked]:
    """What came to the branch after a position, the newest first."""
    hits = ground.index.search(Query(after=position, limit=_LOOKED_AT), seen).hits
    ranked = sorted(hits, key=lambda hit: (-hit.since, -hit.changed, hit.id))
    return [(hit, Near(1.0, "new" if hit.recorded == hit.changed else "changed")) for hit in ranked]


def _capture(ground: Ground) -> str:
    """How capture stands, as its last run left it said: what it knows of each session grows with them."""
    swept = state.load(ground.private, "capture-swept")
    known, held = swept.get("known"), swept.get("held")
    if not isinstance(known, int) or not known:
        return ""
    return f"{counted(known, 'session')} captured" + (f", {held} held back" if held else "")
