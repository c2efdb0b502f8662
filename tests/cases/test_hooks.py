"""The hooks with the real program behind them: odd paths, bare environments, a bad memory that is pushed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cases.world import hand_commit, record_file, seeded
from tests.conftest import git
from tests.installed import agent, person

ODD = ("a b", "it's", 'q"q', "$HOME", "-dash", "ünï", "日本", "new\nline", "back\\slash", "`x`", ";x", "sep\u2028x")


def hooks(repo: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (repo / ".git/hooks").iterdir()}


def pushed(repo: Path, remote: Path, *refs: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", "push", "-q", str(remote), *refs], cwd=repo, capture_output=True, text=True)


@pytest.mark.parametrize("name", ODD)
def test_everything_works_below_an_odd_path(tmp_path: Path, repo: Path, name: str) -> None:
    where = tmp_path / name
    repo.rename(where)
    before = hooks(where)
    seeded(where)
    assert person(where, "hooks", "install").code == 0
    git(where, "commit", "-q", "--allow-empty", "-m", "code")
    remote = tmp_path / "remote.git"
    git(tmp_path, "init", "-q", "--bare", str(remote))
    done = pushed(where, remote, "main", "gitmem/main")
    assert done.returncode == 0, done.stderr
    assert agent(where, "verify", "--all").code == 0
    assert person(where, "hooks", "uninstall").code == 0
    assert hooks(where) == before
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([name, "remote.git"])


def test_a_bad_memory_is_not_pushed_and_code_is(repo: Path, tmp_path: Path) -> None:
    identifier = seeded(repo)
    assert person(repo, "hooks", "install").code == 0
    remote = tmp_path / "remote.git"
    git(tmp_path, "init", "-q", "--bare", str(remote))
    assert pushed(repo, remote, "main", "gitmem/main").returncode == 0
    path, text = record_file(repo, identifier)
    git(repo, "worktree", "add", "-q", str(tmp_path / "hand"), "gitmem/main")
    (tmp_path / "hand" / path).write_text(text.replace("twenty", "ninety"))
    kept = subprocess.run(["git", "commit", "-qam", "x"], cwd=tmp_path / "hand", capture_output=True, text=True)
    assert kept.returncode and "event.missing" in kept.stderr  # the guard of a checked-out memory branch
    git(repo, "worktree", "remove", "--force", str(tmp_path / "hand"))
    hand_commit(repo, {path: text.replace("twenty", "ninety").encode()})  # and past it
    refused = pushed(repo, remote, "gitmem/main")
    assert refused.returncode and path in refused.stderr and "event.missing" in refused.stderr
    git(repo, "commit", "-q", "--allow-empty", "-m", "code")
    assert pushed(repo, remote, "main").returncode == 0


@pytest.mark.parametrize("path", ["/usr/bin:/bin", ""])
def test_a_hook_without_an_environment_lets_people_work(repo: Path, path: str) -> None:
    seeded(repo)
    assert person(repo, "hooks", "install").code == 0
    for name in ("pre-commit", "pre-push"):
        done = subprocess.run(
            ["/bin/sh", "-c", f'"$1"/.git/hooks/{name} <&-', "sh", str(repo)],
            cwd=repo, env={"PATH": path} if path else {}, capture_output=True, text=True,
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (0, ""), done


def test_hooks_that_were_there_run_once_and_come_back(repo: Path) -> None:
    log = repo.parent / "log"
    for name in ("pre-commit", "post-commit"):
        hook = repo / f".git/hooks/{name}"
        hook.write_text(f"#!/bin/sh\necho {name} >>'{log}'\n")
        hook.chmod(0o755)
    (repo / ".git/hooks/pre-commit.old").write_text("an old backup")
    before = hooks(repo)
    seeded(repo)
    assert person(repo, "hooks", "install").code == 0
    once = hooks(repo)
    assert person(repo, "hooks", "install").code == 0 and hooks(repo) == once
    git(repo, "commit", "-q", "--allow-empty", "-m", "x")
    assert sorted(log.read_text().split()) == ["post-commit", "pre-commit"]
    assert "installed" in agent(repo, "hooks", "status").out
    assert person(repo, "hooks", "uninstall").code == 0
    assert hooks(repo) == before


def test_husky_keeps_its_hooks_and_status_says_bypassed(repo: Path) -> None:
    generated = repo / ".husky/_"
    generated.mkdir(parents=True)
    for name in ("pre-commit", "pre-push"):
        (generated / name).write_text('#!/bin/sh\nh="${0%/*}/../${0##*/}"; [ ! -f "$h" ] || sh -e "$h" "$@"\n')
        (generated / name).chmod(0o755)
    git(repo, "config", "core.hooksPath", ".husky/_")
    before = {path: path.read_bytes() for path in generated.iterdir()}
    identifier = seeded(repo)
    installed = person(repo, "hooks", "install")
    assert installed.code == 0 and ".husky/pre-push" in installed.out
    assert "bypassed" in agent(repo, "hooks", "status").out
    assert {path: path.read_bytes() for path in generated.iterdir()} == before
    [line] = {text.strip() for text in installed.out.splitlines() if "gitmem/hooks/pre-push" in text and "$@" in text}
    (repo / ".husky/pre-push").write_text(line + "\n")
    assert "installed" in agent(repo, "hooks", "status").out
    remote = repo.parent / "remote.git"
    git(repo.parent, "init", "-q", "--bare", str(remote))
    path, text = record_file(repo, identifier)
    hand_commit(repo, {path: text.replace("twenty", "ninety").encode()})
    refused = pushed(repo, remote, "gitmem/main")
    assert refused.returncode and path in refused.stderr
