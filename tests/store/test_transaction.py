from __future__ import annotations

import os
from datetime import datetime, timezone
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.errors import NotFound, UsageError
from gitmem.model.layout import event_path, memory_path
from gitmem.store.objects import FILE, empty_tree
from gitmem.store.port import Backend, RefMove
from gitmem.store.snapshot import Snapshot, changed_paths, snapshot
from gitmem.store.transaction import TOOL, Transaction, publish
from gitmem.store.tree_edit import edited_tree, nested
from tests.conftest import git

REF = "refs/heads/gitmem/main"
WHEN = datetime(2026, 3, 2, 10, tzinfo=timezone.utc)
# few names, so that files meet folders and edits meet each other
paths = st.lists(st.sampled_from(["a", "b", "a.b", "a-b", "c0"]), min_size=1, max_size=4).map("/".join)
edits = st.dictionaries(paths, st.none() | st.binary(max_size=3), max_size=6)


class Memory:
    """Objects in a dictionary: enough of a backend for trees."""

    object_format = "sha1"

    def __init__(self) -> None:
        self.objects: dict[str, tuple[str, bytes]] = {}

    def read(self, oid: str) -> tuple[str, bytes]:
        return self.objects[oid]


def flattened(files: dict[str, bytes], change: dict[str, bytes | None]) -> dict[str, bytes]:
    """What the edits mean, said with plain dictionaries."""
    after = dict(files)
    for path in change:
        for other in list(after):
            if other == path or (change[path] is None and other.startswith(path + "/")):
                after.pop(other)
    for path, data in change.items():
        if data is not None:
            for other in list(after):  # a file replaces a folder, a folder a file
                if other.startswith(path + "/") or path.startswith(other + "/"):
                    after.pop(other)
            after[path] = data
    return after


@settings(deadline=None, max_examples=120)
@given(st.lists(edits, max_size=4))
def test_edits_of_trees_mean_edits_of_files(changes: list[dict[str, bytes | None]]) -> None:
    store = Memory()
    tree, files = empty_tree("sha1"), {}
    for change in changes:
        try:
            nest = nested(change)
        except UsageError:  # a file and a folder of one name in one change
            assert any(a != b and b.startswith(a + "/") for a in change for b in change)
            continue
        staged: dict[str, tuple[str, bytes]] = {}
        before = Snapshot(store, "x", tree)  # type: ignore[arg-type]
        new = edited_tree(store, tree, nest, staged) or empty_tree("sha1")  # type: ignore[arg-type]
        store.objects |= staged
        old_files, files = files, flattened(files, change)
        view = Snapshot(store, "x", new)  # type: ignore[arg-type]
        assert {path: store.read(entry.oid)[1] for path, entry in view.walk()} == files
        differ = {path for path in old_files.keys() | files.keys() if old_files.get(path) != files.get(path)}
        assert {c.path for c in changed_paths(store, tree, new)} == differ  # type: ignore[arg-type]
        assert (new == tree) == (not differ)
        assert dict(before.walk()).keys() == old_files.keys()
        tree = new


@settings(deadline=None, max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edits)
def test_git_reads_the_same_files(backend: Backend, change: dict[str, bytes | None]) -> None:
    put = {path: data for path, data in change.items() if data is not None}
    try:
        nested(put)
    except UsageError:
        return
    transaction = Transaction(backend, None)
    for path, data in put.items():
        transaction.put(path, data)
    made = transaction.commit("m", TOOL, TOOL, WHEN)
    listed = git(backend.location.git_dir, "ls-tree", "-r", "--name-only", made).splitlines()
    assert sorted(listed) == sorted(put)
    assert dict(snapshot(backend, made).read_all()) == put


@pytest.mark.parametrize("path", ["", "/a", "a//b", "../x", "a/..", "a/.git/b", ".", "a\0b", "a/"])
def test_what_is_no_path_is_refused(backend: Backend, path: str) -> None:
    change = Transaction(backend, None)
    change.put("sound", b"")
    change.put(path, b"")
    with pytest.raises(UsageError):
        change.commit("m", TOOL, TOOL, WHEN)
    other = Transaction(backend, None)
    other.put("sound", b"")
    assert other.commit("m", TOOL, TOOL, WHEN)


def test_a_commit_is_deterministic_and_a_change_of_nothing_is_none(backend: Backend) -> None:
    first = Transaction(backend, None)
    first.put("a/b", b"1")
    made = first.commit("m", TOOL, TOOL, WHEN)
    again = Transaction(backend, None)
    again.put("a/b", b"1")
    assert again.commit("m", TOOL, TOOL, WHEN) == made
    base = snapshot(backend, made)
    nothing = Transaction(backend, base)
    nothing.put("a/b", b"1")
    nothing.delete("absent/x")
    assert nothing.commit("other words", TOOL, TOOL, WHEN) == made
    below = Transaction(backend, base)
    below.delete("a/b/below-a-file")
    assert below.commit("m", TOOL, TOOL, WHEN) == made
    empty = Transaction(backend, base)
    empty.delete("a/b")
    gone = empty.commit("m", TOOL, TOOL, WHEN)
    assert snapshot(backend, gone).tree == empty_tree("sha1")
    assert git(backend.location.git_dir, "fsck", "--strict").count("dangling commit") == 1


