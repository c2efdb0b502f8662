"""From the command that a host runs to a stored session, with the real doorbell and the real gitmem.

Only `sleep` is another: it does at once what the test wants to happen while the doorbell waits.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import git
from tests.installed import PROGRAM, person
from tests.sessions.hosts import SESSION, Host, line, make_host, said


@dataclass
class World:
    """Claude Code with the hook installed."""

    host: Host
    folder: Path
    command: str

    def meanwhile(self, script: str) -> None:
        """What happens while the doorbell waits."""
        (self.folder / "sleep").write_text(f"#!/bin/sh\n{script}\n")
        (self.folder / "sleep").chmod(0o755)

    def ring(self, session: str = SESSION, path: Path | None = None) -> int:
        """The hook at the end of a turn; returns the reading end of a pipe that ends with all that it started."""
        read, write = os.pipe()
        done = subprocess.run(
            ["sh", "-c", self.command],
            cwd=self.host.repo,
            input=json.dumps({"session_id": session, "transcript_path": str(path or self.host.path())}),
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"},
            pass_fds=[write],
        )
        os.close(write)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        return read


def wait(read: int) -> None:
    assert os.read(read, 1) == b""
    os.close(read)


@pytest.fixture
def world(repo: Path, tmp_path: Path, seal: Path) -> World:
    host = make_host(repo)
    assert host.run("capture").code == 0  # gitmem is used here
    assert person(host.repo, "install", "claude-code", "--yes").code == 0
    hooks = json.loads((seal / ".claude/settings.json").read_text())["hooks"]
    folder = tmp_path / "bin"
    folder.mkdir()
    found = World(host, folder, hooks["Stop"][0]["hooks"][0]["command"])
    found.meanwhile(":")
    return found


def test_a_turn_that_ends_is_captured_and_a_sweep_before_or_after_stores_nothing_twice(world: World) -> None:
    host = world.host
    host.say("one", "two")
    wait(world.ring())
    assert host.stored() == host.path().read_bytes()
    assert list((host.repo / ".git/gitmem/spool").glob("claude-code*")) == [
        host.repo / ".git/gitmem/spool/claude-code.rung"
    ]
    before = host.objects()
    assert host.capture()["captured"] == 0 and host.objects() == before
    host.say("three", first=3)
    assert host.capture()["captured"] == 1
    before = host.objects()
    wait(world.ring())
    assert host.stored() == host.path().read_bytes() and host.objects() == before


def test_rings_and_sweeps_at_once_store_everything_once(world: World) -> None:
    host = world.host
    host.say(*(f"turn {number}" for number in range(50)))
    sweeps = [subprocess.Popen([str(PROGRAM), "capture"], cwd=host.repo, stdout=subprocess.DEVNULL) for _ in range(2)]
    rings = [world.ring() for _ in range(3)]
    for sweep in sweeps:
        assert sweep.wait(60) == 0
    for ring in rings:
        wait(ring)
    host.capture()
    assert host.stored() == host.path().read_bytes()
    assert git(host.repo, "rev-list", "--count", host.ref).strip() == "1"


def test_a_killed_doorbell_loses_nothing_and_keeps_no_later_one_from_ringing(world: World) -> None:
    host = world.host
    host.say("one")
    world.meanwhile('kill -9 "$PPID"')
    wait(world.ring())
    waiting = host.repo / ".git/gitmem/spool/waiting"
    assert waiting.exists() and not host.ref
    os.utime(waiting, (0, 0))
    world.meanwhile(":")
    for _ in range(9):  # its number may live on, where nobody takes notice of its end
        wait(world.ring())
    assert host.stored() == host.path().read_bytes()
    assert not waiting.exists()


def test_a_session_that_no_sweep_finds_is_captured_because_it_rang(world: World, tmp_path: Path) -> None:
    host = world.host
    began = tmp_path / "elsewhere"
    path = host.projects.parent / "-elsewhere" / "a1b2c3d4-0000-4000-8000-000000000000.jsonl"
    path.parent.mkdir()
    path.write_bytes(line(said(1, "one", began, session=path.stem)))
    assert host.capture()["captured"] == 0
    wait(world.ring(path.stem, path))
    assert path.stem in host.ref and host.stored() == path.read_bytes()


def commit(world: World, message: str) -> int:
    """`git commit`; returns the reading end of a pipe that ends with all that it started."""
    read, write = os.pipe()
    subprocess.run(
        ["git", "-C", str(world.host.repo), "commit", "-q", "--allow-empty", "-m", message],
        check=True,
        env={**os.environ, "PATH": f"{world.folder}:{os.environ['PATH']}"},
        pass_fds=[write],
    )
    os.close(write)
    return read


def test_a_commit_rings_where_a_person_installed_both(world: World) -> None:
    world.meanwhile("exit 0")
    world.host.say("A session that no hook rang for.")
    wait(commit(world, "without the hooks of git"))
    assert world.host.ref == ""
    assert person(world.host.repo, "hooks", "install", "--sessions").code == 0
    bell = Path(os.environ["HOME"]) / ".local/share/gitmem/doorbell"
    bell.rename(bell.with_name("away"))
    wait(commit(world, "without the doorbell"))
    assert world.host.ref == "" and not (world.host.repo / ".git/gitmem/spool/waiting").exists()
    bell.with_name("away").rename(bell)
    wait(commit(world, "with both"))
    assert world.host.ref.endswith(SESSION)
    assert "made" not in git(world.host.repo, "status", "--porcelain")


def test_the_next_command_captures_what_rang_and_was_lost(world: World) -> None:
    """Killed while it waited, the doorbell left its pointer. Any later command of gitmem rings again, once."""
    host = world.host
    host.say("one")
    world.meanwhile('kill -9 "$PPID"')
    wait(world.ring())
    spool = host.repo / ".git/gitmem/spool"
    pointer, waiting = spool / "claude-code", spool / "waiting"
    world.meanwhile(":")
    bell = Path(os.environ["HOME"]) / ".local/share/gitmem/doorbell"
    real, rang = bell.with_name("real"), bell.with_name("rang")
    bell.rename(real)
    os.mkfifo(rang)
    ends = os.open(rang, os.O_RDWR)

    def listed() -> None:
        done = world.host.run(
            "sessions", "list", environ={**os.environ, "PATH": f"{world.folder}:{os.environ['PATH']}"}
        )
        assert done.code == 0

    os.utime(pointer, (0, 0))
    listed()  # there is no doorbell: nobody asked for it
    bell.write_text(f"#!/bin/sh\n'{real}' \"$@\"\necho \"$1\" >'{rang}'\n")
    bell.chmod(0o755)
    os.utime(waiting, (0, 0))
    os.utime(pointer)
    listed()  # a ring of this minute is the doorbell's own to answer
    assert not host.ref
    os.utime(pointer, (0, 0))
    listed()
    assert select.select([ends], [], [], 60)[0] and os.read(ends, 100) == b"--wait\n"
    assert host.stored() == host.path().read_bytes() and not pointer.exists()
    listed()  # nothing is left
    assert not select.select([ends], [], [], 0)[0]
    os.close(ends)
