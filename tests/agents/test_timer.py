"""`gitmem install --timer` by the installed command, with a systemctl of its own that only notes what it was told."""

from __future__ import annotations

import json
import os
import plistlib
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from gitmem.app.capture_timer import EVERY, LABEL, disabling, enabling, plan_timer, plan_timer_out
from gitmem.app.env import observe
from gitmem.app.host_files import write
from tests.conftest import git
from tests.installed import PROGRAM, Ran, agent, person

START = ["--user daemon-reload", "--user enable --now gitmem-capture.timer"]
STOP = "--user disable --now gitmem-capture.timer"


@dataclass
class Desk:
    """A home and a repository with spaces and signs in their names; what systemctl was told, a line each."""

    repo: Path
    units: Path
    log: Path
    path: str

    def run(self, *arguments: str, typed: str | None = None, where: Path | None = None, **more: str) -> Ran:
        given = {**os.environ, "PATH": self.path, **more}
        if typed is None:
            return agent(where or self.repo, *arguments, environ={"CI": "1", **given})
        return person(where or self.repo, *arguments, typed=typed, environ=given)

    @property
    def service(self) -> Path:
        return self.units / "gitmem-capture.service"

    @property
    def timer(self) -> Path:
        return self.units / "gitmem-capture.timer"

    def told(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []

    def without_systemctl(self, folder: Path) -> str:
        """A PATH on which there is only git and what starts it."""
        folder.mkdir()
        for name in ("git", "sh", "env"):
            (folder / name).symlink_to(str(shutil.which(name)))
        return str(folder)


@pytest.fixture
def desk(tmp_path: Path, repo: Path, seal: Path) -> Desk:
    home = repo.rename(tmp_path / 'a b%c$d"e')
    log = tmp_path / "systemctl.log"
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "systemctl").write_text(f'#!/bin/sh\necho "$@" >>{shlex.quote(str(log))}\n')
    (programs / "systemctl").chmod(0o755)
    return Desk(home, seal / ".config/systemd/user", log, os.pathsep.join([str(programs), os.environ["PATH"]]))


def section(path: Path, name: str) -> list[tuple[str, str]]:
    """The assignments of one section of a unit, in order."""
    found: list[tuple[str, str]] = []
    here = ""
    for line in path.read_text().splitlines():
        if line.startswith("["):
            here = line.strip("[]")
        elif here == name and "=" in line:
            key, _, value = line.partition("=")
            found.append((key, value))
    return found


def runs(path: Path) -> list[list[str]]:
    """The command lines of a service as systemd splits and expands them."""
    lines = [value for key, value in section(path, "Service") if key == "ExecStart"]
    assert all(line.startswith("-") for line in lines)  # one repository that fails does not stop the next
    assert not any(sign in line.replace(sign * 2, "") for line in lines for sign in "%$")  # it would name something
    return [[word.replace("%%", "%").replace("$$", "$") for word in shlex.split(line[1:])] for line in lines]


def test_it_is_shown_first_and_started_by_nobody_but_the_person(desk: Desk) -> None:
    for words in (("--dry-run",), ()):
        shown = desk.run("install", "--timer", *words, typed="n\n")
        assert "+OnUnitInactiveSec=10min" in shown.out and not desk.units.exists()
    agreed = desk.run("install", "--timer", typed="y\n")
    assert agreed.code == 0 and desk.told() == []
    assert [
        line.removeprefix("to start it: systemctl ") for line in agreed.out.splitlines() if "to start" in line
    ] == START
    assert f"to stop it: systemctl {STOP}" in agreed.out
    assert runs(desk.service) == [[str(PROGRAM), "-C", str(desk.repo), "capture"]]
    assert dict(section(desk.service, "Service"))["Type"] == "oneshot"
    assert dict(section(desk.timer, "Timer")) == {
        "OnStartupSec": "2min", "OnUnitInactiveSec": f"{EVERY}min", "RandomizedDelaySec": "30s",
    }  # fmt: skip
    assert section(desk.timer, "Install") == [("WantedBy", "timers.target")]
    assert desk.service.stat().st_mode & 0o777 == 0o644
    assert not (Path.home() / ".local/share/gitmem/doorbell").exists()  # hosts are not touched
    assert desk.run("install", "--timer", typed="").out.startswith("nothing to change")


def test_with_yes_it_is_started_where_systemctl_is_and_uninstall_stops_it(desk: Desk, tmp_path: Path) -> None:
    bare = desk.without_systemctl(tmp_path / "bare")
    there = desk.run("install", "--timer", "--yes", PATH=bare)
    assert there.code == 0 and "to start it" in there.out and desk.told() == []
    done = desk.run("install", "--timer", "--yes")
    assert done.code == 0 and "the timer is started" in done.out and desk.told() == START
    link = desk.units / "timers.target.wants/gitmem-capture.timer"
    link.parent.mkdir()
    link.symlink_to(desk.timer)  # as systemctl leaves it when it cannot reach the bus
    assert desk.run("uninstall", "--dry-run").code == 0 and desk.told() == START
    assert desk.run("uninstall", "--yes").code == 0
    assert desk.told() == [*START, STOP]
    assert not desk.service.exists() and not desk.timer.exists() and not link.is_symlink()
    assert desk.run("uninstall", "--yes").out == "nothing to take out\n" and desk.told() == [*START, STOP]


