"""Stable patch ids: what a commit changes, whatever its parents, date and message. The second key after a rewrite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from gitmem.evidence.sources import Sources
from gitmem.store import program

if TYPE_CHECKING:
    from gitmem.store.repository import Location

_NEWEST: Final = 500  # commits of all branches in which a rewritten one is looked for
# All that configuration or attributes could change about a diff is pinned, so that everybody gets the same id.
_DIFF: Final = (
    "diff-tree", "--stdin", "--root", "-p", "--no-ext-diff", "--no-textconv", "--no-renames", "--no-color",
    "--unified=3", "--inter-hunk-context=0", "--diff-algorithm=default", "--indent-heuristic", "--full-index",
    "--src-prefix=a/", "--dst-prefix=b/", "--submodule=short",
)  # fmt: skip


def patch_id(commit: str, sources: Sources) -> str | None:
    """The id that `git diff-tree --root -p <commit> | git patch-id --stable` prints.

    None for a merge and for a commit that changes nothing.
    """
    return _patch_ids(sources.backend.location, (commit,)).get(commit)


def patch_ids(commits: Sequence[str], sources: Sources) -> Mapping[str, str]:
    """Commit to patch id, for those that have one."""
    return _patch_ids(sources.backend.location, tuple(commits)) if commits else {}


def commit_of_patch(patch: str, sources: Sources) -> str | None:
    """The newest commit with this patch id among the newest 500 of all branches, local and remote-tracking.

    gitmem's own branches are left out. Merges have no patch id.
    """
    location = sources.backend.location
    options = (f"--max-count={_NEWEST}", "--no-merges")
    branches = ("--exclude=gitmem/*", "--branches", "--exclude=*/gitmem/*", "--remotes")
    done = location.git("rev-list", *options, *branches, *([sources.head] if sources.head else []), "--")
    if done.status:
        raise done.failure("the history cannot be read")
    commits = tuple(done.lines)
    ids = _patch_ids(location, commits)
    return next((commit for commit in commits if ids.get(commit) == patch), None)


@lru_cache(maxsize=4)
def _patch_ids(location: Location, commits: Sequence[str]) -> Mapping[str, str]:
    """Commit to patch id. The diffs stream from one git to the other and are never held."""
    environ, git_dir = location.environ, location.git_dir
    diff = program.spawn(_DIFF, environ=environ, git_dir=git_dir, user_config=location.partial)
    try:
        ids = program.spawn(("patch-id", "--stable"), environ=environ, git_dir=git_dir, stdin=diff.stdout or -1)
        try:
            if diff.stdout:
                diff.stdout.close()  # it belongs to the second git now
            # The second git answers with less than a pipe holds, so the first can be waited for before it is read.
            _, complaint = diff.communicate("".join(f"{commit}\n" for commit in commits).encode())
            out, _ = ids.communicate()
        except BaseException:
            ids.kill()
            ids.communicate()
            raise
    except BaseException:
        diff.kill()
        diff.wait()
        raise
    if diff.returncode:
        raise program.Completed(diff.returncode, b"", complaint.decode(errors="replace")).failure(
            "the changes of a commit cannot be read"
        )
    pairs = (line.split() for line in out.decode("ascii").splitlines())
    return {commit: patch for patch, commit in pairs}
