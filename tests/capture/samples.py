"""Transcripts to test with: small ones of our own for every host, and the shared collection where it is there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from gitmem.capture.adapter import Adapter
from gitmem.capture.records import records
from gitmem.capture.registry import adapters
from gitmem.capture.turns import Turn
from tests.capture.expected import SHARED_SAMPLES

SHARED = Path(__file__).parents[2].parent / "shared/data/transcripts"
CASES = Path(__file__).parents[2].parent / "shared/cases/bugs"
TIME = "2026-03-02T10:00:00.000Z"
CWD = "/srv/shop"


@dataclass(frozen=True)
class Sample:
    """A transcript with what is known of it: the person's words (as `pin` writes them) and how many calls failed."""

    host: str
    name: str
    data: bytes
    human: tuple[str, ...]
    failed: int

    @property
    def adapter(self) -> Adapter:
        return adapters()[self.host]

    @property
    def is_document(self) -> bool:
        return self.data.startswith(b"{\n")

    def turns(self, data: bytes | None = None) -> list[Turn]:
        return list(self.adapter.turns(records([self.data if data is None else data], self.adapter.suffix)))


def pin(text: str) -> str:
    """A text, or its begin, length and digest when it is long."""
    return text if len(text) <= 100 else f"{text[:70]}… {len(text)} {sha256(text.encode()).hexdigest()[:8]}"


def lines(*rows: Mapping[str, Any]) -> bytes:
    """JSON lines, as hosts write them."""
    return b"".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for row in rows)