def test_each_repository_asks_for_itself_and_one_that_is_gone_is_dropped(desk: Desk, tmp_path: Path) -> None:
    linked, other = tmp_path / "linked", tmp_path / "other.git"
    git(desk.repo, "worktree", "add", "-q", "--detach", str(linked))
    git(desk.repo, "clone", "-q", "--bare", ".", str(other))
    for where in (desk.repo, linked, other):  # a capture covers all work trees of a repository
        assert desk.run("install", "--timer", "--yes", where=where).code == 0
    assert [words[2] for words in runs(desk.service)] == [str(desk.repo), str(other)]
    shutil.rmtree(other)
    assert desk.run("install", "--timer", "--yes").code == 0
    assert [words[2] for words in runs(desk.service)] == [str(desk.repo)]
    assert desk.run("install", "--timer", "--yes", where=tmp_path).code == 6  # no repository


def test_what_it_runs_captures(desk: Desk) -> None:
    assert desk.run("install", "--timer", "--yes").code == 0
    (words,) = runs(desk.service)
    environ = {"HOME": os.environ["HOME"], "PATH": os.environ["PATH"]}
    for key, value in section(desk.service, "Service"):
        if key == "Environment":
            name, _, place = shlex.split(value)[0].replace("%%", "%").partition("=")
            environ[name] = place
    assert environ["XDG_STATE_HOME"] == os.environ["XDG_STATE_HOME"]
    assert subprocess.run(words, env=environ, cwd="/", check=False).returncode == 0
    assert (desk.repo / ".git/gitmem").is_dir()


def test_with_a_host_named_both_are_done_and_files_of_others_are_refused(desk: Desk) -> None:
    (Path.home() / ".claude").mkdir()
    assert desk.run("install", "claude-code", "--timer", "--yes").code == 0
    assert desk.timer.exists() and (Path.home() / ".claude/settings.json").exists()
    assert desk.run("uninstall", "--timer", "--yes").code == 0
    assert not desk.timer.exists() and (Path.home() / ".claude/settings.json").exists()
    assert (Path.home() / ".local/share/gitmem/doorbell").exists()
    desk.units.mkdir(parents=True)
    desk.timer.write_text("[Timer]\nOnCalendar=daily\n")
    refused = desk.run("install", "--timer", "--yes")
    assert refused.code == 2 and "not written by gitmem" in refused.err and not desk.service.exists()
    assert desk.run("uninstall", "--yes").code == 0 and desk.timer.exists()
    desk.timer.unlink()
    assert desk.run("install", "--timer", "--yes", CLAUDECODE="1").code == 3 and not desk.timer.exists()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze")
def test_systemd_reads_the_units(desk: Desk, tmp_path: Path) -> None:
    assert desk.run("install", "--timer", "--yes").code == 0
    environ = {**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}

    def verified(path: Path) -> str:
        done = subprocess.run(
            ["systemd-analyze", "--user", "verify", str(path)], env=environ, capture_output=True, text=True, check=False
        )
        return done.stderr

    said = [line for path in (desk.service, desk.timer) for line in verified(path).splitlines() if "gitmem" in line]
    assert said == []
    bad = tmp_path / "gitmem-bad.service"
    bad.write_text(desk.service.read_text().replace("Nice=19", "Nice=xx"))
    assert "Failed to parse nice" in verified(bad)


def test_on_a_mac_it_is_a_launch_agent(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(desk.repo)
    monkeypatch.setenv("CODEX_HOME", "/elsewhere/codex")
    env = observe()
    (change,) = plan_timer(env, PROGRAM, desk.repo, "darwin")
    assert change.path == Path.home() / "Library/LaunchAgents" / f"{LABEL}.plist"
    data = plistlib.loads(change.after or b"")
    assert data["Label"] == LABEL and data["StartInterval"] == EVERY * 60
    shell, flag, line = data["ProgramArguments"]
    assert (shell, flag) == ("/bin/sh", "-c")
    assert shlex.split(line) == [str(PROGRAM), "-C", str(desk.repo), "capture"]
    assert data["EnvironmentVariables"]["CODEX_HOME"] == "/elsewhere/codex"
    write(env, [change])
    assert plan_timer(env, PROGRAM, desk.repo, "darwin") == []
    (gone,) = plan_timer_out(env)
    assert gone.after is None and gone.before == change.after
    assert enabling(env, "darwin")[0].startswith("launchctl bootstrap gui/") and "bootout" in disabling("darwin")[0]
    receipt = json.loads((Path.home() / ".local/state/gitmem/agents.json").read_bytes())["files"][str(change.path)]
    assert receipt["repositories"] == [str(desk.repo)]
