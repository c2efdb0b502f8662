"""One session in short: what was asked, what was done, how it ended, told from its turns alone."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final, Literal

from gitmem.capture.fields import listing, mapping, string
from gitmem.capture.fixes import Fix, Fixes
from gitmem.capture.outcomes import Changed, Check, outcomes
from gitmem.capture.turns import Turn
from gitmem.model.frozen import dataclass
from gitmem.model.pattern import pattern

Ended = Literal["verified", "unverified", "failed", "interrupted", "answered"]

_STOPPED: Final = pattern(
    r"\A\s*(?:\[Request interrupted by user|<turn_aborted>|The user interrupted the previous turn|API Error)"
)
_STEPS: Final = pattern(r"^(?:todos|plan|items): (\[.*\])$", 8)
_STEP_TOOLS: Final = frozenset(["todowrite", "update_plan", "write_todos", "todo_write", "manage_todo_list", "todo"])
_STEP_WORDS: Final = ("content", "step", "description", "title", "text")
_DONE: Final = frozenset(["completed", "complete", "done", "cancelled", "canceled"])
_MOST_STEPS: Final = 32


@dataclass(frozen=True)
class Step:
    """One line of the list of things to do that an agent kept."""

    text: str
    done: bool


@dataclass(frozen=True)
class Story:
    """`asked`: the turn in which a person first said what to do. `last`: the turn that ended it. `shown`: the last
    answer of a tool. `passed`, `broken`: checks of code by the last outcome of each. `fixed`: failures that were got
    past. `steps`: as they stood at last, and `listed`, the answer to the call that said so. `began`, `fell_silent`:
    times of turns, None when the host writes none. `top`: the folder in which it began."""

    ended: Ended
    why: str
    asked: Turn | None
    last: Turn | None
    shown: Turn | None = None
    files: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    passed: tuple[Check, ...] = ()
    broken: tuple[Check, ...] = ()
    fixed: tuple[Fix, ...] = ()
    steps: tuple[Step, ...] = ()
    listed: Turn | None = None
    began: datetime | None = None
    fell_silent: datetime | None = None
    top: str = ""


def story(turns: Iterable[Turn]) -> Story | None:
    """None for a session in which nothing was said or done."""
    told = _Teller()
    seen = outcomes(told.listening(turns))
    known = Fixes()
    fixed: list[Fix] = []
    checks: dict[str, Check] = {}
    order = changed_at = passed_at = 0
    changed: list[Changed] = []
    for order, one in enumerate(seen, 1):
        fixed += known.take(one)
        if isinstance(one, Changed):
            changed.append(one)
            changed_at = order if one.kind == "edit" else changed_at
        elif one.outcome is not None and one.is_of_code:
            checks[one.key] = one
            passed_at = order if one.outcome == "ok" else passed_at
    if told.last is None:
        return None
    waiting = {check.key for check in known.waiting if check.is_of_code}
    broken = tuple(check for check in checks.values() if check.key in waiting)
    passed = tuple(check for check in checks.values() if check.outcome == "ok")
    ended, why = _end(told, changed_at, passed_at, broken)
    return Story(
        ended=ended, why=why, asked=told.asked, last=told.last, shown=told.shown,
        files=tuple(dict.fromkeys(one.what for one in changed if one.kind == "edit")),
        commits=tuple(dict.fromkeys(one.what for one in changed if one.kind == "commit")),
        passed=passed, broken=broken, fixed=tuple(fixed), steps=told.steps, listed=told.listed,
        began=told.began, fell_silent=told.fell_silent, top=told.top,
    )  # fmt: skip


def _end(told: _Teller, changed_at: int, passed_at: int, broken: tuple[Check, ...]) -> tuple[Ended, str]:
    """How it ended, by what was observed, and in words by what that is told."""
    if told.stopped:
        return "interrupted", "it was stopped"
    if told.calls:
        return "interrupted", f"{next(iter(told.calls.values()))} was called and never answered"
    if told.last is not None and told.last.speaker in ("human", "tool"):
        said = "a person spoke last" if told.last.speaker == "human" else "a result came last"
        return "interrupted", f"{said}, and no answer followed"
    if broken:
        return "failed", f"{broken[-1].name} failed last"
    if changed_at and passed_at > changed_at:
        return "verified", "a check passed after the last edit"
    if changed_at:
        return "unverified", "no check passed after the last edit"
    return ("verified", "a check passed") if passed_at else ("answered", "no file was edited")


class _Teller:
    """Listens to turns as they pass by."""

    def __init__(self) -> None:
        self.asked: Turn | None = None
        self.last: Turn | None = None
        self.steps: tuple[Step, ...] = ()
        self.listed: Turn | None = None
        self.shown: Turn | None = None
        self._listing: dict[str, tuple[Step, ...]] = {}
        self.calls: dict[str, str] = {}
        self.stopped = False
        self.began: datetime | None = None
        self.fell_silent: datetime | None = None
        self.top = ""

    def listening(self, turns: Iterable[Turn]) -> Iterable[Turn]:
        for turn in turns:
            self._hear(turn)
            yield turn

    def _hear(self, turn: Turn) -> None:
        if turn.at is not None:
            self.began = min(self.began or turn.at, turn.at)
            self.fell_silent = max(self.fell_silent or turn.at, turn.at)
        self.top = self.top or turn.cwd or ""
        if turn.speaker == "harness":
            self.stopped = self.stopped or _STOPPED.match(turn.text) is not None
            return
        if turn.speaker in ("ours", "unknown"):
            return
        if turn.speaker == "tool":
            self.shown = turn
            self.calls.pop(turn.call or "", None)
            steps = self._listing.pop(turn.call or "", ())
            if steps and turn.outcome == "ok":
                self.steps, self.listed = steps, turn
        elif turn.tool is not None and turn.call:
            self.calls[turn.call] = turn.tool
        if turn.speaker == "human" and turn.text.lstrip()[:1] in ("/", "!"):
            return  # a command of the host asks the agent for nothing
        if turn.speaker == "human" and self.asked is None:
            self.asked = turn
        self.stopped = False
        self.last = turn
        if (turn.tool or "").lower() in _STEP_TOOLS and turn.speaker != "tool":
            self._listing[turn.call or ""] = _steps(turn.text)


def _steps(text: str) -> tuple[Step, ...]:
    found = _STEPS.search(text)
    try:
        rows: Any = json.loads(found[1]) if found else None
    except ValueError:
        return ()
    steps = []
    for row in map(mapping, listing(rows)):
        words = (string(row.get(key)) for key in _STEP_WORDS)
        said = next((word for word in words if word), "")
        if said.strip():
            steps.append(Step(" ".join(said.split())[:300], string(row.get("status")) in _DONE))
    return tuple(steps[:_MOST_STEPS])
