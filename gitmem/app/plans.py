"""Open plans: what is left of them, which one "continue" means, and marking a step as done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gitmem.app.context import Near, Ranked, with_structure
from gitmem.model.frozen import dataclass, replace
from gitmem.model.nouns import Memory
from gitmem.model.pattern import pattern
from gitmem.recall.query import Query

if TYPE_CHECKING:
    from collections.abc import Callable

    from gitmem.app.ground import Ground
    from gitmem.app.recalling import Item
    from gitmem.model.judgement import Filter
    from gitmem.recall.query import Hit

_LOOKED_AT: Final = 40  # newest plans
_WORDS: Final = 8  # of a prompt that may say nothing but "go on"
# The whole prompt, in lower case and without marks, in the languages in which directives are found and a few more.
_GOES_ON: Final = pattern(
    r"(?:ok(?:ay)? |yes |please |so |and |now |vale |sí |si |por favor )*"
    r"(?:continue|go on|go ahead|keep going|carry on|resume|proceed|pick (?:it )?up where (?:we|you) left off|"
    r"where (?:were|was) (?:we|i)|where did (?:we|you) (?:stop|leave off)|what(?: is|s)? (?:next|left)|next(?: step)?|"
    r"continúa|continua|continuar|continuemos|sigue|seguimos|sigamos|adelante|dale|retoma|por dónde íbamos|"
    r"qué falta|que falta|mach weiter|weiter|continuez|continuons|continuer)"
    r"(?: (?:with|on|from|the|our|your|last|open|previous|plan|task|work|job|session|there|it|this|that|please|now|"
    r"con|el|la|lo|plan|tarea|trabajo|anterior|por favor|desde|donde|lo dejamos))*"
)
_MARKS: Final = pattern(r"[^\w\s]+")


def goes_on(prompt: str) -> bool:
    """Whether a prompt says nothing but to go on with what was begun."""
    words = _MARKS.sub("", prompt.casefold()).split()
    return 0 < len(words) <= _WORDS and _GOES_ON.fullmatch(" ".join(words)) is not None


def open_plans(ground: Ground, seen: Filter) -> list[Ranked]:
    """Plans with a step that is not done, or without steps; the newest first, since that is what goes on."""
    found = []
    for hit in ground.index.search(Query(kinds=("plan",), limit=_LOOKED_AT), seen).hits:
        left = [step.text for step in hit.memory.steps if not step.done]
        if left or not hit.memory.steps:
            found.append((hit, Near(1.0, standing(hit.memory))))
    return sorted(found, key=lambda pair: (-pair[0].changed, pair[0].id))


def standing(plan: Memory) -> str:
    """How far a plan is, in words."""
    left = [step.text for step in plan.steps if not step.done]
    if not plan.steps:
        return "open"
    done = f"{len(plan.steps) - len(left)} of {len(plan.steps)} steps done"
    return f"{done}; next: {left[0]}" if left else done


def adopted(ground: Ground, prompt: str, is_new: Callable[[Hit], bool]) -> tuple[Item, ...]:
    """The newest open plan for a prompt that says only to go on; nothing when the session holds it already."""
    from gitmem.policy.visibility import visible

    if not goes_on(prompt):
        return ()
    seen = visible(ground.viewer, at=ground.now)
    newest = open_plans(ground, seen)[:1]
    return with_structure(ground, [pair for pair in newest if is_new(pair[0])], seen)


@dataclass(frozen=True)
class Open:
    """One open plan, for a person who asks."""

    plan: Memory
    standing: str


def listed(ground: Ground) -> list[Open]:
    """All open plans that this reader may see, the newest first."""
    from gitmem.policy.visibility import visible

    found = open_plans(ground, visible(ground.viewer, at=ground.now))
    return [Open(hit.memory, near.how) for hit, near in found]


def marked(number: int) -> Callable[[Memory], Memory]:
    """The edit that marks a step, counted from 1, as done. It raises UsageError for a step that is none or was done."""
    from gitmem.errors import UsageError

    def changed(memory: Memory) -> Memory:
        if not 0 < number <= len(memory.steps):
            raise UsageError(f"{memory.id} has no step {number}", hint=f"gitmem plan show {memory.id} counts them")
        if memory.steps[number - 1].done:
            raise UsageError(f"step {number} of {memory.id} is done already", hint="gitmem plan shows what is left")
        steps = list(memory.steps)
        steps[number - 1] = replace(steps[number - 1], done=True)
        return replace(memory, steps=tuple(steps))

    return changed
