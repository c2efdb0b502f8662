"""Marks: a memory whose code changed weighs less, one whose code is gone still less. Nothing is withheld.

A mark says what anybody with the repository can compute again, and it is a person's all the same, or that of a
continuous integration: an agent may propose, and is told of the verdict wherever it reads (docs/staleness.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from gitmem.app.facts import Lookup, sources
from gitmem.app.stale import Report, Standing, standings
from gitmem.app.workspace import View, Workspace
from gitmem.app.writing import Mutation, status_change, write
from gitmem.errors import Refused
from gitmem.model.citations import citation
from gitmem.model.judgement import Reason
from gitmem.model.nouns import Memory
from gitmem.model.vocabulary import VISIBLE
from gitmem.policy.landing import decides

_NAMED: Final = 3  # references that a reason names


def mark(workspace: Workspace, report: Report) -> list[Memory]:
    """Give every memory of the report that its verdict says so its mark, all in one commit; the marked memories.

    Each is looked at again at the state that is written on. Raises Refused for a channel that may propose only.
    """
    wanted = [standing.memory.id for standing in report.to_mark]
    if not wanted:
        return []

    def plan(view: View, _: Lookup) -> list[Mutation]:
        found = [item for identifier in wanted if (item := view.anywhere(identifier)) is not None]
        homes = {item.memory.id: item.ref for item in found if item.memory.status in VISIBLE}
        memories = [item.memory for item in found if item.memory.id in homes]
        for memory in memories:
            _require_marker(view, memory)
        again = standings(memories, sources(view, workspace.env.channel))
        return [
            Mutation(
                status_change(one.memory, "mark", one.mark, reason(one, workspace.location.head)), homes[one.memory.id]
            )
            for one in again
            if one.mark
        ]

    return [item.mutation.change.after for item in write(workspace, plan, subject=_subject).judged]


def reason(standing: Standing, head: str | None) -> str:
    """The verdict, the commit that it was given at, and the lines that it is about."""
    at_fault = [one for one in standing.cited if one.drift.verdict in ("gone", "changed")]
    named = [f"{citation(one.ref)} ({one.drift.verdict})" for one in at_fault[:_NAMED]]
    more = f" and {len(at_fault) - _NAMED} more" if len(at_fault) > _NAMED else ""
    return f"{standing.verdict} at {(head or '')[:10]}: {', '.join(named)}{more}"


def may_mark(view: View, memory: Memory) -> bool:
    """Whether this channel may: a person where a person decides, and continuous integration."""
    channel = view.workspace.env.channel
    return channel == "ci" or decides(channel, view.require_config(), memory.scope.audience)


def _require_marker(view: View, memory: Memory) -> None:
    if may_mark(view, memory):
        return
    env = view.workspace.env
    if env.channel == "terminal":
        why, hint = "the policy says that review is on the forge", "let a job of continuous integration mark"
    else:
        seen = f" (seen: {env.host})" if env.host else ""
        why = f"marking is for a person at a terminal, and this came through {env.channel}{seen}"
        hint = "a person runs: gitmem stale --mark"
    told = Reason("channel.authority", "recall, context and show tell what changed without any mark", hint, "op")
    raise Refused(f"{why}; nothing was marked", reasons=[told])


def _subject(mutations: Sequence[Mutation]) -> str:
    if len(mutations) == 1:
        memory: Any = mutations[0].change.after
        return f"mark {memory.id} {memory.status}: the code changed"
    return f"mark {len(mutations)} memories: the code changed"
