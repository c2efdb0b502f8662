"""The doorbell: the one file that agent hosts call, at a place that no upgrade of gitmem moves."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gitmem.app.githooks_receipt import look, put
from gitmem.app.shipped import shipped
from gitmem.errors import NoHome

RUNG: Final = ".rung"  # beside the spool file of a host: when it rang last, by the time of the file


def doorbell_path(environ: Mapping[str, str]) -> Path:
    """`XDG_DATA_HOME/gitmem/doorbell`. Raises GitmemError when there is no home."""
    named, home = environ.get("XDG_DATA_HOME", ""), environ.get("HOME", "")
    if named.startswith("/"):  # the specification says to ignore a relative one
        return Path(named) / "gitmem/doorbell"
    if not home:
        raise NoHome("there is no HOME", hint="set HOME, or XDG_DATA_HOME to a folder of yours")
    return Path(home) / ".local/share/gitmem/doorbell"


def doorbell_text(program: Path | None) -> bytes:
    """The shipped doorbell with the path of gitmem in it; without one it looks for gitmem on PATH."""
    text = (shipped("hooks") / "agent/doorbell").read_text(encoding="ascii")
    return os.fsencode(text.replace("@PROGRAM@", shlex.quote(str(program or "")), 1))


def is_current(path: Path, program: Path) -> bool:
    state = look(path)
    return state.content == doorbell_text(program) and bool(state.mode & 0o100)


def put_doorbell(path: Path, program: Path) -> None:
    """Write it where it is not as this version has it. OSError."""
    if not is_current(path, program):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        put(path, doorbell_text(program), 0o755)


def renew_doorbell(path: Path, program: Path) -> None:
    """Write it anew where another version of the same program wrote it. OSError."""
    if os.fsencode(f"\nprogram={shlex.quote(str(program))}\n") in look(path).content:
        put_doorbell(path, program)