def test_only_the_folders_on_the_way_are_written(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    start = Transaction(backend, None)
    for number in range(20):
        start.put(f"memories/{number % 4}/{number % 5}/x{number}.yaml", b"%d" % number)
    base = snapshot(backend, start.commit("m", TOOL, TOOL, WHEN))
    written: list[str] = []
    real = backend.write
    monkeypatch.setattr(backend, "write", lambda objects: (written.extend(k for k, _ in objects), real(objects))[1])
    change = Transaction(backend, base)
    change.put("memories/1/1/new.yaml", b"new")
    change.commit("m", TOOL, TOOL, WHEN)
    assert sorted(written) == ["blob", "commit", "tree", "tree", "tree", "tree"]


def test_views(backend: Backend) -> None:
    ids = ["0a00000000aa", "0a00000000ab", "0b0000000000", "zz0000000000"]
    change = Transaction(backend, snapshot(backend, REF))
    for identifier in ids:
        change.put(memory_path(identifier), identifier.encode())
    early, late = "01krw4y0000000000000000000", "01kzzzzzzz0000000000000000"
    for event in (late, early):
        change.put(event_path(event, ids[0]), b"{}")
    change.put(event_path(early, None), b"{}")
    made = change.commit("m", TOOL, TOOL, WHEN)
    publish(backend, [RefMove(REF, made, None, "m")])
    view = snapshot(backend, REF)
    assert view.commit == made
    assert view.memory_ids() == ids
    assert view.memory_ids("0") == ids[:3]
    assert view.memory_ids("0a") == ids[:2]
    assert view.memory_ids("0a00000000ab") == [ids[1]]
    assert view.memory_ids("q") == []
    assert view.event_names(ids[0]) == [event_path(early, ids[0]), event_path(late, ids[0])]
    assert view.event_names(ids[1]) == []
    assert view.event_names(None) == [event_path(early, None)]
    entry = view.entry(memory_path(ids[0]))
    assert entry and entry.mode == FILE
    assert view.entry(memory_path(ids[0]) + "/x") is None and view.read("memories") is None
    assert [e.name for e in view.children("memories")] == ["0", "z"]
    assert view.children("nowhere") == []
    assert (view.memory("q" * 12), view.config(), view.tombstone("0" * 64)) == (None, None, None)


def test_an_absent_branch_is_an_empty_view_and_an_absent_revision_is_not_found(backend: Backend) -> None:
    view = snapshot(backend, REF)
    assert view.commit is None and list(view.walk()) == [] and view.memory_ids() == []
    with pytest.raises(NotFound):
        snapshot(backend, "no-such-thing")
    assert snapshot(backend, "HEAD").read("README.md") == b"# shop\n"


def test_signing_by_configuration_does_not_hold_a_write(backend: Backend, repo: Path, tmp_path: Path) -> None:
    sleeper = tmp_path / "sleeper"
    sleeper.write_text("#!/bin/sh\nexec sleep 600\n")
    sleeper.chmod(0o755)
    git(repo, "config", "commit.gpgsign", "true")
    git(repo, "config", "gpg.program", str(sleeper))
    change = Transaction(backend, None)
    change.put("a", b"1")
    made = change.commit("m", TOOL, TOOL, WHEN)
    publish(backend, [RefMove(REF, made, None, "m")])
    assert "gpgsig" not in git(repo, "cat-file", "commit", REF)


def test_line_endings_are_nobodys_business(backend: Backend, repo: Path) -> None:
    git(repo, "config", "core.autocrlf", "true")
    (repo / ".gitattributes").write_text("* text=auto\n")
    data = b"one\r\ntwo\nthree\r"
    change = Transaction(backend, None)
    change.put("a", data)
    assert snapshot(backend, change.commit("m", TOOL, TOOL, WHEN)).read("a") == data


def test_nothing_heavy_is_imported_to_write() -> None:
    import subprocess
    import sys

    words = (
        "import sys, gitmem.store.repository, gitmem.store.transaction, gitmem.store.snapshot, gitmem.store.lock,"
        "gitmem.store.git_backend, gitmem.store.identity, gitmem.store.worktrees, gitmem.store.repack;"
        "print([m for m in ('pygit2','pydantic','ruamel','tempfile','shutil','asyncio') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, env=dict(os.environ))
    assert done.stdout.strip() == "[]", done.stderr
