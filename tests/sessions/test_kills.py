"""kill -9 before and after every step of a capture that leaves something behind; the next one makes it whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import git
from tests.sessions.hosts import Host, line, said

# Counts the steps of one command line and kills its own process at the step number argv[1].
KILLED = """\
import os, signal, sys
from pathlib import Path
from gitmem.app import capture_archive, capture_progress, state
from gitmem.app.env import observe
from gitmem.cli.main import run
from gitmem.store.git_backend import GitBackend

left = int(sys.argv.pop(1))

def step():
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)

def around(owner, name):
    really = getattr(owner, name)
    def called(*given, **named):
        step()
        answer = really(*given, **named)
        step()
        return answer
    setattr(owner, name, called)

around(capture_progress.Progress, "save")
around(GitBackend, "write")
around(GitBackend, "move_refs")
around(Path, "unlink")
around(Path, "rename")
around(capture_archive, "save")
sys.exit(run(sys.argv[1:], observe))
"""


def killed_at(host: Host, number: int, *arguments: str) -> bool:
    done = subprocess.run([sys.executable, "-c", KILLED, str(number), *arguments], cwd=host.repo, capture_output=True)
    assert done.returncode in (-signal.SIGKILL, 0), done.stderr.decode()
    return bool(done.returncode)


def sessions_are_whole(host: Host, names: list[str]) -> None:
    refs = git(host.repo, "for-each-ref", "--format=%(refname)", "refs/gitmem/sessions/").split()
    found = {host.manifest(ref)["session"]: ref for ref in refs}
    assert sorted(found) == sorted(names)
    for name, ref in found.items():
        assert host.stored(ref=ref) == host.path(name).read_bytes()
        assert [item["number"] for item in host.manifest(ref)["generations"]] == [1]


def test_killed_at_every_step(host: Host) -> None:
    spool = host.repo / ".git/gitmem/spool/claude-code"
    spool.parent.mkdir(parents=True)
    names = ["s1", "s2", "s3"]
    kills = 0
    for number in range(1, 60):
        for name in names:
            host.write(line(said(number, f"turn {number} of {name}", host.repo, session=name)), name)
        spool.write_text('{"host": "claude-code", "session": "s1", "path": "/nowhere.jsonl", "at": 1}\n')
        if not killed_at(host, number, "capture"):
            break
        kills += 1
        if number % 2:  # else the next killed one has to make it whole as well
            assert host.capture()["faults"] == {}
            sessions_are_whole(host, names)
            assert host.capture()["captured"] == 0
    assert kills > 8
    host.capture()
    sessions_are_whole(host, names)
    assert host.run("sessions", "verify").code == 0 and not list(spool.parent.iterdir())


def test_a_large_session_killed_between_its_parts(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is written in steps; each step that was written is whole lines of it."""
    small = KILLED.replace("left = int", "from gitmem.app import capture_sweep\ncapture_sweep.STEP = 2000\nleft = int")
    monkeypatch.setattr(sys.modules[__name__], "KILLED", small)
    for number in range(1, 60):
        name = f"s{number}"
        host.write(b"".join(line(said(n, f"turn {n} " + "x" * 500, host.repo, session=name)) for n in range(12)), name)
        if not killed_at(host, number * 3, "capture"):
            break
        refs = git(host.repo, "for-each-ref", "--format=%(refname)", "refs/gitmem/sessions/").split()
        for ref in refs:
            whole = host.path(host.manifest(ref)["session"]).read_bytes()
            data = host.stored(ref=ref)
            assert whole.startswith(data) and data.endswith(b"\n")
    assert number > 5
    host.capture()
    sessions_are_whole(host, [f"s{n}" for n in range(1, number + 1)])


def test_an_archive_killed_at_every_step(host: Host) -> None:
    data = {}
    for number in range(1, 30):
        name = f"s{number}"
        data[name] = line(said(number, f"turn {number}", host.repo, session=name))
        host.write(data[name], name)
        assert host.capture()["captured"] == 1
        (host.repo / ".git/gitmem/capture-archived.json").unlink(missing_ok=True)
        environ = {**os.environ, "GITMEM_TEST": "1"}
        script = KILLED.replace(
            "sys.exit(run", "import datetime\ncapture_archive.SEALED_AFTER = datetime.timedelta(0)\nsys.exit(run"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, str(number), "capture"], cwd=host.repo, capture_output=True, env=environ
        )
        assert done.returncode in (-signal.SIGKILL, 0), done.stderr.decode()
        rows = {row["session"]: row for row in host.run("sessions", "list", "--json").lines}
        assert rows.keys() == data.keys()
        assert host.run("sessions", "verify").code == 0
        if not done.returncode:
            break
    assert number > 3
    assert all(row["archived"] for row in rows.values())
    assert not git(host.repo, "for-each-ref", "refs/gitmem/sessions/")
    out = Path(host.repo).parent / "out"
    for name, whole in data.items():
        assert host.run("sessions", "restore", f"claude-code/{name}", "--to", str(out)).code == 0
        assert (out / f"{name}.jsonl").read_bytes() == whole
