"""A repository looked at without git: what is told is what git tells, and on doubt nothing is."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.store.at_rest import look
from gitmem.store.refs import read_ref
from gitmem.store.repository import locate
from tests.conftest import git

MAIN, NONE = "refs/heads/main", "refs/heads/none"


def same_as_git(where: Path) -> None:
    """What is seen of `where` is what git says of it."""
    seen = look(where, os.environ, (MAIN, NONE))
    assert seen is not None
    told = locate(where, environ=os.environ)
    assert seen.location() == dataclasses.replace(told, git_dir=seen.git_dir)
    assert seen.git_dir.resolve() == told.git_dir
    assert seen.private == told.private
    assert seen.refs == {name: read_ref(told, name) for name in (MAIN, NONE)}


def subfolder(repo: Path) -> Path:
    (repo / "a/b").mkdir(parents=True)
    return repo / "a/b"


def linked(repo: Path) -> Path:
    git(repo, "worktree", "add", "-q", "-b", "side/way", "../a side")
    return repo.parent / "a side"


def packed(repo: Path) -> Path:
    git(repo, "branch", "nonesuch")
    git(repo, "pack-refs", "--all")
    return repo


def moved_after_packing(repo: Path) -> Path:
    packed(repo)
    git(repo, "commit", "-q", "--allow-empty", "-m", "later")
    return repo


def detached(repo: Path) -> Path:
    git(repo, "checkout", "-q", "--detach")
    return repo


def unborn(repo: Path) -> Path:
    git(repo, "switch", "-q", "--orphan", "empty")
    return repo


def behind_a_link(repo: Path) -> Path:
    (repo.parent / "link").symlink_to(repo)
    return repo.parent / "link/src"


def shallow(repo: Path) -> Path:
    git(repo, "commit", "-q", "--allow-empty", "-m", "later")
    git(repo.parent, "clone", "-q", "--depth=1", f"file://{repo}", "shallow")
    return repo.parent / "shallow"


def submodule(repo: Path) -> Path:
    git(repo, "clone", "-q", str(repo), "../other")
    git(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(repo.parent / "other"), "inner")
    return repo / "inner"


PLAIN = (subfolder, linked, packed, moved_after_packing, detached, unborn, behind_a_link, shallow)


@pytest.mark.parametrize("made", PLAIN)
def test_what_is_seen_is_what_git_says(repo: Path, made: Callable[[Path], Path]) -> None:
    same_as_git(repo)
    same_as_git(made(repo))


SETTINGS = (
    ("core.worktree", ".."), ("core.bare", "true"), ("include.path", "more"), ("extensions.partialClone", "origin"),
    ("remote.origin.promisor", "true"), ("extensions.objectFormat", "sha1"), ("includeIf.onbranch:main.path", "more"),
)  # fmt: skip


@pytest.mark.parametrize(("key", "value"), SETTINGS)
def test_a_setting_that_may_change_it_is_left_to_git(repo: Path, key: str, value: str) -> None:
    assert look(repo, os.environ, (MAIN,)) is not None
    git(repo, "config", "--file", str(repo / ".git/config"), key, value)
    assert look(repo, os.environ, (MAIN,)) is None


@pytest.mark.parametrize(
    "name", ["GIT_DIR", "GIT_WORK_TREE", "GIT_CEILING_DIRECTORIES", "GIT_QUARANTINE_PATH", "SUDO_UID"]
)
def test_a_variable_that_moves_git_is_left_to_git(repo: Path, name: str) -> None:
    assert look(repo, os.environ, (MAIN,)) is not None
    assert look(repo, {**os.environ, name: "x"}, (MAIN,)) is None


def test_what_is_no_plain_repository_is_left_to_git(repo: Path, tmp_path: Path) -> None:
    assert look(repo, os.environ, ()) is not None
    assert look(submodule(repo), os.environ, ()) is None  # its configuration names its work tree
    bare = tmp_path / "bare"
    git(tmp_path, "clone", "-q", "--bare", str(repo), str(bare))
    for where in (tmp_path, bare, tmp_path / "absent"):
        assert look(where, os.environ, ()) is None
    assert look(repo, {**os.environ, "HOME": str(repo)}, ()) is None
    (repo / ".git/refs/heads/main").write_text("ref: refs/heads/other\n")
    assert look(repo, os.environ, (MAIN,)) is None
