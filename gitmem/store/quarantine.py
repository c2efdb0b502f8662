"""A throw-away repository beside this one: what is fetched stays in it until it was judged.

It has objects, refs and settings of its own and borrows the objects of the repository. So nothing of a fetch is in the
repository before `admit`, and no setting of the repository starts a program while a remote is talked to.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import sleep
from typing import Final

from gitmem.errors import GitmemError, RemoteError
from gitmem.model.layout import MAIN
from gitmem.store.git_backend import GitBackend
from gitmem.store.loose import adopt_owner, fsync, fsync_all, make_folder
from gitmem.store.port import Backend, RefMove
from gitmem.store.refs import list_refs
from gitmem.store.repository import Location
from gitmem.store.transaction import root_commit_id

FETCHED: Final = "refs/fetched/main"  # in the quarantine
DISK_LIMIT: Final = 2 * 1024**3  # bytes of what one fetch may bring
ALLOCATION_LIMIT: Final = "256m"  # the largest piece of memory that git may ask for while it fetches
_FOLDER: Final = "quarantine"
_TRIES: Final = 20  # times that a folder in which somebody still writes is taken away
_PAUSE: Final = 0.05  # seconds between two of them
_SETTINGS: Final = """\
	bigFileThreshold = 1m
[transfer]
	fsckObjects = true
	unpackLimit = 1
[fetch]
	fsckObjects = true
	unpackLimit = 1
[push]
	gpgSign = false
	recurseSubmodules = no
	followTags = false
"""


@dataclass(frozen=True)
class Quarantine:
    """`location`: the throw-away repository; `home`: the one that it stands beside."""

    location: Location
    home: Location

    def have(self, commits: Sequence[str]) -> None:
        """These commits, each here with its whole history, need not be sent again."""
        rows = (f"{oid} refs/have/{number}\n" for number, oid in enumerate(dict.fromkeys(commits)))
        (self.location.git_dir / "packed-refs").write_text("".join(rows), "ascii")

    def weigh(self) -> None:
        """Raises RemoteError when more was fetched than may be."""
        total = 0
        for path in (self.location.objects / "pack").glob("*"):
            with suppress(FileNotFoundError):  # git renames its temporary files
                total += path.stat().st_size
        if total > DISK_LIMIT:
            raise RemoteError(
                f"the remote sent more than {DISK_LIMIT // 1024**2} MiB; nothing of it was taken",
                hint="ask who keeps that remote what lies on its gitmem/main",
                details={"state": "too large"},
            )

    def backend(self) -> Backend:
        """Reads what was fetched and all that the repository has, refs too."""
        shallow = set(_shallow(self.home)) - set(self.history())
        if shallow:
            (self.location.git_dir / "shallow").write_text("".join(f"{oid}\n" for oid in sorted(shallow)), "ascii")
        rows = [
            f"{oid} {name}\n" for name, oid in list_refs(self.home, "refs/") if not name.startswith("refs/fetched/")
        ]
        (self.location.git_dir / "packed-refs").write_text("".join(rows), "utf-8", "surrogateescape")
        return GitBackend(self.location)

    def tip(self) -> str | None:
        """The commit that was fetched."""
        with suppress(FileNotFoundError):
            return (self.location.git_dir / FETCHED).read_text("ascii").strip()
        return None

    def history(self) -> list[str]:
        """The commits of what was fetched."""
        tip = self.tip()
        if tip is None or not self.home.shallow:
            return []
        done = self.location.git("rev-list", "--end-of-options", tip)
        if done.status:
            raise done.failure("what was fetched is not whole")
        return done.lines

    def merge_base(self, one: str, other: str) -> str | None:
        """A best common ancestor of two commits; None when they share no history."""
        done = self.location.git("merge-base", "--end-of-options", one, other)
        if done.status > 1:
            raise done.failure("the two histories cannot be compared")
        return done.lines[0] if not done.status and done.lines else None

    def count(self, new: str, old: str | None) -> int:
        """How many commits `new` has that `old` has not."""
        done = self.location.git("rev-list", "--count", "--end-of-options", new, *([f"^{old}"] if old else []))
        if done.status:
            raise done.failure("the history cannot be read")
        return int(done.lines[0])

    def admit(self, backend: Backend, moves: Sequence[RefMove]) -> None:
        """Take the objects over and move the refs: both or neither. RefMoved, Locked as `Backend.move_refs`."""
        into = self.home.objects / "pack"
        make_folder(into, self.home.shared_mode)
        taken: list[Path] = []
        keeps: list[Path] = []
        try:
            for pack in sorted((self.location.objects / "pack").glob("pack-*.pack")):
                if (into / pack.name).exists():
                    continue  # the same pack: its name is the digest of what is in it
                keep = into / f"{pack.stem}.keep"
                keep.write_text("gitmem is taking this over\n", "ascii")
                keeps.append(keep)
                for end in (".pack", ".rev", ".idx"):  # git finds a pack by its .idx, so that comes last
                    source = pack.with_suffix(end)
                    if source.exists():
                        taken.append(_moved(source, into / source.name, self.home))
            fsync_all(taken)
            fsync(into)
            backend.move_refs(moves)
        except BaseException:
            for path in reversed(taken):
                path.unlink(missing_ok=True)
            raise
        finally:
            for keep in keeps:
                keep.unlink(missing_ok=True)
        self._deepen()

    def _deepen(self) -> None:
        """What was cut off of the branch is here now: the repository need not be told any more where it was cut."""
        cut = _shallow(self.home)
        whole = set(self.history()).intersection(cut)
        if not whole:
            return
        path = self.home.common_dir / "shallow"
        lock = path.with_name("shallow.lock")
        try:
            descriptor = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        except FileExistsError:
            raise GitmemError(
                f"{lock} is in the way: another git changes how deep this clone is", hint="gitmem sync again"
            ) from None
        rest = [oid for oid in _shallow(self.home) if oid not in whole]
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.writelines(f"{oid}\n" for oid in rest)
        adopt_owner(lock, self.home.common_dir)
        if rest:
            lock.replace(path)
        else:
            path.unlink(missing_ok=True)
            lock.unlink()


@contextmanager
def quarantine(home: Location, settings: Mapping[str, Sequence[str]]) -> Iterator[Quarantine]:
    """A quarantine that is gone at the end. `settings`: of git, by key."""
    make_folder(home.private, home.shared_mode)
    above = home.private / _FOLDER
    above.mkdir(mode=0o700, exist_ok=True)
    folder = above / os.urandom(8).hex()
    try:
        for name in ("objects/info", "objects/pack", "refs"):
            (folder / name).mkdir(mode=0o700, parents=True)
        (folder / "HEAD").write_text("ref: refs/heads/none\n", "ascii")
        descriptor = os.open(folder / "config", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write(_config(home, settings))
        (folder / "objects/info/alternates").write_text(_quoted(home.objects), "utf-8", "surrogateescape")
        there = Location(
            git_dir=folder, common_dir=folder, work_tree=None, bare=True, object_format=home.object_format,
            ref_format="files", shallow=False, partial=False, head=None, head_ref=None, environ=home.environ,
        )  # fmt: skip
        yield Quarantine(there, home)
    finally:
        _remove(folder)


def clear_quarantines(home: Location) -> None:
    """Remove what killed processes left. Only for whoever knows that no other quarantine is in use."""
    for left in (home.private / _FOLDER).glob("*"):
        _remove(left)


def is_whole(home: Location, commit: str, backend: Backend) -> bool:
    """Is every commit below `commit` here, down to the root of a gitmem branch, and in a partial clone every file?"""
    if home.shallow:
        done = home.git("rev-list", "--max-parents=0", "--end-of-options", commit)
        if done.status or done.lines != [root_commit_id(backend)]:
            return False
    if home.partial:
        done = home.git("rev-list", "--objects", "--missing=print", "--end-of-options", commit)
        return not done.status and not any(line.startswith("?") for line in done.lines)
    return True


def have_refs(remote: str) -> tuple[str, ...]:
    """The refs whose history may be here of what `remote` offers."""
    return (MAIN, fetched_ref(remote), tracking_ref(remote))


def fetched_ref(remote: str) -> str:
    """Where what was fetched and verified of a remote's branch is kept."""
    return f"refs/gitmem/remotes/{remote}/main"


