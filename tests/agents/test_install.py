"""`gitmem install` and `uninstall` by the installed command, in a home of their own."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import git
from tests.installed import PROGRAM, Ran, agent, person
from tests.sessions.hosts import line, said

EVENTS = {"SessionStart", "UserPromptSubmit", "PreToolUse", "Stop", "SessionEnd"}
SETTINGS = (
    '{\n    "model": "opus",\n    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "make lint"}]}]}\n}\n'
)


@dataclass
class Home:
    """A home, with a space in its name, that has Claude Code and Codex."""

    path: Path
    repo: Path

    @property
    def claude(self) -> Path:
        return self.path / ".claude/settings.json"

    @property
    def codex(self) -> Path:
        return self.path / ".codex/hooks.json"

    @property
    def bell(self) -> Path:
        return self.path / ".local/share/gitmem/doorbell"

    def run(self, *arguments: str, typed: str | None = None, **environ: str) -> Ran:
        given = {**os.environ, "HOME": str(self.path), **environ}
        given = {name: value for name, value in given.items() if name not in ("XDG_DATA_HOME", "XDG_STATE_HOME")}
        if typed is None:
            return agent(self.repo, *arguments, environ={"CI": "1", **given} if "--yes" in arguments else given)
        return person(self.repo, *arguments, typed=typed, environ=given)

    def files(self) -> dict[str, bytes]:
        """Every file with its bytes, and every folder of a host."""
        return {
            str(path.relative_to(self.path)): path.read_bytes() if path.is_file() else b""
            for path in self.path.rglob("*")
            if path.is_file() or path.name in (".claude", ".codex")
        }


@pytest.fixture
def home(tmp_path: Path, repo: Path) -> Home:
    found = Home(tmp_path / "it's home", repo)
    found.claude.parent.mkdir(parents=True)
    found.codex.parent.mkdir()
    found.claude.write_text(SETTINGS)
    found.claude.chmod(0o640)
    return found


def commands(path: Path) -> dict[str, list[str]]:
    hooks: dict[str, Any] = json.loads(path.read_bytes())["hooks"]
    return {event: [one["command"] for group in groups for one in group["hooks"]] for event, groups in hooks.items()}


def state(home: Home) -> bytes:
    return (home.path / ".local/state/gitmem/agents.json").read_bytes()


def test_a_person_is_shown_the_diff_and_asked(home: Home) -> None:
    before = home.files()
    for answer in ("n\n", "\n"):
        declined = home.run("install", typed=answer)
        assert declined.code == 1 and "nothing was written" in declined.out
        assert '+    "hooks": {"Stop": [' in declined.out and "+++ " + str(home.codex) in declined.out
    assert home.files() == before
    agreed = home.run("install", typed="y\n")
    assert agreed.code == 0 and "type /hooks, trust it once" in agreed.err
    found = {event: len(named) for event, named in commands(home.claude).items()}
    assert found == {"Stop": 2, "SessionStart": 2, "SessionEnd": 1, "UserPromptSubmit": 1, "PreToolUse": 1}
    assert commands(home.claude)["Stop"][0] == "make lint"
    assert set(commands(home.codex)) == EVENTS
    assert home.claude.stat().st_mode & 0o777 == 0o640
    assert b"opus" not in state(home) and b"lint" not in state(home)


def test_what_the_host_runs_rings(home: Home) -> None:
    assert home.run("install", "--yes").code == 0
    (home.repo / ".git/gitmem").mkdir()
    (home.repo / ".git/gitmem/spool").mkdir()
    (home.repo / ".git/gitmem/spool/waiting").write_text(f"{os.getpid()}\n")  # so it starts no capture
    for path, host in ((home.claude, "claude-code"), (home.codex, "codex")):
        done = subprocess.run(
            ["sh", "-c", commands(path)["Stop"][-1]], cwd=home.repo, capture_output=True, text=True, check=False,
            input=json.dumps({"session_id": "s", "transcript_path": "/t"}),
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert json.loads((home.repo / ".git/gitmem/spool" / host).read_text())["host"] == host


def test_again_changes_nothing_and_uninstall_gives_back_every_byte(home: Home) -> None:
    before = home.files()
    assert home.run("install", "--yes").code == 0
    after = home.files()
    again = home.run("install", "--yes")
    assert again.code == 0 and again.out == "nothing to change\n" and home.files() == after
    assert home.run("uninstall", "--dry-run").code == 0 and home.files() == after
    assert home.run("uninstall", typed="y\n").code == 0
    kept = home.files()
    assert kept.pop(".local/state/gitmem/agents.json") == b'{\n "files": {}\n}\n'
    assert kept == before
    assert home.run("uninstall", "--yes").out == "nothing to take out\n"


def test_without_injection_only_capture_is_installed_and_what_was_there_for_it_goes(home: Home) -> None:
    before = home.files()
    assert home.run("install", "--yes", "--no-inject").code == 0
    bare = home.files()
    assert set(commands(home.codex)) == {"SessionStart", "Stop", "SessionEnd"}
    assert home.run("install", "--yes").code == 0
    assert set(commands(home.codex)) == EVENTS
    matchers = [group.get("matcher") for group in json.loads(home.claude.read_bytes())["hooks"]["PreToolUse"]]
    assert matchers == ["Edit|MultiEdit|Write|NotebookEdit"]
    shown = home.run("install", "--no-inject", "--dry-run").out
    assert "doorbell' claude-code UserPromptSubmit" in shown or "claude-code UserPromptSubmit" in shown
    assert home.run("install", "--yes", "--no-inject").code == 0
    without = {name: data for name, data in home.files().items() if "state" not in name}
    assert without == {name: data for name, data in bare.items() if "state" not in name}
    assert home.run("install", "--yes").code == 0  # in two steps
    assert home.run("uninstall", "--yes").code == 0
    assert {name: data for name, data in home.files().items() if "state" not in name} == before


def test_of_a_file_that_was_changed_since_only_what_is_ours_goes(home: Home) -> None:
    assert home.run("install", "--yes").code == 0
    home.claude.write_text(home.claude.read_text().replace("opus", "sonnet"))
    assert home.run("uninstall", "claude-code", "--yes").code == 0
    assert home.claude.read_text() == SETTINGS.replace("opus", "sonnet")
    assert home.codex.exists() and home.bell.exists()
    (home.path / ".local/state/gitmem/agents.json").unlink()  # also without a receipt
    assert home.run("uninstall", "--yes").code == 0
    assert json.loads(home.codex.read_text()) == {} and not home.bell.exists()


def test_what_was_lost_is_put_in_again_and_an_older_doorbell_is_renewed(home: Home) -> None:
    assert home.run("install", "claude-code", "--yes").code == 0
    assert not home.codex.exists()
    text = home.bell.read_bytes()
    home.bell.write_bytes(b"#!/bin/sh\n")
    hooks = json.loads(home.claude.read_text())
    del hooks["hooks"]["SessionEnd"]
    hooks["hooks"]["SessionStart"][0]["hooks"][0]["command"] = "'/old home/gitmem/doorbell' claude-code"
    home.claude.write_text(json.dumps(hooks))
    assert home.run("install", "claude-code", "--yes").code == 0
    assert home.bell.read_bytes() == text
    found = commands(home.claude)
    assert set(found) == EVENTS and "old home" not in str(found)
    assert home.run("uninstall", "--yes").code == 0
    assert commands(home.claude) == {"Stop": ["make lint"]}


def test_for_one_repository_the_users_files_stay_and_a_file_that_was_not_there_goes_again(home: Home) -> None:
    before = home.files()
    done = home.run("install", "claude-code", "--project", "--yes")
    assert done.code == 0 and "do not commit it" in done.err
    assert home.claude.read_text() == SETTINGS
    assert set(commands(home.repo / ".claude/settings.local.json")) == EVENTS
    assert home.run("uninstall", "--yes").code == 0
    assert not (home.repo / ".claude").exists() and git(home.repo, "status", "--porcelain") == ""
    assert {name: data for name, data in home.files().items() if "state" not in name} == before


@pytest.mark.parametrize("broken", ['{"model": ', "// mine\n{}", '{"hooks": []}', "\udcff", '{"a": 1, "a": 2}'])
def test_with_one_file_that_cannot_be_read_nothing_is_written(home: Home, broken: str) -> None:
    home.codex.write_bytes(os.fsencode(broken))
    before = home.files()
    refused = home.run("install", "--yes")
    assert refused.code == 2 and str(home.codex) in refused.err and "nothing was written" in refused.err
    assert home.files() == before
    home.codex.write_text("{}")
    assert home.run("install", "--yes").code == 0


def test_an_agent_is_refused_and_a_script_has_to_say_yes(home: Home) -> None:
    before = home.files()
    assert home.run("install", CI="1").code == 2
    for who in ({}, {"CLAUDECODE": "1"}, {"CLAUDECODE": "1", "CI": "1"}):
        for words in ((), ("codex", "--yes"), ("--timer", "--yes"), ("--agents-md", "--yes")):
            refused = home.run("install", *words, **{"CI": "", **who})
            assert refused.code == 3 and "--yes" not in refused.err and "gitmem install" in refused.err, refused
        explained = home.run("policy", "explain", "install", "--json", **who)
        assert explained.code != 0 or explained.lines[0]["verdict"] == "no"
    assert home.run("install", "--dry-run", CLAUDECODE="1").code == 0
    assert home.files() == before
    assert home.run("install", "--yes").code == 0
    assert home.run("uninstall", "--yes", CLAUDECODE="1").code == home.run("uninstall", "--yes", CI="").code == 3
    assert home.run("hooks", "uninstall").code == 3 and home.run("hooks", "uninstall", typed="").code == 0


def test_it_ends_with_a_capture_where_gitmem_is_used(home: Home) -> None:
    transcript = home.path / ".claude/projects/-shop/8c2f6a10-7d1e-4c55-9a3b-2f1e0d9c8b7a.jsonl"
    transcript.parent.mkdir(parents=True)
    transcript.write_bytes(line(said(1, "one", home.repo)))
    elsewhere = home.run("install", "--yes")
    assert "gitmem init" in elsewhere.err and git(home.repo, "for-each-ref", "refs/gitmem") == ""
    (home.repo / ".git/gitmem").mkdir()
    assert "captured here now: 1 session, 0 unchanged" in home.run("install", "--yes").out
    assert home.run("install", "--yes", "--json").lines[-1]["captured"] == 0


def test_after_an_upgrade_a_capture_renews_the_doorbell_of_the_same_program_only(home: Home) -> None:
    assert home.run("capture").code == 0 and not home.bell.exists()
    assert home.run("install", "--yes").code == 0
    text = home.bell.read_text()
    home.bell.write_text(text.replace("sleep 5", "sleep 50"))
    assert home.run("capture").code == 0 and home.bell.read_text() == text
    other = text.replace(f"program={PROGRAM}", "program=/other/gitmem").replace("sleep 5", "sleep 50")
    home.bell.write_text(other)
    assert home.run("capture").code == 0 and home.bell.read_text() == other != text


def test_hosts_that_are_not_here_and_words_that_are_off(home: Home) -> None:
    assert home.run("install", "vim").code == 2
    assert home.run("install", "--user", "--project").code == 2
    home.codex.parent.rmdir()
    assert home.run("install", "codex", "--yes").code == 4
    rows = home.run("install", "--dry-run", "--json").lines
    assert [(row["host"], row["state"]) for row in rows] == [("claude-code", "changed")]
    assert home.run("install", "--dry-run", "--json", CLAUDE_CONFIG_DIR=str(home.path / "none")).code == 4


def test_a_link_to_where_somebody_keeps_the_file_stays_a_link(home: Home) -> None:
    kept = home.path / "dotfiles.json"
    home.claude.rename(kept)
    home.claude.symlink_to(kept)
    assert home.run("install", "claude-code", "--yes").code == 0
    assert home.claude.is_symlink() and len(commands(kept)) == len(EVENTS)
    assert home.run("uninstall", "--yes").code == 0
    assert home.claude.is_symlink() and kept.read_text() == SETTINGS
