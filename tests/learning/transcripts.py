"""Made-up transcripts of two hosts, told as steps: what was asked, run, edited and answered."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from tests.installed import Ran, agent, person

START = datetime(2026, 3, 2, 10, tzinfo=timezone.utc)
FAILED = (
    "F                                                                        [100%]\n"
    "=================================== FAILURES ===================================\n"
    "E       redis.exceptions.ConnectionError: the pool of session workers is exhausted\n"
    "tests/test_pool.py:12: ConnectionError\n"
    "=========================== short test summary info ============================\n"
    "FAILED tests/test_pool.py::test_night - redis.exceptions.ConnectionError: the pool\n"
    "1 failed, 3 passed in 0.31s"
)
PASSED = "....                                                                     [100%]\n4 passed in 0.22s"


@dataclass
class Session:
    """One session that is being written; each step is a minute later than the one before."""

    repo: Path
    name: str
    rows: list[dict[str, Any]] = field(default_factory=list)
    start: datetime = START

    def at(self) -> str:
        return (self.start + timedelta(minutes=len(self.rows))).strftime("%Y-%m-%dT%H:%M:%S.000Z")

    def path(self) -> Path:
        raise NotImplementedError

    def write(self) -> None:
        self.path().parent.mkdir(parents=True, exist_ok=True)
        self.path().write_text("".join(json.dumps(row) + "\n" for row in self.rows))


class Claude(Session):
    """As Claude Code writes it."""

    def path(self) -> Path:
        return Path(os.environ["HOME"]) / f".claude/projects/-shop/{self.name}.jsonl"

    def _row(self, kind: str, content: Any) -> None:
        number = len(self.rows) + 1
        self.rows.append({
            "type": kind, "uuid": f"{number:08x}-{self.name[:4]}-4000-8000-000000000000", "sessionId": self.name,
            "timestamp": self.at(), "cwd": str(self.repo), "message": {"role": kind, "content": content},
        })  # fmt: skip

    def ask(self, text: str) -> Claude:
        self._row("user", text)
        return self

    def answer(self, text: str) -> Claude:
        self._row("assistant", [{"type": "text", "text": text}])
        return self

    def call(self, tool: str, given: dict[str, Any]) -> str:
        call = f"toolu_{self.name[:4]}{len(self.rows):04d}"
        self._row("assistant", [{"type": "tool_use", "id": call, "name": tool, "input": given}])
        return call

    def result(self, call: str, text: str, *, failed: bool = False) -> None:
        said = f"Exit code 1\n{text}" if failed else text
        self._row("user", [{"type": "tool_result", "tool_use_id": call, "content": said, "is_error": failed}])

    def run(self, command: str, text: str, *, failed: bool = False) -> Claude:
        self.result(self.call("Bash", {"command": command, "description": "as asked"}), text, failed=failed)
        return self

    def edit(self, path: str, old: str, new: str) -> Claude:
        call = self.call("Edit", {"file_path": str(self.repo / path), "old_string": old, "new_string": new})
        self.result(call, f"The file {path} has been updated.")
        return self

    def steps(self, *steps: tuple[str, str]) -> Claude:
        todos = [{"content": text, "status": status, "activeForm": text} for text, status in steps]
        self.result(self.call("TodoWrite", {"todos": todos}), "Todos have been modified successfully.")
        return self


class Codex(Session):
    """As Codex writes its rollouts."""

    def path(self) -> Path:
        return Path(os.environ["HOME"]) / f".codex/sessions/2026/03/02/rollout-2026-03-02T10-00-00-{self.name}.jsonl"

    def _item(self, payload: dict[str, Any], kind: str = "response_item") -> None:
        if not self.rows:
            meta = {"id": self.name, "cwd": str(self.repo), "source": "cli", "originator": "codex_cli"}
            self.rows.append({"timestamp": self.at(), "type": "session_meta", "payload": meta})
        self.rows.append({"timestamp": self.at(), "type": kind, "payload": payload})

    def ask(self, text: str) -> Codex:
        self._item({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]})
        return self

    def answer(self, text: str) -> Codex:
        self._item({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]})
        return self

    def run(self, command: str, text: str, *, failed: bool = False) -> Codex:
        call = f"call_{len(self.rows):04d}"
        given = json.dumps({"cmd": command, "yield_time_ms": 1000})
        self._item({"type": "function_call", "name": "exec_command", "arguments": given, "call_id": call})
        said = f"Chunk ID: 1a\nWall time: 0.3 seconds\nProcess exited with code {int(failed)}\nOutput:\n{text}"
        self._item({"type": "function_call_output", "call_id": call, "output": said})
        return self

    def edit(self, path: str, old: str, new: str) -> Codex:
        call = f"call_{len(self.rows):04d}"
        patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-{old}\n+{new}\n*** End Patch"
        self._item({"type": "custom_tool_call", "name": "apply_patch", "input": patch, "call_id": call})
        said = json.dumps({"output": "Success. Updated the following files:\n", "metadata": {"exit_code": 0}})
        self._item({"type": "custom_tool_call_output", "call_id": call, "output": said})
        return self


@contextmanager
def switched_off() -> Iterator[None]:
    """As a person switches off that a capture learns."""
    file = Path(os.environ["HOME"]) / ".config/gitmem/learn.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"lessons": False}))
    yield
    file.unlink()


@dataclass
class Clone:
    """A repository with a memory; `run` is the installed command as an agent gives it, `person` as a person does."""

    repo: Path

    def run(self, *arguments: str) -> Ran:
        return agent(self.repo, *arguments)

    def person(self, *arguments: str) -> Ran:
        return person(self.repo, *arguments)

    def learn(self, *sessions: Session) -> list[Any]:
        """Write the transcripts, capture them, learn: the lines of `gitmem lessons --json`. Capture itself learns
        nothing here, so that it is told what was learned."""
        for session in sessions:
            session.write()
        with switched_off():
            captured = self.run("capture", "--json")
        assert captured.code == 0, captured.out + captured.err
        done = self.run("lessons", "--json")
        assert done.code == 0, done.out + done.err
        return done.lines
