"""`gitmem feedback`: a memory was useful, which counts here alone; or it is wrong, which a person decides.

Nothing of it changes a memory by itself.
"""

from __future__ import annotations

from typing import Literal

from gitmem.app import use
from gitmem.app.belief import believed_view
from gitmem.app.moves import find_for, require_reason
from gitmem.app.remember import Remembered, remember
from gitmem.app.workspace import Workspace
from gitmem.errors import GitmemError, UsageError
from gitmem.model.frozen import dataclass
from gitmem.model.layout import INBOX
from gitmem.model.nouns import Draft, Link, Memory, MemoryRef
from gitmem.model.text import one_line
from gitmem.model.vocabulary import TITLE_LIMIT, VISIBLE

VERDICTS = ("useful", "wrong")
TAG = "feedback"
_TITLE = 60


@dataclass(frozen=True)
class Feedback:
    """What became of it. `result`: `credited` (a person's word, once), `counted` (as a use), `known` (said
    before), `asked` (a person may run one of `commands`), `proposed` (`candidate` waits for a person)."""

    memory: Memory
    result: Literal["credited", "counted", "known", "asked", "proposed"]
    commands: tuple[str, ...] = ()
    candidate: Remembered | None = None


def feedback(workspace: Workspace, prefix: str, verdict: str, reason: str) -> Feedback:
    """Raises UsageError for another verdict and where wrong has no reason, and Refused as the gate does."""
    if verdict not in VERDICTS:
        raise UsageError(f"there is no verdict {one_line(verdict, 40)!r}", hint="useful or wrong")
    found = find_for(believed_view(workspace), "feedback", prefix)
    memory, env = found.memory, workspace.env
    if verdict == "useful":
        if memory.status not in VISIBLE:
            raise UsageError(f"{memory.id} is {memory.status}: nobody is told it", hint=f"gitmem show {memory.id[:8]}")
        private = workspace.location.private
        use.note(private, env.environ, "useful", [memory.id], env.now())
        if use.is_on(env.environ) and not use.is_noted(private, memory.id, env.now()):
            message = f"that {memory.id} was useful could not be kept in {private}"
            raise GitmemError(message, hint="see the rights and the free space; gitmem doctor")
        if env.channel != "terminal":
            return Feedback(memory, "counted")
        news = use.credit(private, env.environ, [memory.id], use.PERSON)
        return Feedback(memory, "credited" if news else "known")
    require_reason(reason, f"gitmem feedback {memory.id[:8]} wrong")
    commands = _commands(memory, found.ref, reason)
    if env.channel == "terminal" or found.ref == INBOX or memory.status not in VISIBLE:
        return Feedback(memory, "asked", commands)
    return Feedback(memory, "proposed", commands, _proposed(workspace, memory, reason))


def _commands(memory: Memory, ref: str, reason: str) -> tuple[str, ...]:
    """What a person may run about a memory that is said to be wrong."""
    verbs = ("reject",) if ref == INBOX else ("wrong", "dispute") if memory.status in VISIBLE else ("show",)
    why = one_line(reason, 200).replace("'", "’")
    return tuple(f"gitmem {verb} {memory.id[:8]}" + (f" --because '{why}'" if verb != "show" else "") for verb in verbs)


def doubted(candidate: Memory) -> str | None:
    """The id of the memory that a candidate of `feedback` says is wrong; None of any other candidate."""
    against = candidate.linked("contradicts") if TAG in candidate.tags else ()
    cited = [ref.id for ref in candidate.evidence if isinstance(ref, MemoryRef)]
    return against[0] if len(against) == 1 and list(against) == cited else None


def answers(candidate: Memory) -> tuple[str, ...]:
    """What answers a candidate of `feedback`: a move of the memory that it is about, or that it is refused."""
    about = (doubted(candidate) or "")[:8]
    moves = tuple(f'gitmem {verb} {about} --because "…"' for verb in ("wrong", "dispute"))
    return (*moves, f'gitmem reject {candidate.id[:8]} --because "…"')


def _proposed(workspace: Workspace, memory: Memory, reason: str) -> Remembered:
    """What an agent says against a memory, as a candidate that contradicts it; who decides is shown it. It is never let
    in: what answers it is a move of that memory."""
    said = one_line(reason, TITLE_LIMIT - _TITLE - 40)
    draft = Draft(
        kind="fact",
        title=f"“{one_line(memory.title, _TITLE)}” is said to be wrong: {said}",
        audience=memory.scope.audience,
        links=(Link("contradicts", memory.id, one_line(reason, 200)),),
        evidence=(f"memory:{memory.id}",),
        tags=(TAG,),
    )
    (item,) = remember(workspace, [draft], reason=reason)
    return item
