"""Any other agent's JSON lines or document: what can be read without knowing the host. Nobody is taken for a person."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from gitmem.capture.adapter import Origin, open_file
from gitmem.capture.fields import instant, listing, mapping, paths, string, text_of, written
from gitmem.capture.turns import Outcome, Record, Speaker, Turn, finished
from gitmem.model.pattern import pattern

host: Final = "jsonl"
rules: Final = 1
suffix: Final = "jsonl"
open = open_file

_ROLES: Final[Mapping[str, Speaker]] = {
    "agent": "assistant",
    "ai": "assistant",
    "assistant": "assistant",
    "assistantmessage": "assistant",
    "developer": "harness",
    "function": "tool",
    "gemini": "assistant",
    "model": "assistant",
    "planner_response": "assistant",
    "run_command": "tool",
    "system": "harness",
    "tool": "tool",
    "tool_result": "tool",
    "toolresult": "tool",
    "toolresults": "tool",
}
_IDS: Final = ("uuid", "id", "message_id", "messageId")
_TIMES: Final = ("timestamp", "created_at", "createdAt", "time", "sentAt", "ts")
_CALLS: Final = ("tool_use", "toolUse", "tool_call", "toolCall", "function_call")
_EXIT: Final = pattern(r"exit (?:status|code): (-?\d{1,9})", 2)
_SAID: Final = 1000  # characters of a result that are searched for an exit code
_RESULTS: Final = ("tool_result", "toolResult", "function_result")


def origins(home: Path, environ: Mapping[str, str], work_trees: Sequence[Path]) -> Iterator[Origin]:
    """None: these files are captured when they are named."""
    return iter(())


def watched(home: Path, environ: Mapping[str, str]) -> tuple[Path, ...]:
    return ()


def turns(records: Iterable[Record]) -> Iterator[Turn]:
    return finished(_turns(records), once=False)


def _turns(records: Iterable[Record]) -> Iterator[Turn]:
    for record in records:
        row = mapping(record.data)
        messages = listing(row.get("messages")) or listing(record.data)
        for message in map(mapping, messages or [row]):
            yield from _message(record, message)


def _message(record: Record, row: Mapping[str, Any]) -> Iterator[Turn]:
    kind = next((found for key in ("role", "type", "kind", "speaker") if (found := string(row.get(key)))), "")
    inner = mapping(row.get("message")) or mapping(row.get("data")) or mapping(row.get(kind)) or row
    role = (string(inner.get("role")) or kind).lower()
    speaker = _ROLES.get(role, "unknown")
    say = partial(
        Turn,
        _identity(inner) or _identity(row) or f"@{record.digest}",
        record.start,
        record.end,
        at=next(
            (
                at
                for part in (row, inner, mapping(inner.get("meta")))
                for key in _TIMES
                if (at := instant(part.get(key)))
            ),
            None,
        ),
        cwd=string(row.get("cwd")) or string(inner.get("cwd")),
        branch=string(row.get("gitBranch")) or string(row.get("branch")),
        model=string(inner.get("model")) or string(row.get("model")),
    )
    content = inner.get("content", inner.get("text"))
    if content is None:
        text = "\n".join(
            value for key, value in inner.items() if isinstance(value, str) and key not in ("status", "type")
        )
        yield say(
            speaker=speaker,
            text=text if inner is not row else "",
            outcome=_outcome(inner) if speaker == "tool" else None,
        )
        return
    for block in content if isinstance(content, list) else [content]:
        yield from _block(say, block, speaker)


def _block(say: Any, block: Any, speaker: Speaker) -> Iterator[Turn]:
    fields = mapping(block)
    kind = string(fields.get("type")) or string(fields.get("kind"))
    inner = mapping(fields.get("data")) or fields
    if kind in _CALLS:
        call, tool = _call(inner), string(inner.get("name")) or string(inner.get("tool"))
        given = inner.get("input", inner.get("arguments", inner.get("args")))
        yield say(speaker=speaker, text=written(given), call=call, tool=tool, paths=paths(given, tool))
    elif kind in _RESULTS:
        text = text_of(inner.get("content", inner.get("output", inner.get("run"))))
        yield say(speaker="tool", text=text, call=_call(inner), outcome=_outcome(inner, text))
    elif kind not in ("thinking", "reasoning"):
        yield say(speaker=speaker, text=text_of(fields.get("data") if kind and "data" in fields else block))


def _call(fields: Mapping[str, Any]) -> str | None:
    return next(
        (
            found
            for key in ("tool_use_id", "toolUseID", "toolUseId", "call_id", "id")
            if (found := string(fields.get(key)))
        ),
        None,
    )


def _identity(row: Mapping[str, Any]) -> str | None:
    return next((str(row[key]) for key in _IDS if isinstance(row.get(key), str | int) and row[key] != ""), None)


def _outcome(fields: Mapping[str, Any], text: str = "") -> Outcome | None:
    code = fields.get("exit_code", fields.get("exitCode"))
    if fields.get("is_error") is True or fields.get("isError") is True or fields.get("status") in ("error", "failed"):
        return "failed"
    if not isinstance(code, int) and (found := _EXIT.search(text, 0, _SAID)):
        code = int(found[1])
    if isinstance(code, int):
        return "failed" if code else "ok"
    return "ok" if fields.get("is_error") is False or fields.get("status") in ("success", "done", "ok") else None
