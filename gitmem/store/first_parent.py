"""The first-parent history of a branch: record time, commit by commit, with the files that each one changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Final, NamedTuple, cast

from gitmem.errors import CorruptRecord
from gitmem.store import program
from gitmem.store.cat_file import object_fault
from gitmem.store.repository import Location

_ABSENT: Final = "0"


class FileChange(NamedTuple):
    """A file of the tree before and after one commit, as blob ids; None is absent."""

    path: str
    old: str | None
    new: str | None


class Made(NamedTuple):
    """One commit of the first-parent history. at: the committer's time in Unix seconds."""

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
        [
            *("-c", "log.showRoot=true", "-c", "core.quotePath=true", "-c", "log.showSignature=false"),
            *(
                "log",
                "--first-parent",
                "--diff-merges=first-parent",
                "--reverse",
                "--raw",
                "--no-abbrev",
                "--no-renames",
            ),
            *("--no-notes", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none", "--format=commit %H %ct %P"),
            *("--end-of-options", tip, *([f"^{base}"] if base else []), "--"),
        ],
        environ=location.environ,
        git_dir=location.git_dir,
        stdin=program.NO_INPUT,
    )
    try:
        yield from _parsed(cast(IO[bytes], process.stdout))
        err = cast(IO[bytes], process.stderr).read().decode("utf-8", "replace")
        if process.wait():
            raise object_fault(err, location) or CorruptRecord(
                f"the history of {tip[:12]} cannot be read: git said: {err}"
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
            head, changes = (commit, next(filter(None, parents), None), int(at)), []
        elif line.startswith(":"):
            said, _, path = line.partition("\t")
            _, _, old, new, _ = said.split(" ")
            changes.append(FileChange(path, _present(old), _present(new)))
    if head:
        yield Made(*head, tuple(changes))


def _present(oid: str) -> str | None:
    return oid if oid.strip(_ABSENT) else None
