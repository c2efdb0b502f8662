from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gitmem.errors import NotARepository, UnsupportedRepository
from gitmem.store.objects import object_id
from gitmem.store.port import RefMove
from gitmem.store.repository import locate, open_backend
from gitmem.store.transaction import root_commit
from tests.conftest import git

REF = "refs/heads/gitmem/main"


def at(where: Path, *, named: bool = False, **variables: str):
    return locate(where, environ={**os.environ, **variables}, named=named)


def test_an_ordinary_repository(repo: Path) -> None:
    found = at(repo / "src")
    assert (found.git_dir, found.common_dir, found.work_tree) == (repo / ".git", repo / ".git", repo)
    assert found.head == git(repo, "rev-parse", "HEAD").strip()
    assert (found.head_ref, found.bare, found.shallow, found.partial) == ("refs/heads/main", False, False, False)
    assert (found.object_format, found.ref_format, found.title) == ("sha1", "files", str(repo))


def test_one_process_finds_it(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = []
    real = subprocess.Popen

    class Counted(real):  # type: ignore[type-arg, misc, valid-type]
        def __init__(self, words: list[str], *rest: object, **more: object) -> None:
            started.append(words)
            super().__init__(words, *rest, **more)

    monkeypatch.setattr(subprocess, "Popen", Counted)
    at(repo)
    assert len(started) == 1


def test_from_inside_dot_git_it_is_as_at_the_top(repo: Path) -> None:
    assert at(repo / ".git/hooks") == at(repo)


def test_a_linked_worktree_shares_the_store(repo: Path, tmp_path: Path) -> None:
    git(repo, "worktree", "add", "-q", "-b", "feat", str(tmp_path / "wt"))
    (tmp_path / "wt/deep").mkdir()
    found = at(tmp_path / "wt/deep")
    assert found.common_dir == repo / ".git"
    assert found.git_dir == repo / ".git/worktrees/wt"
    assert (found.work_tree, found.head_ref) == (tmp_path / "wt", "refs/heads/feat")
    assert at(repo / ".git/worktrees/wt").work_tree == tmp_path / "wt"


def test_bare_submodule_and_separate_git_dir(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(repo), "bare.git")
    bare = at(tmp_path / "bare.git")
    assert bare.bare and bare.work_tree is None and bare.title == str(tmp_path / "bare.git")
    git(repo, "submodule", "add", "-q", str(tmp_path / "bare.git"), "sub")
    inside = at(repo / "sub")
    assert inside.work_tree == repo / "sub" and inside.git_dir == repo / ".git/modules/sub"
    assert at(repo / ".git/modules/sub").work_tree == repo / "sub"
    git(tmp_path, "init", "-q", "--separate-git-dir", str(tmp_path / "meta"), str(tmp_path / "apart"))
    assert at(tmp_path / "apart").git_dir == tmp_path / "meta"


def test_unborn_detached_and_rebasing(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "trunk", "new")
    unborn = at(tmp_path / "new")
    assert (unborn.head, unborn.head_ref, unborn.work_tree) == (None, "refs/heads/trunk", tmp_path / "new")
    assert at(tmp_path / "new/.git").head_ref == "refs/heads/trunk"
    git(repo, "checkout", "-q", "--detach")
    detached = at(repo)
    assert detached.head and detached.head_ref is None


def test_the_branch_can_be_born_before_the_users_first_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "trunk", "new")
    for long_lived in (False, True):
        backend = open_backend(at(tmp_path / "new"), long_lived=long_lived)
        first = root_commit(backend)
        backend.move_refs([RefMove(REF, first, backend.ref(REF), "x")])
        backend.close()
    assert at(tmp_path / "new").head is None
    assert git(tmp_path / "new", "status", "--porcelain") == ""


def test_shallow_and_alternates(repo: Path, tmp_path: Path) -> None:
    git(repo, "commit", "-q", "--allow-empty", "-m", "second")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repo}", "shallow")
    assert at(tmp_path / "shallow").shallow
    git(tmp_path, "clone", "-q", "--shared", str(repo), "shared")
    head = git(repo, "rev-parse", "HEAD").strip()
    for long_lived in (False, True):
        backend = open_backend(at(tmp_path / "shared"), long_lived=long_lived)
        assert backend.name == "git"  # libgit2 would hang on a loose object that is truncated over there
        assert backend.read(head)[0] == "commit"
        backend.close()


def test_a_partial_clone_fetches_what_it_lacks(repo: Path, tmp_path: Path) -> None:
    git(repo, "config", "uploadpack.allowFilter", "true")
    git(repo, "config", "uploadpack.allowAnySHA1InWant", "true")
    git(tmp_path, "clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{repo}", "partial")
    found = at(tmp_path / "partial")
    assert found.partial
    for path, long_lived in (("README.md", False), ("src/pool.py", True)):
        oid = git(repo, "rev-parse", f"HEAD:{path}").strip()
        backend = open_backend(found, long_lived=long_lived)
        assert backend.read(oid) == ("blob", (repo / path).read_bytes())
        backend.close()


