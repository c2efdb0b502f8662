"""`gitmem consolidate`: what time has decided is closed, and what needs a person is listed, each with its command.

Deterministic, and without a model. It accepts nothing, merges nothing and rewrites nothing: run again right after, it
changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

from gitmem.app import use
from gitmem.app.belief import believed_view
from gitmem.app.facts import Lookup
from gitmem.app.feedback import TAG as FEEDBACK
from gitmem.app.near_pairs import near_pairs
from gitmem.app.settle import Settled, decided, settle
from gitmem.app.workspace import Found, View, Workspace
from gitmem.app.writing import Mutation, status_change, write
from gitmem.model.frozen import dataclass
from gitmem.model.layout import MAIN, PRIVATE, USER
from gitmem.model.nouns import Memory, TranscriptRef
from gitmem.model.records import event_from_bytes
from gitmem.model.times import parse_instant
from gitmem.model.vocabulary import LESSON, VISIBLE
from gitmem.policy.landing import decides

# What is listed, in this order.
SECTIONS: Final = ("conflict", "waiting", "stale", "ended", "near", "lesson", "directive", "skill", "unused")
SHORT: Final = 8
_ENOUGH: Final = 2  # sessions that taught a lesson, or credited a procedure


@dataclass(frozen=True)
class Closed:
    """What is put away, or would be: a candidate that facts decided, or a memory that is true no more."""

    memory: Memory
    why: str


@dataclass(frozen=True)
class Need:
    """One thing for a person. `section`: of `SECTIONS`. `memories`: which it is about, the first most. `commands`: what
    may be run about it."""

    section: str
    memories: tuple[Memory, ...]
    why: str
    commands: tuple[str, ...]


@dataclass(frozen=True)
class Consolidated:
    closed: tuple[Closed, ...]
    needs: tuple[Need, ...]


def consolidate(workspace: Workspace, *, dry_run: bool) -> Consolidated:
    """Close what facts decided, where whoever asks may, and list the rest. Raises NotFound without a memory, and what
    believing its branch raises."""
    believed_view(workspace).require_config()
    settled: list[Settled] = decided(workspace) if dry_run else settle(workspace)
    ended = _archived(workspace, dry_run=dry_run)
    view = believed_view(workspace)
    gone = {memory.id for memory in ended}
    closed = [Closed(item.memory, item.why) for item in settled]
    closed += [Closed(memory, f"it was true until {memory.valid.until}") for memory in ended]
    put_away = gone | {item.memory.id for item in settled}
    return Consolidated(tuple(closed), tuple(_needs(view, put_away)))


def _archived(workspace: Workspace, *, dry_run: bool) -> list[Memory]:
    """What is true no more is archived, by whoever may decide about it; it was never shown since."""
    found: list[Memory] = []

    def plan(view: View, _: Lookup) -> list[Mutation]:
        channel = view.workspace.env.channel
        found[:] = []
        mutations = []
        for item in _ended(view):
            memory = item.memory
            config = view.config_for(memory.scope.audience)
            if config is not None and decides(channel, config, memory.scope.audience):
                found.append(memory)
                why = f"expired: it was true until {memory.valid.until}"
                mutations.append(Mutation(status_change(memory, "archive", "archived", why), item.ref))
        return mutations

    if next(_ended(believed_view(workspace)), None) is not None:
        write(workspace, plan, subject=lambda made: f"archive {len(made)} that are true no more", dry_run=dry_run)
    return found


def _ended(view: View) -> Iterator[Found]:
    """Memories that are true no more and that nobody touched since; what was restored after its end stays."""
    now = view.workspace.env.now()
    for ref in (MAIN, PRIVATE, USER):
        for memory in view.memories(ref):
            if memory.status in VISIBLE and memory.valid.until is not None:
                until = parse_instant(memory.valid.until)
                if until <= now and _last_touched(view, memory, ref) < until:
                    yield Found(memory, ref)


def _last_touched(view: View, memory: Memory, ref: str) -> datetime:
    place = view.place(ref)
    names = place.event_names(memory.id)
    raw = place.read(names[-1]) if names else None
    at = event_from_bytes(raw, path=names[-1], trusted=True).at if raw is not None else "0001-01-01"
    return parse_instant(at)


def _needs(view: View, put_away: Iterable[str]) -> list[Need]:
    gone = frozenset(put_away)
    places = {ref: [m for m in view.memories(ref) if m.id not in gone] for ref in (MAIN, PRIVATE, USER)}
    every = [memory for memories in places.values() for memory in memories]
    standing = [memory for memory in every if memory.status in VISIBLE]
    used = use.load(view.workspace.location.private) if use.is_on(view.workspace.env.environ) else {}
    found = [
        *_conflicts(view, every),
        *_waiting(view, gone),
        *_stale(standing),
        *_true_no_more(view, gone),
        *_near(places, used),
        *_lessons(view, places[PRIVATE]),
        *_directives(view),
        *_skills(view),
        *_unused(standing, used),
    ]
    return sorted(found, key=lambda need: (SECTIONS.index(need.section), need.memories[0].id))


def _conflicts(view: View, every: Iterable[Memory]) -> Iterator[Need]:
    from gitmem.app.conflicts import conflicts

    disputed = [memory for memory in every if memory.status == "disputed"]
    told = set()
    for item in conflicts(view.workspace, [memory for memory in disputed if memory.scope.audience == "team"]):
        told.add(item.memory.id)
        name = item.memory.id[:SHORT]
        commands = (f"gitmem conflicts show {name}", f'gitmem conflicts resolve {name} --take ours --because "…"')
        yield Need("conflict", (item.memory,), item.why or "disputed", commands)
    for memory in disputed:
        if memory.id not in told:
            ways = tuple(f'gitmem {verb} {memory.id[:SHORT]} --because "…"' for verb in ("restore", "wrong"))
            yield Need("conflict", (memory,), "disputed", ways)


def _waiting(view: View, gone: frozenset[str]) -> Iterator[Need]:
    from gitmem.app.verdicts import waiting

    for item in waiting(view):
        memory = item.memory
        if memory.id in gone:
            continue
        doubted = memory.linked("contradicts") if FEEDBACK in memory.tags else ()
        why = f"it says that {doubted[0][:SHORT]} is wrong" if doubted else memory.status
        ask = (f'gitmem feedback {doubted[0][:SHORT]} wrong --because "…"',) if doubted else ()
        yield Need("waiting", (memory,), why, (*ask, f"gitmem review {memory.id[:SHORT]}"))


def _stale(standing: Iterable[Memory]) -> Iterator[Need]:
    for memory in standing:
        if memory.status in ("maybe_stale", "stale"):
            name = memory.id[:SHORT]
            yield Need("stale", (memory,), memory.status, (f"gitmem reverify {name}", "gitmem stale"))


def _true_no_more(view: View, gone: frozenset[str]) -> Iterator[Need]:
    """Those that whoever asks may not put away."""
    for item in _ended(view):
        if item.memory.id not in gone:
            why = f"it was true until {item.memory.valid.until}"
            yield Need("ended", (item.memory,), why, (f'gitmem archive {item.memory.id[:SHORT]} --because "{why}"',))


def _near(places: dict[str, list[Memory]], used: dict[str, use.Used]) -> Iterator[Need]:
    for memories in places.values():
        for kept, other in near_pairs(memories, used):
            name, into = other.id[:SHORT], kept.id[:SHORT]
            why = f"says nearly what {into} says, which rests on more"
            commands = (f"gitmem show {into}", f'gitmem archive {name} --because "{into} says the same"')
            yield Need("near", (other, kept), why, commands)


def _lessons(view: View, own: Iterable[Memory]) -> Iterator[Need]:
    from gitmem.app.promote import offered

    done = offered(view.workspace)
    for memory in own:
        if memory.kind == "solution" and LESSON in memory.tags and memory.status in VISIBLE and memory.id not in done:
            taught = len({ref.session for ref in memory.evidence if isinstance(ref, TranscriptRef)})
            if taught >= _ENOUGH:
                why = f"{taught} sessions taught this, and only you are told"
                yield Need("lesson", (memory,), why, (f"gitmem promote {memory.id[:SHORT]}",))


def _directives(view: View) -> Iterator[Need]:
    from gitmem.app.directives import proposals

    for memory in proposals(view):
        why = "it speaks of the whole team, and only you are told"
        yield Need("directive", (memory,), why, (f"gitmem promote {memory.id[:SHORT]}",))


def _skills(view: View) -> Iterator[Need]:
    from gitmem.app.skills import qualified

    for item in qualified(view):
        if not item.written:
            why = f"checks passed in {item.sessions} sessions with it in context"
            yield Need("skill", (item.memory,), why, (f"gitmem skill propose {item.memory.id[:SHORT]}",))


def _unused(standing: Iterable[Memory], used: dict[str, use.Used]) -> Iterator[Need]:
    for memory in standing:
        row = used.get(memory.id)
        if memory.origin == "inferred" and row is not None and row.has_faded:
            name = memory.id[:SHORT]
            why = f"told in {row.told} briefs and never used since; briefs leave it out"
            yield Need(
                "unused", (memory,), why, (f"gitmem feedback {name} useful", f'gitmem archive {name} --because "…"')
            )