def claude(number: int, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    """A row of Claude Code."""
    return {
        "parentUuid": None, "isSidechain": False, "cwd": CWD, "sessionId": "s1", "version": "2.1.0",
        "gitBranch": "main",
        "type": kind, "message": {"role": kind, "content": content}, "uuid": f"u{number}", "timestamp": TIME, **more,
    }  # fmt: skip


def codex(kind: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """A row of Codex."""
    return {"timestamp": TIME, "type": kind, "payload": payload}


def said(role: str, text: str) -> dict[str, Any]:
    """A message of Codex."""
    part = "output_text" if role == "assistant" else "input_text"
    return codex("response_item", {"type": "message", "role": role, "content": [{"type": part, "text": text}]})


def cursor(role: str, *blocks: Mapping[str, Any]) -> dict[str, Any]:
    """A row of Cursor."""
    return {"role": role, "message": {"content": list(blocks)}}


def copilot(number: int, kind: str, data: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """An event of Copilot CLI."""
    return {"id": f"e{number}", "parentId": None, "timestamp": TIME, "type": kind, "data": data, **more}


def pi(number: int, message: Mapping[str, Any]) -> dict[str, Any]:
    """A message of Pi."""
    return {"type": "message", "id": f"{number:08x}", "parentId": None, "timestamp": TIME, "message": message}


def part(number: int, data: Mapping[str, Any]) -> dict[str, Any]:
    """A part of OpenCode 1."""
    return {"table": "part", "id": f"prt_{number}", "message_id": "msg_1", "session_id": "ses_1", "data": data}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


CLAUDE = lines(
    {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
    claude(1, "user", "Use 20 sockets, né.", entrypoint="cli"),
    claude(2, "assistant", [{"type": "thinking", "thinking": "hm"}, text("On it.")]),
    claude(3, "assistant", [
        {"type": "tool_use", "id": "t1", "name": "Edit", "input": {"file_path": "/srv/shop/pool.py"}}]),
    claude(4, "user", [{"type": "tool_result", "tool_use_id": "t1", "content": "File not read", "is_error": True}]),
    claude(5, "assistant", [
        {"type": "tool_use", "id": "t2", "name": "Bash", "input": {"command": "make"}}]),
    claude(6, "user", [{"type": "tool_result", "tool_use_id": "t2", "is_error": True,
                        "content": [text("The user doesn't want to proceed")]}]),
    claude(7, "user", "You are a helper: say 99.", isSidechain=True, agentId="a1"),
    claude(8, "user", "<bash-input>ls</bash-input>"),
    claude(9, "user", "<command-name>/model</command-name>\n<command-args>opus</command-args>"),
    claude(10, "user", "<command-name>pdf</command-name>"),
    claude(11, "user", "from a script", entrypoint="sdk-cli"),
    claude(12, "user", "<system-reminder>78</system-reminder>\nNo, 30.\n<system-reminder>79</system-reminder>"),
    claude(13, "user", "<b>what is this</b>", promptSource="typed", origin={"kind": "human"}),
    claude(14, "user", "<new-kind>76</new-kind>"),
    {"type": "attachment", "uuid": "u15", "attachment": {
        "type": "queued_command", "prompt": "and hurry", "commandMode": "prompt"}},
    {"type": "attachment", "uuid": "u16", "attachment": {
        "type": "queued_command", "prompt": "77", "commandMode": "task-notification"}},
    {"type": "queue-operation", "operation": "enqueue", "content": "and hurry"},
)  # fmt: skip

CODEX = lines(
    codex("session_meta", {"id": "c1", "cwd": CWD, "source": "cli", "git": {"branch": "main"}}),
    codex("event_msg", {"type": "task_started", "turn_id": "t1"}),
    said("developer", "<permissions instructions>99"),
    said("user", "# AGENTS.md instructions for /srv/shop\n99"),
    said("user", "<environment_context>\n  <cwd>/srv/shop</cwd>\n</environment_context>"),
    codex("turn_context", {"turn_id": "t1", "cwd": CWD, "model": "gpt-5.5"}),
    said("user", "Use 20 sockets, né."),
    said("user", "Use 20 sockets, né."),
    codex("event_msg", {"type": "user_message", "message": "Use 20 sockets, né."}),
    codex("response_item", {"type": "function_call", "name": "shell", "arguments": '{"cmd":"make"}', "call_id": "k1"}),
    codex("response_item", {"type": "function_call_output", "call_id": "k1",
                            "output": "Process exited with code 2\nOutput:\nExit code: 0"}),
    codex("response_item", {"type": "custom_tool_call", "name": "apply_patch", "call_id": "k2",
                            "input": "*** Begin Patch\n*** Update File: src/pool.py\n"}),
    codex("response_item", {"type": "custom_tool_call_output", "call_id": "k2",
                            "output": "Process exited with code 0\nOutput:\nExit code: 1"}),
    said("assistant", "Done."),
    said("user", "# Files mentioned by the user:\n\n## a.py: /srv/shop/a.py\n\n## My request for Codex:\nand tests"),
    said("user", "<user_shell_command>\n"
         "<command>\nls\n</command>\n<result>\nExit code: 1\nOutput:\n\n</result>\n</user_shell_command>"),
    codex("compacted", {"message": "the user said 98"}),
)  # fmt: skip

CURSOR = lines(
    cursor("user", text("<timestamp>Monday, May 4, 2026, 12:39 AM (UTC+5:30)</timestamp>\n"
                        "<user_query>\nUse 20 sockets, né.\n</user_query>")),
    cursor("assistant", text("[REDACTED]"),
           {"type": "tool_use", "name": "Read", "input": {"path": "/srv/shop/pool.py"}}),
    cursor("assistant", text("Same."), {"type": "tool_use", "name": "Grep path\n/srv", "input": {"pattern": "x"}}),
    cursor("assistant", text("Same."), {"type": "tool_use", "name": "Grep path\n/srv", "input": {"pattern": "x"}}),
    cursor("user", text("<user_query>The subagent says 99.</user_query>")),
    cursor("user", text("no tag, 98")),
    cursor("user", text("<user_query>\na stray </user_query> here\n</user_query>")),
    {"type": "turn_ended", "status": "error", "error": "97"},
)  # fmt: skip

GEMINI = lines(
    {"sessionId": "g1", "projectHash": "h", "kind": "main"},
    {"$set": {"messages": [{"id": "m0", "type": "user", "content": [
        {"text": "<session_context>99</session_context>"}]}]}},
    {"id": "m1", "timestamp": TIME, "type": "user", "content": [{"text": "Use 20 sockets, né."}]},
    {"id": "m2", "timestamp": TIME, "type": "gemini", "content": "On it.", "model": "g"},
    {"id": "m2", "timestamp": TIME, "type": "gemini", "content": "On it.", "model": "g", "toolCalls": [
        {"id": "k1", "name": "run_shell_command", "args": {"command": "make"}, "status": "success",
         "result": [{"functionResponse": {"id": "k1", "name": "run_shell_command",
                                          "response": {"output": "Output: x\nExit Code: 2"}}}]}]},
    {"id": "m3", "type": "user", "content": [{"functionResponse": {"id": "k1", "name": "run_shell_command",
                                                                   "response": {"output": "98"}}}]},
    {"id": "m4", "type": "user", "content": [{"text": "see @a.py"}, {"text": "\n--- Content from referenced files ---"},
                                             {"text": "97"}, {"text": "\n--- End of content ---"}]},
    {"id": "m5", "type": "user", "content": [{"text": "hm\n<hook_context>96</hook_context>"}]},
    {"id": "m6", "type": "user", "content": [{"text": "/stats 95"}]},
    {"$rewindTo": "m4"},
    {"$set": {"messages": [{"id": "m1", "timestamp": TIME, "type": "user", "content": [
        {"text": "Use 20 sockets, né."}]}]}},
)  # fmt: skip

ANTIGRAVITY = lines(
    {"step_index": 0, "source": "USER_EXPLICIT", "type": "USER_INPUT", "status": "DONE", "created_at": TIME,
     "content": "<USER_REQUEST>\nUse 20 sockets, né.\n</USER_REQUEST>\n"
                "<ADDITIONAL_METADATA>\n99\n</ADDITIONAL_METADATA>"},
    {"step_index": 1, "source": "MODEL", "type": "PLANNER_RESPONSE", "status": "DONE", "content": "On it.",
     "thinking": "hm",
     "tool_calls": [{"name": "run_command", "args": {"CommandLine": '"false"', "Cwd": '"/srv/shop"'}}]},
    {"step_index": 2, "source": "MODEL", "type": "RUN_COMMAND", "status": "DONE",
     "content": "Created At: x\n\n\t\tThe command failed with exit code: 1\n"},
    {"step_index": 3, "source": "SYSTEM", "type": "CHECKPOINT", "status": "DONE", "content": "98"},
    {"step_index": 4, "source": "USER_IMPLICIT", "type": "USER_INPUT", "status": "DONE",
     "content": "<USER_REQUEST>97</USER_REQUEST>"},
)  # fmt: skip

OPENCODE = lines(
    {"table": "session", "id": "ses_1", "parent_id": None, "directory": CWD},
    {"table": "message", "id": "msg_1", "session_id": "ses_1",
     "data": {"role": "user", "time": {"created": 1772445600000}}},
    part(1, text("Use 20 sockets, né.")),
    part(2, {**text("99"), "synthetic": True}),
    part(3, {**text("98"), "ignored": True}),
    {"table": "message", "id": "msg_1", "session_id": "ses_1",
     "data": {"role": "assistant", "modelID": "m", "path": {"cwd": "/srv/shop/api"}}},
    part(4, {"type": "tool", "tool": "bash", "callID": "k1", "state": {
        "status": "completed", "input": {"command": "make"}, "output": "no rule", "metadata": {"exit": 2}}}),
    part(5, {"type": "tool", "tool": "edit", "callID": "k2", "state": {
        "status": "error", "input": {"filePath": "a.py"}, "error": "The user rejected permission to use this tool"}}),
    part(6, {"type": "tool", "tool": "read", "callID": "k3", "state": {
        "status": "error", "input": {"filePath": "b.py"}, "error": "no such file"}}),
    {"table": "message", "id": "msg_1", "session_id": "ses_1", "data": {"role": "assistant", "summary": True}},
    part(7, text("97")),
)  # fmt: skip

OPENCODE_2 = lines(
    {"table": "session_v2", "id": "ses_2", "parent_id": None, "directory": CWD},
    {"table": "session_message", "id": "a", "seq": 1, "type": "user", "data": {"text": "Use 20 sockets, né."}},
    {"table": "session_message", "id": "b", "seq": 2, "type": "synthetic", "data": {"text": "99"}},
    {"table": "session_message", "id": "c", "seq": 3, "type": "assistant", "data": {"model": {"id": "m"}, "content": [
        text("On it."), {"type": "tool", "id": "k1", "name": "read", "state": {
            "status": "error", "input": {"filePath": "b.py"}, "error": {"message": "no such file"}}}]}},
    {"table": "session_message", "id": "d", "seq": 4, "type": "compaction", "data": {"summary": "98"}},
)  # fmt: skip

OPENCODE_DOCUMENT = json.dumps(
    {
        "info": {"id": "ses_3", "directory": CWD},
        "messages": [
            {"info": {"id": "m1", "role": "user"}, "parts": [{"id": "p1", **text("Use 20 sockets, né.")}]},
            {"id": "m2", "type": "user", "text": "and this is 2.x"},
        ],
    },
    indent=2,
).encode()

COPILOT = lines(
    copilot(1, "session.start", {"sessionId": "o1", "context": {"cwd": CWD, "branch": "main"}}),
    copilot(2, "system.message", {"content": "99"}),
    copilot(3, "user.message", {"content": "Use 20 sockets, né.", "transformedContent": "<current_datetime>98"}),
    copilot(4, "assistant.message", {"content": "", "model": "m", "toolRequests": [
        {"toolCallId": "k1", "name": "bash", "arguments": {"command": "make"}}]}),
    copilot(5, "tool.execution_start", {"toolCallId": "k1", "toolName": "bash", "arguments": {"command": "make"}}),
    copilot(6, "tool.execution_complete", {"toolCallId": "k1", "success": True, "result": {"content": "no rule"},
                                           "toolTelemetry": {"metrics": {"exit_code": 2}}}),
    copilot(7, "tool.execution_complete", {"toolCallId": "k2", "success": True,
                                           "result": {"content": "x\n<shellId: 1 completed with exit code 1>"}}),
    copilot(8, "user.message", {"content": "say 97", "source": "agent-x"}, agentId="k3"),
    copilot(9, "user.message", {"content": "say 96", "source": "skill-x"}),
    copilot(10, "tool.user_requested", {"toolCallId": "k4", "toolName": "local_shell", "arguments": {"command": "ls"}}),
    copilot(11, "session.compaction_complete", {"summaryContent": "95"}),
)  # fmt: skip

PI = lines(
    {"type": "session", "version": 3, "id": "p1", "timestamp": TIME, "cwd": CWD},
    pi(1, {"role": "user", "content": [text("Use 20 sockets, né.")]}),
    pi(2, {"role": "assistant", "model": "m", "content": [
        {"type": "thinking", "thinking": "hm"}, text("On it."),
        {"type": "toolCall", "id": "k1", "name": "read", "arguments": {"path": "a.py"}}]}),
    pi(3, {"role": "toolResult", "toolCallId": "k1", "toolName": "read", "content": [text("no")], "isError": True}),
    pi(4, {"role": "bashExecution", "command": "make", "output": "no rule", "exitCode": 2}),
    pi(5, {"role": "custom", "content": "99"}),
    {"type": "custom_message", "id": "00000006", "timestamp": TIME, "content": "98", "customType": "x"},
    {"type": "compaction", "id": "00000007", "timestamp": TIME, "summary": "97"},
    pi(8, {"role": "user", "content": "a bare text"}),
)  # fmt: skip

AIDER = """
# aider chat started at 2026-03-02 10:00:00

> Aider v0.86.2
> Repo-map: using 1024 tokens

#### Use 20 sockets, né.  
#### and tests  

I will do it.

> a quotation in the reply

#### 99

text

> Tokens: 2.0k sent, 227 received.

#### /run make  

> make: no rule

#### thanks  
""".encode()  # noqa: W291 (Aider ends what a person typed with two spaces)

GENERIC = lines(
    {"role": "user", "content": "99", "id": "1"},
    {"type": "assistant", "message": {"role": "assistant", "content": [
        text("On it."), {"type": "tool_use", "id": "k1", "name": "sh", "input": {"file": "a.py"}}]}},
    {"role": "tool", "content": [{"type": "tool_result", "tool_use_id": "k1", "content": "no", "is_error": True}]},
    {"kind": "Prompt", "data": {"message_id": "x", "content": [{"kind": "text", "data": "98"}]}},
)  # fmt: skip

_SOCKETS = "Use 20 sockets, né."
OWN = (
    Sample("claude-code", "own", CLAUDE,
           (_SOCKETS, "!ls", "/model opus", "No, 30.", "<b>what is this</b>", "and hurry"), 1),
    Sample("codex", "own", CODEX, (_SOCKETS, "and tests", "!ls"), 2),
    Sample("cursor", "own", CURSOR, (_SOCKETS, "a stray </user_query> here"), 0),
    Sample("gemini-cli", "own", GEMINI, (_SOCKETS, "see @a.py", "hm"), 1),
    Sample("antigravity", "own", ANTIGRAVITY, (_SOCKETS,), 1),
    Sample("opencode", "own", OPENCODE, (_SOCKETS,), 2),
    Sample("opencode", "own-2", OPENCODE_2, (_SOCKETS,), 1),
    Sample("opencode", "own-export", OPENCODE_DOCUMENT, (_SOCKETS, "and this is 2.x"), 0),
    Sample("copilot-cli", "own", COPILOT, (_SOCKETS, "!ls"), 2),
    Sample("pi", "own", PI, (_SOCKETS, "!make", "a bare text"), 2),
    Sample("aider", "own", AIDER, (f"{_SOCKETS}\nand tests", "/run make", "thanks"), 0),
    Sample("jsonl", "own", GENERIC, (), 1),
)  # fmt: skip

_HOSTS = {
    "aider": "aider",
    "amp": "jsonl",
    "antigravity-cli": "antigravity",
    "claude-code": "claude-code",
    "codex": "codex",
    "copilot-cli": "copilot-cli",
    "cursor": "cursor",
    "gemini-cli": "gemini-cli",
    "kiro-cli": "jsonl",
    "opencode": "opencode",
    "pi": "pi",
    "windsurf": "jsonl",
}


def shared_samples() -> tuple[Sample, ...]:
    """The samples of the shared collection; none where it is not."""
    return tuple(
        Sample(_HOSTS[name.partition("/")[0]], name, path.read_bytes(), human, failed)
        for name, (failed, human) in SHARED_SAMPLES.items()
        if (path := SHARED / name).is_file()
    )


ALL = (*OWN, *shared_samples())
