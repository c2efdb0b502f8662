"""`gitmem consolidate`: what time has decided is closed, and what needs a person is listed, each with its command.

Deterministic, and without a model. It accepts nothing, merges nothing and rewrites nothing: run again right after, it
changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from gitmem.model.frozen import dataclass, field
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
    seen = _seen(believed_view(workspace))
    ended = _archived(workspace, seen.ended, dry_run=dry_run)
    gone = {memory.id for memory in ended}
    closed = [Closed(item.memory, item.why) for item in settled]
    closed += [Closed(memory, f"it was true until {memory.valid.until}") for memory in ended]
    put_away = frozenset(gone | {item.memory.id for item in settled})
    return Consolidated(tuple(closed), tuple(_needs(believed_view(workspace), seen, put_away)))


@dataclass(frozen=True)
class _Seen:
    """What one reading of every memory found, and of each only what a section is about. near: (ref, the id to keep,
    the other's)."""

    ended: list[Found] = field(default_factory=list)
    disputed: list[Memory] = field(default_factory=list)
    stale: list[Memory] = field(default_factory=list)
    lessons: list[Memory] = field(default_factory=list)
    unused: list[Memory] = field(default_factory=list)
    near: list[tuple[str, str, str]] = field(default_factory=list)


def _seen(view: View) -> _Seen:
    private, environ = view.workspace.location.private, view.workspace.env.environ
    used = use.load(private) if use.is_on(environ) else {}
    seen = _Seen()
    for ref in (MAIN, PRIVATE, USER):
        pairs = near_pairs(_noted(view, ref, seen, used), used)
        seen.near.extend((ref, kept, other) for kept, other in pairs)
    return seen


def _noted(view: View, ref: str, seen: _Seen, used: Mapping[str, use.Used]) -> Iterator[Memory]:
    """Every memory of a ref, as it passes by noted where a section is about it."""
    for memory in view.memories(ref):
        if memory.status == "disputed":
            seen.disputed.append(memory)
        if memory.status in ("maybe_stale", "stale"):
            seen.stale.append(memory)
        if memory.status in VISIBLE:
            if _has_ended(view, memory, ref):
                seen.ended.append(Found(memory, ref))
            if ref == PRIVATE and memory.kind == "solution" and LESSON in memory.tags:
                seen.lessons.append(memory)
            if memory.origin == "inferred" and (row := used.get(memory.id)) is not None and row.has_faded:
                seen.unused.append(memory)
        yield memory


def _archived(workspace: Workspace, ended: Sequence[Found], *, dry_run: bool) -> list[Memory]:
    """What is true no more is archived, by whoever may decide about it; it was never shown since."""
    found: list[Memory] = []

    def plan(view: View, _: Lookup) -> list[Mutation]:
        channel = view.workspace.env.channel
        found[:] = []
        mutations = []
        for item in ended:
            memory = view.memory(item.memory.id, item.ref)
            if memory is None or memory.status not in VISIBLE or not _has_ended(view, memory, item.ref):
                continue
            config = view.config_for(memory.scope.audience)
            if config is not None and decides(channel, config, memory.scope.audience):
                found.append(memory)
                why = f"expired: it was true until {memory.valid.until}"
                mutations.append(Mutation(status_change(memory, "archive", "archived", why), item.ref))
        return mutations

    if ended:
        write(workspace, plan, subject=lambda made: f"archive {len(made)} that are true no more", dry_run=dry_run)
    return found


def _has_ended(view: View, memory: Memory, ref: str) -> bool:
    """Whether a memory is true no more and nobody touched it since; what was restored after its end stays."""
    if memory.valid.until is None:
        return False
    until = parse_instant(memory.valid.until)
    return until <= view.workspace.env.now() and _last_touched(view, memory, ref) < until


def _last_touched(view: View, memory: Memory, ref: str) -> datetime:
    place = view.place(ref)
    names = place.event_names(memory.id)
    raw = place.read(names[-1]) if names else None
    at = event_from_bytes(raw, path=names[-1], trusted=True).at if raw is not None else "0001-01-01"
    return parse_instant(at)


def _needs(view: View, seen: _Seen, gone: frozenset[str]) -> list[Need]:
    used = use.load(view.workspace.location.private) if use.is_on(view.workspace.env.environ) else {}
    found = [
        *_conflicts(view, seen.disputed),
        *_waiting(view, gone),
        *_stale(seen.stale),
        *_true_no_more(seen.ended),
        *_near(view, seen.near),
        *_lessons(view, seen.lessons),
        *_directives(view),
        *_skills(view),
        *_unused(seen.unused, used),
    ]
    kept = [need for need in found if not gone.intersection(memory.id for memory in need.memories)]
    return sorted(kept, key=lambda need: (SECTIONS.index(need.section), need.memories[0].id))


def _conflicts(view: View, disputed: Sequence[Memory]) -> Iterator[Need]:
    from gitmem.app.conflicts import conflicts

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


def _stale(stale: Iterable[Memory]) -> Iterator[Need]:
    for memory in stale:
        name = memory.id[:SHORT]
        yield Need("stale", (memory,), memory.status, (f"gitmem reverify {name}", "gitmem stale"))


def _true_no_more(ended: Iterable[Found]) -> Iterator[Need]:
    """Of these stays in the list what whoever asks may not put away."""
    for item in ended:
        why = f"it was true until {item.memory.valid.until}"
        yield Need("ended", (item.memory,), why, (f'gitmem archive {item.memory.id[:SHORT]} --because "{why}"',))


def _near(view: View, pairs: Iterable[tuple[str, str, str]]) -> Iterator[Need]:
    for ref, one, two in pairs:
        kept, other = view.memory(one, ref), view.memory(two, ref)
        if kept is None or other is None:
            continue
        name, into = other.id[:SHORT], kept.id[:SHORT]
        why = f"says nearly what {into} says, which rests on more"
        commands = (f"gitmem show {into}", f'gitmem archive {name} --because "{into} says the same"')
        yield Need("near", (other, kept), why, commands)


def _lessons(view: View, own: Iterable[Memory]) -> Iterator[Need]:
    from gitmem.app.promote import offered

    done = offered(view.workspace)
    for memory in own:
        if memory.id not in done:
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


def _unused(faded: Iterable[Memory], used: Mapping[str, use.Used]) -> Iterator[Need]:
    for memory in faded:
        name, told = memory.id[:SHORT], used[memory.id].told if memory.id in used else use.FADES_AFTER
        why = f"told in {told} briefs and never used since; briefs leave it out"
        commands = (f"gitmem feedback {name} useful", f'gitmem archive {name} --because "…"')
        yield Need("unused", (memory,), why, commands)
