"""Where two histories parted."""

from __future__ import annotations

from gitmem.store.repository import Location


def merge_bases(location: Location, one: str, *others: str) -> tuple[str, ...]:
    """The best common ancestors of a commit and of a merge of the others, sorted by id; none for unrelated histories.

    More than one after both sides merged each other (git-scm.com/docs/git-merge-base, `--all`).
    """
    done = location.git("merge-base", "--all", "--end-of-options", one, *others)
    if done.status > 1:
        raise done.failure(f"it cannot be told where {one[:12]} and {others[0][:12]} parted")
    return tuple(sorted(done.lines))
