"""Identity, worktrees, locks and packing: what lies around a write."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path

import pytest

from gitmem.errors import Locked
from gitmem.store import repack as repacking
from gitmem.store.identity import writer
from gitmem.store.lock import left_locks, writer_lock
from gitmem.store.objects import Identity
from gitmem.store.port import Backend, RefMove
from gitmem.store.repack import repack, repack_due
from gitmem.store.repository import Location, locate
from gitmem.store.snapshot import snapshot
from gitmem.store.transaction import TOOL, Transaction, publish
from gitmem.store.worktrees import checked_out_at
from tests.conftest import git

REF = "refs/heads/gitmem/main"
WHEN = datetime(2026, 3, 2, 10, tzinfo=timezone.utc)
PERSON = Identity("Test Person", "person@example.invalid")


def write(backend: Backend, path: str, data: bytes = b"x") -> str:
    base = snapshot(backend, REF)
    change = Transaction(backend, base)
    change.put(path, data)
    made = change.commit("m", TOOL, TOOL, WHEN)
    publish(backend, [RefMove(REF, made, base.commit, "m")])
    return made


def test_who_signs(location: Location, repo: Path) -> None:
    assert writer(location, os.environ, "terminal")[:2] == (PERSON, PERSON)
    assert writer(location, os.environ, "agent")[:2] == (PERSON, TOOL)
    by_environment = {**os.environ, "GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@x.invalid"}
    assert writer(location, by_environment, "agent")[:2] == (Identity("Ann", "ann@x.invalid"), TOOL)
    assert writer(location, by_environment, "terminal")[:2] == (Identity("Ann", "ann@x.invalid"), PERSON)
    git(repo, "config", "user.name", "Local")
    assert writer(location, os.environ, "agent")[0] == Identity("Local", "person@example.invalid")


@pytest.mark.parametrize("home", [None, "/nonexistent"])
def test_without_a_home_there_is_the_tools_name(repo: Path, home: str | None) -> None:
    environ = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CONFIG_HOME")}
    if home:
        environ["HOME"] = home
    location = locate(repo, environ=environ)
    assert writer(location, environ, "terminal")[:2] == (TOOL, TOOL)
    environ["GIT_AUTHOR_NAME"], environ["GIT_AUTHOR_EMAIL"] = "Ann", "ann@x.invalid"
    assert writer(location, environ, "terminal")[:2] == (Identity("Ann", "ann@x.invalid"), TOOL)


def test_a_checked_out_branch_is_found_wherever_it_is(
    repo: Path, tmp_path: Path, opened: Callable[[Path], Backend]
) -> None:
    write(opened(repo), "README.md")
    location = locate(repo, environ=os.environ)
    assert checked_out_at(location, REF) is None
    assert checked_out_at(location, "refs/heads/main") == repo
    side = tmp_path / "a side"
    git(repo, "worktree", "add", "-q", str(side), "gitmem/main")
    for where in (repo, side):
        assert checked_out_at(locate(where, environ=os.environ), REF) == side
        assert checked_out_at(locate(where, environ=os.environ), "refs/heads/main") == repo
    shutil.rmtree(side)  # a registration without a folder
    assert checked_out_at(location, REF) is None
    git(repo, "checkout", "-q", "--ignore-other-worktrees", "gitmem/main")
    assert checked_out_at(locate(repo, environ=os.environ), REF) == repo


def test_a_branch_being_rebased_is_checked_out(repo: Path, opened: Callable[[Path], Backend]) -> None:
    backend = opened(repo)
    for number in range(3):
        write(backend, "README.md", b"%d" % number)
    git(repo, "checkout", "-q", "gitmem/main")
    done = subprocess.run(
        ["git", "-C", str(repo), "rebase", "-q", "-i", "HEAD~1"],
        env={**os.environ, "GIT_SEQUENCE_EDITOR": "sed -i 1s/pick/edit/"},
    )
    assert done.returncode == 0 and git(repo, "branch", "--show-current") == ""
    assert checked_out_at(locate(repo, environ=os.environ), REF) == repo
    git(repo, "rebase", "--abort")
    git(repo, "checkout", "-q", "main")
    assert checked_out_at(locate(repo, environ=os.environ), REF) is None


def test_a_bare_repository_has_nothing_checked_out(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(repo), "bare.git")
    location = locate(tmp_path / "bare.git", environ=os.environ)
    assert location.head_ref == "refs/heads/main" and checked_out_at(location, "refs/heads/main") is None


def test_the_writer_lock_names_its_holder_and_dies_with_it(location: Location) -> None:
    words = (
        "import os,sys,pathlib\nfrom gitmem.store.lock import writer_lock\n"
        "from gitmem.store.repository import locate\n"
        "with writer_lock(locate(pathlib.Path(sys.argv[1]), environ=os.environ)):\n"
        "    print('held', flush=True); sys.stdin.read()\n"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", words, location.title], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout and holder.stdout.readline() == "held\n"
    with pytest.raises(Locked) as caught, writer_lock(location, timeout=0.05):
        pass
    assert str(holder.pid) in caught.value.message and str(holder.pid) in caught.value.hint
    holder.kill()
    holder.communicate()
    with writer_lock(location, timeout=5):
        pass


def left(location: Location, age: float) -> Path:
    lock = location.common_dir / f"{REF}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    lock.touch()
    made = lock.stat().st_mtime - age
    os.utime(lock, (made, made))
    return lock


def test_an_old_lock_is_cleared_only_under_the_writer_lock(location: Location, backend: Backend) -> None:
    lock = left(location, 60)
    with pytest.raises(Locked) as caught:
        write(backend, "a")
    assert str(lock) in caught.value.message and "60 s old" in caught.value.message
    assert f"rm '{lock}'" in caught.value.hint and lock.exists()
    with writer_lock(location):
        write(backend, "a")
    assert not lock.exists() and backend.ref(REF)


def test_a_lock_is_not_cleared_while_git_is_at_work(location: Location, backend: Backend, tmp_path: Path) -> None:
    lock = left(location, 60)
    busy = subprocess.Popen(
        ["git", "update-ref", "--stdin"], cwd=location.common_dir, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert busy.stdin and busy.stdout
    busy.stdin.write(b"start\n")
    busy.stdin.flush()
    busy.stdout.readline()
    assert [one.stale for one in left_locks(location)] == [False]
    with pytest.raises(Locked) as caught, writer_lock(location):
        write(backend, "a")
    assert str(busy.pid) in caught.value.message and lock.exists()
    busy.communicate()
    assert [one.stale for one in left_locks(location)] == [True]
    with writer_lock(location):
        write(backend, "a")
    assert not lock.exists()


def loose(location: Location) -> int:
    return sum(1 for folder in location.objects.glob("??") for _ in folder.iterdir())


def test_loose_objects_stay_bounded(
    location: Location, backend: Backend, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repacking, "EVERY", 120)
    most = packs = 0
    users = git(repo, "rev-parse", "HEAD^{tree}").strip()
    for number in range(70):
        write(backend, f"memories/{number % 7}/{number % 5}/{number}.yaml", b"%d" % number)
        if repack_due(location):
            repack(location)
            packs += 1
        most = max(most, loose(location))
    assert packs == 3 and most < 120 + 8
    assert len(list((location.objects / "pack").glob("*.pack"))) == 3
    assert (location.objects / users[:2] / users[2:]).exists()  # the user's own objects are left alone
    assert git(repo, "fsck", "--strict") == ""
    assert len(list(snapshot(backend, REF).read_all())) == 70


def test_a_pack_is_made_though_the_last_tips_are_gone(location: Location, backend: Backend, repo: Path) -> None:
    write(backend, "memories/a/b/1.yaml")
    repack(location)
    (location.private / "packed-tips").write_text("1" * 40 + "\n")
    made = write(backend, "memories/a/b/2.yaml")
    repack(location)
    repack(location)
    assert not (location.objects / made[:2] / made[2:]).exists()
    assert backend.read(made)[0] == "commit"


def test_no_packing_inside_a_hook(repo: Path, backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repacking, "EVERY", 1)
    write(backend, "a")
    assert repack_due(locate(repo, environ=os.environ))
    assert not repack_due(locate(repo, environ={**os.environ, "GIT_INDEX_FILE": ".git/index"}))
    assert not repack_due(locate(repo, environ={**os.environ, "GIT_DIR": ".git"}))
