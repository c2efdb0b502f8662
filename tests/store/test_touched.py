"""What is being worked on: uncommitted files and the files of the newest commits; never an error."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitmem.store.repository import Location, locate
from gitmem.store.touched import BROAD, Touch, commits, descends, uncommitted
from tests.conftest import git

LIMIT = 100


def at(where: Path) -> Location:
    return locate(where, environ=os.environ)


def commit(repo: Path, *paths: str, text: str = "x") -> str:
    for path in paths:
        (repo / path).parent.mkdir(parents=True, exist_ok=True)
        (repo / path).write_text(f"{text} {path}\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "--allow-empty", "-m", "M\n\nA body\n")
    return git(repo, "rev-parse", "HEAD").strip()


def test_commits_are_told_newest_first_with_all_their_files(repo: Path, location: Location) -> None:
    first = location.head or ""
    odd = "a b/ü \n'\"x.py"
    second = commit(repo, "src/pool.py", odd)
    empty = commit(repo)
    (repo / "README.md").unlink()
    last = commit(repo, "M")
    told = commits(location, last, limit=LIMIT)
    assert told == (
        Touch(last, ("M", "README.md")),
        Touch(empty, ()),
        Touch(second, (odd, "src/pool.py")),
        Touch(first, ("README.md", "src/pool.py")),
    )
    assert commits(location, last, base=second, limit=LIMIT) == told[:2]
    assert commits(location, last, limit=1) == told[:1]


def test_a_broad_commit_names_no_file_and_the_one_after_it_does(repo: Path, location: Location) -> None:
    wide = commit(repo, *(f"wide/{n}.py" for n in range(BROAD + 1)))
    narrow = commit(repo, *(f"narrow/{n}.py" for n in range(BROAD)))
    told = commits(location, narrow, limit=2) or ()
    assert [(touch.commit, len(touch.paths)) for touch in told] == [(narrow, BROAD), (wide, 0)]


def test_a_merge_is_no_commit_of_its_own(repo: Path, location: Location) -> None:
    git(repo, "switch", "-q", "-c", "side")
    side = commit(repo, "side.py")
    git(repo, "switch", "-q", "main")
    here = commit(repo, "here.py")
    git(repo, "merge", "-q", "--no-edit", "side")
    told = commits(location, "HEAD", base=location.head, limit=LIMIT) or ()
    assert {touch.commit for touch in told} == {side, here}
    assert descends(location, side, "HEAD")
    assert not descends(location, side, here)
    assert not descends(location, "f" * 40, here)


def test_uncommitted_files_of_every_sort(repo: Path, location: Location) -> None:
    commit(repo, "gone.py", "staged.py", "same.py", "ignored.log")
    (repo / ".gitignore").write_text("*.tmp\n")
    (repo / "gone.py").unlink()
    (repo / "staged.py").write_text("other\n")
    git(repo, "add", "staged.py")
    (repo / "src/pool.py").write_text("other\n")
    (repo / "new folder").mkdir()
    (repo / "new folder/ü.py").write_text("x")
    (repo / "left.tmp").write_text("x")
    assert set(uncommitted(location)) == {".gitignore", "gone.py", "staged.py", "src/pool.py", "new folder"}
    assert set(uncommitted(at(repo / "src"))) == set(uncommitted(location))


def test_linked_worktrees_have_their_own(repo: Path, tmp_path: Path) -> None:
    side = tmp_path / "a side"
    git(repo, "worktree", "add", "-q", str(side), "-b", "side")
    (side / "new.py").write_text("x")
    assert uncommitted(at(side)) == ("new.py",)
    assert uncommitted(at(repo)) == ()


def test_nothing_is_no_error(repo: Path, tmp_path: Path) -> None:
    assert commits(at(repo), "HEAD", limit=LIMIT)
    assert commits(at(repo), "f" * 40, limit=LIMIT) is None
    empty = tmp_path / "empty"
    git(tmp_path, "init", "-q", str(empty))
    (empty / "first.py").write_text("x")
    assert uncommitted(at(empty)) == ("first.py",)
    assert commits(at(empty), "HEAD", limit=LIMIT) is None
    bare = tmp_path / "bare"
    git(tmp_path, "clone", "-q", "--bare", str(repo), str(bare))
    assert uncommitted(at(bare)) == ()
    shallow = tmp_path / "shallow"
    commit(repo, "second.py")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{repo}", str(shallow))
    assert [touch.paths for touch in commits(at(shallow), "HEAD", limit=LIMIT) or ()] == [
        ("README.md", "second.py", "src/pool.py")
    ]


@pytest.mark.parametrize("where", ["config", "included"])
def test_no_program_that_the_repository_names_is_started(repo: Path, tmp_path: Path, where: str) -> None:
    ran = tmp_path / "ran"
    commit(repo, "a.dat", ".gitattributes")
    (repo / ".gitattributes").write_text("*.dat filter=odd.one\n")
    config = repo / ".git/config"
    if where == "included":
        config.write_text(config.read_text() + "[include]\n\tpath = more\n")
        config = repo / ".git/more"
    filters = f'[filter "odd.one"]\n\tclean = touch {ran}; cat\n\trequired = true\n'
    config.write_text((config.read_text() if config.exists() else "") + filters)
    (repo / "a.dat").write_text("x a.dab\n")  # of the same length, so that git has to read it
    assert set(uncommitted(at(repo))) == {"a.dat", ".gitattributes"}
    assert not ran.exists()
    git(repo, "status", "--porcelain")
    assert ran.exists()  # git alone would have started it
    ran.unlink()
    config.write_text(config.read_text() + '[filter "a=b"]\n\tclean = false\n')
    assert uncommitted(at(repo)) == ()
    assert not ran.exists()
