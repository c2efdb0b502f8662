"""Directives learned without a model: what a person told an agent to do from now on becomes private memory at once.

Only their own words count, out of what was captured; each memory cites the record and quotes the line. The same line
gives one memory, whatever is captured again. A later contrary one takes the place of the earlier one where that is
sure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from gitmem.app.directives_heard import Ear, Heard
from gitmem.app.learn_settings import learns
from gitmem.errors import GitmemError, Refused
from gitmem.model.frozen import dataclass, replace

if TYPE_CHECKING:
    from gitmem.app.capture_progress import Progress
    from gitmem.app.facts import Lookup
    from gitmem.app.workspace import View, Workspace
    from gitmem.app.writing import Mutation
    from gitmem.model.nouns import Memory
    from gitmem.policy.directives import Language

TAG: Final = "directive"
TEAM_TAG: Final = "for-the-team"  # it speaks of everybody, and nobody but its writer reads it
_KNOWN: Final = frozenset({"duplicate"})  # what the gate says of what is there already, in this place or another


@dataclass(frozen=True)
class Kept:
    """A directive that became a memory. `replaces`: the title of the one that it took the place of, or empty."""

    memory: Memory
    replaces: str = ""

    @property
    def is_for_team(self) -> bool:
        return TEAM_TAG in self.memory.tags


@dataclass(frozen=True)
class Turned:
    """A directive that the gate did not let in, with its reasons in a line each."""

    title: str
    session: str
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Learned:
    """What one run made of what was said; `faults`: what kept it from listening."""

    kept: tuple[Kept, ...] = ()
    turned: tuple[Turned, ...] = ()
    faults: tuple[str, ...] = ()


def learn(workspace: Workspace, progress: Progress) -> Learned:
    """Listen to what captured sessions have gained, and keep what a person directed. Raises nothing of gitmem's own:
    what was captured stays captured."""
    try:
        return _learned(workspace, progress)
    except GitmemError as error:
        return Learned(faults=(error.message,))


def _learned(workspace: Workspace, progress: Progress) -> Learned:
    from gitmem.app.belief import believed_view
    from gitmem.app.directive_rules import languages

    ear = Ear(workspace, progress)
    if ear.is_idle:
        return Learned()
    if not learns(workspace.env.environ, "directives"):
        ear.pass_over()
        ear.remember()
        return Learned()
    view = believed_view(workspace)
    if view.config is None:
        return Learned()  # there is no memory to put it into yet; what was said is heard when there is
    rules = languages(workspace.env.environ)
    faults: list[str] = []
    kept, turned = _put_down(workspace, view, ear.listen(rules, faults), rules)
    ear.remember()
    return Learned(tuple(kept), tuple(turned), tuple(faults))


def _put_down(
    workspace: Workspace, view: View, said: Sequence[Heard], rules: tuple[Language, ...]
) -> tuple[list[Kept], list[Turned]]:
    kept: list[Kept] = []
    turned: list[Turned] = []
    if not said:
        return kept, turned
    own = {memory.id: memory for memory in _private(view)}
    known = set(_lines(own.values()))
    for heard in said:
        if not known.isdisjoint(_keys(heard)) or not _is_news(heard, own.values(), rules):
            continue
        old = _replaced(heard, own.values(), rules)
        try:
            memory = _written(workspace, heard, old)
        except Refused as error:
            if not error.reasons:
                raise  # nothing can be written at all; what was said is heard again
            if {reason.code for reason in error.reasons} - _KNOWN:
                why = tuple(f"{reason.message}; {reason.hint}" for reason in error.reasons)
                turned.append(Turned(heard.directive.title, heard.ref.session, why))
            continue
        own[memory.id] = memory
        if old is not None:
            own[old.id] = replace(old, status="superseded")
        kept.append(Kept(memory, old.title if old is not None else ""))
    return kept, turned


def _private(view: View) -> Iterator[Memory]:
    from gitmem.model.layout import PRIVATE

    return view.memories(PRIVATE)


def _lines(memories: Iterable[Memory]) -> Iterator[tuple[str, str]]:
    """What was learned already: the line, and the record or the time by which it is known again."""
    from gitmem.model.nouns import TranscriptRef

    for memory in memories:
        for ref in memory.evidence:
            if isinstance(ref, TranscriptRef) and ref.speaker == "human" and ref.quote:
                yield ref.quote, ref.record
                if memory.valid.start:
                    yield ref.quote, memory.valid.start


def _keys(heard: Heard) -> set[tuple[str, str]]:
    line = heard.directive.line
    return {(line, heard.ref.record), *({(line, heard.at)} if heard.at else ())}


def _is_news(heard: Heard, own: Iterable[Memory], rules: tuple[Language, ...]) -> bool:
    """Whether nothing that stands says it already, and nothing that was said later says otherwise."""
    from gitmem.policy.directives import contrary, restates

    title = heard.directive.title
    return not any(
        restates(title, memory.title, rules)
        or (heard.at and memory.valid.start and heard.at < memory.valid.start and contrary(title, memory.title, rules))
        for memory in _standing(own)
    )


def _replaced(heard: Heard, own: Iterable[Memory], rules: tuple[Language, ...]) -> Memory | None:
    """The one directive that this one turns around. Where there are several, all stay, and so does this."""
    from gitmem.policy.directives import contrary

    found = [memory for memory in _standing(own) if contrary(heard.directive.title, memory.title, rules)]
    return found[0] if len(found) == 1 else None


def _standing(own: Iterable[Memory]) -> Iterator[Memory]:
    from gitmem.model.vocabulary import VISIBLE

    return (memory for memory in own if memory.status in VISIBLE and TAG in memory.tags)


def _written(workspace: Workspace, heard: Heard, old: Memory | None) -> Memory:
    """The memory of a directive, in the place of `old`. Raises Refused with the gate's reasons."""
    from gitmem.app.moves import closed
    from gitmem.app.remember import build
    from gitmem.app.writing import Mutation, write
    from gitmem.model.ids import memory_id
    from gitmem.model.judgement import Change
    from gitmem.model.layout import PRIVATE
    from gitmem.model.nouns import Draft, Link, Valid
    from gitmem.model.text import one_line

    directive = heard.directive
    draft = Draft(
        kind=old.kind if old is not None else directive.kind,
        title=directive.title,
        audience="private",
        tags=(TAG, TEAM_TAG) if directive.team else (TAG,),
        valid=Valid(heard.at or None),
        links=() if old is None else (Link("supersedes", old.id),),
        evidence=(heard.ref,),
    )
    identifier = memory_id(workspace.env.random(8))
    capturing = replace(workspace, env=replace(workspace.env, channel="capture", host=heard.host))

    def plan(view: View, _: Lookup) -> list[Mutation]:
        (built,) = build(view, [draft], [identifier], None)
        new = Mutation(Change("create", built.memory, reason="a person said so"), PRIVATE)
        if old is None:
            return [new]
        reason = f"the same person said later: {one_line(directive.line, 200)}"
        return [new, closed(old, built.memory, reason)]

    outcome = write(capturing, plan, subject=lambda _: f"directive {identifier}: {one_line(directive.title, 60)}")
    return next(item.mutation.change.after for item in outcome.judged if item.mutation.change.after.id == identifier)


def learned_here(view: View) -> list[Memory]:
    """The directives that stand, the newest first."""
    return sorted(_standing(_private(view)), key=lambda memory: (memory.valid.start or "", memory.id), reverse=True)


def proposals(view: View) -> list[Memory]:
    """Those that speak of the whole team and were not offered to it: `gitmem promote ID` does that."""
    from gitmem.app.promote import offered

    done = offered(view.workspace)
    return [memory for memory in learned_here(view) if TEAM_TAG in memory.tags and memory.id not in done]
