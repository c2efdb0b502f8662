"""OpenCode 1 and 2: sessions in one SQLite database, read as lines; and the document that `opencode export` writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final

from gitmem.capture.adapter import Origin, open_file
from gitmem.capture.discovery import is_inside, names, root
from gitmem.capture.fields import instant, listing, mapping, paths, string, text_of, written
from gitmem.capture.opencode_rows import database, opened, sessions
from gitmem.capture.turns import Outcome, Record, Speaker, Turn, finished

host: Final = "opencode"
rules: Final = 1
suffix: Final = "jsonl"

_REFUSED: Final = ("The user rejected", "The user dismissed")


def origins(home: Path, environ: Mapping[str, str], work_trees: Sequence[Path]) -> Iterator[Origin]:
    """OSError when a database cannot be read."""
    for folder in watched(home, environ):
        for name in names(folder):
            # A release channel has a database of its own: opencode-beta.db.
            if not name.startswith("opencode") or not name.endswith(".db"):
                continue
            with database(folder / name) as connection:
                for row, version in sessions(connection):
                    if is_inside(string(row.get("directory")), work_trees):
                        yield Origin(host, str(row["id"]), folder / name, string(row.get("parent_id")), version)


def watched(home: Path, environ: Mapping[str, str]) -> tuple[Path, ...]:
    return (root(environ, "XDG_DATA_HOME", home / ".local" / "share") / "opencode",)


def open(origin: Origin) -> BinaryIO:
    return opened(origin.path, origin.session) if origin.path.suffix == ".db" else open_file(origin)


def turns(records: Iterable[Record]) -> Iterator[Turn]:
    return finished(_turns(records))


def _turns(records: Iterable[Record]) -> Iterator[Turn]:
    child = False
    cwd: str | None = None
    info: Mapping[str, Any] = {}
    for record in records:
        row = mapping(record.data)
        data = mapping(row.get("data"))
        match row.get("table"):
            case "session" | "session_v2":
                child = string(row.get("parent_id")) is not None
                cwd = string(row.get("directory"))
            case "message":
                info = {"id": row.get("id"), **data}
            case "part":
                yield from _part(record, {"id": row.get("id"), **data}, info, child, cwd)
            case "session_message":
                yield from _second(record, row, data, child, cwd)
            case _ if "info" in row:
                yield from _document(record, row)
            case _ if "_role" in row:  # a part with the recorder's keys
                about = {"role": row.get("_role"), "modelID": row.get("_model"), "time": {"created": row.get("_ts")}}
                yield from _part(record, row, about, False, string(row.get("_cwd")))


def _document(record: Record, row: Mapping[str, Any]) -> Iterator[Turn]:
    """`opencode export`: 1.x writes info and parts for each message, 2.x its type and content."""
    about = mapping(row.get("info"))
    child = any(string(about.get(key)) for key in ("parentID", "parent_id", "parentId"))
    cwd = string(about.get("directory"))
    for message in map(mapping, listing(row.get("messages"))):
        if "info" in message or "parts" in message:
            for part in map(mapping, listing(message.get("parts"))):
                yield from _part(record, part, mapping(message.get("info")), child, cwd)
        else:
            yield from _second(record, message, message, child, cwd)


def _part(
    record: Record, part: Mapping[str, Any], info: Mapping[str, Any], child: bool, cwd: str | None
) -> Iterator[Turn]:
    """Turns of a part of 1.x. A person's text is in a part that is neither synthetic nor ignored."""
    model = string(info.get("modelID")) or string(mapping(info.get("model")).get("modelID"))
    say = partial(
        Turn,
        string(part.get("id")) or f"@{record.digest}",
        record.start,
        record.end,
        at=instant(mapping(part.get("time")).get("start")) or instant(mapping(info.get("time")).get("created")),
        cwd=string(mapping(info.get("path")).get("cwd")) or cwd,
    )
    role = info.get("role")
    match part.get("type"):
        case "text":
            speaker: Speaker = "unknown"
            if role == "user":
                added = part.get("synthetic") or part.get("ignored")
                speaker = "harness" if added else "subagent" if child else "human"
            elif role == "assistant":
                speaker = "harness" if info.get("summary") is True else "subagent" if child else "assistant"
            yield say(speaker=speaker, text=text_of(part), model=model if role == "assistant" else None)
        case "tool":
            yield from _tool(say, part, string(part.get("callID")), string(part.get("tool")), child, model)
        case "subtask":
            yield say(speaker="harness", text=text_of(part.get("prompt")))


def _second(
    record: Record, row: Mapping[str, Any], data: Mapping[str, Any], child: bool, cwd: str | None
) -> Iterator[Turn]:
    """Turns of a message of 2.x."""
    model = data.get("model")
    model = string(model) or string(mapping(model).get("id")) or string(mapping(model).get("modelID"))
    say = partial(
        Turn,
        string(row.get("id")) or f"@{record.digest}",
        record.start,
        record.end,
        at=instant(mapping(data.get("time")).get("created")) or instant(row.get("time_created")),
        cwd=cwd,
    )
    text = text_of(data.get("text"))
    match row.get("type"):
        case "user":
            yield say(speaker="subagent" if child else "human", text=text)
        case "assistant":
            speaker: Speaker = "subagent" if child else "assistant"
            yield say(speaker=speaker, text=text, model=model)
            for block in map(mapping, listing(data.get("content"))):
                if block.get("type") == "text":
                    yield say(speaker=speaker, text=text_of(block), model=model)
                elif block.get("type") == "tool":
                    call, tool = string(block.get("id")), string(block.get("name")) or string(block.get("tool"))
                    yield from _tool(say, block, call, tool, child, model)
        case "shell":  # by whom is not recorded
            yield say(speaker="unknown", text=f"!{string(data.get('command')) or ''}")
            yield say(
                speaker="tool", text=text_of(data.get("output")), tool="shell", outcome=_of_exit(data.get("exit"))
            )
        case "system" | "synthetic" | "compaction":
            yield say(speaker="harness", text=text or text_of(data.get("summary")))


def _tool(
    say: Any, part: Mapping[str, Any], call: str | None, tool: str | None, child: bool, model: str | None
) -> Iterator[Turn]:
    state = mapping(part.get("state"))
    given = state.get("input")
    touched = paths(given, tool)
    speaker: Speaker = "subagent" if child else "assistant"
    yield say(speaker=speaker, text=written(given), call=call, tool=tool, paths=touched, model=model)
    status = state.get("status")
    if status in ("completed", "error"):
        error = state.get("error")
        text = (
            text_of(state.get("output"))
            or text_of(state.get("content"))
            or text_of(mapping(error).get("message") or error)
        )
        outcome: Outcome | None = _of_exit(mapping(state.get("metadata")).get("exit")) or "ok"
        if status == "error" or tool == "invalid":
            outcome = None if text.startswith(_REFUSED) else "failed"
        yield say(speaker="tool", text=text, call=call, tool=tool, outcome=outcome, paths=touched)


def _of_exit(code: Any) -> Outcome | None:
    return ("failed" if code else "ok") if isinstance(code, int) else None
