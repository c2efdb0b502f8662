"""Antigravity CLI: `brain/<conversation>/.system_generated/logs/transcript_full.jsonl`, one step a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

from gitmem.capture.adapter import Origin, open_file
from gitmem.capture.discovery import head, is_inside, names
from gitmem.capture.fields import instant, listing, mapping, paths, string, text_of, written
from gitmem.capture.records import records as records_of
from gitmem.capture.turns import Outcome, Record, Turn, finished
from gitmem.model.pattern import pattern

host: Final = "antigravity"
rules: Final = 1
suffix: Final = "jsonl"
open = open_file

_OPEN, _CLOSE = "<USER_REQUEST>", "</USER_REQUEST>"
_EXIT: Final = pattern(r"The command failed with exit code: (-?\d{1,9})")
_SAID: Final = 1000  # characters of a result in which the host itself speaks, before the tool's output
# In the JSON that the result of starting a child holds as text.
_CHILD: Final = pattern(r'\\"conversationId\\":\s*\\"([\w-]{1,100})\\"')
_DEEP_HEAD: Final = 1024 * 1024
_HISTORY: Final = 16 * 1024 * 1024
_CONVERSATION_KEYS: Final = ("conversationId", "conversation_id", "cascadeId", "id")
_WORKSPACE_KEYS: Final = (
    "workspace",
    "workspacePath",
    "workspaceUri",
    "workspace_path",
    "workspace_uri",
    "cwd",
    "project",
)


def origins(home: Path, environ: Mapping[str, str], work_trees: Sequence[Path]) -> Iterator[Origin]:
    """Conversations that the prompt history places in a work tree, and those that they started.

    The transcripts themselves name no folder. A child is named where it was started, which is looked for in the first
    MiB of its parent.
    """
    base = home / ".gemini" / "antigravity-cli"
    placed = _workspaces(base / "history.jsonl")
    known = dict.fromkeys(names(base / "brain"))
    inside = [name for name in known if any(is_inside(folder, work_trees) for folder in placed.get(name, ()))]
    parents: dict[str, str | None] = dict.fromkeys(inside)
    while inside:
        conversation = inside.pop(0)
        path = _transcript(base / "brain" / conversation)
        if path is not None:
            yield Origin(host, conversation, path, parents[conversation])
            for child in _CHILD.findall(head(path, _DEEP_HEAD).decode("utf-8", "replace")):
                if child in known and child not in parents and child not in placed:
                    parents[child] = conversation
                    inside.append(child)


def _transcript(folder: Path) -> Path | None:
    """The full transcript, or the one whose arguments are written as JSON once more."""
    logs = folder / ".system_generated" / "logs"
    found = (logs / name for name in ("transcript_full.jsonl", "transcript.jsonl"))
    return next((path for path in found if path.is_file()), None)


def watched(home: Path, environ: Mapping[str, str]) -> tuple[Path, ...]:
    base = home / ".gemini" / "antigravity-cli"
    return base / "brain", base / "history.jsonl"


def _workspaces(history: Path) -> dict[str, set[str]]:
    """Conversation to the folders that its prompts were typed in. The first prompt of one has no id yet."""
    placed: dict[str, set[str]] = {}
    for record in records_of([head(history, _HISTORY)], suffix):
        row = mapping(record.data)
        conversation = next((found for key in _CONVERSATION_KEYS if (found := string(row.get(key)))), None)
        folder = next((found for key in _WORKSPACE_KEYS if (found := string(row.get(key)))), None)
        if conversation and folder:
            if folder.startswith("file://"):
                folder = unquote(folder.removeprefix("file://"))
            placed.setdefault(conversation, set()).add(folder)
    return placed


def turns(records: Iterable[Record]) -> Iterator[Turn]:
    return finished(_turns(records))


def _turns(records: Iterable[Record]) -> Iterator[Turn]:
    waiting: list[tuple[str | None, tuple[str, ...]]] = []  # calls of the last response, in order: results have no id
    for record in records:
        row = mapping(record.data)
        index = row.get("step_index")
        say = partial(
            Turn,
            str(index) if isinstance(index, int) else f"@{record.digest}",
            record.start,
            record.end,
            at=instant(row.get("created_at")),
        )
        source, kind, text = row.get("source"), row.get("type"), text_of(row.get("content"))
        if kind == "USER_INPUT":
            yield from _user(say, text, source == "USER_EXPLICIT")
        elif kind == "PLANNER_RESPONSE":
            yield say(speaker="assistant", text=text)
            waiting = []
            for called in map(mapping, listing(row.get("tool_calls"))):
                tool, given = string(called.get("name")), _arguments(called.get("args"))
                touched = paths(given, tool)
                waiting.append((tool, touched))
                cwd = string(mapping(given).get("Cwd"))
                yield say(speaker="assistant", text=written(given), tool=tool, paths=touched, cwd=cwd)
        elif source == "MODEL" and isinstance(kind, str):
            tool, touched = waiting.pop(0) if waiting else (kind.lower(), ())
            outcome = _outcome(row.get("status"), text)
            yield say(speaker="tool", text=text, tool=tool, outcome=outcome, paths=touched)
        elif source == "SYSTEM":
            yield say(speaker="harness", text=text)
        elif source is not None:
            yield say(speaker="unknown", text=text)


def _user(say: Any, text: str, explicit: bool) -> Iterator[Turn]:
    """Only what stands in the request element was typed; the host adds its own elements behind it."""
    opened, close = text.find(_OPEN), text.rfind(_CLOSE)
    if not explicit or opened < 0 or close < opened:
        yield say(speaker="harness" if not explicit else "unknown", text=text)
        return
    yield say(speaker="harness", text=text[:opened])
    yield say(speaker="human", text=text[opened + len(_OPEN) : close].strip())
    yield say(speaker="harness", text=text[close + len(_CLOSE) :])


def _arguments(given: Any) -> Any:
    """Arguments as they were given: `transcript.jsonl` writes each value as JSON text once more."""
    if not isinstance(given, dict):
        return given
    return {key: _unwrapped(value) for key, value in given.items()}


def _unwrapped(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ('"', "[", "{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _outcome(status: Any, text: str) -> Outcome | None:
    """A command that failed has the status DONE as well."""
    if status == "ERROR" or ((found := _EXIT.search(text, 0, _SAID)) and int(found[1])):
        return "failed"
    return "ok" if status == "DONE" else None
