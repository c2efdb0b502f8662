"""What the doorbell left: pointers to transcripts that have something new.

A spool file is moved aside before it is read, so the doorbell never waits, and is removed when what it names was
captured. A killed run leaves it, and the next one reads it first.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gitmem.app.workspace import Workspace

if TYPE_CHECKING:
    from gitmem.capture.adapter import Adapter, Origin

SPOOL: Final = "spool"
_TAKEN: Final = ".taken"
_LIMIT: Final = 4 * 1024 * 1024  # bytes of one spool file that are read; the sweep finds the rest


@contextmanager
def spooled(
    workspace: Workspace, adapters: Mapping[str, Adapter], found: Mapping[str, Origin]
) -> Iterator[list[Origin]]:
    """The transcripts that were pointed at and that the sweep has not `found`; forgotten when the body is done."""
    folder = workspace.location.private / SPOOL
    taken = [_taken(folder / host) for host in adapters]
    files = [file for file in taken if file is not None]
    yield list(_origins(files, adapters, found))
    for file in files:
        file.unlink(missing_ok=True)


def _taken(file: Path) -> Path | None:
    aside = file.with_name(file.name + _TAKEN)
    if aside.exists():
        return aside  # of a killed run; what came since is read next time
    try:
        return file.rename(aside)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _origins(files: list[Path], adapters: Mapping[str, Adapter], found: Mapping[str, Origin]) -> Iterator[Origin]:
    from gitmem.capture.adapter import Origin

    paths = {str(origin.path) for origin in found.values()}
    seen = set(found)
    for file in files:
        with file.open("rb") as stream:
            lines = stream.read(_LIMIT).split(b"\n")
        for line in lines:
            host, session, path = _pointer(line)
            name = f"{host}/{session}"
            if host not in adapters or not session or name in seen or path in paths or not Path(path).is_file():
                continue
            seen.add(name)
            yield Origin(host, session, Path(path))


def _pointer(line: bytes) -> tuple[str, str, str]:
    """Host, session, path; empty for a line that is none, such as one that was cut off."""
    try:
        data = json.loads(line)
        host, session, path = (data[key] for key in ("host", "session", "path"))
    except (ValueError, KeyError, TypeError):
        return "", "", ""
    texts = all(isinstance(text, str) for text in (host, session, path))
    return (host, session, path) if texts and path.startswith("/") and "\0" not in path else ("", "", "")
