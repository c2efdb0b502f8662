"""Pi: a tree of entries in one file a session; branches stay in the file, and all of them are turns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from gitmem.capture.adapter import Origin, open_file
from gitmem.capture.discovery import files, first_values, is_inside, root
from gitmem.capture.fields import instant, listing, mapping, paths, string, text_of, texts, written
from gitmem.capture.turns import Outcome, Record, Turn, finished

host: Final = "pi"
rules: Final = 1
suffix: Final = "jsonl"
open = open_file

_HARNESS_KEYS: Final[Mapping[str, str]] = {
    "branch_summary": "summary",
    "compaction": "summary",
    "custom_message": "content",
}


def origins(home: Path, environ: Mapping[str, str], work_trees: Sequence[Path]) -> Iterator[Origin]:
    for folder in watched(home, environ):
        for path in files(folder, ".jsonl", 1):
            start = next(first_values(path), {})
            if start.get("type") == "session" and is_inside(string(start.get("cwd")), work_trees):
                yield Origin(host, string(start.get("id")) or path.stem, path)


def watched(home: Path, environ: Mapping[str, str]) -> tuple[Path, ...]:
    agent = root(environ, "PI_CODING_AGENT_DIR", home / ".pi" / "agent")
    return (root(environ, "PI_CODING_AGENT_SESSION_DIR", agent / "sessions"),)


def turns(records: Iterable[Record]) -> Iterator[Turn]:
    return finished(_turns(records))


def _turns(records: Iterable[Record]) -> Iterator[Turn]:
    cwd = None
    calls: dict[str, tuple[str, ...]] = {}
    for record in records:
        entry = mapping(record.data)
        kind = entry.get("type")
        if kind == "session":
            cwd = string(entry.get("cwd")) or cwd
            continue
        say = partial(
            Turn,
            string(entry.get("id")) or f"@{record.digest}",
            record.start,
            record.end,
            at=instant(entry.get("timestamp")),
            cwd=cwd,
        )
        if kind == "message":
            yield from _message(say, mapping(entry.get("message")), calls)
        elif isinstance(kind, str) and kind in _HARNESS_KEYS:
            yield say(speaker="harness", text=text_of(entry.get(_HARNESS_KEYS[kind])))


def _message(say: Any, message: Mapping[str, Any], calls: dict[str, tuple[str, ...]]) -> Iterator[Turn]:
    """What extensions inject has roles of its own, so the role `user` is a person's."""
    content = message.get("content")
    match message.get("role"):
        case "user":
            for text in texts(content):
                yield say(speaker="human", text=text)
        case "assistant":
            model = string(message.get("model"))
            for block in map(mapping, listing(content)):
                if block.get("type") == "text":
                    yield say(speaker="assistant", text=text_of(block), model=model)
                elif block.get("type") == "toolCall":
                    call, tool, given = string(block.get("id")), string(block.get("name")), block.get("arguments")
                    touched = paths(given, tool)
                    if call:
                        calls[call] = touched
                    text = written(given)
                    yield say(speaker="assistant", text=text, call=call, tool=tool, paths=touched, model=model)
            yield say(speaker="harness", text=text_of(message.get("errorMessage")))
        case "toolResult":
            call = string(message.get("toolCallId"))
            outcome: Outcome = "failed" if message.get("isError") is True else "ok"
            touched = calls.pop(call, ()) if call else ()
            tool = string(message.get("toolName"))
            yield say(speaker="tool", text=text_of(content), call=call, tool=tool, outcome=outcome, paths=touched)
        case "bashExecution":
            yield say(speaker="human", text=f"!{string(message.get('command')) or ''}")
            code = message.get("exitCode")
            ended: Outcome | None = None if not isinstance(code, int) else "failed" if code else "ok"
            yield say(speaker="tool", text=text_of(message.get("output")), tool="bash", outcome=ended)
        case "system" | "custom" | "branchSummary" | "compactionSummary":
            yield say(speaker="harness", text=text_of(content or message.get("summary")))
        case _:
            yield say(speaker="unknown", text=text_of(content))
