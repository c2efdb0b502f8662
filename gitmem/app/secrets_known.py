"""Values that are secret here: those of the work tree's secret files, and the list that the user keeps.

Read when they are needed and never kept: only which files there are is remembered.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from stat import S_ISREG
from typing import Final

from gitmem.app import state
from gitmem.store.repository import Location

_STATE: Final = "secret-files"
_DEPTH: Final = 3  # folders below the top of the work tree
_FOLDERS: Final = 200
_ENTRIES: Final = 5000
_FILES: Final = 64
_LIST_LIMIT: Final = 1024 * 1024
_SKIPPED: Final = frozenset({
    "node_modules", "vendor", "target", "dist", "build", "out", "venv", "env", "site-packages", "__pycache__", "Pods",
})  # fmt: skip
_NAMES: Final = frozenset(
    {".npmrc", ".pypirc", ".netrc", "_netrc", ".pgpass", ".git-credentials", ".envrc", ".vault-token"}
)
_BEGINNINGS: Final = ("credentials", "service-account", "service_account", "client_secret", "secrets.")
_ENDINGS: Final = (".pem", ".key", ".tfvars", ".env")
_SAMPLES: Final = (
    "example",
    "sample",
    "template",
    "dist",
    "default",
    "defaults",
    "tpl",
    "md",
    "py",
    "js",
    "ts",
    "go",
    "rs",
)


def known_secrets(location: Location, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The values to hide, longest first: of `secret_files`, and each line of `<config>/gitmem/secrets`.

    A file that cannot be read holds no value for us. Nothing is written to the work tree.
    """
    listed = _read(path, _LIST_LIMIT) if (path := user_list(environ)) else b""
    paths = secret_files(location)
    if not (listed or paths):
        return ()
    from gitmem.policy.exact_values import FILE_LIMIT, exact_values

    return exact_values([_read(path, FILE_LIMIT) for path in paths], listed)


def user_list(environ: Mapping[str, str]) -> Path | None:
    """Where the user lists secret values, one a line: `gitmem/secrets` in XDG_CONFIG_HOME, else in ~/.config."""
    from gitmem.app.user_settings import user_file

    return user_file(environ, "secrets")


def is_secret_file(name: str) -> bool:
    """True when a file of this name holds secrets: `.env`, keys, credentials; not a sample of one, not code."""
    lowered = name.lower()
    if any(part in _SAMPLES for part in lowered.split(".")[1:]):
        return False
    return (
        lowered in _NAMES
        or lowered == ".env"
        or lowered.startswith((".env.", *_BEGINNINGS))
        or lowered.endswith(_ENDINGS)
    )


def secret_files(location: Location) -> list[Path]:
    """The secret files of the work tree, at most 64, no deeper than three folders; links are not followed.

    A folder is looked through again only when it has changed since.
    """
    top = location.work_tree
    if top is None:
        return []
    before = state.load(location.private, _STATE)
    now: dict[str, list[object]] = {}  # folder: [when it changed, its secret files, its folders]
    found: list[Path] = []
    waiting = [("", 0)]
    entries = 0
    for folder, depth in waiting:  # grows on the way
        try:
            changed = os.lstat(f"{top}/{folder}").st_mtime_ns
        except OSError:
            continue
        known = before.get(folder)
        if isinstance(known, list) and len(known) == 3 and known[0] == changed:
            _, names, folders = known
        else:
            names, folders, seen = _listed(top / folder, _ENTRIES - entries)
            entries += seen
        now[folder] = [changed, names, folders]
        found += [top / folder / str(name) for name in names]
        if depth < _DEPTH:
            inner = [(f"{folder}/{name}" if folder else name, depth + 1) for name in folders]
            waiting += inner[: _FOLDERS - len(waiting)]
    if now != before and location.private.is_dir() and not location.quarantined:
        state.save(location.private, _STATE, now)
    return found[:_FILES]


def _listed(folder: Path, limit: int) -> tuple[list[str], list[str], int]:
    """(secret files, folders worth entering, entries seen)."""
    names, folders, seen = [], [], 0
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                seen += 1
                if seen > limit:
                    break
                if entry.is_dir(follow_symlinks=False):
                    if entry.name not in _SKIPPED and not entry.name.startswith("."):
                        folders.append(entry.name)
                elif is_secret_file(entry.name) and entry.is_file(follow_symlinks=False):
                    names.append(entry.name)
    except OSError:
        return [], [], seen
    return sorted(names), sorted(folders), seen


def _read(path: Path, limit: int) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        return file.read(limit) if S_ISREG(os.fstat(descriptor).st_mode) else b""
