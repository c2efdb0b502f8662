"""Where git looks for the hooks of a repository, and the tree that a commit in progress would make."""

from __future__ import annotations

from pathlib import Path

from gitmem.errors import GitmemError
from gitmem.store import program
from gitmem.store.repository import Location


def hook_folder(location: Location) -> Path:
    """The absolute folder, core.hooksPath counted in.

    Our own git children run with hooks off; that setting of the command line is passed over here.
    """
    done = location.git("config", "--show-scope", "--type=path", "--get-all", "core.hooksPath", user_config=True)
    configured = [value for scope, _, value in (line.partition("\t") for line in done.lines) if scope != "command"]
    if not configured:
        return location.common_dir / "hooks"
    base = location.work_tree if location.work_tree is not None else location.git_dir
    return base / configured[-1]


def is_tracked(location: Location, folder: Path) -> bool:
    """True when git tracks a file in `folder`."""
    if location.work_tree is None or not folder.is_relative_to(location.work_tree):
        return False
    inside = folder.relative_to(location.work_tree)
    done = program.run(
        ["ls-files", "-z", "--", f":(literal){inside}"],
        environ=location.environ,
        git_dir=location.git_dir,
        cwd=location.work_tree,
    )
    return bool(done.out)


def staged_tree(location: Location) -> str:
    """The tree that `git commit` is about to commit. In a hook GIT_INDEX_FILE names the staging area it uses."""
    index = location.environ.get("GIT_INDEX_FILE")
    where = {"GIT_INDEX_FILE": str((location.work_tree or location.git_dir) / index)} if index else {}
    done = program.run(
        ["write-tree"],
        environ=location.environ,
        git_dir=location.git_dir,
        cwd=location.work_tree,
        ceiling=where,
    )
    if done.status:
        raise GitmemError(f"git write-tree: {done.err.strip()}", hint="git status shows what is staged")
    return done.out.decode().strip()
