"""Running a command as a person at a terminal would, and as an agent would.

gitmem takes no name and no flag for who acts: it looks. Standard input is a terminal and no agent is to be
seen among the ancestors or in the environment: then the channel is `terminal`. This file gives a command exactly
that, although no person types here. That it can shows what level 0 of trust means: unproven (docs/trust.md).
"""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

SECONDS = 60  # until a command that hangs is given up


class Ran(NamedTuple):
    """What a command printed, standard error included, and its exit code."""

    code: int
    text: str


def as_person(command: Sequence[str], where: Path, environ: Mapping[str, str]) -> Ran:
    """Run `command` on a pseudo-terminal, in a session of its own whose parent is init."""
    master, slave = pty.openpty()
    code_out, code_in = os.pipe()
    between = os.fork()
    if between == 0:
        parent = os.getpid()
        if os.fork() == 0:
            _stand_alone(parent, slave, code_in, command, where, environ)
        os._exit(0)  # the command's ancestors end here
    os.waitpid(between, 0)
    os.close(slave)
    os.close(code_in)
    text = _read_all(master)
    code = os.read(code_out, 16)
    os.close(master)
    os.close(code_out)
    return Ran(int(code or b"1"), _as_left(text))


def _as_left(text: str) -> str:
    """The lines as they stand on the screen at the end: a progress bar that was wiped is gone."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(line.rpartition("\r")[2].replace("\x1b[K", "") for line in lines)


def _stand_alone(
    parent: int, slave: int, code_in: int, command: Sequence[str], where: Path, environ: Mapping[str, str]
) -> None:
    """In the grandchild: wait to be an orphan, take the terminal, run the command, hand over its exit code."""
    code = 127
    try:
        while os.getppid() == parent:
            time.sleep(0.001)
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        done = subprocess.run(
            list(command), cwd=where, env=dict(environ), stdin=slave, stdout=slave, stderr=slave, check=False,
            timeout=SECONDS,
        )  # fmt: skip
        code = done.returncode
    finally:
        # The reader sees the end of the text when the last copy of the terminal closes; a hang-up must not kill us.
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        os.write(code_in, str(code).encode())
        os._exit(0)


def _read_all(master: int) -> str:
    parts = []
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # Linux says EIO when the other end is closed
            break
        if not part:
            break
        parts.append(part)
    return b"".join(parts).decode("utf-8", "replace")


def as_agent(command: Sequence[str], where: Path, environ: Mapping[str, str]) -> Ran:
    """Run `command` without a terminal, as agents, scripts and hooks do."""
    done = subprocess.run(
        list(command), cwd=where, env=dict(environ), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, encoding="utf-8", check=False, timeout=SECONDS,
    )  # fmt: skip
    return Ran(done.returncode, done.stdout)
