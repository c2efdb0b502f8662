"""Every kind of repository and surrounding: it works there, or is refused by name with exit 6 and what to do."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.cases.world import QUOTE, TITLE, environ, records, remember, seeded, users_own
from tests.conftest import git
from tests.installed import agent, person


@dataclass(frozen=True)
class Place:
    """Where a command is run and with what environment. `own`: the repository whose user must notice nothing."""

    where: Path
    own: Path
    env: Mapping[str, str] = field(default_factory=environ)
    evidence: str = "file:src/pool.py:2"


Build = Callable[[Path], Place]


def plain(repo: Path) -> Place:
    return Place(repo, repo)


def sub_folder(repo: Path) -> Place:
    return Place(repo / "src", repo)


def sha256(repo: Path) -> Place:
    where = repo.parent / "sha256"
    git(repo.parent, "init", "-q", "--object-format=sha256", str(where))
    (where / "src").mkdir()
    (where / "src/pool.py").write_bytes((repo / "src/pool.py").read_bytes())
    git(where, "add", ".")
    git(where, "commit", "-q", "-m", "x")
    return Place(where, where)


def no_identity(repo: Path) -> Place:
    Path(os.environ["HOME"], ".gitconfig").unlink()
    return Place(repo, repo)


def no_home(repo: Path) -> Place:
    return Place(repo, repo, environ(HOME=None, **dict.fromkeys(_XDG)))


def home_that_is_not_there(repo: Path) -> Place:
    return Place(repo, repo, environ(HOME="/nonexistent", **dict.fromkeys(_XDG)))


_XDG = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")


def signing_that_hangs(repo: Path) -> Place:
    slow = repo.parent / "gpg"
    slow.write_text("#!/bin/sh\nsleep 600\n")
    slow.chmod(0o755)
    git(repo, "config", "commit.gpgsign", "true")
    git(repo, "config", "tag.gpgsign", "true")
    git(repo, "config", "gpg.program", str(slow))
    return Place(repo, repo)


def linked_worktree(repo: Path) -> Place:
    git(repo, "worktree", "add", "-q", "-b", "feature", str(repo.parent / "linked"))
    return Place(repo.parent / "linked", repo)


def folder_of_a_linked_worktree(repo: Path) -> Place:
    return Place(linked_worktree(repo).where / "src", repo)


def bare(repo: Path) -> Place:
    where = repo.parent / "bare.git"
    git(repo.parent, "clone", "-q", "--bare", str(repo), str(where))
    git(where, "remote", "remove", "origin")
    return Place(where, where)


def submodule(repo: Path) -> Place:
    git(repo.parent, "init", "-q", "super")
    where = repo.parent / "super"
    git(where, "submodule", "--quiet", "add", str(repo), "sub")
    git(where, "commit", "-q", "-m", "x")
    return Place(where / "sub", where)


def shallow(repo: Path) -> Place:
    git(repo, "commit", "-q", "--allow-empty", "-m", "second")
    git(repo.parent, "clone", "-q", "--depth=1", f"file://{repo}", "shallow")
    return Place(repo.parent / "shallow", repo.parent / "shallow")


def partial(repo: Path) -> Place:
    git(repo, "config", "uploadpack.allowFilter", "true")
    git(repo.parent, "clone", "-q", "--filter=blob:none", "--no-checkout", f"file://{repo}", "partial")
    return Place(repo.parent / "partial", repo.parent / "partial")


def unborn(repo: Path) -> Place:
    git(repo.parent, "init", "-q", "unborn")
    return Place(repo.parent / "unborn", repo.parent / "unborn", evidence=f"human:{QUOTE}")


def detached(repo: Path) -> Place:
    git(repo, "checkout", "-q", "--detach")
    return Place(repo, repo)


def in_a_rebase(repo: Path) -> Place:
    git(repo, "checkout", "-q", "-b", "side")
    (repo / "README.md").write_text("# side\n")
    git(repo, "commit", "-q", "-am", "side")
    git(repo, "checkout", "-q", "main")
    (repo / "README.md").write_text("# main\n")
    git(repo, "commit", "-q", "-am", "main")
    git(repo, "rebase", "-q", "side", check=False)
    assert (repo / ".git/rebase-merge").is_dir()
    return Place(repo, repo)


def alternates(repo: Path) -> Place:
    git(repo.parent, "clone", "-q", "--shared", str(repo), "borrowing")
    return Place(repo.parent / "borrowing", repo.parent / "borrowing")


def line_ends(repo: Path) -> Place:
    git(repo, "config", "core.autocrlf", "true")
    (repo / ".gitattributes").write_text("* text=auto\n")
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "attributes")
    return Place(repo, repo)


def inside_the_git_dir(repo: Path) -> Place:
    return Place(repo / ".git/hooks", repo)


def a_project_below_a_home_repository(repo: Path) -> Place:
    git(Path(os.environ["HOME"]), "init", "-q")
    where = Path(os.environ["HOME"], "project")
    repo.rename(where)
    return Place(where, where)


def a_branch_beside_it(repo: Path) -> Place:
    git(repo, "branch", "gitmem/topic")
    return Place(repo, repo)


def locks_of_the_user(repo: Path) -> Place:
    for name in ("index.lock", "HEAD.lock", "config.lock", "packed-refs.lock"):
        (repo / ".git" / name).touch()
    return Place(repo, repo)


def a_hook_of_another(repo: Path) -> Place:
    other = repo.parent / "other"
    git(repo.parent, "init", "-q", str(other))
    git(other, "commit", "-q", "--allow-empty", "-m", "x")
    git(other, "worktree", "add", "-q", "-b", "feat", str(repo.parent / "others-tree"))
    state = other / ".git/worktrees/others-tree"
    leaked = {"GIT_DIR": state, "GIT_WORK_TREE": repo.parent / "others-tree", "GIT_INDEX_FILE": state / "index"}
    return Place(repo, other, environ(**{name: str(path) for name, path in leaked.items()}))


def dead_registration(repo: Path) -> Place:
    """A worktree of gitmem/main whose folder is gone."""
    assert person(repo, "init").code == 0
    git(repo, "worktree", "add", "-q", str(repo.parent / "gone"), "gitmem/main")
    subprocess.run(["rm", "-r", str(repo.parent / "gone")], check=True)
    return Place(repo, repo)


WORKS = (
    plain, sub_folder, sha256, no_identity, no_home, home_that_is_not_there, signing_that_hangs, linked_worktree,
    folder_of_a_linked_worktree, bare, submodule, shallow, partial, unborn, detached, in_a_rebase, alternates,
    line_ends,
    inside_the_git_dir, a_project_below_a_home_repository, a_branch_beside_it, locks_of_the_user, a_hook_of_another,
    dead_registration,
)  # fmt: skip


@pytest.mark.parametrize("build", WORKS, ids=lambda build: build.__name__)
def test_it_works_and_the_user_notices_nothing(build: Build, repo: Path) -> None:
    place = build(repo)
    before = users_own(place.own)
    begun = person(place.where, "init", environ=place.env)
    assert begun.code == 0, begun.err
    done = remember(place.where, TITLE, place.evidence, env=place.env)
    assert done.code == 0, done.err
    found = records(agent(place.where, "recall", "pool connections", "--json", environ=place.env))
    assert [item["title"] for item in found] == [TITLE]
    shown = agent(place.where, "show", str(found[0]["id"]), environ=place.env)
    assert "verified" in shown.out and QUOTE in shown.out
    checked = agent(place.where, "verify", "--all", environ=place.env)
    assert checked.code == 0, checked.out
    assert users_own(place.own) == before
    assert "gitmem/main" not in git(place.own, "worktree", "list") or build is dead_registration


@dataclass(frozen=True)
class Hopeless:
    """What is refused: the words that name it, and what to do."""

    build: Build
    named: str
    advice: str


def plain_folder(repo: Path) -> Place:
    where = repo.parent / "plain"
    where.mkdir()
    return Place(where, repo)


def reftable(repo: Path) -> Place:
    git(repo, "config", "core.repositoryformatversion", "1")
    git(repo, "config", "extensions.refStorage", "reftable")
    return Place(repo, repo)


def two_object_formats(repo: Path) -> Place:
    git(repo, "config", "core.repositoryformatversion", "1")
    git(repo, "config", "extensions.compatObjectFormat", "sha256")
    return Place(repo, repo)


def home_is_a_repository(repo: Path) -> Place:
    home = Path(os.environ["HOME"])
    git(home, "init", "-q")
    (home / "notes").mkdir()
    return Place(home / "notes", repo)


def branch_gitmem(repo: Path) -> Place:
    git(repo, "branch", "gitmem")
    return Place(repo, repo)


def branch_below(repo: Path) -> Place:
    git(repo, "branch", "gitmem/main/x")
    return Place(repo, repo)


def branch_below_packed(repo: Path) -> Place:
    git(repo, "branch", "gitmem/main/x")
    git(repo, "pack-refs", "--all")
    return Place(repo, repo)


def somebodys_branch(repo: Path) -> Place:
    git(repo, "branch", "gitmem/main")
    return Place(repo, repo)


def git_that_is_not_there(repo: Path) -> Place:
    return Place(repo, repo, environ(PATH="/nonexistent"))


REFUSED = (
    Hopeless(plain_folder, "is not in a git repository", "git init"),
    Hopeless(two_object_formats, "compatObjectFormat", "--unset extensions.compatObjectFormat"),
    Hopeless(home_is_a_repository, "would share one memory", "gitmem -C"),
    Hopeless(branch_gitmem, "the branch 'gitmem' is in the way", "git branch -m gitmem gitmem-old"),
    Hopeless(branch_below, "the branch 'gitmem/main/x' is in the way", "git branch -m gitmem/main/x"),
    Hopeless(branch_below_packed, "the branch 'gitmem/main/x' is in the way", "git branch -m gitmem/main/x"),
    Hopeless(somebodys_branch, "is not a gitmem memory", "git branch -m gitmem/main"),
)


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.build.__name__)
def test_it_is_refused_by_name(case: Hopeless, repo: Path) -> None:
    place = case.build(repo)
    before = git(repo, "for-each-ref", check=False)
    answer = person(place.where, "init", environ=place.env)
    assert answer.code == 6 and case.named in answer.err and case.advice in answer.err, answer.err
    assert "Traceback" not in answer.err and answer.err.count("\n") == 2
    assert remember(place.where, env=place.env).code != 0
    assert git(repo, "for-each-ref", check=False) == before


def test_reftable_names_the_git_that_it_needs(repo: Path) -> None:
    version = tuple(int(part) for part in git(repo, "--version").split()[2].split(".")[:2])
    place = reftable(repo)
    answer = person(place.where, "init")
    if version < (2, 45):
        assert answer.code == 6 and "refStorage" in answer.err and "2.45" in answer.err
        git(repo, "config", "--file", str(repo / ".git/config"), "--unset", "extensions.refStorage")
        answer = person(place.where, "init")
    else:
        subprocess.run(["rm", "-r", str(repo)], check=True)
        git(repo.parent, "init", "-q", "--ref-format=reftable", str(repo))
        answer = person(repo, "init")
    assert answer.code == 0, answer.err


def test_a_home_repository_is_taken_when_it_is_named(repo: Path) -> None:
    home_is_a_repository(repo)
    assert person(repo, "-C", os.environ["HOME"], "init").code == 0


def test_a_repository_of_another_user(repo: Path) -> None:
    if os.geteuid() != 0:
        from gitmem.store import repository
        from gitmem.store.program import Completed

        said = f"fatal: detected dubious ownership in repository at '{repo}'"
        error = repository._refusal(Completed(128, b"", said), repo)
        assert "belongs to another user" in error.message and "safe.directory" in error.hint
        return
    for path in [repo, *repo.rglob("*")]:
        os.chown(path, 12345, 12345, follow_symlinks=False)
    for verb in ("init", "list", "doctor"):
        answer = person(repo, verb)
        assert answer.code == 6 and "belongs to another user" in answer.err
        assert f"git config --global --add safe.directory {repo}" in answer.err
    git(repo, "config", "--global", "--add", "safe.directory", str(repo))
    seeded(repo)
    left = [path for path in (repo / ".git").rglob("*") if path.stat().st_uid != 12345]
    assert left == []  # what root wrote does not lock its owner out


def test_ownership_exceptions_of_the_environment_count(repo: Path) -> None:
    if os.geteuid() != 0:
        assert person(repo, "init").code == 0
        return
    os.chown(repo, 12345, 12345)
    os.chown(repo / ".git", 12345, 12345)
    assert person(repo, "init").code == 6
    said = environ(GIT_CONFIG_COUNT="1", GIT_CONFIG_KEY_0="safe.directory", GIT_CONFIG_VALUE_0=str(repo))
    assert person(repo, "init", environ=said).code == 0


@pytest.mark.parametrize("how", ["--depth=1", "--single-branch"])
def test_a_clone_without_the_memory_branch_takes_the_remotes(repo: Path, how: str) -> None:
    identifier = seeded(repo)
    git(repo.parent, "clone", "-q", how, f"file://{repo}", "clone")
    clone = repo.parent / "clone"
    early = remember(clone)
    assert early.code == 4 and "gitmem init" in early.err  # nothing is begun beside what the remote has
    begun = person(clone, "init")
    assert begun.code == 0 and "adopted" in begun.out and "gitmem trust" in begun.out
    assert agent(clone, "list", "--json").code == 3  # inert until a person has looked at it
    assert person(clone, "trust", "--yes").code == 0
    assert [item["id"] for item in records(agent(clone, "list", "--json"))] == [identifier]
    roots = git(clone, "rev-list", "--max-parents=0", "gitmem/main").split()
    assert roots == git(repo, "rev-list", "--max-parents=0", "gitmem/main").split()


def test_a_remote_that_does_not_answer_is_not_a_remote_without_memory(repo: Path) -> None:
    seeded(repo)
    git(repo.parent, "clone", "-q", "--single-branch", f"file://{repo}", "clone")
    clone = repo.parent / "clone"
    repo.rename(repo.parent / "moved")
    answer = person(clone, "init")
    assert answer.code == 8 and "could not be asked" in answer.err
    assert not git(clone, "for-each-ref", "refs/heads/gitmem")
    assert person(clone, "init", "--offline").code == 0


def test_blobs_that_are_not_here_and_cannot_be_fetched(repo: Path) -> None:
    identifier = seeded(repo)
    place = partial(repo).where
    git(place, "fetch", "-q", "origin", "gitmem/main:gitmem/main")
    repo.rename(repo.parent / "moved")
    for verb in (["list"], ["recall", "pool"], ["show", identifier], ["init"], ["verify", "--all"]):
        answer = agent(place, *verb)
        assert answer.code == 8 and "partial clone" in answer.err, (verb, answer)
    (repo.parent / "moved").rename(repo)
    assert person(place, "trust", "--yes").code == 0
    assert [item["id"] for item in records(agent(place, "list", "--json"))] == [identifier]
    assert "verified" in agent(place, "show", identifier).out  # its evidence is fetched too


def test_a_checked_out_memory_branch_is_read_and_not_written(repo: Path) -> None:
    identifier = seeded(repo)
    git(repo, "checkout", "-q", "gitmem/main")
    [file] = (repo / "memories").rglob("*.yaml")
    file.write_text(file.read_text() + "# a note of mine\n")
    tip = git(repo, "rev-parse", "gitmem/main")
    answer = remember(repo, "A second thing", "human:a second thing")
    assert answer.code != 0 and f"checked out in {repo}" in answer.err and "switch" in answer.err
    assert git(repo, "rev-parse", "gitmem/main") == tip
    assert file.read_text().endswith("# a note of mine\n") and git(repo, "status", "--short").split()[0] == "M"
    assert [item["id"] for item in records(agent(repo, "list", "--json"))] == [identifier]
    git(repo, "checkout", "-q", "--force", "main")
    assert remember(repo, "A second thing", "human:a second thing").code == 0


def test_worktrees_share_one_memory_named_after_the_repository(repo: Path) -> None:
    place = linked_worktree(repo)
    assert person(place.where, "init", "--json").lines[0]["project"].startswith("shop-")
    assert remember(place.where).code == 0
    assert [item["title"] for item in records(agent(repo, "recall", "pool connections", "--json"))] == [TITLE]
