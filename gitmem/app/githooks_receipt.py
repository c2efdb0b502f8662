"""The receipt of an install: what each hook file was before and what was written, enough to put it back.

It lies in `<common dir>/gitmem/hooks.json`. Paths are relative to the common directory, so a repository that
is moved as a whole keeps a receipt that is true.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import stat
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from gitmem.errors import CorruptRecord

FORMAT = 1


@dataclass(frozen=True)
class FileState:
    """One path at one moment. `content` is the file's bytes, or where a symbolic link points."""

    kind: Literal["absent", "file", "link", "other"]
    content: bytes = b""
    mode: int = 0

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest() if self.kind in ("file", "link") else ""


@dataclass(frozen=True)
class Entry:
    """One installed hook. `before` is what git would have run; `after` the digest of what was written."""

    before: FileState
    after: str
    made_folder: bool


def look(path: Path) -> FileState:
    """The state of `path`, symbolic links not followed."""
    try:
        status = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return FileState("absent")
    if stat.S_ISLNK(status.st_mode):
        return FileState("link", os.fsencode(path.readlink()))
    if stat.S_ISREG(status.st_mode):
        return FileState("file", path.read_bytes(), stat.S_IMODE(status.st_mode))
    return FileState("other")


def put(path: Path, content: bytes, mode: int) -> None:
    """Write a whole file by rename: git never starts half a hook. OSError."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.gitmem")
    draft.unlink(missing_ok=True)
    try:
        with draft.open("xb") as file:
            file.write(content)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def put_back(path: Path, state: FileState) -> None:
    """Make `path` what `state` says. `path` must be free or a file."""
    if state.kind == "link":
        path.unlink(missing_ok=True)
        path.symlink_to(os.fsdecode(state.content))
    elif state.kind == "file":
        put(path, state.content, state.mode)
    else:
        path.unlink(missing_ok=True)


def receipt_path(common_dir: Path) -> Path:
    return common_dir / "gitmem/hooks.json"


def read_receipt(common_dir: Path) -> dict[Path, Entry]:
    """Each installed hook by its path. CorruptRecord when the file is not what was written."""
    path = receipt_path(common_dir)
    state = look(path)
    if state.kind == "absent":
        return {}
    try:
        data = json.loads(state.content)
        if data["format"] != FORMAT:
            raise ValueError(f"format {data['format']}")
        return {
            Path(os.path.normpath(common_dir / name)): Entry(
                FileState(item["kind"], base64.b64decode(item["content"]), item["mode"]),
                item["after"],
                item["made_folder"],
            )
            for name, item in data["hooks"].items()
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CorruptRecord(
            f"the receipt of the installed git hooks cannot be read: {path}: {error}",
            hint="move that file away, then: gitmem hooks install",
        ) from error


def write_receipt(common_dir: Path, entries: Mapping[Path, Entry]) -> None:
    """Replace the receipt; none at all when there are no entries. Writes nothing when nothing changed."""
    path = receipt_path(common_dir)
    if not entries:
        path.unlink(missing_ok=True)
        return
    hooks = {
        os.path.relpath(where, common_dir): {
            **asdict(entry.before),
            "content": base64.b64encode(entry.before.content).decode(),
            "before": entry.before.sha256,
            "after": entry.after,
            "made_folder": entry.made_folder,
        }
        for where, entry in sorted(entries.items())
    }
    content = json.dumps({"format": FORMAT, "hooks": hooks}, indent=1, sort_keys=True).encode() + b"\n"
    if look(path).content != content:
        path.parent.mkdir(exist_ok=True)
        put(path, content, 0o644)