def tracking_ref(remote: str) -> str:
    """Where plain `git fetch` and `git clone` keep a remote's branch."""
    return f"refs/remotes/{remote}/gitmem/main"


def _shallow(home: Location) -> list[str]:
    try:
        return (home.common_dir / "shallow").read_text("ascii").split()
    except FileNotFoundError:
        return []


def _moved(source: Path, target: Path, home: Location) -> Path:
    try:
        source.rename(target)
    except OSError:  # the objects lie on another disk
        import shutil

        halfway = target.with_name(f"tmp_{target.name}")
        shutil.copyfile(source, halfway)
        halfway.rename(target)
    target.chmod(0o444 | (home.shared_mode & 0o444))
    adopt_owner(target, home.objects)
    return target


def _config(home: Location, settings: Mapping[str, Sequence[str]]) -> str:
    version = 1 if home.object_format != "sha1" else 0
    # A large blob streams to the disk instead of into memory; what comes is one pack, which is moved as one.
    lines = ["[core]", f"\trepositoryformatversion = {version}", "\tbare = true", *_SETTINGS.splitlines()]
    if version:
        lines += ["[extensions]", f"\tobjectformat = {home.object_format}"]
    for key, values in settings.items():
        section, _, rest = key.partition(".")
        subsection, _, name = rest.rpartition(".")
        lines.append(f"[{section} {_string(subsection)}]" if subsection else f"[{section}]")
        lines += [f"\t{name} = {_string(value)}" for value in values]
    return "\n".join([*lines, ""])


def _string(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


def _quoted(path: Path) -> str:
    """A line of objects/info/alternates."""
    return f"{_string(str(path)) if chr(10) in str(path) else path}\n"


def _remove(folder: Path) -> None:
    """Take a quarantine away. What a killed git started may write for a moment yet; what is left goes next time."""
    for _ in range(_TRIES):
        with suppress(OSError):
            for root, folders, files in os.walk(folder, topdown=False):
                for name in files:
                    (Path(root) / name).unlink(missing_ok=True)
                for name in folders:
                    below = Path(root) / name
                    if below.is_symlink():
                        below.unlink()
                    else:
                        below.rmdir()
            folder.rmdir()
        if not folder.exists():
            return
        sleep(_PAUSE)
