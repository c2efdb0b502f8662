"""Real transcripts as a host's hooks would meet them: starts of sessions, prompts and edits, each with its payload.

No text of a transcript is kept anywhere but in the folder that is thrown away.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NAMES = {"antigravity-cli": "antigravity"}
# Where each host keeps a session, below the home; hosts that are missing here are captured by their name.
KEPT = {
    "claude-code": ".claude/projects/-shop/{0}.jsonl",
    "codex": ".codex/sessions/2026/03/01/rollout-{0}.jsonl",
    "pi": ".pi/agent/sessions/--shop--/{0}.jsonl",
    "copilot-cli": ".copilot/session-state/{0}/events.jsonl",
}
_TYPED = ("!", "/")  # a command of the host, or of the shell: no host runs its prompt hook for it


@dataclass(frozen=True)
class Moment:
    """One time at which a hook fires. what: start, prompt or edit. path: of an edit, from the top of the repository.
    earlier: the prompt before this one. before: the bytes of the transcript that the host has written by then."""

    host: str
    session: str
    record: str
    what: str
    prompt: str = ""
    path: str = ""
    earlier: str = ""
    before: bytes = b""


@dataclass(frozen=True)
class Sample:
    """One transcript. stored: its bytes with the repository in the place of the folder that it was made in."""

    host: str
    path: Path
    stored: bytes
    records: frozenset[str]
    moments: tuple[Moment, ...]

    @property
    def name(self) -> str:
        return f"{self.host}/{self.path.stem}"

    def taught(self, memory: str) -> bool:
        """Whether a memory, by the name that labels have for it, was learned from this very session."""
        said = memory.partition(" of ")[2]
        return said.startswith(f"{self.host}/") and said.rpartition("#")[2] in self.records


def samples(folder: Path, where: Path) -> Iterator[Sample]:
    """The transcripts of the hosts that take something from a hook, as if they had been made in `where`."""
    from gitmem.app.injection_hosts import EVENTS
    from gitmem.capture.records import records
    from gitmem.capture.registry import adapters

    for path in sorted(folder.rglob("*.json*")):
        host = NAMES.get(path.relative_to(folder).parts[0], path.relative_to(folder).parts[0])
        adapter = adapters().get(host)
        if adapter is None or host not in EVENTS or path.name.startswith("agent-"):
            continue
        data = path.read_bytes()
        folders = {turn.cwd for turn in adapter.turns(records([data], adapter.suffix)) if turn.cwd}
        for name in sorted(folders, key=len, reverse=True):
            data = data.replace(name.encode(), str(where).encode())
        turns = list(adapter.turns(records([data], adapter.suffix)))
        yield Sample(
            host, path, data, frozenset(turn.record for turn in turns), tuple(_moments(host, path, data, turns, where))
        )


def _moments(host: str, path: Path, data: bytes, turns: list[Any], where: Path) -> Iterator[Moment]:
    from gitmem.app.injection_hosts import EVENTS, said

    name = f"{host}/{path.stem}"
    yield Moment(host, name, "", "start")
    told: set[str] = set()
    earlier = ""
    for turn in turns:
        end = turn.end if host == "antigravity" else turn.start
        before = data[:end] if path.suffix == ".jsonl" else b""
        if turn.speaker == "human" and turn.record not in told and not turn.text.startswith(_TYPED):
            told.add(turn.record)
            yield Moment(host, name, turn.record, "prompt", prompt=turn.text, earlier=earlier, before=before)
            earlier = turn.text
        if turn.call and turn.speaker in ("assistant", "subagent"):
            # Hosts without a hook before an edit are asked as Claude Code would be.
            for changed in turn.paths:
                whole = Path(changed) if changed.startswith("/") else where / changed
                given = {"session_id": "x", "tool_name": turn.tool or "", "tool_input": {"file_path": str(whole)}}
                asked = host if "edit" in EVENTS[host].values() and host != "cursor" else "claude-code"
                if said(asked, "PreToolUse", json.dumps(given).encode()) and whole.is_relative_to(where):
                    yield Moment(asked, name, turn.record, "edit", path=str(whole.relative_to(where)))


def payload(moment: Moment, session: str, where: Path, transcript: Path) -> tuple[str, dict[str, Any]] | None:
    """(event, what the host hands to its hook); None where it fires none."""
    from gitmem.app.injection_hosts import EVENTS

    event = next((name for name, what in EVENTS[moment.host].items() if what == moment.what), None)
    if event is None:
        return None
    said: dict[str, Any]
    if moment.host == "copilot-cli":
        said = {"sessionId": session, "timestamp": 1, "cwd": str(where)}
    elif moment.host == "antigravity":
        said = {"conversationId": session, "invocationNum": 0, "artifactDirectoryPath": "/a",
                "transcriptPath": str(transcript)}  # fmt: skip
    else:
        said = {"session_id": session, "transcript_path": str(transcript), "cwd": str(where), "hook_event_name": event}
        if moment.host == "cursor":
            said |= {"conversation_id": session, "cursor_version": "3.2", "workspace_roots": [str(where)]}
    if moment.what == "start":
        said["source"] = "startup"
    elif moment.what == "prompt" and moment.host != "antigravity":
        said["prompt"] = moment.prompt
    elif moment.what == "edit":
        said |= {"tool_name": "Edit", "tool_input": {"file_path": str(where / moment.path), "new_string": "x"}}
    return event, said
