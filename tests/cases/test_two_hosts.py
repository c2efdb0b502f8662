"""As a new user meets it, with Claude Code and with Codex: install, work in a session, and see what it taught arrive in
the next one. Every hook is the command line that `gitmem install` wrote, given what its host hands to it."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.agents.test_injection import block
from tests.conftest import git
from tests.installed import agent, person
from tests.learning.transcripts import FAILED, PASSED, Claude, Codex

RULES = {Claude: "From now on always write migrations by hand.", Codex: "Never use mocks for the payment gateway."}
TITLES = {Claude: "Write migrations by hand", Codex: "Never use mocks for the payment gateway"}
CHANGED = {Claude: "size = 30", Codex: "writer = parquet.Writer(columns)"}
NAMES = {Claude: "claude-code", Codex: "codex"}
SESSIONS = {Claude: "8c2f6a10-7d1e-4c55-9a3b-2f1e0d9c8b7a", Codex: "01a011e2-21e4-71f2-a354-0495db06869c"}
RUNS = {
    Claude: ("python -m pytest tests/test_pool.py -q", FAILED, PASSED, "the pool of session workers is exhausted"),
    Codex: (
        "npm test",
        "Error: the exporter has no writer for parquet files\n1 failing",
        "4 passing",
        "the exporter has no writer for parquet files",
    ),
}


@dataclass
class Desk:
    """A repository, and the hooks of both hosts as they were installed."""

    repo: Path
    environ: dict[str, str]
    hooks: dict[str, Any]

    def fire(self, host: str, event: str, session: str, **more: Any) -> str:
        """What the host puts before its agent at an event; all that the hooks started has ended."""
        said = {"session_id": session, "cwd": str(self.repo), "hook_event_name": event, "transcript_path": None, **more}
        told = ""
        for group in self.hooks[host][event]:
            for hook in group["hooks"]:
                read, write = os.pipe()
                done = subprocess.run(
                    ["sh", "-c", hook["command"]], cwd=self.repo, env=self.environ, input=json.dumps(said),
                    capture_output=True, text=True, check=True, pass_fds=[write],
                )  # fmt: skip
                os.close(write)
                assert (os.read(read, 1), done.stderr) == (b"", "")
                os.close(read)
                told += block(done.stdout)
        return told


@pytest.fixture
def desk(repo: Path, seal: Path, tmp_path: Path) -> Desk:
    assert person(repo, "init").code == 0
    waiting = ("remember", "-k", "fact", "Ships wait for the tide", "-e", "file:src/pool.py:2")
    assert agent(repo, *waiting).code == 0
    for folder in (".claude", ".codex"):
        (seal / folder).mkdir()
    assert person(repo, "install", "--yes").code == 0
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/sleep").write_text("#!/bin/sh\n")  # what the doorbell waits for is already written
    (tmp_path / "bin/sleep").chmod(0o755)
    files = {"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json"}
    hooks = {host: json.loads((seal / path).read_text())["hooks"] for host, path in files.items()}
    return Desk(repo, {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}, hooks)


def test_what_a_session_taught_arrives_cited_in_the_next_one_of_either_host(desk: Desk) -> None:
    for kind in (Claude, Codex):
        host, session = NAMES[kind], SESSIONS[kind]
        before = desk.fire(host, "SessionStart", session, source="startup")
        assert "1 candidate waits" in before and TITLES[kind] not in before and RUNS[kind][3] not in before
        command, failed, passed, _ = RUNS[kind]
        transcript = kind(desk.repo, session).ask(RULES[kind]).answer("Understood.").ask("Make the tests pass.")
        transcript.run(command, failed, failed=True).edit("src/pool.py", "size = 20", CHANGED[kind]).run(
            command, passed
        )
        transcript.answer("They pass.").write()
        desk.fire(host, "Stop", session, transcript_path=str(transcript.path()))

    for host in NAMES.values():
        told = desk.fire(host, "SessionStart", f"next-{host}", source="startup")
        rows = [json.loads(line) for line in told.split("\n")[2:-2]]
        for kind in (Claude, Codex):
            (rule,) = [row for row in rows if TITLES[kind] in row.get("title", "")]
            (trap,) = [row for row in rows if RUNS[kind][3] in row.get("title", "")]
            assert (rule["origin"], trap["kind"], trap["origin"]) == ("human", "problem", "observed")
            for row in (rule, trap):
                assert row["cites"][0].startswith(f"transcript:{NAMES[kind]}/{SESSIONS[kind]}#")
            assert CHANGED[kind] in json.dumps(trap["beside"])
        assert rows[-1] == {"note": "1 candidate waits for a person: gitmem list --inbox"} and "tide" not in told

    # A prompt brings the lesson to a session that has not read it, and what a person calls wrong comes no more.
    asks = f"why does it say that {RUNS[Claude][3]}?"
    assert CHANGED[Claude] in desk.fire("codex", "UserPromptSubmit", "next-codex-2", prompt=asks)
    listed = person(desk.repo, "directives", "list", "--json").lines
    (identifier,) = [row["id"] for row in listed if TITLES[Codex] in row.get("title", "")]
    assert person(desk.repo, "wrong", identifier, "--because", "it was a joke").code == 0
    again = desk.fire("claude-code", "SessionStart", "last", source="startup")
    assert TITLES[Claude] in again and TITLES[Codex] not in again
    assert TITLES[Claude] not in git(desk.repo, "log", "-p", "refs/heads/gitmem/main")  # it is this user's own
