"""Gemini CLI: `tmp/<project>/chats/session-*.jsonl`, and one indented JSON document in older versions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from gitmem.capture.adapter import Origin, open_file
from gitmem.capture.discovery import files, first_values, head, is_inside, json_file, names, root
from gitmem.capture.fields import instant, listing, mapping, paths, string, text_of, texts, written
from gitmem.capture.tagged import typed
from gitmem.capture.turns import Outcome, Record, Speaker, Turn, finished
from gitmem.model.pattern import pattern

host: Final = "gemini-cli"
rules: Final = 1
suffix: Final = "jsonl"
open = open_file

_HARNESS_TAGS: Final = frozenset(["hook_context", "session_context", "system_context"])
_HARNESS_STARTS: Final = ("/", "?", "--- Content from referenced files", "\n--- Content from referenced files")
_FILES, _FILES_END = "--- Content from referenced files", "--- End of content"
_EXIT: Final = pattern(r"^Exit Code: (-?\d{1,9})\s*$", 8)
_ENDED: Final[Mapping[str, Outcome]] = {"success": "ok", "error": "failed"}
_SESSION: Final = pattern(r'"sessionId":\s*"([^"\\]{1,200})"')


def origins(home: Path, environ: Mapping[str, str], work_trees: Sequence[Path]) -> Iterator[Origin]:
    """Sessions of projects whose root is recorded as inside, by path or by the sha256 of the path."""
    tmp = watched(home, environ)[0]
    listed = mapping(mapping(json_file(tmp.parent / "projects.json")).get("projects"))
    roots = {slug: path for path, slug in listed.items() if isinstance(slug, str)}
    hashes = {sha256(os.fsencode(path)).hexdigest() for tree in work_trees for path in (tree, tree.resolve())}
    for slug in names(tmp):
        project = head(tmp / slug / ".project_root", 4096).decode("utf-8", "replace").strip() or string(roots.get(slug))
        if not (is_inside(project, work_trees) if project else slug in hashes):
            continue
        taken = set()
        for path in [*files(tmp / slug / "chats", ".jsonl", 1), *files(tmp / slug / "chats", ".json", 0)]:
            session = _session(path)
            # A resumed `.json` goes on as `.jsonl` under the same id.
            if session and session not in taken:
                taken.add(session)
                child = path.parent.name != "chats"
                yield Origin(host, session, path, path.parent.name if child else None)


def watched(home: Path, environ: Mapping[str, str]) -> tuple[Path, ...]:
    return (root(environ, "GEMINI_CLI_HOME", home) / ".gemini" / "tmp",)


def _session(path: Path) -> str | None:
    if path.suffix == ".json":
        found = _SESSION.search(head(path, 4096).decode("utf-8", "replace"))
        return found[1] if found else None
    return string(next(first_values(path), {}).get("sessionId"))


def turns(records: Iterable[Record]) -> Iterator[Turn]:
    """A message is appended again whenever it grows, and checkpoints repeat all: what was said already is left out."""
    return finished(_turns(records))


def _turns(records: Iterable[Record]) -> Iterator[Turn]:
    child = False
    answered: set[str] = set()
    for record in records:
        row = mapping(record.data)
        child = child or row.get("kind") == "subagent"
        for message in [row, *listing(row.get("messages")), *listing(mapping(row.get("$set")).get("messages"))]:
            yield from _message(record, mapping(message), child, answered)


def _message(record: Record, message: Mapping[str, Any], child: bool, answered: set[str]) -> Iterator[Turn]:
    say = partial(
        Turn,
        string(message.get("id")) or f"@{record.digest}",
        record.start,
        record.end,
        at=instant(message.get("timestamp")),
    )
    match message.get("type"):
        case "user":
            yield from _user(say, message, child, answered)
        case "gemini":
            speaker: Speaker = "subagent" if child else "assistant"
            model = string(message.get("model"))
            yield say(speaker=speaker, text=text_of(message.get("content")), model=model)
            for called in map(mapping, listing(message.get("toolCalls"))):
                call, tool, given = string(called.get("id")), string(called.get("name")), called.get("args")
                touched = paths(given, tool)
                yield say(speaker=speaker, text=written(given), call=call, tool=tool, paths=touched, model=model)
                results = list(_responses(called.get("result")))
                if results or (string(called.get("status")) or "") in _ENDED:
                    if call:
                        answered.add(call)
                    text = "\n".join(text for _, _, text in results) or text_of(called.get("resultDisplay"))
                    outcome = _outcome(tool, called.get("status"), text)
                    yield say(speaker="tool", text=text, call=call, tool=tool, outcome=outcome, paths=touched)
        case "info" | "error" | "warning":
            yield say(speaker="harness", text=text_of(message.get("content")))
        case None:
            pass
        case _:
            yield say(speaker="unknown", text=text_of(message.get("content")))


def _user(say: Any, message: Mapping[str, Any], child: bool, answered: set[str]) -> Iterator[Turn]:
    """The person's words: `displayContent` where the host kept what was typed, else the texts that it did not add."""
    for call, tool, text in _responses(message.get("content")):
        if call not in answered:
            yield say(speaker="tool", text=text, call=call, tool=tool, outcome=_outcome(tool, None, text))
    shown = message.get("displayContent")
    added = False
    for text in texts(shown if shown else message.get("content")):
        added = added or text.lstrip().startswith(_FILES)
        if child or added:
            yield say(speaker="subagent" if child else "harness", text=text)
        else:
            for speaker, part in typed(text, _HARNESS_TAGS, _HARNESS_STARTS):
                yield say(speaker=speaker, text=part)
        added = added and _FILES_END not in text


def _responses(content: Any) -> Iterator[tuple[str | None, str | None, str]]:
    """(call, tool, text) of the function responses in a message or a result."""
    for part in map(mapping, content if isinstance(content, list) else [content]):
        response = mapping(part.get("functionResponse"))
        if response:
            said = mapping(response.get("response"))
            text = text_of(said.get("output") or said.get("error") or response.get("response"))
            yield string(response.get("id")), string(response.get("name")), text


def _outcome(tool: str | None, status: Any, text: str) -> Outcome | None:
    """A shell command that fails has the status `success`; its exit code is the last such line of the text."""
    codes = _EXIT.findall(text) if tool == "run_shell_command" else []
    if codes and int(codes[-1]):
        return "failed"
    return _ENDED.get(status) if isinstance(status, str) else None
