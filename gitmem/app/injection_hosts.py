"""What an agent host says when a hook fires, and the JSON in which it takes an answer (docs/agents.md).

A host that takes no context at an event has no line for it here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from gitmem.errors import UsageError
from gitmem.model.frozen import dataclass
from gitmem.model.pattern import pattern

Moment = Literal["start", "prompt", "edit", "compact"]

EVENTS: Final[Mapping[str, Mapping[str, Moment]]] = {
    "claude-code": {"SessionStart": "start", "UserPromptSubmit": "prompt", "PreToolUse": "edit"},
    "codex": {"SessionStart": "start", "UserPromptSubmit": "prompt", "PreToolUse": "edit"},
    "cursor": {
        "sessionStart": "start", "beforeSubmitPrompt": "prompt", "preToolUse": "edit", "preCompact": "compact",
    },
    "gemini-cli": {"SessionStart": "start", "BeforeAgent": "prompt", "PreCompress": "compact"},
    "copilot-cli": {"sessionStart": "start", "userPromptSubmitted": "prompt", "preCompact": "compact"},
    "antigravity": {"PreInvocation": "prompt"},
    "opencode": {"prompt": "prompt", "compact": "compact"},  # what our plugins say
    "pi": {"prompt": "prompt", "compact": "compact"},
}  # fmt: skip
# Names under which a host runs what it found in the settings of another one.
_OTHER_NAMES: Final[Mapping[str, str]] = {
    "UserPromptSubmit": "beforeSubmitPrompt", "copilot-cli UserPromptSubmit": "userPromptSubmitted",
    "UserPromptSubmitted": "userPromptSubmitted", "PreToolUse": "preToolUse", "SessionStart": "sessionStart",
    "PreCompact": "preCompact",
}  # fmt: skip
_SESSION: Final = ("session_id", "sessionId", "conversation_id", "conversationId")
_PATHS: Final = ("file_path", "notebook_path", "path", "filePath", "target_file", "absolute_path")
_EDITS: Final = pattern(r"(?i)edit|write|patch|replace|create|delete")
_PATCHED: Final = pattern(r"(?m)^\*\*\* (?:Add|Update|Delete|Move to)(?: File)?: (.+)$")
_MOST_PATHS: Final = 8  # of one patch


@dataclass(frozen=True)
class Said:
    """What a host said. session: its own id, with that of the agent inside it. folder: where it works, "" when it does
    not say. transcript: the file of the session, or "". forgets: what was told before is no longer in its context."""

    host: str
    event: str
    moment: Moment
    session: str
    folder: str = ""
    prompt: str = ""
    paths: tuple[str, ...] = ()
    transcript: str = ""
    forgets: bool = False


def said(host: str, event: str, raw: bytes) -> Said | None:
    """What the hook was given; None when there is nothing to answer at this event.

    Raises UsageError for a host or an event that is not known, and for a payload that is no JSON object.
    """
    try:
        data = json.loads(raw.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        raise UsageError("the hook was given no JSON") from None
    if not isinstance(data, dict):
        raise UsageError("the hook was given no JSON object")
    host = "cursor" if "cursor_version" in data else host
    known = EVENTS.get(host)
    if known is None:
        raise UsageError("nothing is told to this host unasked", hint=f"one of: {', '.join(EVENTS)}")
    event = event if event in known else _OTHER_NAMES.get(f"{host} {event}", _OTHER_NAMES.get(event, event))
    if event not in known:
        if event in _OTHER_NAMES.values():
            return None  # of another host's settings, at an event at which this one takes nothing
        raise UsageError("nothing is told at this event", hint=f"one of: {', '.join(known)}")
    moment = known[event]
    session = next((text for key in _SESSION if (text := _text(data, key))), "")
    if not session or (event == "PreInvocation" and data.get("invocationNum") != 0):
        return None
    agent = _text(data, "agent_id")
    paths = tuple(dict.fromkeys(_paths(data)))[:_MOST_PATHS] if moment == "edit" else ()
    if moment == "edit" and not paths:
        return None
    return Said(
        host, event, moment, f"{session} {agent}" if agent else session, _folder(data), _text(data, "prompt"), paths,
        _text(data, "transcript_path") or _text(data, "transcriptPath"),
        forgets=moment == "compact" or (moment == "start" and data.get("source") == "compact"),
    )  # fmt: skip


def answer(said: Said, text: str) -> str:
    """`text` as the host takes it, or what it takes for nothing."""
    if not text:
        return silence(said.host)
    told: dict[str, Any]
    if said.host == "cursor":
        told = {"additional_context": text}
    elif said.host in ("copilot-cli", "opencode", "pi"):
        told = {"additionalContext": text}
    elif said.host == "antigravity":
        told = {"injectSteps": [{"ephemeralMessage": text}]}
    else:
        told = {"hookSpecificOutput": {"hookEventName": said.event, "additionalContext": text}}
    return json.dumps(told, ensure_ascii=False) + "\n"


def silence(host: str) -> str:
    """What a host takes for nothing. Where Cursor waits for leave, everything but JSON is a no."""
    return "{}\n" if host == "cursor" else ""


def _paths(data: Mapping[str, Any]) -> Iterator[str]:
    """The files that a call is about to write."""
    name = _text(data, "tool_name") or _text(data, "toolName")
    given = data.get("tool_input", data.get("toolArgs"))
    if not _EDITS.search(name):
        return
    if isinstance(given, str):
        yield from _PATCHED.findall(given)
    if not isinstance(given, dict):
        return
    for key in _PATHS:
        yield from filter(None, [_text(given, key)])
    for value in given.values():
        if isinstance(value, str) and "*** " in value[:200]:
            yield from (path.strip() for path in _PATCHED.findall(value))


def _folder(data: Mapping[str, Any]) -> str:
    roots = data.get("workspace_roots")
    first = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else ""
    found = _text(data, "cwd") or first
    return found if found.startswith("/") and "\0" not in found else ""


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else ""
