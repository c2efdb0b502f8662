"""What the history of the code knows of files that are not at its tip: where git's rename detection says they went."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from gitmem.errors import GitmemError
from gitmem.store.repository import Location

_SECONDS: Final = 10.0  # that git may take for one question
_HOPS: Final = 8  # renames of one file that are followed
_AT_ONCE: Final = 400  # paths in one command line
_SETTINGS: Final = ("-c", "log.showSignature=false", "-c", "diff.orderFile=/dev/null", "-c", "diff.renameLimit=2000")


def renamed(location: Location, head: str, paths: Iterable[str]) -> dict[str, str | None] | None:
    """For each path that is not at `head` and once was in its history: its name at the last rename that can be
    followed, or None when it was removed. A path that the history does not know is left out. None in place of all when
    git could not say so in time.

    A partial clone finds only files that were renamed unchanged: for others git would fetch them.
    """
    now: dict[str, str | None] = {}
    names = {path: path for path in paths}  # what was asked about, with its latest name
    for _ in range(_HOPS):
        if not names:
            break
        removals = _removals(location, head, sorted(set(names.values())))
        to = None if removals is None else _renames(location, sorted(set(removals.values())))
        if removals is None or to is None:
            return None
        following = {}
        for path, name in names.items():
            commit = removals.get(name)
            if commit is None:
                if name != path:
                    now[path] = name  # not removed since it got this name
                continue
            after = to.get((commit, name))
            now[path] = after
            if after is not None and after != path:
                following[path] = after
        names = following
    return now


def outside(location: Location, head: str, commits: Iterable[str]) -> frozenset[str] | None:
    """Those of `commits` that are here and that `head` does not contain; None when git could not say so."""
    asked = sorted(set(commits))
    rows = _answer(
        location, "rev-list", "--ignore-missing", "--stdin", stdin="".join(f"{oid}\n" for oid in (*asked, f"^{head}"))
    )
    return None if rows is None else frozenset(asked) & frozenset(rows.split("\n"))


def had(location: Location, head: str, path: str, blob: str) -> bool:
    """Whether a commit that `head` contains had these very bytes at `path`, as far as git says in time."""
    said = _answer(
        location, *_SETTINGS, "log", "-1", "--format=%H", f"--find-object={blob}", "--end-of-options", head, "--", path
    )
    return bool(said)


def touched_by(location: Location, moves: Sequence[tuple[str, str]]) -> frozenset[str]:
    """The paths that differ between the two commits of each pair; commits that are not here are passed over."""
    found: set[str] = set()
    for old, new in moves:
        said = _answer(
            location, *_SETTINGS, "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--end-of-options", old, new
        )
        found.update(name for name in (said or "").split("\0") if name)
    return frozenset(found)


def _removals(location: Location, head: str, paths: Sequence[str]) -> dict[str, str] | None:
    """The newest commit that removed each path."""
    found: dict[str, str] = {}
    for start in range(0, len(paths), _AT_ONCE):
        said = _answer(
            location, *_SETTINGS, "log", "-z", "--format=%x01%H", "--diff-filter=D", "--name-only", "--no-renames",
            "--no-notes", "--no-ext-diff", "--end-of-options", head, "--", *paths[start : start + _AT_ONCE],
        )  # fmt: skip
        if said is None:
            return None
        for commit, names in _commits(said):
            for name in names:
                found.setdefault(name, commit)
    return found


def _commits(said: str) -> Iterator[tuple[str, list[str]]]:
    """Reads `--format=%x01%H -z --name-only`."""
    for part in said.split("\x01")[1:]:
        commit, *names = part.split("\0")
        yield commit.strip(), [name.removeprefix("\n") for name in names if name.strip("\n")]


def _renames(location: Location, commits: Sequence[str]) -> dict[tuple[str, str], str] | None:
    """(commit, old name) with the new name, for each rename that one of the commits made."""
    likeness = "-M100%" if location.partial else "-M"
    said = _answer(
        location, *_SETTINGS, "diff-tree", "-r", "-z", "--root", likeness, "--diff-filter=R", "--name-status",
        "--no-ext-diff", "--stdin", stdin="".join(f"{oid}\n" for oid in commits),
    )  # fmt: skip
    if said is None:
        return None
    found, commit = {}, ""
    parts = iter(said.split("\0"))
    for part in parts:
        part = part.strip("\n")
        if part[:1] == "R" and part[1:].isdigit():
            old = next(parts, "")
            found[commit, old] = next(parts, "")
        elif part:
            commit = part
    return found


def _answer(location: Location, *arguments: str, stdin: str = "") -> str | None:
    try:
        done = location.git(*arguments, stdin=stdin.encode("utf-8", "surrogateescape"), at_top=True, timeout=_SECONDS)
    except GitmemError:
        return None
    return None if done.status else done.out.decode("utf-8", "surrogateescape")
