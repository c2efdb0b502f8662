"""A repository looked at without git: enough for a read whose index is fresh, and None on any doubt.

Every answer here is one that git itself would give. What this does not surely know (variables that move git
elsewhere, another owner, extensions, included configuration, symbolic branches) is left to git.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gitmem.model.frozen import dataclass

if TYPE_CHECKING:
    from gitmem.store.repository import Location

# Variables by which git may find another repository than the nearest folder with a .git.
_MOVES: Final = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE", "GIT_QUARANTINE_PATH", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS",
    "SUDO_UID",
)  # fmt: skip
_DOUBTFUL: Final = (b"worktree", b"extensions", b"include", b"promisor", b"bare = true", b"bare=true", b"bare\ttrue")
_LONGEST: Final = 4096  # bytes of a file that holds one name


@dataclass(frozen=True)
class AtRest:
    """One repository. head: the commit that is checked out, None when unborn; head_ref: its branch, None when
    detached. refs: those that were asked for. environ: the caller's environment."""

    git_dir: Path
    common_dir: Path
    work_tree: Path
    head: str | None
    head_ref: str | None
    refs: Mapping[str, str | None]
    environ: Mapping[str, str]

    @property
    def private(self) -> Path:
        """Where gitmem keeps what is this clone's own; as `Location.private`."""
        return self.common_dir / "gitmem"

    def location(self) -> Location:
        """As `gitmem.store.repository.locate` gives it, for reading: no setting that is left out here is there."""
        from gitmem.store.repository import Location

        return Location(
            self.git_dir, self.common_dir, self.work_tree, bare=False, object_format="sha1", ref_format="files",
            shallow=(self.common_dir / "shallow").is_file(), partial=False, head=self.head, head_ref=self.head_ref,
            environ=self.environ,
        )  # fmt: skip


def look(start: Path, environ: Mapping[str, str], names: Iterable[str]) -> AtRest | None:
    """The repository that `start` lies in with what the full ref `names` point at; None when only git can tell."""
    if any(name in environ for name in _MOVES):
        return None
    try:
        found = _nearest(os.path.realpath(start))
        if found is None:
            return None
        top, git_dir = found
        common = _common(git_dir)
        if not _plain(top, git_dir, common, environ):
            return None
        packed = _packed(common)
        head = _line(git_dir / "HEAD")
        branch = head[5:].strip() if head.startswith("ref: ") else None
        commit = _tip(common, packed, branch) if branch else _object(head)
        refs = {name: _tip(common, packed, name) for name in names}
        return AtRest(git_dir, common, Path(top), commit, branch, refs, environ)
    except (OSError, ValueError):
        return None


def nearest(start: str) -> tuple[str, Path] | None:
    """(the top of the work tree, the git folder that all its worktrees share) of the nearest repository; None where
    there is none, or only git can tell. Who owns it and what it is set to is not looked at. OSError, ValueError."""
    found = _nearest(os.path.realpath(start))
    return None if found is None else (found[0], _common(found[1]))


def bare_tip(folder: Path, name: str) -> str | None:
    """What a full ref name points at in a bare repository; None when there is no such repository or ref.

    Raises OSError and ValueError when only git can tell.
    """
    try:
        if os.stat(folder).st_uid != os.geteuid():  # noqa: PTH116
            raise ValueError("another owner")
    except FileNotFoundError:
        return None
    try:
        return _object(_line(folder / name))
    except FileNotFoundError:
        return _tip(folder, _packed(folder), name)


def _nearest(start: str) -> tuple[str, Path] | None:
    """The nearest folder with a .git, and the git folder that it means."""
    device = os.stat(start).st_dev  # noqa: PTH116 - a Path costs more than the look
    folder = start
    while True:
        if os.stat(folder).st_dev != device:  # noqa: PTH116
            return None
        git = f"{folder}/.git"
        if os.path.isdir(git):  # noqa: PTH112
            return folder, Path(git)
        if os.path.lexists(git):
            said = _line(Path(git))
            return (folder, Path(folder, said[8:])) if said.startswith("gitdir: ") else None
        if os.path.exists(f"{folder}/HEAD"):  # noqa: PTH110 - it may be a bare repository
            return None
        above = os.path.dirname(folder)  # noqa: PTH120
        if above == folder:
            return None
        folder = above


def _common(git_dir: Path) -> Path:
    try:
        return Path(os.path.realpath(git_dir / _line(git_dir / "commondir")))
    except FileNotFoundError:
        return Path(os.path.realpath(git_dir))


def _plain(top: str, git_dir: Path, common: Path, environ: Mapping[str, str]) -> bool:
    """True for a repository of the caller's own, in the files format, that no setting moves elsewhere."""
    owner = os.geteuid()
    if any(os.stat(path).st_uid != owner for path in (top, f"{top}/.git", git_dir, common)):  # noqa: PTH116
        return False
    if top == "/" or (environ.get("HOME") and os.path.realpath(environ["HOME"]) == top):
        return False
    if not (common / "objects").is_dir() or not (common / "refs").is_dir() or (common / "reftable").exists():
        return False
    config = (common / "config").read_bytes().lower()
    return not any(word in config for word in _DOUBTFUL)


def _packed(common: Path) -> bytes:
    try:
        return b"\n" + (common / "packed-refs").read_bytes()
    except FileNotFoundError:
        return b""


def _tip(common: Path, packed: bytes, name: str) -> str | None:
    """Loose before packed, as git looks. Raises ValueError for what is no plain object id."""
    try:
        return _object(_line(common / name))
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        end = packed.find(f" {name}\n".encode())
        return None if end < 0 else _object(packed[packed.rfind(b"\n", 0, end) + 1 : end].decode())


def _line(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_LONGEST).decode("utf-8", "surrogateescape").rstrip("\n")


def _object(text: str) -> str:
    text = text.strip()
    if len(text) not in (40, 64) or any(c not in "0123456789abcdef" for c in text):
        raise ValueError("no object id")
    return text
