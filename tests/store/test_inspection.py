from __future__ import annotations

import pytest

from gitmem.model.layout import event_path, memory_path
from gitmem.model.vocabulary import FILE_LIMIT
from gitmem.store.inspection import FAULT_LIMIT, inspect_tree
from gitmem.store.objects import FILE, TREE, Entry, object_id, tree_bytes
from gitmem.store.port import Backend

ID = "0a00000000aa"
EVENT = "01krw4y0000000000000000000"


def blob(backend: Backend, data: bytes = b"x") -> str:
    backend.write([("blob", data)])
    return object_id("blob", data, "sha1")


def raw_tree(backend: Backend, data: bytes) -> str:
    backend.write([("tree", data)])
    return object_id("tree", data, "sha1")


def tree(backend: Backend, *entries: Entry) -> str:
    return raw_tree(backend, tree_bytes(entries))


def placed(backend: Backend, path: str, entry: Entry) -> str:
    """A root tree with one entry at the place that `path` names; the entry's own name is kept."""
    oid = tree(backend, entry)
    for part in reversed(path.split("/")[:-1]):
        oid = tree(backend, Entry(part, TREE, oid))
    return oid


def codes(backend: Backend, root: str, base: str | None = None) -> list[str]:
    return [fault.code for fault in inspect_tree(backend, root, base=base)]


def test_a_sound_branch_has_no_fault(backend: Backend) -> None:
    oid = blob(backend)
    for path in (memory_path(ID), event_path(EVENT, ID), event_path(EVENT, None), "schemas/memory.schema.json"):
        root = placed(backend, path, Entry(path.rsplit("/")[-1], FILE, oid))
        assert inspect_tree(backend, root) == []
    assert inspect_tree(backend, tree(backend, Entry("gitmem.yaml", FILE, oid), Entry("README.md", FILE, oid))) == []
    assert inspect_tree(backend, tree(backend)) == []


@pytest.mark.parametrize("mode", ["100755", "120000", "160000", "100664", "100600"])
def test_only_plain_files(backend: Backend, mode: str) -> None:
    path = memory_path(ID)
    root = placed(backend, path, Entry(f"{ID}.yaml", mode, blob(backend)))
    assert codes(backend, root) == ["mode"]
    assert codes(backend, placed(backend, path, Entry(f"{ID}.yaml", FILE, blob(backend)))) == []


@pytest.mark.parametrize(
    "name",
    [
        *("..", ".", ".git", ".GIT", "git~1", ".g\u200cit", ".git::$INDEX_ALLOCATION", "..\\x", "CON.yaml", "x.yaml "),
        *(
            "-x.yaml",
            "\u00e9.yaml",
            "a:b.yaml",
            "new\nline.yaml",
            ".gitmodules",
            "x" * 300,
            f"{ID}.yml",
            "0b0000000000.yaml",
        ),
    ],
)
def test_only_generated_names(backend: Backend, name: str) -> None:
    path = memory_path(ID)
    for at in (path, "x", "memories/0/x"):
        root = placed(backend, at, Entry(name, FILE, blob(backend)))
        assert codes(backend, root) == ["path"], at
    below = tree(backend, Entry("x", FILE, blob(backend)))
    assert codes(backend, tree(backend, Entry(name, TREE, below))) in (["name"], ["path"])


def test_names_that_meet_on_other_systems(backend: Backend) -> None:
    oid = blob(backend)
    root = tree(backend, Entry("README.md", FILE, oid), Entry("readme.md", FILE, oid))
    assert "duplicate" in codes(backend, root)
    twice = raw_tree(backend, 2 * (b"100644 README.md\0" + bytes.fromhex(oid)))
    assert "duplicate" in codes(backend, twice)
    assert codes(backend, tree(backend, Entry("README.md", FILE, oid))) == []


def test_order_and_padding(backend: Backend) -> None:
    oid = bytes.fromhex(blob(backend))
    swapped = raw_tree(backend, b"100644 gitmem.yaml\0" + oid + b"100644 README.md\0" + oid)
    assert codes(backend, swapped) == ["order"]
    padded = raw_tree(backend, b"040000 memories\0" + bytes.fromhex(tree(backend)))
    assert "mode" in codes(backend, padded)


def test_depth_and_size(backend: Backend) -> None:
    deep = tree(backend, Entry("x", FILE, blob(backend)))
    for number in range(40):
        deep = tree(backend, Entry(f"d{number}", TREE, deep))
    assert codes(backend, deep) == ["depth"]
    path = memory_path(ID)
    for size, expected in ((FILE_LIMIT, []), (FILE_LIMIT + 1, ["size"])):
        root = placed(backend, path, Entry(f"{ID}.yaml", FILE, blob(backend, b"x" * size)))
        assert codes(backend, root) == expected


def test_a_bomb_of_repeated_folders_is_cheap(backend: Backend) -> None:
    reads: list[str] = []
    below = tree(backend, Entry("x", FILE, blob(backend)))
    for _ in range(10):
        below = tree(backend, *(Entry(f"d{number}", TREE, below) for number in range(10)))
    real = backend.read
    backend.read = lambda oid: (reads.append(oid), real(oid))[1]  # type: ignore[method-assign]
    found = codes(backend, below)
    assert "repeated" in found and len(reads) < 20


def test_a_huge_blob_is_judged_by_its_header(backend: Backend) -> None:
    oid = blob(backend, b"\0" * 50_000_000)
    read: list[str] = []
    real = backend.read
    backend.read = lambda oid: (read.append(oid), real(oid))[1]  # type: ignore[method-assign]
    assert codes(backend, placed(backend, memory_path(ID), Entry(f"{ID}.yaml", FILE, oid))) == ["size"]
    assert oid not in read


def test_what_is_missing_or_of_another_kind(backend: Backend) -> None:
    path = memory_path(ID)
    absent = object_id("blob", b"absent", "sha1")
    assert codes(backend, placed(backend, path, Entry(f"{ID}.yaml", FILE, absent))) == ["missing"]
    assert codes(backend, tree(backend, Entry("memories", TREE, absent))) == ["missing"]
    assert codes(backend, tree(backend, Entry("memories", TREE, blob(backend)))) == ["damaged"]
    assert codes(backend, blob(backend)) == ["damaged"]


def test_only_what_changed_is_looked_at(backend: Backend) -> None:
    bad = Entry("evil", "120000", blob(backend))
    old = tree(backend, bad)
    fresh = Entry("gitmem.yaml", FILE, blob(backend))
    new = tree(backend, bad, fresh)
    assert codes(backend, new, old) == []
    assert codes(backend, new) == ["mode"]
    assert codes(backend, tree(backend, Entry("evil", "120000", blob(backend, b"y"))), old) == ["mode"]
    assert "duplicate" in codes(backend, tree(backend, bad, Entry("EVIL", FILE, blob(backend))), old)


def test_the_list_of_faults_ends(backend: Backend) -> None:
    oid = blob(backend)
    root = tree(backend, *(Entry(f"bad{number}", FILE, oid) for number in range(FAULT_LIMIT * 3)))
    found = codes(backend, root)
    assert len(found) == FAULT_LIMIT and found[-1] == "more"
