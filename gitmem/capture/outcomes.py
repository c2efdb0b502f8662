"""From the turns of a session to what was checked, how that ended, and what was changed in between.

Unknown stays unknown: a pipe, a `;`, a timeout or a person who stopped it hides how a check ended, unless its output
says it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, Literal

from gitmem.capture.check_kinds import Checked, changing, checked
from gitmem.capture.check_output import error_in, is_unended, named_tests, ran_nothing, status_told, told_outcome
from gitmem.capture.commands import Command, Part, command_of, read
from gitmem.capture.turns import Outcome, Turn
from gitmem.model.frozen import dataclass
from gitmem.model.pattern import pattern

_EDITORS: Final = frozenset(
    ["apply_patch", "applypatch", "create", "create_file", "edit", "edit_file", "editnotebook", "insert", "multiedit",
     "notebookedit", "patch", "replace", "replace_file_content", "search_replace", "str_replace",
     "str_replace_based_edit_tool", "str_replace_editor", "write", "write_file", "write_to_file", "update", "delete",
     "multi_replace_file_content", "insert_edit_into_file", "replace_string_in_file"]
)  # fmt: skip
_COMMITTED: Final = pattern(r"^\[[^\]\n]{1,200}? ([0-9a-f]{7,64})\] ", 8)  # what git commit prints
_CODE: Final = frozenset(["test", "lint", "types", "format", "build"])
_SAID: Final = 200  # characters of a command that are told


@dataclass(frozen=True)
class Check:
    """One run of something that says by its end whether all is well. `turn` is the result, `run` what it ran, `begun`
    where in the stream it was called.

    `checks`: the parts of which this outcome is told, each by what it checks. `folder`: where. `way`: how the programs
    were called. `error`: a line of the output, word for word; empty when none tells. `failed` and `passed`: test ids.
    """

    turn: Turn
    begun: int
    run: str
    checks: tuple[Checked, ...]
    folder: str
    way: tuple[str, ...]
    outcome: Outcome | None
    error: str = ""
    failed: frozenset[str] = frozenset()
    passed: frozenset[str] = frozenset()

    @property
    def key(self) -> str:
        """The same for two runs that check the same in the same place."""
        return " && ".join(one.key for one in self.checks) + (f" @{self.folder}" if self.folder else "")

    @property
    def name(self) -> str:
        """What ran, for a reader: program and what it was to check."""
        return " && ".join(" ".join((one.shown, *one.what)) for one in self.checks)

    @property
    def is_of_code(self) -> bool:
        """Whether it checks the code, as a test does; any other command only says that it worked."""
        return any(one.job in _CODE for one in self.checks)


@dataclass(frozen=True)
class Changed:
    """Something that was changed. `what`: the path of a file, the id of a commit, or a command."""

    turn: Turn
    kind: Literal["edit", "commit", "command"]
    what: str


Seen = Check | Changed


def outcomes(turns: Iterable[Turn]) -> Iterator[Seen]:
    """Checks and changes in the order in which they ended. A call without an answer is neither."""
    calls: dict[str, Turn] = {}
    last: Turn | None = None  # for hosts that give a call no id: its answer comes next
    for turn in turns:
        if turn.speaker == "tool":
            call = calls.pop(turn.call, None) if turn.call else last if last and last.tool == turn.tool else None
            if call is not None:
                yield from _ended(call, turn)
            last = None
        elif turn.tool is not None and turn.speaker in ("assistant", "subagent", "human"):
            if turn.call:
                calls[turn.call] = turn
            last = turn if turn.call is None else None


def _ended(call: Turn, result: Turn) -> Iterator[Seen]:
    tool = (call.tool or "").lower().rpartition("__")[2]
    if tool in _EDITORS:
        if result.outcome == "ok":
            yield from (Changed(call, "edit", path) for path in dict.fromkeys(call.paths))
        return
    line = command_of(call.tool, call.text)
    if not line:
        return
    if "apply_patch" in line and result.outcome == "ok":
        yield from (Changed(call, "edit", path) for path in dict.fromkeys(call.paths))
        return
    if any(word in call.text for word in ("run_in_background: true", "is_background: true")):
        return
    command = read(line, call.cwd or "")
    if command is None:
        return
    yield from _of_command(command, call, result)
    if result.outcome == "ok" and "commit" in line:
        yield from (Changed(result, "commit", oid) for oid in _COMMITTED.findall(result.text))
    if result.outcome == "ok":
        yield from (
            Changed(result, "command", " ".join((part.program, *part.words))[:_SAID])
            for part in command.parts
            if changing(part) and part.words[:1] != ("commit",)
        )


def _of_command(command: Command, call: Turn, result: Turn) -> Iterator[Check]:
    found = [(part, one) for part in command.parts if (one := checked(part)) is not None]
    if not found:
        return
    outcome = _outcome(command, [one for _, one in found], result)
    if not command.plain:
        found = [(part, one) for part, one in found if one.job in _CODE]  # of which an output may tell
        if len(found) != 1:
            return
    error = error_in(result.text) if outcome == "failed" else ""
    failed = named_tests(result.text, "failed") if outcome == "failed" else frozenset[str]()
    passed = named_tests(result.text, "ok") if outcome is not None else frozenset[str]()
    yield Check(
        turn=result,
        begun=call.start,
        run=" ".join(command.text.split())[:_SAID],
        checks=tuple(one for _, one in found),
        folder=command.folder,
        way=tuple(word for part, _ in found for word in _way(part)),
        outcome=outcome,
        error=error,
        failed=failed,
        passed=passed - failed,
    )


def _way(part: Part) -> tuple[str, ...]:
    return (*part.way, part.program)


def _outcome(command: Command, checks: list[Checked], result: Turn) -> Outcome | None:
    """What the host recorded, unless the command line hides it or the output says otherwise."""
    if result.outcome is None or is_unended(result.text):
        return None
    of_code = [one for one in checks if one.job in _CODE]
    told = told_outcome(result.text) if of_code else None
    if told != "failed" and of_code and ran_nothing(result.text):
        return None
    if not command.plain:
        return told if len(of_code) == 1 else None
    status = status_told(result.text)
    recorded: Outcome = result.outcome if not status else "failed"
    if recorded == "ok" and told == "failed":
        return None  # a status that says the contrary of what is printed
    if recorded == "failed" and told == "ok" and len(checks) == 1:
        return None
    return recorded
