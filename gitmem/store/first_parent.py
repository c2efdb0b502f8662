"""The first-parent history of a branch: record time, commit by commit, with the files that each one changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Final, NamedTuple, cast

from gitmem.errors import CorruptRecord
from gitmem.model.text import one_line
from gitmem.store import program
from gitmem.store.cat_file import object_fault
from gitmem.store.loose import DAMAGED_HINT
from gitmem.store.repository import Location

LATEST: Final = 253402300799  # 9999-12-31T23:59:59Z: a commit may say any time, a date ends there
_ABSENT: Final = "0"
# Whatever a repository is configured to, each of these is said, or has no part in what is printed.
_LOG: Final = (
    *("-c", "log.showRoot=true"),
    *("-c", "core.quotePath=true"),
    *("-c", "log.showSignature=false"),
    "log",
    "--first-parent",
    "--diff-merges=first-parent",
    "--reverse",
    "--raw",
    "--no-abbrev",
    "--no-renames",
    "--no-relative",
    "--no-notes",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "-O/dev/null",  # no order but git's own
    "--ignore-submodules=none",
    "--encoding=UTF-8",
    "--format=commit %H %ct %P",
)


class FileChange(NamedTuple):
    """A file of the tree before and after one commit, as blob ids; None is absent."""

    path: str
    old: str | None
    new: str | None


class Made(NamedTuple):
    """One commit of the first-parent history. at: the committer's time in Unix seconds, from 0 to `LATEST`; 0 when it
    says none."""

    commit: str
    parent: str | None
    at: int
    changes: tuple[FileChange, ...]


def made(location: Location, tip: str, base: str | None) -> Iterator[Made]:
    """The first-parent commits of `tip` that `base` does not reach, oldest first, each against its first parent.

    Files with names that git has to quote are left out: no record has one. Raises CorruptRecord when an object is
    missing or damaged.
    """
    process = program.spawn(
        [*_LOG, "--end-of-options", tip, *([f"^{base}"] if base else []), "--"],
        environ=location.environ,
        git_dir=location.git_dir,
        stdin=program.NO_INPUT,
    )
    try:
        yield from _parsed(cast(IO[bytes], process.stdout))
        err = cast(IO[bytes], process.stderr).read().decode("utf-8", "replace")
        if process.wait():
            raise object_fault(err, location) or CorruptRecord(
                f"the history of {tip[:12]} cannot be read: git said: {one_line(err, 400)}", hint=DAMAGED_HINT
            )
    finally:
        process.kill()
        process.communicate()


def _parsed(lines: IO[bytes]) -> Iterator[Made]:
    head: tuple[str, str | None, int] | None = None
    changes: list[FileChange] = []
    for raw in lines:
        line = raw.decode("utf-8", "surrogateescape").rstrip("\n")
        if line.startswith("commit "):
            if head:
                yield Made(*head, tuple(changes))
            _, commit, at, *parents = line.split(" ")
            head, changes = (commit, next(filter(None, parents), None), _seconds(at)), []
        elif line.startswith(":"):
            said, _, path = line.partition("\t")
            _, _, old, new, _ = said.split(" ")
            changes.append(FileChange(path, _present(old), _present(new)))
    if head:
        yield Made(*head, tuple(changes))


def _present(oid: str) -> str | None:
    return oid if oid.strip(_ABSENT) else None


def _seconds(said: str) -> int:
    return min(int(said), LATEST) if said.isdecimal() else 0