def test_no_repository(tmp_path: Path) -> None:
    with pytest.raises(NotARepository) as caught:
        at(tmp_path)
    assert str(tmp_path) in caught.value.message and "git init" in caught.value.hint
    (tmp_path / ".git").write_text("gitdir: /nowhere/at/all\n")
    with pytest.raises(NotARepository):
        at(tmp_path)
    with pytest.raises(NotARepository):
        at(tmp_path / "absent")
    (tmp_path / ".git").unlink()
    git(tmp_path, "init", "-q")
    assert at(tmp_path).work_tree == tmp_path


def test_an_extension_that_cannot_be_read_is_named(repo: Path) -> None:
    git(repo, "config", "core.repositoryformatversion", "1")
    git(repo, "config", "extensions.compatObjectFormat", "sha256")
    with pytest.raises(UnsupportedRepository) as caught:
        at(repo)
    assert "compatobjectformat" in caught.value.message.lower()
    git(repo, "config", "--file", str(repo / ".git/config"), "--unset", "extensions.compatObjectFormat")
    git(repo, "config", "--file", str(repo / ".git/config"), "extensions.fancyThing", "on")
    with pytest.raises(UnsupportedRepository) as caught:
        at(repo)
    assert "fancything" in caught.value.message.lower()
    git(repo, "config", "--file", str(repo / ".git/config"), "--unset", "extensions.fancyThing")
    assert at(repo).head


def test_reftable_under_a_git_without_it_names_the_extension(repo: Path) -> None:
    version = subprocess.run(["git", "--version"], capture_output=True, text=True).stdout.split()[2].split(".")
    if (int(version[0]), int(version[1])) >= (2, 45):
        pytest.skip("this git reads reftable")
    git(repo, "config", "core.repositoryformatversion", "1")
    git(repo, "config", "extensions.refStorage", "reftable")
    with pytest.raises(UnsupportedRepository) as caught:
        at(repo)
    assert "refStorage" in caught.value.message and "2.45" in caught.value.hint


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give a repository away")
def test_somebody_elses_repository_is_refused_until_the_named_command(repo: Path, seal: Path) -> None:
    for path in [repo, *repo.rglob("*")]:
        os.chown(path, 12345, 12345)
    with pytest.raises(UnsupportedRepository) as caught:
        at(repo)
    assert caught.value.hint == f"git config --global --add safe.directory {repo}"
    by_variable = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": str(repo)}
    assert at(repo, **by_variable).head
    subprocess.run(caught.value.hint, shell=True, check=True)
    found = at(repo)
    backend = open_backend(found, long_lived=False)
    first = root_commit(backend)
    backend.move_refs([RefMove(REF, first, None, "x")])
    assert backend.read(first)[0] == "commit"
    backend.close()
    left = [p for p in (repo / ".git").rglob("*") if p.stat().st_uid != 12345]
    assert left == []  # nothing of root's locks the owner out


def test_the_environment_of_a_hook(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "other")
    git(repo, "worktree", "add", "-q", "-b", "feat", str(tmp_path / "wt"))
    hook = {
        "GIT_DIR": str(repo / ".git/worktrees/wt"),
        "GIT_WORK_TREE": str(tmp_path / "wt"),
        "GIT_INDEX_FILE": str(repo / ".git/worktrees/wt/index"),
        "GIT_OBJECT_DIRECTORY": str(repo / ".git/objects"),
    }
    named = at(tmp_path / "other", named=True, **hook)
    assert named.git_dir == tmp_path / "other/.git"
    before = {p: p.read_bytes() for p in (repo / ".git").rglob("*") if p.is_file()}
    backend = open_backend(named, long_lived=False)
    first = root_commit(backend)
    backend.move_refs([RefMove(REF, first, None, "x")])
    backend.close()
    assert git(tmp_path / "other", "rev-parse", REF).strip() == first
    assert before == {p: p.read_bytes() for p in (repo / ".git").rglob("*") if p.is_file()}
    inside = at(tmp_path / "wt", **hook)
    assert (inside.common_dir, inside.work_tree) == (repo / ".git", tmp_path / "wt")
    relative = at(repo, GIT_DIR=".git")
    assert (relative.git_dir, relative.work_tree) == (repo / ".git", repo)
    gone_elsewhere = at(tmp_path / "other", **hook)
    assert gone_elsewhere.git_dir == tmp_path / "other/.git"
    outside = at(tmp_path, **hook)
    assert outside.common_dir == repo / ".git"


