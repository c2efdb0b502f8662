"""The branch is an ordinary branch: every git reads, clones, merges and extends it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

import pytest

from gitmem.store.port import Backend, RefMove
from gitmem.store.repository import locate, open_backend
from gitmem.store.snapshot import changed_paths, snapshot
from gitmem.store.transaction import TOOL, Transaction, publish, root_commit
from tests.conftest import git

REF = "refs/heads/gitmem/main"
WHEN = datetime(2026, 3, 2, 10, tzinfo=timezone.utc)


@pytest.fixture(params=[False, True], ids=["git", "libgit2"])
def backend(request: pytest.FixtureRequest, repo: Path) -> Iterator[Backend]:
    opened = open_backend(locate(repo, environ=os.environ), long_lived=request.param)
    yield opened
    opened.close()


def write(backend: Backend, files: dict[str, bytes]) -> str:
    base = snapshot(backend, REF)
    change = Transaction(backend, base)
    for path, data in files.items():
        change.put(path, data)
    made = change.commit("memory: one\n\nbecause", TOOL, TOOL, WHEN)
    publish(backend, [RefMove(REF, made, base.commit, "memory: one")])
    return made


def test_clone_log_show_and_fsck(backend: Backend, repo: Path, tmp_path: Path) -> None:
    publish(backend, [RefMove(REF, root_commit(backend), None, "root")])
    made = write(backend, {"memories/a/b/x.yaml": b"one\n"})
    git(tmp_path, "clone", "-q", "--branch", "gitmem/main", str(repo), "copy")
    assert (tmp_path / "copy/memories/a/b/x.yaml").read_text() == "one\n"
    shown = git(tmp_path / "copy", "log", "--date=raw", "--format=%H %an <%ae> %ad %s", "-1").strip()
    assert shown == f"{made} gitmem <gitmem@localhost.invalid> 1772445600 +0000 memory: one"
    assert git(repo, "fsck", "--strict", "--full") == ""
    assert git(repo, "status", "--porcelain") == ""
    assert git(repo, "log", "-g", "--format=%gs", REF).splitlines() == ["memory: one", "root"]


def test_a_commit_by_hand_is_read_and_built_upon(backend: Backend, repo: Path, tmp_path: Path) -> None:
    first = write(backend, {"memories/a/b/x.yaml": b"one\n"})
    git(repo, "worktree", "add", "-q", str(tmp_path / "wt"), "gitmem/main")
    (tmp_path / "wt/memories/a/b/y.yaml").write_text("by hand\n")
    git(tmp_path / "wt", "add", ".")
    git(tmp_path / "wt", "commit", "-q", "-m", "by hand")
    git(repo, "worktree", "remove", str(tmp_path / "wt"))
    view = snapshot(backend, REF)
    assert view.read("memories/a/b/y.yaml") == b"by hand\n"
    differ = [change.path for change in changed_paths(backend, snapshot(backend, first).tree, view.tree)]
    assert differ == git(repo, "diff", "--name-only", first, REF).split() == ["memories/a/b/y.yaml"]
    write(backend, {"memories/a/b/z.yaml": b"after\n"})
    assert len(git(repo, "ls-tree", "-r", REF).splitlines()) == 3


def test_two_clones_that_began_apart_share_a_root_and_merge(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", str(repo), "other")
    for where, name in ((repo, "x"), (tmp_path / "other", "y")):
        backend = open_backend(locate(where, environ=os.environ), long_lived=False)
        publish(backend, [RefMove(REF, root_commit(backend), None, "root")])
        write(backend, {f"memories/a/b/{name}.yaml": b"1\n"})
        backend.close()
    git(repo, "fetch", "-q", str(tmp_path / "other"), "gitmem/main:theirs")
    assert git(repo, "merge-base", "gitmem/main", "theirs").strip()
    git(repo, "checkout", "-q", "gitmem/main")
    git(repo, "merge", "-q", "theirs")
    assert len(list((repo / "memories/a/b").iterdir())) == 2


def test_many_objects_in_bounded_memory(backend: Backend, repo: Path) -> None:
    import resource

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    class Lazy:
        """5,000 blobs of 20 kB, made when they are asked for."""

        def __len__(self) -> int:
            return 5000

        def __iter__(self) -> Iterator[tuple[str, bytes]]:
            return (("blob", b"%d" % number + b"x" * 20_000) for number in range(5000))

    backend.write(Lazy())  # type: ignore[arg-type]
    backend.move_refs([])
    (pack,) = (repo / ".git/objects/pack").glob("*.pack")
    assert git(repo, "verify-pack", "-s", str(pack)).startswith("non delta: 5000")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # kB, of 100 MB written
