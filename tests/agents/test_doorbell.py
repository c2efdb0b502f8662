"""The doorbell as a host calls it: a pointer, a capture a moment later, and nothing else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from gitmem.app.doorbell import doorbell_text
from tests.conftest import git

SHELLS = [name for name in ("sh", "dash", "bash") if shutil.which(name)]


@dataclass
class Bell:
    """A doorbell whose gitmem and sleep only say that they were called, down a pipe that ends with the last one."""

    folder: Path
    shell: str

    def ring(self, where: Path, said: str, host: str = "claude-code", **environ: str) -> list[str]:
        """Ring once and wait until nothing that it started is left; what was called, in order."""
        read, write = os.pipe()
        done = subprocess.run(
            [self.shell, str(self.folder / "doorbell"), host],
            cwd=where,
            input=said,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", "CALLS": f"/dev/fd/{write}", **environ},
            pass_fds=[write],
        )
        os.close(write)
        with os.fdopen(read) as calls:
            called = calls.read().splitlines()
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        return called


@pytest.fixture(params=SHELLS)
def bell(request: pytest.FixtureRequest, tmp_path: Path) -> Bell:
    folder = tmp_path / "it's $HOME"
    folder.mkdir()
    for name in ("gitmem", "sleep"):
        (folder / name).write_text(f'#!/bin/sh\nprintf "%s\\n" "{name} $*" >"$CALLS"\n')
        (folder / name).chmod(0o755)
    (folder / "doorbell").write_bytes(doorbell_text(folder / "gitmem"))
    (folder / "doorbell").chmod(0o755)
    return Bell(folder, request.param)


@pytest.fixture
def own(repo: Path) -> Path:
    """A repository that gitmem was used in."""
    (repo / ".git/gitmem").mkdir()
    return repo


def stop(session: str = "s-1", path: str | None = "/h/s-1.jsonl", **more: object) -> str:
    return json.dumps({"session_id": session, "transcript_path": path, "cwd": "/x", **more})


def pointers(repo: Path, host: str = "claude-code") -> list[dict[str, str]]:
    file = repo / ".git/gitmem/spool" / host
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def test_a_ring_leaves_a_pointer_and_starts_a_capture(own: Path, bell: Bell) -> None:
    assert bell.ring(own, stop()) == ["sleep 5", f"gitmem -C {own} capture"]
    assert pointers(own) == [{"host": "claude-code", "session": "s-1", "path": "/h/s-1.jsonl"}]
    assert not (own / ".git/gitmem/spool/waiting").exists()


@pytest.mark.parametrize(
    "path", ['/a b/"q"/x.jsonl', "/back\\slash\\", "/ünï/日本", "/new\nline", '/\\"', "/$HOME/`x`"]
)
def test_a_path_comes_through_as_it_is(own: Path, bell: Bell, path: str) -> None:
    for said in (stop(path=path), json.dumps(json.loads(stop(path=path)), indent=2, ensure_ascii=False)):
        bell.ring(own, said)
        assert pointers(own)[-1]["path"] == path


def test_nothing_of_what_was_said_is_kept(own: Path, bell: Bell) -> None:
    evil = 'hunter2 "session_id":"evil" "transcript_path":"/evil" \\'
    before = json.loads(json.dumps({"last_assistant_message": evil}))
    said = json.dumps({**before, **json.loads(stop()), "prompt": evil})
    bell.ring(own, said)
    assert pointers(own) == [{"host": "claude-code", "session": "s-1", "path": "/h/s-1.jsonl"}]
    kept = b"".join(file.read_bytes() for file in (own / ".git/gitmem").rglob("*") if file.is_file())
    assert b"s-1" in kept and b"hunter2" not in kept and b"evil" not in kept


@pytest.mark.parametrize(
    "said", ["", "{", "[]", stop(path=None), '{"session_id":"a","transcript_path":"/cut', "\0\xff"]
)
def test_what_has_no_pointer_rings_all_the_same(own: Path, bell: Bell, said: str) -> None:
    assert len(bell.ring(own, said)) == 2
    assert pointers(own) == []
    assert (own / ".git/gitmem/spool/claude-code.rung").exists()


def test_while_one_waits_another_ring_starts_nothing(own: Path, bell: Bell) -> None:
    spool = own / ".git/gitmem/spool"
    spool.mkdir()
    (spool / "waiting").write_text(f"{os.getpid()}\n")
    assert bell.ring(own, stop()) == []
    assert len(pointers(own)) == 1
    ended = subprocess.Popen(["true"])
    ended.wait()
    (spool / "waiting").write_text(f"{ended.pid}\n")  # it was killed
    assert len(bell.ring(own, stop())) == 2


def test_one_that_was_killed_and_whose_number_lives_is_noticed_after_some_rings(own: Path, bell: Bell) -> None:
    spool = own / ".git/gitmem/spool"
    spool.mkdir()
    (spool / "waiting").write_text(f"{os.getpid()}\n")
    assert [bell.ring(own, stop()) for _ in range(10)] == [[]] * 10
    os.utime(spool / "waiting", (0, 0))
    rang = [bell.ring(own, stop()) for _ in range(8)]
    assert rang[:-1] == [[]] * 7 and len(rang[-1]) == 2
    assert [path.name for path in sorted(spool.iterdir())] == ["claude-code", "claude-code.rung"]


def test_it_finds_the_repository_from_below_and_from_a_linked_worktree(own: Path, bell: Bell) -> None:
    git(own, "worktree", "add", "-q", "-b", "linked", "../linked tree")
    linked = own.parent / "linked tree"
    for where, top in ((own / "src", own), (linked / "src", linked)):
        assert bell.ring(where, stop())[-1] == f"gitmem -C {top} capture"
    assert len(pointers(own)) == 2


def test_elsewhere_it_does_nothing(repo: Path, bell: Bell, tmp_path: Path) -> None:
    for where in (repo, tmp_path):
        assert bell.ring(where, stop()) == []
    assert not (repo / ".git/gitmem").exists()
    (repo / ".git/gitmem").mkdir()
    assert bell.ring(repo, stop(), host="../x") == [] and bell.ring(repo, stop(), host="") == []
    assert len(bell.ring(repo, stop())) == 2


def test_another_host_that_runs_the_same_hook_is_named(own: Path, bell: Bell) -> None:
    bell.ring(own, stop(), CURSOR_VERSION="3.2")
    bell.ring(own, stop(), COPILOT_CLI="1")
    assert [len(pointers(own, name)) for name in ("cursor", "copilot-cli", "claude-code")] == [1, 1, 0]


def test_without_a_program_it_is_silent(own: Path, bell: Bell) -> None:
    (bell.folder / "gitmem").unlink()
    assert bell.ring(own, stop(), PATH=f"{bell.folder}:/usr/bin:/bin") == ["sleep 5"]


def test_shellcheck_finds_nothing(bell: Bell) -> None:
    script = bell.folder / "doorbell"
    assert subprocess.run([bell.shell, "-n", str(script)], check=False).returncode == 0
    if shellcheck := shutil.which("shellcheck"):
        assert subprocess.run([shellcheck, "-s", "sh", str(script)], check=False).returncode == 0


def told(bell: Bell, where: Path, *words: str, **environ: str) -> tuple[str, list[str]]:
    """What the doorbell says when it is asked, and how gitmem was called."""
    calls = bell.folder / "asked"
    calls.unlink(missing_ok=True)
    (bell.folder / "gitmem").write_text('#!/bin/sh\necho "$*" >>"$ASKED"\ncat\necho talk >&2\nexit "${FAILS:-0}"\n')
    done = subprocess.run(
        [bell.shell, str(bell.folder / "doorbell"), *words],
        cwd=where,
        input='{"session_id": "s-1"}\n',
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "ASKED": str(calls), **environ},
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout, calls.read_text().splitlines() if calls.exists() else []


def test_asked_it_answers_where_gitmem_is_set_up_and_starts_nothing_elsewhere(bell: Bell, own: Path) -> None:
    asks = ("claude-code", "UserPromptSubmit")
    assert told(bell, own, *asks) == ("", [])  # captured here, and no memory
    assert told(bell, own.parent, *asks) == ("", [])
    (own / ".git/gitmem/belief.json").write_text("{}")
    assert told(bell, own / "src", *asks) == ('{"session_id": "s-1"}\n', ["hook-agent claude-code UserPromptSubmit"])
    assert (own / ".git/gitmem/fired/claude-code.UserPromptSubmit").stat().st_mode & 0o777 == 0o600
    assert not (own / ".git/gitmem/spool").exists()
    assert told(bell, own, *asks, FAILS="2")[0] == ""  # half an answer is none
    for words in (("claude-code", "../x"), ("Claude", "Stop"), ("claude-code", "")):
        assert told(bell, own, *words) == ("", [])


def test_asked_by_cursor_it_always_says_json_and_looks_where_cursor_works(
    bell: Bell, own: Path, tmp_path: Path
) -> None:
    asks = ("claude-code", "UserPromptSubmit")
    assert told(bell, tmp_path, *asks, CURSOR_VERSION="3") == ("{}\n", [])
    assert told(bell, tmp_path, "cursor", "preToolUse", CURSOR_PROJECT_DIR=str(own)) == ("{}\n", [])
    (own / ".git/gitmem/belief.json").write_text("{}")
    found = told(bell, tmp_path, *asks, CURSOR_VERSION="3", CURSOR_PROJECT_DIR=str(own))
    assert found == ('{"session_id": "s-1"}\n', ["hook-agent cursor UserPromptSubmit"])
    assert told(bell, own, "cursor", "preToolUse", FAILS="1")[0] == "{}\n"
