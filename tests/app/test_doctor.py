"""`doctor`: each thing that is wrong is named with what to do, and a sound repository has no fault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.app.steps import POOL, WEATHER, Run, proposed, put
from tests.conftest import git
from tests.verify.forge import Branch


def found(gitmem: Run, repo: Path) -> tuple[int, list[Any]]:
    ran = gitmem(repo, "doctor", "--json")
    return ran.code, ran.lines


def faults(gitmem: Run, repo: Path) -> list[Any]:
    return [line for line in found(gitmem, repo)[1] if line["state"] == "fault"]


def test_a_sound_repository_has_no_fault(repo: Path, gitmem: Run) -> None:
    assert gitmem(repo, "doctor").code == 0  # before init as well
    gitmem(repo, "init")
    put(gitmem, repo, POOL)
    code, lines = found(gitmem, repo)
    assert code == 0 and faults(gitmem, repo) == []
    topics = [line["topic"] for line in lines]
    assert set(topics) >= {"repository", "branch", "review", "identity", "hooks", "index", "objects"}
    assert any("sha1, files refs" in line["message"] for line in lines)


def test_notes_do_not_make_it_fail(repo: Path, gitmem: Run) -> None:
    gitmem(repo, "init")
    waits = proposed(gitmem, repo, POOL)
    gitmem(repo, "remember", "-k", "fact", WEATHER)
    notes = {line["topic"]: line for line in found(gitmem, repo)[1] if line["state"] == "note"}
    assert notes["inbox"]["hint"] == "gitmem list --inbox" and notes["inbox"]["message"].startswith("1 ")
    assert notes["outbox"]["hint"] == "gitmem list --refused"
    gitmem(repo, "reject", waits, "--because", "no")
    assert "inbox" not in {line["topic"] for line in found(gitmem, repo)[1]}


def test_what_a_hand_put_into_the_inbox_and_cannot_be_read_is_named(repo: Path, gitmem: Run) -> None:
    gitmem(repo, "init")
    waits = proposed(gitmem, repo, POOL)
    inbox, branch = "refs/gitmem/inbox", Branch(repo)
    tree = branch.tree_with({"memories/a/b/ab0000000000.yaml": b"title: ["}, base=inbox)
    tip = git(repo, "rev-parse", inbox).strip()
    git(repo, "update-ref", inbox, branch.commit_tree(tree, tip))
    code, lines = found(gitmem, repo)
    told = {line["state"]: line for line in lines if line["topic"] == "inbox"}
    assert code != 0 and "memories/a/b/ab0000000000.yaml" in told["fault"]["message"] and told["fault"]["hint"]
    assert told["note"]["message"].startswith("1 ")  # what can be read still waits
    assert waits in gitmem(repo, "list", "--inbox", "--json").out


def test_no_identity_is_a_note(repo: Path, gitmem: Run, seal: Path) -> None:
    (seal / ".gitconfig").write_text("[init]\n\tdefaultBranch = main\n")
    gitmem(repo, "init")
    (line,) = [line for line in found(gitmem, repo)[1] if line["topic"] == "identity"]
    assert line["state"] == "note" and "git config user.name" in line["hint"]


def test_a_checked_out_memory_branch_is_a_fault(repo: Path, gitmem: Run, tmp_path: Path) -> None:
    gitmem(repo, "init")
    git(repo, "worktree", "add", "-q", str(tmp_path / "wt"), "gitmem/main")
    (fault,) = faults(gitmem, repo)
    assert str(tmp_path / "wt") in fault["message"] and fault["hint"].startswith("git -C ")
    assert gitmem(repo, "doctor").code == 1
    git(repo, "worktree", "remove", str(tmp_path / "wt"))
    assert faults(gitmem, repo) == []


def test_a_branch_in_the_way_is_a_fault(repo: Path, gitmem: Run) -> None:
    git(repo, "branch", "gitmem")
    (fault,) = faults(gitmem, repo)
    assert fault["hint"] == "git branch -m gitmem gitmem-old"
    git(repo, "branch", "-m", "gitmem", "gitmem-old")
    git(repo, "branch", "gitmem/main/topic")
    assert [fault["hint"] for fault in faults(gitmem, repo)] == [
        "git branch -m gitmem/main/topic gitmem-main-topic-old"
    ]
    git(repo, "branch", "-D", "gitmem/main/topic")
    assert gitmem(repo, "init").code == 0 and faults(gitmem, repo) == []


def test_a_forged_tip_is_a_fault(repo: Path, gitmem: Run) -> None:
    gitmem(repo, "init")
    put(gitmem, repo, POOL)
    forged = git(repo, "commit-tree", git(repo, "write-tree").strip(), "-p", "gitmem/main", "-m", "forged").strip()
    git(repo, "update-ref", "refs/heads/gitmem/main", forged)
    told = faults(gitmem, repo)
    assert told and all(fault["topic"] == "branch" and "gitmem verify --all" in fault["hint"] for fault in told)


def test_a_lock_that_was_left_is_named_with_the_command_that_ends_it(repo: Path, gitmem: Run) -> None:
    import os

    gitmem(repo, "init")
    lock = repo / ".git/refs/heads/gitmem/main.lock"
    lock.touch()
    os.utime(lock, (1, 1))
    (fault,) = faults(gitmem, repo)
    assert str(lock) in fault["message"] and fault["hint"] == f"rm {lock}"
    lock.unlink()
    assert faults(gitmem, repo) == []


def test_a_git_dir_that_is_passed_over_is_named(repo: Path, gitmem: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    gitmem(repo, "init")
    other = repo.parent / "other"
    git(repo.parent, "init", "-q", str(other))

    def told() -> list[Any]:
        return [line for line in found(gitmem, repo)[1] if "GIT_DIR" in line["message"]]

    monkeypatch.setenv("GIT_DIR", str(repo / ".git"))
    assert told() == []
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    (one,) = told()
    assert one["state"] == "note" and str(other) in one["message"] and "unset GIT_DIR" in one["hint"]
