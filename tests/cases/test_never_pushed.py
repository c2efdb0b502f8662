"""What is for one person alone never leaves: everything that can be pushed is pushed, and the remote is searched."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitmem.model.layout import INBOX, PRIVATE
from tests.conftest import git
from tests.installed import agent, person

MINE = "Narwhal: small commits for the harbour crane"
OURS = "Ocelot: crane prose is British in all of my projects"
TEAM = "Aardvark: the harbour crane lifts forty tons"
WAITS = "Badger: a candidate about the harbour crane"
QUOTE = "narwhals said so themselves"
HIDDEN = (MINE, OURS, WAITS, QUOTE)


def everything(where: Path) -> str:
    """The bytes of every object of a repository, whether anything leads to it or not."""
    names = git(where, "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)").splitlines()
    blobs = [git(where, "cat-file", "-p", name) for name, kind in map(str.split, names) if kind != "tree"]
    trees = [git(where, "ls-tree", name) for name, kind in map(str.split, names) if kind == "tree"]
    return "\n".join([*blobs, *trees, git(where, "for-each-ref")])


@pytest.fixture
def shop(repo: Path) -> Path:
    for words in (
        ("init",),
        ("remember", "-k", "fact", TEAM, "-e", "file:src/pool.py:2"),
        ("remember", "--private", "-k", "preference", MINE, "-e", f'human:"{QUOTE}"'),
        ("remember", "--user", "-k", "preference", OURS, "-e", 'human:"British, please"'),
    ):
        done = person(repo, *words)
        assert done.code == 0, done
    assert agent(repo, "remember", "-k", "fact", WAITS, "-e", "file:src/pool.py:2").code == 0
    assert agent(repo, "recall", "crane").code == 0  # an index is there as well
    held = everything(repo)
    assert all(text in held for text in (MINE, WAITS, QUOTE, TEAM))  # the control: it would be found
    return repo


@pytest.fixture
def remote(tmp_path: Path, shop: Path) -> Path:
    where = tmp_path / "remote.git"
    git(tmp_path, "init", "-q", "--bare", "remote.git")
    git(shop, "remote", "add", "origin", str(where))
    return where


PUSHES = {
    "all": ("--all",),
    "tags too": ("--all", "--follow-tags"),
    "the branch by name": ("refs/heads/gitmem/main",),
    "every branch": ("refs/heads/*:refs/heads/*",),
}
REFUSED = {
    "mirror": ("--mirror",),
    "every ref": ("refs/*:refs/*",),
    "gitmem's own": ("refs/gitmem/*:refs/gitmem/*",),
    "by name": (PRIVATE,),
    "under another name": (f"{PRIVATE}:refs/heads/mine",),
    "the inbox": (f"{INBOX}:refs/heads/inbox",),
}


@pytest.mark.parametrize("refspecs", PUSHES.values(), ids=PUSHES)
def test_what_is_pushed_every_day_brings_none_of_it(shop: Path, remote: Path, refspecs: tuple[str, ...]) -> None:
    git(shop, "push", "-q", "origin", *refspecs)
    held = everything(remote)
    assert TEAM in held
    assert [text for text in HIDDEN if text in held] == []


@pytest.mark.parametrize("refspecs", REFUSED.values(), ids=REFUSED)
def test_with_the_hook_no_push_brings_it(shop: Path, remote: Path, refspecs: tuple[str, ...]) -> None:
    assert person(shop, "hooks", "install").code == 0
    git(shop, "push", "-q", "origin", *refspecs, check=False)
    assert [text for text in HIDDEN if text in everything(remote)] == []
    git(shop, "push", "-q", "origin", "main", "gitmem/main")  # the control: the hook lets what is shared through
    held = everything(remote)
    assert TEAM in held
    assert [text for text in HIDDEN if text in held] == []


def test_without_the_hook_a_mirror_takes_it_but_not_what_is_for_the_user(shop: Path, remote: Path) -> None:
    """docs/trust.md says so: a push that names every ref, with no hook, is beyond what a program here can stop."""
    git(shop, "push", "-q", "--mirror", "origin")
    held = everything(remote)
    assert MINE in held
    assert OURS not in held


def test_nothing_else_that_leaves_holds_it(shop: Path, remote: Path, tmp_path: Path) -> None:
    bundle = tmp_path / "shop.bundle"
    assert person(shop, "export", "--bundle", str(bundle)).code == 0
    git(tmp_path, "clone", "-q", "--bare", str(bundle), "unbundled.git")
    assert TEAM in everything(tmp_path / "unbundled.git")
    assert [text for text in HIDDEN if text in everything(tmp_path / "unbundled.git")] == []
    out = person(shop, "export", "--all").out
    assert TEAM in out
    assert [text for text in HIDDEN if text in out] == []
    git(tmp_path, "clone", "-q", "--no-local", str(shop), "other")
    git(tmp_path / "other", "fetch", "-q", "--tags", "origin")
    assert [text for text in HIDDEN if text in everything(tmp_path / "other")] == []


def test_sync_brings_none_of_it(shop: Path, remote: Path) -> None:
    git(shop, "push", "-q", "origin", "main")  # an empty remote is never pushed to first
    done = person(shop, "sync")
    held = everything(remote)
    assert TEAM in held, done
    assert [text for text in HIDDEN if text in held] == []
