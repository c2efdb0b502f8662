"""Finding the transcripts of one repository: heads of files, and folders compared as the system resolves them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from gitmem.capture.records import records

HEAD: Final = 16 * 1024  # bytes that are read first
_DEEP_HEAD: Final = 1024 * 1024  # bytes read when the first ones do not tell


def root(environ: Mapping[str, str], name: str, default: Path) -> Path:
    """The folder that the host's environment variable names, or its default."""
    value = environ.get(name)
    return Path(value).expanduser() if value else default


def is_inside(folder: str | None, work_trees: Sequence[Path]) -> bool:
    """True when `folder` is one of the work trees or lies in one, links resolved. A relative one is nowhere."""
    if not folder or not folder.startswith("/") or "\0" in folder:
        return False
    paths = [_real(folder), *([folder] if ".." not in folder.split("/") else [])]
    for tree in map(str, work_trees):
        for base in (tree, _real(tree)):
            if any(path == base or path.startswith(base.rstrip("/") + "/") for path in paths):
                return True
    return False


@lru_cache(maxsize=4096)
def _real(path: str) -> str:
    return os.path.realpath(path)


def names(folder: Path) -> list[str]:
    """The names in `folder`, sorted; none when it cannot be listed."""
    try:
        with os.scandir(folder) as found:
            return sorted(entry.name for entry in found)
    except OSError:
        return []


def files(folder: Path, suffix: str, depth: int) -> Iterator[Path]:
    """The files below `folder` whose name ends with `suffix`, to `depth` folders down, sorted; no links to folders."""
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name.endswith(suffix) and entry.is_file():
            yield Path(entry.path)
        elif depth and entry.is_dir(follow_symlinks=False):
            yield from files(Path(entry.path), suffix, depth - 1)


def head(path: Path, size: int = HEAD) -> bytes:
    """The first bytes of a file; empty when it cannot be read."""
    try:
        with path.open("rb", buffering=0) as file:
            return file.read(size)
    except OSError:
        return b""


def first_values(path: Path) -> Iterator[Mapping[str, Any]]:
    """The JSON objects of the first lines of a file, reading more of it only while the caller asks on."""
    for size in (HEAD, _DEEP_HEAD):
        data = head(path, size)
        for record in records([data], "jsonl"):
            if isinstance(record.data, dict):
                yield record.data
        if len(data) < size:
            return


def json_file(path: Path, limit: int = 4 * 1024 * 1024) -> Any:
    """The JSON value of a small file; None when there is none."""
    try:
        return json.loads(head(path, limit))
    except (ValueError, RecursionError):
        return None
