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
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROGRAM = Path(sys.executable).parent / "gitmem"
_TIME = 120  # seconds until a command that hangs is given up

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
    master, slave = pty.openpty()
    go, start = os.pipe()
    with tempfile.TemporaryDirectory() as folder:
        status = Path(folder) / "status"
        shell = subprocess.Popen(
            ["sh", "-c", f"exec 3</dev/fd/{go}; {_ORPHAN}", str(status), str(PROGRAM), *arguments],
            cwd=where,
            env=dict(os.environ if environ is None else environ),
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
    done = subprocess.run(
        [str(PROGRAM), *arguments],
        cwd=where,
        env=dict(os.environ if environ is None else environ),
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=_TIME,
    )
    return Ran(done.returncode, done.stdout, done.stderr)
