"""Which files the newest commits renamed, by git's own rename detection. As in `touched`, no failure is an error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from gitmem.errors import GitmemError
from gitmem.store.repository import Location

_SECONDS: Final = 1.0  # that git may take; a hook waits for the answer
_FEWER: Final = 100  # commits that are looked at where all would take longer
_SETTINGS: Final = ("-c", "log.showSignature=false", "-c", "diff.orderFile=/dev/null", "-c", "diff.renameLimit=400")


class Rename(NamedTuple):
    """One commit gave the file `old` the name `new`; paths from the top."""

    commit: str
    old: str
    new: str


def renames(location: Location, head: str, *, base: str | None = None, limit: int) -> tuple[Rename, ...] | None:
    """What the newest `limit` commits of `head` renamed, newest first, merges left out; only those that `base` does
    not reach. Fewer commits when git takes too long for all; None when it could not say for these either.

    A partial clone finds only files that were renamed unchanged: for others git would fetch them.
    """
    likeness = "-M100%" if location.partial else "-M"
    for most in (limit, min(limit, _FEWER)):
        try:
            done = location.git(
                *_SETTINGS, "log", "-z", "--format=%x01%H", "--name-status", likeness, "--diff-filter=R", "--no-merges",
                "--no-notes", "--no-ext-diff", "--no-textconv", f"--max-count={most}", "--end-of-options", head,
                *([f"^{base}"] if base else []), "--", at_top=True, timeout=_SECONDS,
            )  # fmt: skip
        except GitmemError:
            continue
        if done.status == 0:
            return tuple(_read(done.out.decode("utf-8", "surrogateescape")))
    return None


def _read(said: str) -> Iterator[Rename]:
    """Reads `--format=%x01%H -z --name-status`: a commit, then R with a number, the old and the new name."""
    for part in said.split("\x01")[1:]:
        commit, *rows = part.split("\0")
        rest = iter(rows)
        for row in rest:
            mark = row.strip("\n")
            if mark[:1] == "R" and mark[1:].isdigit():
                yield Rename(commit.strip(), next(rest, ""), next(rest, ""))
