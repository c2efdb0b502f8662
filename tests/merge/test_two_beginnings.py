"""Two clones that each ran init before they knew of each other (B052)."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from gitmem.app.env import Env
from gitmem.app.merge import merge_tips
from gitmem.app.workspace import open_workspace
from gitmem.model.records import config_from_bytes
from tests.app.conftest import Ran
from tests.conftest import git
from tests.verify.forge import MAIN, Branch, Shop


def test_they_are_joined_and_nothing_is_lost(
    repo: Path, tmp_path: Path, gitmem: Callable[..., Ran], env: Callable[..., Env]
) -> None:
    shutil.copytree(repo, tmp_path / "other", symlinks=True)
    one, other = Shop(repo, gitmem), Shop(tmp_path / "other", gitmem)
    for clone in (one, other):
        clone.ok("init", "--offline")
        clone.remember("same", "The pool retries the connect three times", "-e", "file:src/pool.py:4-5")
    one.remember("mine", "Invoices are numbered by the year", "-e", "commit:HEAD")
    other.remember("theirs", "The warehouse counts stock at midnight", "-e", "commit:HEAD")
    projects = [clone.ok("--json", "policy").lines[0]["project"] for clone in (one, other)]
    assert projects[0] != projects[1]
    trees = []
    for here, there in ((one, other), (other, one)):
        git(here.repo, "fetch", "-q", str(there.repo), f"{MAIN}:refs/heads/theirs")
        workspace = open_workspace(env(here.repo))
        tips = Branch(here.repo).tip(), git(here.repo, "rev-parse", "theirs").strip()
        done = merge_tips(workspace, *tips, subject="merge")
        workspace.close()
        trees.append(git(here.repo, "rev-parse", f"{done.commit}^{{tree}}").strip())
    assert trees[0] == trees[1]
    # The one that began later takes the name of the older one; what it knew is still known.
    Branch(other.repo).move(done.commit)
    assert other.codes() == [] and other.unbelieved() == []
    config = config_from_bytes(Branch(other.repo).read("gitmem.yaml"))
    assert (config.project, config.aliases) == (projects[0], (projects[1],))
    everything = {*one.ids.values(), *other.ids.values()}
    assert other.listed() == everything
    other.remember("later", "Receipts are kept for ten years", "-e", "commit:HEAD")
    assert other.codes() == []
