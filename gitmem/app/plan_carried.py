"""Open steps of a session, carried on as a plan: private, observed, from the list of things to do that the agent kept.

A later session that works on the same steps changes that plan; it makes no second one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from gitmem.app.lessons import cited, holder
from gitmem.app.writing import Mutation
from gitmem.model.frozen import replace
from gitmem.model.ids import memory_id
from gitmem.model.judgement import Change
from gitmem.model.layout import PRIVATE
from gitmem.model.nouns import Memory, Scope, Step
from gitmem.model.text import is_clean, one_line
from gitmem.model.vocabulary import ITEM_LIMIT, TITLE_LIMIT, VISIBLE
from gitmem.policy.text_rules import is_plain

if TYPE_CHECKING:
    from gitmem.app.facts import Lookup
    from gitmem.app.learning_reader import Reader
    from gitmem.app.workspace import View
    from gitmem.capture.story import Story

TAG: Final = "carried"


def carried(view: View, known: Lookup, reader: Reader, found: Story, episode: str) -> list[Mutation]:
    """What becomes of the plans by what one session listed; empty when nothing does."""
    steps = tuple(Step(step.text, step.done) for step in found.steps if is_clean(step.text))
    if not steps or found.listed is None:
        return []
    own, aside = holder(view, known, f"plan.{episode.partition('.')[2]}")
    before = own or _continued(view, steps)
    if before is not None:
        return _changed(view, reader, before, steps, found)
    if aside or all(step.done for step in steps):
        return []
    plan = Memory(
        id=memory_id(view.workspace.env.random(8)),
        kind="plan",
        title=one_line(f"Go on with: {_asked(found) or steps[0].text}", TITLE_LIMIT),
        body="",
        status="active",
        scope=Scope(view.require_config().project, "private"),
        origin="observed",
        key=f"plan.{episode.partition('.')[2]}",
        tags=(TAG,),
        steps=steps[:ITEM_LIMIT],
        evidence=(cited(view, reader, found.listed, ""),),
    )
    return [Mutation(Change("create", plan), PRIVATE)] if is_plain(plan) else []


def _asked(found: Story) -> str:
    text = found.asked.text.strip().split("\n")[0] if found.asked else ""
    return text if is_clean(text) else ""


def _continued(view: View, steps: Sequence[Step]) -> Memory | None:
    """The open plan, carried on from another session, of which half of the open steps or more are listed here."""
    listed = {_same(step.text) for step in steps}
    best: tuple[int, Memory] | None = None
    for memory in view.memories(PRIVATE):
        if memory.kind != "plan" or TAG not in memory.tags or memory.status not in VISIBLE:
            continue
        open_steps = [_same(step.text) for step in memory.steps if not step.done]
        shared = sum(text in listed for text in open_steps)
        if shared and 2 * shared >= len(open_steps) and (best is None or shared > best[0]):
            best = shared, memory
    return best[1] if best else None


def _changed(view: View, reader: Reader, before: Memory, steps: Sequence[Step], found: Story) -> list[Mutation]:
    now = {_same(step.text): step for step in steps}
    kept = [
        replace(step, done=step.done or now[key].done) if (key := _same(step.text)) in now else step
        for step in before.steps
    ]
    there = {_same(step.text) for step in before.steps}
    after_steps = tuple([*kept, *(step for key, step in now.items() if key not in there)][:ITEM_LIMIT])
    if after_steps == before.steps or before.scope.audience != "private" or before.origin == "human":
        return []
    assert found.listed is not None  # noqa: S101 - the caller has looked
    ref = cited(view, reader, found.listed, "")
    evidence = before.evidence if ref in before.evidence else (*before.evidence, ref)[-ITEM_LIMIT:]
    after = replace(before, steps=after_steps, evidence=evidence)
    reason = f"went on in {reader.stored.manifest.name}"
    return [Mutation(Change("edit", after, before=before, reason=reason), PRIVATE)]


def _same(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")
