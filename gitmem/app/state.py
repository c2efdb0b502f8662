"""This clone's own state, below `gitmem/` in the common git dir: small JSON files, mode 0600, replaced whole.

All of it can be lost: it is derived again, or only remembers what was already verified. Without `trust.json` a
person is asked once more (`gitmem.app.trust`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from gitmem.errors import GitmemError

_TEMPORARY_AGE: Final = 3600  # seconds


def load(folder: Path, name: str) -> dict[str, Any]:
    """The state called `name`; empty when there is none or it cannot be read as such."""
    try:
        data = json.loads((folder / f"{name}.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def save(folder: Path, name: str, data: Mapping[str, Any], *, durable: bool = False) -> None:
    """Replace the state called `name` in one step. durable: it is on the disk when this returns, because nothing else
    has it."""
    private_folder(folder)
    path = folder / f"{name}.json"
    write_private(path, json.dumps(data, indent=1).encode() + b"\n", durable=durable)
    _clear_temporaries(path)


def _clear_temporaries(path: Path) -> None:
    """Remove what writers that were killed left beside `path` an hour ago or earlier, by the file system's clock."""
    for left in path.parent.iterdir():
        if left.name.startswith(f".{path.name}."):
            with suppress(FileNotFoundError):  # another process has done so, or has put its own in place
                if left.stat().st_mtime < path.stat().st_mtime - _TEMPORARY_AGE:
                    left.unlink()


def private_folder(folder: Path) -> Path:
    """`folder`, made with mode 0700 when it is not there."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _adopt_owner(folder, folder.parent)
    except OSError as error:
        raise GitmemError(
            f"cannot make {folder}: {error.strerror}", hint="give your account the right to write there"
        ) from None
    return folder


def write_private(path: Path, data: bytes, *, durable: bool = False) -> None:
    """Write `path` with mode 0600 by way of a temporary file and a rename; `durable` as in `save`."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as out:
            out.write(data)
            if durable:
                out.flush()
                os.fsync(out.fileno())
        _adopt_owner(temporary, path.parent)
        temporary.replace(path)
        if durable:
            _sync_folder(path.parent)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise GitmemError(f"cannot write {path}: {error.strerror}", hint="see the free space and the rights") from None


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def leave_to_owner(folder: Path) -> None:
    """Give what a library made in `folder` to whoever owns that, as all else that root writes there."""
    for path in folder.rglob("*") if os.geteuid() == 0 else ():
        with suppress(FileNotFoundError):  # another process takes old parts away
            _adopt_owner(path, folder)


def _adopt_owner(path: Path, of: Path) -> None:
    if os.geteuid() == 0:
        from gitmem.store.loose import adopt_owner

        adopt_owner(path, of)
