"""Which files a person or an agent works on: uncommitted changes, and what the newest commits changed.

A reader asks for it to put what matters here first, so every bound is tight and no failure is an error: a
repository without a commit, a shallow one, or one that git takes too long for, has just no such files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from gitmem.errors import GitmemError
from gitmem.model.frozen import dataclass
from gitmem.store.repository import Location

# A commit of more files is a rename, a reformatting or an import: its files have nothing else in common
# (T. Zimmermann et al., Mining Version Histories to Guide Software Changes, ICSE 2004, leave out those over 30).
BROAD: Final = 30
_SECONDS: Final = 1.0  # that git may take; a hook waits for the answer
_UNCOMMITTED: Final = 200  # files; a work tree with more of them is not being worked on file by file
_FILTER: Final = r"^filter\..*\.(clean|process|required)$"
_NO_SUCH_KEY: Final = 1  # exit status of git config
_NO_CONFIGURATION: Final = ("log.showSignature=false", "log.showRoot=true", "diff.orderFile=/dev/null")


@dataclass(frozen=True)
class Touch:
    """The files that one commit added, changed or removed, as paths from the top; none when they are more than
    `BROAD`. A name that is no UTF-8 has its other bytes as surrogates."""

    commit: str
    paths: tuple[str, ...]


def commits(location: Location, head: str, *, base: str | None = None, limit: int) -> tuple[Touch, ...] | None:
    """The newest `limit` commits of `head`, newest first, without merges; only those that `base` does not reach.

    None when git could not say so in time. A partial clone gives none: git would fetch what is missing.
    """
    if location.partial:
        return ()
    asked = [
        *(part for setting in _NO_CONFIGURATION for part in ("-c", setting)),
        *("log", "-z", "--name-status", "--no-renames", "--no-merges", "--no-notes", "--no-ext-diff"),
        *("--no-textconv", "--ignore-submodules=all", "--format=%H", f"--max-count={limit}"),
        *("--end-of-options", head, *([f"^{base}"] if base else []), "--"),
    ]
    said = _answer(location, *asked)
    return None if said is None else tuple(_touches(said))


def descends(location: Location, old: str, new: str) -> bool:
    """Whether `new` came after `old` in one line of history; False when either cannot be read."""
    return _answer(location, "merge-base", "--is-ancestor", "--end-of-options", old, new) is not None


def uncommitted(location: Location) -> tuple[str, ...]:
    """Files of the work tree that differ from HEAD, and new ones; a new folder stands for all that is in it.

    Nothing when they are more than 200, when git could not say so in time, or without a work tree. Filters that the
    repository's own configuration names (git-lfs and the like) are programs and are not started.
    """
    if location.work_tree is None:
        return ()
    off = _filters_off(location)
    said = None if off is None else _answer(
        location, *off, "status", "--porcelain=v1", "-z", "--untracked-files=normal", "--ignore-submodules=all",
        "--no-renames", "--no-ahead-behind",
    )  # fmt: skip
    rows = _text(said or b"").split("\0")
    paths = tuple(row[3:].rstrip("/") for row in rows if len(row) > 3)
    return paths if len(paths) <= _UNCOMMITTED else ()


def _filters_off(location: Location) -> Sequence[str] | None:
    """The options that switch off each filter of the configuration; None when that cannot be done for all."""
    try:
        own = b"".join(file.read_bytes().lower() for file in _configurations(location) if file.exists())
    except OSError:
        return None
    if b"filter" not in own and b"include" not in own:
        return ()
    try:
        done = location.git("config", "-z", "--name-only", "--get-regexp", _FILTER, timeout=_SECONDS)
    except GitmemError:
        return None
    names = [name for name in _text(done.out).split("\0") if name]
    if done.status not in (0, _NO_SUCH_KEY) or any("=" in name for name in names):  # a key ends at its first "="
        return None
    values = ("false" if name.endswith(".required") else "" for name in names)
    return [part for name, value in zip(names, values, strict=True) for part in ("-c", f"{name}={value}")]


def _configurations(location: Location) -> tuple[Path, ...]:
    """The repository's own configuration; every other is left out, but for a partial clone."""
    return location.common_dir / "config", location.git_dir / "config.worktree"


def _answer(location: Location, *arguments: str) -> bytes | None:
    """What git says, or None when it fails or takes too long."""
    try:
        done = location.git(*arguments, at_top=True, timeout=_SECONDS)
    except GitmemError:
        return None
    return None if done.status else done.out


def _touches(said: bytes) -> Iterator[Touch]:
    """Reads `--format=%H -z --name-status`: a commit, then a letter and a path for each file."""
    commit, paths = "", list[str]()
    parts = iter(_text(said).split("\0"))
    for part in parts:
        part = part.removeprefix("\n")
        if len(part) == 1:
            paths.append(next(parts, ""))
        elif part:
            if commit:
                yield _touch(commit, paths)
            commit, paths = part, []
    if commit:
        yield _touch(commit, paths)


def _touch(commit: str, paths: list[str]) -> Touch:
    return Touch(commit, tuple(paths) if len(paths) <= BROAD else ())


def _text(said: bytes) -> str:
    return said.decode("utf-8", "surrogateescape")