def test_a_real_hook_acts_on_its_own_repository(repo: Path, tmp_path: Path) -> None:
    out = tmp_path / "seen"
    script = repo / ".git/hooks/post-commit"
    script.write_text(
        f"#!/bin/sh\nexec '{sys.executable}' -c 'import os,pathlib;from gitmem.store.repository import locate;"
        f'pathlib.Path("{out}").write_text(str(locate(pathlib.Path.cwd(), environ=os.environ).work_tree))\'\n'
    )
    script.chmod(0o755)
    git(repo, "commit", "-q", "--allow-empty", "-m", "x")
    assert out.read_text() == str(repo)


def test_home_is_not_a_project_unless_it_is_named(seal: Path) -> None:
    git(seal, "init", "-q")
    project = seal / "srv/demo"
    project.mkdir(parents=True)
    for start, named in ((project, False), (project, True), (seal, False)):
        with pytest.raises(UnsupportedRepository) as caught:
            at(start, named=named)
        assert str(seal) in caught.value.message and "-C" in caught.value.hint
    assert at(seal, named=True).work_tree == seal
    git(project, "init", "-q")
    assert at(project).work_tree == project


def test_ceilings_are_kept(repo: Path) -> None:
    with pytest.raises(NotARepository):
        at(repo / "src", GIT_CEILING_DIRECTORIES=str(repo))
    assert at(repo / "src").work_tree == repo


def test_pushed_objects_are_read_in_quarantine_and_nothing_is_written(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "server.git")
    seen = tmp_path / "seen"
    hook = tmp_path / "server.git/hooks/pre-receive"
    program = (
        "import os,sys,pathlib\n"
        "from gitmem.errors import UnsupportedRepository\n"
        "from gitmem.store.repository import locate, open_backend\n"
        "backend = open_backend(locate(pathlib.Path.cwd(), environ=os.environ), long_lived=True)\n"
        "kind, _ = backend.read(sys.stdin.read().split()[1])\n"
        "try:\n    backend.write([('blob', b'no')]); kind += ' written'\n"
        "except UnsupportedRepository:\n    kind += ' refused'\n"
        f"pathlib.Path({str(seen)!r}).write_text(backend.name + ' ' + kind)\n"
    )
    (tmp_path / "judge.py").write_text(program)
    hook.write_text(f"#!/bin/sh\nexec '{sys.executable}' {tmp_path}/judge.py\n")
    hook.chmod(0o755)
    git(repo, "push", "-q", str(tmp_path / "server.git"), "main")
    assert seen.read_text() == "git commit refused"


def test_a_configured_program_is_never_started(repo: Path, tmp_path: Path) -> None:
    mark = tmp_path / "PWNED"
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {mark}\nexit 1\n")
    trap.chmod(0o755)
    for key in (
        *("core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "core.askPass", "diff.external"),
        *(
            "gpg.program",
            "gpg.ssh.program",
            "credential.helper",
            "core.alternateRefsCommand",
            "uploadpack.packObjectsHook",
        ),
    ):
        git(repo, "config", key, str(trap))
    git(repo, "config", "core.hooksPath", str(tmp_path / "hooks"))
    git(repo, "config", "commit.gpgsign", "true")
    git(repo, "config", "log.showSignature", "true")
    (tmp_path / "hooks").mkdir()
    for name in ("reference-transaction", "post-index-change", "pre-auto-gc"):
        (tmp_path / "hooks" / name).write_text(trap.read_text())
        (tmp_path / "hooks" / name).chmod(0o755)
    for long_lived in (False, True):
        backend = open_backend(at(repo), long_lived=long_lived)
        first = root_commit(backend)
        backend.move_refs([RefMove(REF, first, backend.ref(REF), "x")])
        backend.write([("blob", b"%d" % number) for number in range(300)])
        backend.move_refs([])
        assert backend.log(first) == [first] and backend.resolve("HEAD") and backend.refs("refs/")
        list(backend.read_many([first] * 300))
        assert backend.is_ancestor(first, first)
        backend.close()
    assert not mark.exists()
    subprocess.run(["git", "-C", str(repo), "update-ref", "refs/heads/x", first])
    assert mark.exists()  # the trap works where plain git is used


def test_replace_refs_do_not_change_what_is_read(repo: Path) -> None:
    backend = open_backend(at(repo), long_lived=False)
    backend.write([("blob", b"rejected"), ("blob", b"accepted")])
    real = object_id("blob", b"rejected", "sha1")
    git(repo, "replace", real, object_id("blob", b"accepted", "sha1"))
    assert git(repo, "cat-file", "blob", real) == "accepted"
    assert backend.read(real) == ("blob", b"rejected")
    backend.close()


def test_shared_repositories_stay_group_writable(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--shared=group", "shop")
    backend = open_backend(at(tmp_path / "shop"), long_lived=False)
    root_commit(backend)
    backend.close()
    folders = [p for p in (tmp_path / "shop/.git/objects").iterdir() if len(p.name) == 2]
    assert folders and all(p.stat().st_mode & 0o2070 == 0o2070 for p in folders)
