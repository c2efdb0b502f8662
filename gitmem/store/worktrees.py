"""Is a branch checked out somewhere? Then moving it would make that person's next commit revert it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gitmem.store.repository import Location

_REWRITING = (
    "rebase-merge/head-name",
    "rebase-apply/head-name",
)  # a rebase detaches HEAD and moves the branch at its end


def checked_out_at(location: Location, ref: str) -> Path | None:
    """The folder in which `ref` is checked out or being rebased, the main worktree included; None when nowhere.

    A registered worktree whose folder is gone does not count.
    """
    if location.ref_format != "files":
        return _asked(location, ref)
    for folder, state in worktrees(location):
        heads = [_text(state / "HEAD").removeprefix("ref:").strip(), *(_text(state / name) for name in _REWRITING)]
        if ref in heads and folder.is_dir():
            return folder
    return None


def worktrees(location: Location) -> Iterator[tuple[Path, Path]]:
    """(folder, its git dir) of each worktree."""
    if location.git_dir == location.common_dir:
        if location.work_tree:
            yield location.work_tree, location.common_dir
    elif location.common_dir.name == ".git":
        yield location.common_dir.parent, location.common_dir
    for state in sorted((location.common_dir / "worktrees").glob("*")):
        link = _text(state / "gitdir")
        if link:
            yield (state / link).parent, state


def _asked(location: Location, ref: str) -> Path | None:
    done = location.git("worktree", "list", "--porcelain", "-z")
    folder = None
    for line in done.out.decode("utf-8", "surrogateescape").split("\0"):
        key, _, value = line.partition(" ")
        if key == "worktree":
            folder = Path(value)
        elif key == "branch" and value == ref and folder and folder.is_dir():
            return folder
    return None


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "surrogateescape").strip()
    except (FileNotFoundError, NotADirectoryError):
        return ""
