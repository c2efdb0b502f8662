"""GitHub Copilot CLI: `session-state/<session>/events.jsonl`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from gitmem.capture.adapter import Origin, open_file
from gitmem.capture.discovery import first_values, is_inside, names, root
from gitmem.capture.fields import instant, listing, mapping, paths, string, text_of, written
from gitmem.capture.turns import Outcome, Record, Speaker, Turn, finished
from gitmem.model.pattern import pattern

host: Final = "copilot-cli"
rules: Final = 1
suffix: Final = "jsonl"
open = open_file

_EXIT: Final = pattern(r"<shellId: [^<>\n]{1,200} completed with exit code (-?\d{1,9})>")
_HARNESS_TEXTS: Final[Mapping[str, str]] = {
    "system.message": "content",
    "system.notification": "content",
    "session.info": "message",
    "session.warning": "message",
    "session.error": "message",
    "session.compaction_complete": "summaryContent",
    "hook.end": "output",
}


def origins(home: Path, environ: Mapping[str, str], work_trees: Sequence[Path]) -> Iterator[Origin]:
    for folder in watched(home, environ):
        for name in names(folder):
            path = folder / name if name.endswith(".jsonl") else folder / name / "events.jsonl"
            context, session = _start(path)
            if is_inside(string(context.get("cwd")), work_trees):
                yield Origin(host, session or name.removesuffix(".jsonl"), path)


def watched(home: Path, environ: Mapping[str, str]) -> tuple[Path, ...]:
    return (root(environ, "COPILOT_HOME", home / ".copilot") / "session-state",)


def _start(path: Path) -> tuple[Mapping[str, Any], str | None]:
    for event in first_values(path):
        data = mapping(event.get("data"))
        if event.get("type") in ("session.start", "session.resume"):
            return mapping(data.get("context")), string(data.get("sessionId"))
    return {}, None


def turns(records: Iterable[Record]) -> Iterator[Turn]:
    return finished(_turns(records))


def _turns(records: Iterable[Record]) -> Iterator[Turn]:
    cwd = branch = model = None
    prompts: set[int] = set()  # system prompts of 45 KB come with every turn
    calls: dict[str, tuple[str | None, tuple[str, ...]]] = {}
    for record in records:
        event = mapping(record.data)
        data, kind = mapping(event.get("data")), event.get("type")
        if kind in ("session.start", "session.resume", "session.context_changed"):
            context = mapping(data.get("context")) or data
            cwd, branch = string(context.get("cwd")) or cwd, string(context.get("branch")) or branch
        model = string(data.get("newModel")) or string(data.get("chosenModel")) or model
        own = string(data.get("model")) or model
        child = string(event.get("agentId")) is not None
        speaker: Speaker = "subagent" if child else "assistant"
        say = partial(
            Turn,
            string(event.get("id")) or f"@{record.digest}",
            record.start,
            record.end,
            at=instant(event.get("timestamp")),
            cwd=cwd,
            branch=branch,
        )
        match kind:
            case "user.message":
                yield say(
                    speaker="subagent" if child else _person(data.get("source")), text=text_of(data.get("content"))
                )
            case "assistant.message":
                yield say(speaker=speaker, text=text_of(data.get("content")), model=own)
                for asked in map(mapping, listing(data.get("toolRequests"))):
                    yield _call(
                        say, asked.get("toolCallId"), asked.get("name"), asked.get("arguments"), speaker, own, calls
                    )
            case "tool.execution_start" if (string(data.get("toolCallId")) or "") not in calls:
                yield _call(
                    say, data.get("toolCallId"), data.get("toolName"), data.get("arguments"), speaker, own, calls
                )
            case "tool.user_requested":
                command = string(mapping(data.get("arguments")).get("command"))
                call = _call(
                    say, data.get("toolCallId"), data.get("toolName"), data.get("arguments"), "human", None, calls
                )
                yield say(speaker="human", text=f"!{command}", call=call.call, tool=call.tool) if command else call
            case "tool.execution_complete":
                yield _result(say, data, calls)
            case str() if kind in _HARNESS_TEXTS:
                text = text_of(data.get(_HARNESS_TEXTS[kind]))
                if kind != "system.message" or hash(text) not in prompts:
                    prompts.add(hash(text))
                    yield say(speaker="harness", text=text)


def _person(source: Any) -> Speaker:
    """`source` names the skill or agent that wrote a prompt; a person's has none."""
    if source in (None, "", "user"):
        return "human"
    return "subagent" if isinstance(source, str) and source.startswith("agent-") else "harness"


def _call(
    say: Any, call: Any, tool: Any, given: Any, speaker: Speaker, model: str | None, calls: dict[str, Any]
) -> Turn:
    tool = string(tool)
    touched = paths(given, tool)
    if isinstance(call, str):
        calls[call] = tool, touched
    turn: Turn = say(speaker=speaker, text=written(given), call=string(call), tool=tool, paths=touched, model=model)
    return turn


def _result(say: Any, data: Mapping[str, Any], calls: dict[str, tuple[str | None, tuple[str, ...]]]) -> Turn:
    """`success` says that the tool worked; what a shell command ended with stands elsewhere."""
    call = string(data.get("toolCallId"))
    tool, touched = calls.get(call, (None, ())) if call else (None, ())
    text = text_of(mapping(data.get("result")).get("content")) or text_of(mapping(data.get("error")).get("message"))
    code = mapping(mapping(data.get("toolTelemetry")).get("metrics")).get("exit_code")
    if not isinstance(code, int):
        codes = _EXIT.findall(text)
        code = int(codes[-1]) if codes else 0
    outcome: Outcome | None = None
    if data.get("success") is False or code:
        outcome = "failed"
    elif data.get("success") is True:
        outcome = "ok"
    turn: Turn = say(speaker="tool", text=text, call=call, tool=tool, outcome=outcome, paths=touched)
    return turn
