"""The installed command in a process of its own, run as a person at a terminal or as an agent.

The program that runs the tests may itself be an agent, which gitmem would see among its ancestors. So a person's
command is started by a shell that ends first: then init is its parent, as for a terminal of its own.
"""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import started
from tests.started import PROGRAM

_TIME = started.LIMIT  # seconds until a command that hangs is given up

# Standard input of a job in the background is /dev/null unless it is named. The job waits for a line on 3, which
# comes when the shell is gone.
_ORPHAN = 'exec 4<&0; ( read -r go <&3; "$@" 3<&- 4<&-; echo $? >"$0" ) <&4 &'


@dataclass(frozen=True)
class Ran:
    """What one command line answered."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[Any]:
        """Standard output as JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]


def person(
    where: Path,
    *arguments: str,
    typed: str = "",
    answers: Sequence[tuple[str, str]] = (),
    environ: Mapping[str, str] | None = None,
) -> Ran:
    """Run gitmem in `where` with a terminal for standard input; `typed` is what the person types there.

    `answers`: (what is waited for on standard output, what is typed then), each further on than the one before it.
    """
    given = dict(os.environ if environ is None else environ)
    master, slave = pty.openpty()
    outs, errs = os.pipe(), os.pipe()
    told = started.ask(arguments, where, given, (slave, outs[1], errs[1]), orphan=True)
    for descriptor in (slave, outs[1], errs[1]):
        os.close(descriptor)
    try:
        if told is None:
            return _person_afresh(where, arguments, typed, answers, given)
        os.write(master, typed.encode())
        seen = _answered(outs[0], master, answers)
        out, err = _read(outs[0], errs[0])
        return Ran(started.code_of(told), seen + out, err)
    finally:
        for descriptor in (master, outs[0], errs[0]):
            os.close(descriptor)


def _person_afresh(
    where: Path, arguments: Sequence[str], typed: str, answers: Sequence[tuple[str, str]], environ: Mapping[str, str]
) -> Ran:
    master, slave = pty.openpty()
    go, start = os.pipe()
    with tempfile.TemporaryDirectory() as folder:
        status = Path(folder) / "status"
        shell = subprocess.Popen(
            ["sh", "-c", f"exec 3</dev/fd/{go}; {_ORPHAN}", str(status), str(PROGRAM), *arguments],
            cwd=where,
            env=dict(environ),
            stdin=slave,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[go],
            text=True,
        )
        try:
            shell.wait(_TIME)
            os.write(master, typed.encode())
            os.write(start, b"go\n")
            assert shell.stdout is not None
            seen = _answered(shell.stdout.fileno(), master, answers)
            out, err = shell.communicate(timeout=_TIME)
            out = seen + out
        finally:
            for descriptor in (master, slave, go, start):
                os.close(descriptor)
        return Ran(int(status.read_text()), out, err)


def _answered(reader: int, writer: int, answers: Sequence[tuple[str, str]]) -> str:
    """Type the answers; what was printed until the last of them."""
    seen, place = b"", 0
    for awaited, answer in answers:
        while (found := seen.find(awaited.encode(), place)) < 0:
            ready, _, _ = select.select([reader], [], [], _TIME)
            block = os.read(reader, 65536) if ready else b""
            assert block, (awaited, seen.decode())
            seen += block
        place = found + len(awaited.encode())
        os.write(writer, answer.encode())
    return seen.decode()


def agent(where: Path, *arguments: str, stdin: str = "", environ: Mapping[str, str] | None = None) -> Ran:
    """Run gitmem in `where` without a terminal, which is what agents, hooks and scripts give it."""
    given = dict(os.environ if environ is None else environ)
    ins, outs, errs = os.pipe(), os.pipe(), os.pipe()
    told = started.ask(arguments, where, given, (ins[0], outs[1], errs[1]), orphan=False)
    for descriptor in (ins[0], outs[1], errs[1]):
        os.close(descriptor)
    try:
        if told is not None:
            out, err = _read(outs[0], errs[0], stdin.encode(), ins[1])
            return Ran(started.code_of(told), out, err)
    finally:
        for descriptor in (outs[0], errs[0]):
            os.close(descriptor)
        if told is None:
            os.close(ins[1])
    done = subprocess.run(
        [str(PROGRAM), *arguments],
        cwd=where,
        env=given,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=_TIME,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def _read(out: int, err: int, typed: bytes = b"", into: int | None = None) -> tuple[str, str]:
    """All of both streams until their ends, while `typed` is written into a third, which is closed then."""
    found = {out: b"", err: b""}
    reading = [out, err]
    writing = [] if into is None else [into]
    while reading or writing:
        ready, writable, _ = select.select(reading, writing, [], _TIME)
        assert ready or writable, found
        for descriptor in ready:
            block = os.read(descriptor, 65536)
            found[descriptor] += block
            if not block:
                reading.remove(descriptor)
        for descriptor in writable:
            try:
                typed = typed[os.write(descriptor, typed[: select.PIPE_BUF]) :] if typed else b""
            except BrokenPipeError:
                typed = b""
            if not typed:
                os.close(descriptor)
                writing = []
    return _text(found[out]), _text(found[err])


def _text(block: bytes) -> str:
    """As subprocess gives it: every end of line is one character."""
    return block.decode().replace("\r\n", "\n").replace("\r", "\n")
