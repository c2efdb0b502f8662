"""Codex: rollouts under `sessions/YYYY/MM/DD` and `archived_sessions`; one store for the CLI, editors and desktop."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from gitmem.capture.adapter import Origin, open_file
from gitmem.capture.discovery import files, first_values, head, is_inside, root
from gitmem.capture.fields import instant, listing, mapping, paths, string, text_of, texts, written
from gitmem.capture.tagged import element, typed
from gitmem.capture.turns import Outcome, Record, Speaker, Turn, finished
from gitmem.model.pattern import pattern

host: Final = "codex"
rules: Final = 1
suffix: Final = "jsonl"
open = open_file

_HARNESS_TAGS: Final = frozenset(
    ["environment_context", "goal_context", "hook_prompt", "recommended_plugins", "skill", "subagent_notification",
     "turn_aborted", "user_instructions"]
)  # fmt: skip
_HARNESS_STARTS: Final = ("# AGENTS.md instructions", "<codex_internal_context", "<INSTRUCTIONS>")
_REQUEST: Final = "## My request for Codex:"  # the desktop app puts the files that were dropped before it
_EXIT: Final = pattern(r"(?:Process exited with code|Exit code:) (-?\d{1,9})")
_FAILED: Final = pattern(r"\A\s*(?:Script failed|Script error:)")
_REFUSED: Final = "rejected by user"
_META: Final = 4096  # bytes of a rollout in which its thread's fields stand
_NAME: Final = pattern(r"rollout-.{19}-([0-9a-f-]{36})")


def origins(home: Path, environ: Mapping[str, str], work_trees: Sequence[Path]) -> Iterator[Origin]:
    seen: set[str] = set()
    for folder in watched(home, environ):
        for path in files(folder, ".jsonl", 3):
            if not path.name.startswith("rollout-"):
                continue
            meta, cwd = _start(path)
            named = _NAME.match(path.name)
            session = string(meta.get("id")) or (named[1] if named else path.stem)
            if session not in seen and is_inside(cwd, work_trees):
                seen.add(session)
                yield Origin(host, session, path, _parent(meta))


def watched(home: Path, environ: Mapping[str, str]) -> tuple[Path, ...]:
    base = root(environ, "CODEX_HOME", home / ".codex")
    return base / "sessions", base / "archived_sessions"


def _start(path: Path) -> tuple[Mapping[str, Any], str | None]:
    """(meta of the file's own thread, its working folder). The oldest files name the folder in a message only."""
    before, prompt, _ = head(path, _META).partition(b',"base_instructions":')
    if prompt:  # 20 KB of prompt stand in the first line, behind what is asked for
        meta = mapping(mapping(_parsed(before.decode("utf-8", "replace") + "}}")).get("payload"))
        if string(meta.get("id")) and string(meta.get("cwd")):
            return meta, string(meta.get("cwd"))
    meta = {}
    for number, row in enumerate(first_values(path)):
        payload = mapping(row.get("payload")) if "payload" in row else row
        meta = meta or payload
        cwd = string(payload.get("cwd"))
        if cwd is None and payload.get("role") == "user":
            cwd = next((found for text in texts(payload.get("content")) if (found := element(text, "cwd"))), None)
        if cwd or number > 20:
            return meta, cwd
    return meta, None


def _parent(meta: Mapping[str, Any]) -> str | None:
    spawn = mapping(mapping(mapping(meta.get("source")).get("subagent")).get("thread_spawn"))
    return string(meta.get("parent_thread_id")) or string(spawn.get("parent_thread_id"))


def turns(records: Iterable[Record]) -> Iterator[Turn]:
    """The oldest files have neither ids nor times, so equal lines are real repetitions."""
    return finished(_turns(records), once=False)


@dataclass
class _Thread:
    """What earlier lines say about later ones."""

    known: bool = False
    child: bool = False
    scripted: bool = False
    cwd: str | None = None
    branch: str | None = None
    model: str | None = None
    turn: str | None = None
    said: set[int] = field(default_factory=set)
    calls: dict[str, tuple[str | None, tuple[str, ...]]] = field(default_factory=dict)

    def repeats(self, *what: str | None) -> bool:
        """True when the turn under way has this already: a fork replays turns, and copies of a message occur."""
        key = hash((self.turn, *what))
        repeated = self.turn is not None and key in self.said
        self.said.add(key)
        return repeated

    def meta(self, payload: Mapping[str, Any]) -> None:
        """The first one is the file's own; a fork repeats its parent's."""
        if self.known:
            return
        source = payload.get("source")
        self.known = True
        self.child = (
            isinstance(source, dict) or _parent(payload) is not None or payload.get("thread_source") == "subagent"
        )
        # `codex exec` and servers: a person, a script or another agent may have given the prompt.
        self.scripted = isinstance(source, str) and source not in ("cli", "vscode", "desktop", "app")
        self.cwd = string(payload.get("cwd"))
        self.branch = string(mapping(payload.get("git")).get("branch"))


def _turns(records: Iterable[Record]) -> Iterator[Turn]:
    """Turns come from response items; `user_message` and `item_completed` events say the same again, or nothing."""
    thread = _Thread()
    for record in records:
        row = mapping(record.data)
        enveloped = "payload" in row
        payload = mapping(row.get("payload")) if enveloped else row
        kind = row.get("type")
        if kind == "session_meta":
            thread.meta(payload)
        elif kind == "turn_context":
            thread.cwd = string(payload.get("cwd")) or thread.cwd
            thread.model = string(payload.get("model")) or thread.model
            thread.turn = string(payload.get("turn_id")) or thread.turn
        elif kind == "event_msg":
            thread.turn = string(payload.get("turn_id")) or thread.turn
        elif not enveloped and "git" in row and kind is None:
            thread.branch = string(mapping(row.get("git")).get("branch"))
        elif kind in ("response_item", "compacted") or not enveloped:
            say = partial(
                Turn,
                string(payload.get("id")) or f"@{record.digest}",
                record.start,
                record.end,
                at=instant(row.get("timestamp")),
                cwd=thread.cwd,
                branch=thread.branch,
            )
            if kind == "compacted":
                yield say(speaker="harness", text=text_of(payload.get("message")))
            else:
                yield from _item(say, payload, thread)


def _item(say: Any, item: Mapping[str, Any], thread: _Thread) -> Iterator[Turn]:
    match item.get("type"):
        case "message":
            role = string(item.get("role")) or ""
            for text in texts(item.get("content")):
                if thread.repeats(role, text):
                    continue
                if role == "assistant":
                    yield say(speaker="subagent" if thread.child else "assistant", text=text, model=thread.model)
                elif role == "user":
                    thread.cwd = thread.cwd or element(text, "cwd")
                    yield from _user(say, text, thread)
                else:
                    yield say(
                        speaker="harness" if item.get("role") in ("developer", "system") else "unknown", text=text
                    )
        case "function_call" | "custom_tool_call" | "local_shell_call":
            given = item.get("arguments", item.get("input", item.get("action")))
            arguments = _parsed(given) if item.get("type") == "function_call" else given
            call = string(item.get("call_id")) or string(item.get("id"))
            tool = string(item.get("name")) or ("local_shell" if item.get("type") == "local_shell_call" else None)
            touched = paths(arguments, tool)
            if call:
                thread.calls[call] = tool, touched
            speaker: Speaker = "subagent" if thread.child else "assistant"
            text = written(arguments)
            if not thread.repeats("call", call, text):
                yield say(speaker=speaker, text=text, call=call, tool=tool, paths=touched, model=thread.model)
        case "function_call_output" | "custom_tool_call_output":
            call = string(item.get("call_id"))
            tool, touched = thread.calls.pop(call, (None, ())) if call else (None, ())
            text, outcome = _output(item.get("output"))
            if not thread.repeats("output", call, text):
                yield say(speaker="tool", text=text, call=call, tool=tool, outcome=outcome, paths=touched)


def _user(say: Any, text: str, thread: _Thread) -> Iterator[Turn]:
    """A text under the role `user`: the person's, or what Codex puts there."""
    if text.lstrip().startswith("<user_shell_command>"):
        yield say(speaker="unknown" if thread.scripted else "human", text=f"!{element(text, 'command') or ''}")
        result = element(text, "result") or ""
        yield say(speaker="tool", text=result, tool="user_shell_command", outcome=_outcome(result))
    elif thread.child:
        yield say(speaker="subagent", text=text)
    elif text.startswith("# Files mentioned by the user:") and _REQUEST in text:
        files_part, _, request = text.partition(_REQUEST)
        yield say(speaker="harness", text=files_part)
        yield say(speaker="unknown" if thread.scripted else "human", text=request.strip())
    else:
        for speaker, part in typed(text, _HARNESS_TAGS, _HARNESS_STARTS):
            yield say(speaker="unknown" if speaker == "human" and thread.scripted else speaker, text=part)


def _output(output: Any) -> tuple[str, Outcome | None]:
    """(text, outcome) of a tool's output: text, items, or JSON text with an exit code in the oldest files."""
    parsed = _parsed(output)
    if isinstance(parsed, dict) and "output" in parsed:
        code = mapping(parsed.get("metadata")).get("exit_code")
        return text_of(parsed.get("output")), _of_code(code) if isinstance(code, int) else None
    text = text_of(listing(output) or output)
    return text, _outcome(text)


def _outcome(text: str) -> Outcome | None:
    """What the lines before the tool's own output say; the output itself may hold any words."""
    said = text.partition("\nOutput:")[0][:1000]
    found = _EXIT.search(said)
    if found:
        return _of_code(int(found[1]))
    if _REFUSED in said:
        return None
    return "failed" if _FAILED.match(text) else "ok"


def _of_code(code: int) -> Outcome:
    return "failed" if code else "ok"


def _parsed(value: Any) -> Any:
    """The value of JSON in a text; `value` itself when it is none."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value, strict=False)
        except (ValueError, RecursionError):
            return value
    return value
