"""What any backend promises; run over both, and over sha256 and reftable repositories where they exist."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from pathlib import Path

import pytest

from gitmem.errors import Ambiguous, CorruptRecord, Locked, NotFound, RefMoved, UnsupportedRepository
from gitmem.store import git_backend
from gitmem.store.loose import fsync_all, loose_path
from gitmem.store.objects import TREE, Entry, object_id, parse_tree, tree_bytes
from gitmem.store.port import Backend, RefMove
from gitmem.store.repository import locate, open_backend
from gitmem.store.snapshot import snapshot
from gitmem.store.transaction import TOOL, Transaction, publish, root_commit
from tests.conftest import git

REF = "refs/heads/gitmem/main"
WHEN = datetime(2026, 3, 2, 10, tzinfo=timezone.utc)
VERSION_TEXT = subprocess.run(["git", "--version"], capture_output=True, text=True).stdout.split()[2]
GIT_VERSION = tuple(int(part) for part in VERSION_TEXT.split(".")[:2])

Make = Callable[[], Backend]

KINDS = [
    pytest.param(("git", ()), id="git"),
    pytest.param(("libgit2", ()), id="libgit2"),
    pytest.param(("git", ("--object-format=sha256",)), id="git-sha256"),
    pytest.param(
        ("git", ("--object-format=sha256", "--ref-format=reftable")),
        id="git-reftable",
        marks=pytest.mark.skipif(GIT_VERSION < (2, 45), reason="this git has no reftable"),
    ),
]


@pytest.fixture(params=KINDS)
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    """Opens the same repository again and again with one kind of backend."""
    name, options = request.param
    where = tmp_path / "shop"
    where.mkdir()
    git(where, "init", "-q", "-b", "main", *options)
    (where / "a.txt").write_text("a\n")
    git(where, "add", ".")
    git(where, "commit", "-q", "-m", "first")
    opened: list[Backend] = []

    def open_one() -> Backend:
        backend = open_backend(locate(where, environ=os.environ), long_lived=name == "libgit2")
        assert backend.name == name
        opened.append(backend)
        return backend

    yield open_one
    for backend in opened:
        backend.close()


@pytest.fixture
def backend(make: Make) -> Backend:
    return make()


def commit(backend: Backend, files: dict[str, bytes], message: str = "m") -> str:
    base = snapshot(backend, REF)
    change = Transaction(backend, base)
    for path, data in files.items():
        change.put(path, data)
    made = change.commit(message, TOOL, TOOL, WHEN)
    publish(backend, [RefMove(REF, made, base.commit, message)])
    return made


def fsck(backend: Backend) -> str:
    return git(backend.location.common_dir, "fsck", "--strict", "--full")


def test_what_is_written_is_read_by_both_git_and_a_fresh_backend(make: Make) -> None:
    data = b"\r\n\x00\xff" * 9
    made = commit(make(), {"memories/a/b/x.yaml": data})
    again = snapshot(make(), REF)
    assert again.commit == made
    assert again.read("memories/a/b/x.yaml") == data
    assert again.read("memories/a/b/y.yaml") is None
    raw = subprocess.run(
        ["git", "-C", str(again.backend.location.common_dir), "cat-file", "blob", f"{REF}:memories/a/b/x.yaml"],
        capture_output=True,
    )
    assert raw.stdout == data
    assert fsck(again.backend) == ""


def test_kinds_sizes_and_order(backend: Backend) -> None:
    blobs = [b"", b"one", b"x" * 100_000]
    backend.write([("blob", data) for data in blobs])
    oids = [object_id("blob", data, backend.object_format) for data in blobs]
    assert [backend.size(oid) for oid in oids] == [0, 3, 100_000]
    assert list(backend.read_many(reversed(oids))) == [
        (oid, "blob", data) for oid, data in zip(reversed(oids), reversed(blobs), strict=True)
    ]
    head = backend.resolve("HEAD")
    assert head and backend.read(head)[0] == "commit"


@pytest.mark.parametrize("count", [200, 201, 900])
def test_bulk_writes_and_reads(backend: Backend, count: int) -> None:
    blobs = [b"%d" % number for number in range(count)]
    backend.write([("blob", data) for data in blobs])
    oids = [object_id("blob", data, backend.object_format) for data in blobs]
    assert [data for _, _, data in backend.read_many(iter(oids))] == blobs
    packs = list((backend.location.objects / "pack").glob("*.pack"))
    assert len(packs) == (count > 200)
    backend.move_refs([])
    assert not list((backend.location.objects / "pack").glob("*.keep"))


def test_a_broken_off_bulk_read_ends(backend: Backend) -> None:
    backend.write([("blob", b"%d" % number * 500) for number in range(900)])
    oids = [object_id("blob", b"%d" % number * 500, backend.object_format) for number in range(900)]
    stream = backend.read_many(oids)
    assert next(stream)[2] == b"0" * 500
    stream.close()  # type: ignore[attr-defined]
    assert backend.read(oids[1])[1] == b"1" * 500


def test_absent_objects_are_not_found(backend: Backend) -> None:
    here = object_id("blob", b"here", backend.object_format)
    backend.write([("blob", b"here")])
    absent = object_id("blob", b"absent", backend.object_format)
    for ask in (backend.read, backend.size, lambda oid: list(backend.read_many([here] * 300 + [oid]))):
        with pytest.raises(NotFound):
            ask(absent)
    for nonsense in ("", "HEAD", here[:10], here + "\n" + here, "-x"):
        with pytest.raises(NotFound):
            backend.read(nonsense)
    assert backend.read(here) == ("blob", b"here")


@pytest.mark.parametrize("damage", ["truncate", "empty", "nul", "swap"])
def test_a_damaged_loose_object_is_named_and_healed_by_writing_it_again(make: Make, damage: str) -> None:
    backend = make()
    data = os.urandom(4000)
    oid = object_id("blob", data, backend.object_format)
    backend.write([("blob", data), ("blob", b"sound")])
    path = loose_path(backend.location.objects, oid)
    whole = path.read_bytes()
    path.chmod(0o644)
    other = loose_path(backend.location.objects, object_id("blob", b"sound", backend.object_format)).read_bytes()
    path.write_bytes({"truncate": whole[:100], "empty": b"", "nul": b"\0" * 100, "swap": other}[damage])
    with pytest.raises(CorruptRecord) as caught:
        make().read(oid)
    assert oid in caught.value.message
    with pytest.raises(CorruptRecord):
        list(make().read_many([oid] * 300))
    backend.write([("blob", data)])
    assert make().read(oid) == ("blob", data)


def test_refs_move_by_compare_and_swap(backend: Backend) -> None:
    first = root_commit(backend)
    second = backend.resolve("HEAD")
    assert second
    assert backend.ref(REF) is None
    backend.move_refs([RefMove(REF, first, None, "made")])
    assert backend.ref(REF) == first
    for stale in (None, second):
        with pytest.raises(RefMoved):
            backend.move_refs([RefMove(REF, second, stale, "stale")])
        assert backend.ref(REF) == first
    backend.move_refs([RefMove(REF, second, first, "moved")])
    assert backend.ref(REF) == second
    with pytest.raises(RefMoved):
        backend.move_refs([RefMove(REF, None, first, "stale delete")])
    backend.move_refs([RefMove(REF, None, second, "deleted")])
    assert backend.ref(REF) is None
    backend.move_refs([RefMove(REF, None, None, "still absent")])
    with pytest.raises(RefMoved):
        backend.move_refs([RefMove(REF, None, second, "gone already")])


def test_several_refs_move_together_or_not_at_all(backend: Backend) -> None:
    first, second = root_commit(backend), backend.resolve("HEAD")
    inbox = "refs/gitmem/inbox"
    backend.move_refs([RefMove(REF, first, None, "a"), RefMove(inbox, first, None, "a")])
    with pytest.raises(RefMoved):
        backend.move_refs([RefMove(REF, second, first, "b"), RefMove(inbox, second, second, "b")])
    assert (backend.ref(REF), backend.ref(inbox)) == (first, first)
    backend.move_refs([RefMove(REF, second, first, "b"), RefMove(inbox, None, first, "b")])
    assert (backend.ref(REF), backend.ref(inbox)) == (second, None)


def test_a_ref_is_not_left_at_nothing(backend: Backend) -> None:
    with pytest.raises(NotFound):
        backend.move_refs([RefMove(REF, object_id("blob", b"absent", backend.object_format), None, "x")])
    assert backend.ref(REF) is None


def test_packed_refs_are_seen(backend: Backend) -> None:
    made = commit(backend, {"memories/a/b/x.yaml": b"1"})
    git(backend.location.common_dir, "pack-refs", "--all")
    assert backend.ref(REF) == made
    assert backend.ref("refs/heads/gitmem/mai") is None
    assert dict(backend.refs("refs/heads/gitmem/")) == {REF: made}
    assert backend.refs("refs/gitmem/") == []
    newer = commit(backend, {"memories/a/b/x.yaml": b"2"})
    assert backend.ref(REF) == newer != made


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("there", ["refs/heads/gitmem", "refs/heads/gitmem/main/topic"])
def test_a_branch_in_the_way_is_named(backend: Backend, there: str, packed: bool) -> None:
    head = backend.resolve("HEAD")
    assert head
    git(backend.location.common_dir, "update-ref", there, head)
    if packed:
        git(backend.location.common_dir, "pack-refs", "--all")
    with pytest.raises(UnsupportedRepository) as caught:
        backend.move_refs([RefMove(REF, head, None, "x")])
    assert there in caught.value.message and "branch -m" in caught.value.hint
    assert backend.ref(REF) is None and backend.ref(there) == head
    backend.move_refs([RefMove("refs/heads/other/main", head, None, "x")])


def test_revisions(backend: Backend) -> None:
    made = commit(backend, {"memories/a/b/x.yaml": b"1"})
    after = commit(backend, {"memories/a/b/x.yaml": b"2"})
    assert backend.resolve(f"{REF}~1") == made
    assert backend.resolve(after[:12]) == after
    for none in ("nope", "", "HEAD~50", "a b", "x\ny", "--all", f"{REF}:memories", "0" * len(after), "HEAD^{tree}"):
        assert backend.resolve(none) is None, none


def test_a_short_id_of_two_is_ambiguous(backend: Backend) -> None:
    commits: dict[str, bytes] = {}
    number = 0
    while True:  # the birthday paradox gives two commits with the same four characters after some 300
        data = backend.read(backend.resolve("HEAD") or "")[1] + b"%d\n" % number
        oid = object_id("commit", data, backend.object_format)
        if oid[:4] in commits:
            break
        commits[oid[:4]] = data
        number += 1
    backend.write([("commit", data), ("commit", commits[oid[:4]])])
    with pytest.raises(Ambiguous):
        backend.resolve(oid[:4])
    assert backend.resolve(oid[:20]) == oid


def test_history(backend: Backend) -> None:
    one = commit(backend, {"memories/a/b/x.yaml": b"1"})
    two = commit(backend, {"memories/c/d/y.yaml": b"1"})
    three = commit(backend, {"memories/a/b/x.yaml": b"2"})
    assert backend.log(three) == [three, two, one]
    assert backend.log(three, base=one) == [three, two]
    assert backend.log(three, limit=1) == [three]
    assert backend.log(three, paths=["memories/a"]) == [three, one]
    assert backend.log(three, first_parent=True) == [three, two, one]
    assert backend.is_ancestor(one, three) and not backend.is_ancestor(three, one)
    assert backend.is_ancestor(one, one)
    head = backend.resolve("HEAD")
    assert head and not backend.is_ancestor(head, three)
    absent = object_id("commit", b"absent", backend.object_format)
    for ask in (lambda: backend.log(absent), lambda: backend.is_ancestor(absent, one), lambda: backend.log("--all")):
        with pytest.raises(NotFound):
            ask()


def test_a_fresh_ref_lock_is_respected_and_named(backend: Backend) -> None:
    if backend.location.ref_format != "files":
        pytest.skip("reftable has one lock for all")
    made = commit(backend, {"memories/a/b/x.yaml": b"1"})
    lock = backend.location.common_dir / f"{REF}.lock"
    lock.touch()
    with pytest.raises(Locked) as caught:
        backend.move_refs([RefMove(REF, backend.resolve("HEAD"), made, "x")])
    assert str(lock) in caught.value.message and "s old" in caught.value.message
    assert lock.exists() and backend.ref(REF) == made
    lock.unlink()
    commit(backend, {"memories/a/b/x.yaml": b"2"})


def test_the_users_own_locks_do_not_matter(backend: Backend) -> None:
    for name in ("index.lock", "HEAD.lock", "config.lock", "packed-refs.lock"):
        (backend.location.common_dir / name).touch()
    made = commit(backend, {"memories/a/b/x.yaml": b"1"})
    assert backend.ref(REF) == made


def test_an_object_that_somebody_prunes_before_the_ref_moves_is_written_again(make: Make) -> None:
    backend = make()
    base = snapshot(backend, REF)
    change = Transaction(backend, base)
    change.put("memories/a/b/x.yaml", b"1")
    made = change.commit("m", TOOL, TOOL, WHEN)
    kind, data = backend.read(made)
    tree = object_id("tree", tree_bytes([]), backend.object_format)
    assert kind == "commit" and tree not in data.decode()
    blob = loose_path(backend.location.objects, object_id("blob", b"1", backend.object_format))
    blob.unlink()
    publish(backend, [RefMove(REF, made, None, "m")])
    assert blob.exists()
    assert fsck(make()) == ""


def test_a_handle_opened_before_somebodys_gc_goes_on_working(make: Make) -> None:
    held = make()
    commit(held, {"memories/a/b/x.yaml": b"1"})
    list(snapshot(held, REF).read_all())
    for number in range(3):
        git(held.location.common_dir, "gc", "-q", "--prune=now")
        commit(held, {"memories/a/b/x.yaml": b"%d" % (number % 2), f"memories/a/b/{number}.yaml": b"new"})
        assert snapshot(held, REF).read("memories/a/b/x.yaml") == b"%d" % (number % 2)
    assert fsck(make()) == ""


def test_trees_come_out_as_git_sorts_them(backend: Backend) -> None:
    names = ["a", "a.b", "a-b", "a0", "b"]
    blob = object_id("blob", b"", backend.object_format)
    for folder in names:
        below = tree_bytes([Entry("x", "100644", blob)])
        oid = object_id("tree", below, backend.object_format)
        data = tree_bytes([Entry(n, TREE if n == folder else "100644", oid if n == folder else blob) for n in names])
        backend.write([("blob", b""), ("tree", below), ("tree", data)])
        listed = git(backend.location.common_dir, "ls-tree", object_id("tree", data, backend.object_format))
        assert [line.split("\t")[1] for line in listed.splitlines()] == [
            entry.name for entry in parse_tree(data, backend.object_format)
        ]
    assert fsck(backend).count("dangling") == len(fsck(backend).splitlines())


def test_the_root_commit_is_the_same_everywhere(make: Make) -> None:
    backend = make()
    expected = {
        "sha1": "33a63d72fb977bac288d808295c0d515f8091bf6",
        "sha256": "5a3ed415f0fba31396d0ccbec0c7bc9d0b8a858e71d628eb51300efd773f55c0",
    }
    assert root_commit(backend) == root_commit(make()) == expected[backend.object_format]
    assert fsck(backend).startswith("dangling commit")


def test_a_folder_of_refs_that_is_packed_away_while_it_is_synced_stops_no_write(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = make()
    seen: list[bool] = []

    def packed_meanwhile(paths: list[Path]) -> None:
        git(backend.location.common_dir, "pack-refs", "--all")
        seen.append(all(path.exists() for path in paths))
        fsync_all(paths)

    monkeypatch.setattr(git_backend, "fsync_all", packed_meanwhile)
    made = commit(backend, {"memories/a/b/x.yaml": b"1"})
    assert backend.resolve(REF) == made
    assert not seen or not seen[0]  # the folder had gone; a reftable has none
