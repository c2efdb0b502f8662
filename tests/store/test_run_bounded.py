"""A program of the user's is given its input, read up to a bound, and ended with all that it started."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitmem.errors import GitmemError, RemoteError
from gitmem.store.program import Completed, program_on_path, run_bounded
from gitmem.store.program import run as run_git

SHELL = Path("/bin/sh")


def run(tmp_path: Path, script: str, stdin: bytes = b"", most: int = 1000, timeout: float = 30.0) -> Completed:
    return run_bounded(SHELL, ["-c", script], environ=os.environ, cwd=tmp_path, stdin=stdin, most=most, timeout=timeout)


def test_input_and_output_larger_than_a_pipe_pass_each_other(tmp_path: Path) -> None:
    given = b"x" * 3_000_000
    done = run(tmp_path, "cat; echo said >&2", given, most=len(given))
    assert (done.status, done.out, done.err) == (0, given, "said\n")


def test_what_is_longer_than_the_bound_ends_it(tmp_path: Path) -> None:
    assert len(run(tmp_path, "cat /dev/zero").out) == 1001
    assert len(run(tmp_path, "cat /dev/zero >&2").err) == 1000
    assert run(tmp_path, "printf abc", most=3).out == b"abc"


def test_a_program_that_reads_nothing_or_fails_is_told_by_its_status(tmp_path: Path) -> None:
    assert run(tmp_path, "echo no >&2; exit 3", b"x" * 3_000_000)[:2] == (3, b"")
    assert run(tmp_path, "exit 0", b"x" * 3_000_000).status == 0


def test_one_that_does_not_end_is_ended_with_what_it_started(tmp_path: Path) -> None:
    with pytest.raises(RemoteError, match="did not end"):
        run(tmp_path, "tail -f /dev/null & echo $! > child; wait", timeout=1.0)
    child = int((tmp_path / "child").read_text())
    assert any(_is_gone(child) for _ in range(100_000))  # the kernel may take a moment


def _is_gone(child: int) -> bool:
    try:
        return Path(f"/proc/{child}/stat").read_text().rpartition(") ")[2][0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_a_program_is_found_on_absolute_folders_only(tmp_path: Path) -> None:
    tool = tmp_path / "tool"
    tool.write_text("#!/bin/sh\n")
    tool.chmod(0o755)
    assert program_on_path("tool", {"PATH": f".:{tmp_path}"}) == tool
    assert program_on_path("tool", {"PATH": f".:bin:{os.path.relpath(tmp_path)}"}) is None
    assert program_on_path(str(tool), {"PATH": "/bin"}) == tool
    with pytest.raises(GitmemError, match="cannot be started"):
        run_bounded(tmp_path / "none", [], environ=os.environ, cwd=tmp_path, stdin=b"", most=10, timeout=5.0)


def test_a_git_that_does_not_answer_is_left_with_what_it_started(tmp_path: Path) -> None:
    """Case B070: what git started, here a reader of a pipe into which nobody writes, holds git's own pipes."""
    never = tmp_path / "never"
    os.mkfifo(never)
    fake = tmp_path / "bin/git"
    fake.parent.mkdir()
    fake.write_text(f"#!/bin/sh\ncat '{never}'\n")
    fake.chmod(0o755)
    environ = {"PATH": f"{fake.parent}:{os.environ['PATH']}"}
    with pytest.raises(RemoteError, match="did not answer"):
        run_git(["status"], environ=environ, cwd=tmp_path, timeout=0.2)  # it ends by itself never
    os.close(os.open(never, os.O_WRONLY))
    fake.write_text("#!/bin/sh\necho answered\n")
    assert run_git(["status"], environ=environ, cwd=tmp_path, timeout=20).out == b"answered\n"
