"""Tips whose tree is an attack: refused whole, by name, without reading what is in them (cases K3, B011–B016)."""

from __future__ import annotations

import os
import resource
import subprocess
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.app.conftest import env, gitmem
from tests.conftest import git
from tests.verify.conftest import branch, shelf, shop
from tests.verify.forge import ID, Branch, Shop
from tests.verify.test_bad_commits import assert_the_tip_is_not_entered

__all__ = ["branch", "env", "gitmem", "shelf", "shop"]

FOLDER = f"memories/{ID[0]}/{ID[1]}"
Plant = Callable[[Branch], str]


def _file(name: str, folder: str = FOLDER, mode: str = "100644", data: bytes = b"title: x\n") -> Plant:
    return lambda branch: branch.graft(folder, mode, name, branch.blob(data))


def _submodule(branch: Branch) -> str:
    return branch.graft(FOLDER, "160000", f"{ID}.yaml", branch.tip())


def _tree_for_file(branch: Branch) -> str:
    return branch.graft(FOLDER, "40000", f"{ID}.yaml", branch.tree([("100644", "x", branch.blob(b"x"))]))


def _deep(branch: Branch) -> str:
    return branch.graft("conflicts/" + "/".join("abcdefg"), "100644", "x", branch.blob(b"x"))


def _same_folder_twice(branch: Branch) -> str:
    folder = git(branch.repo, "rev-parse", "refs/heads/gitmem/main:memories").strip()
    return branch.graft("", "40000", "tombstones", folder)


def _twice_in_one_folder(branch: Branch) -> str:
    rows = branch.entries(git(branch.repo, "rev-parse", "refs/heads/gitmem/main^{tree}").strip())
    config = next(row for row in rows if row[1] == "gitmem.yaml")
    at = rows.index(config)
    return branch.tree([*rows[:at], config, *rows[at:]])


def _unsorted(branch: Branch) -> str:
    return branch.tree(branch.entries(git(branch.repo, "rev-parse", "refs/heads/gitmem/main^{tree}").strip())[::-1])


def _missing_blob(branch: Branch) -> str:
    return branch.graft(FOLDER, "100644", f"{ID}.yaml", "1" * 40)


def _missing_folder(branch: Branch) -> str:
    return branch.graft("", "40000", "tombstones", "2" * 40)


def _tree_bomb(branch: Branch) -> str:
    """Thirteen trees of ten entries each that stand for 10^13 files."""
    tree = branch.tree([("100644", "x", branch.blob(b"x"))])
    for _ in range(13):
        tree = branch.tree([("40000", str(number), tree) for number in range(10)])
    return branch.graft("", "40000", "conflicts", tree)


def _no_tree(branch: Branch) -> str:
    return branch.graft("", "40000", "conflicts", branch.blob(b"this is no tree"))


PLANTS: dict[str, tuple[Plant, str]] = {
    "dots": (_file("..", ""), "tree.path"),
    "dot": (_file(".", ""), "tree.path"),
    "git": (_file(".git", ""), "tree.path"),
    "git in capitals": (_file(".GIT", ""), "tree.path"),
    "git by its short name": (_file("git~1", ""), "tree.path"),
    "git with a joiner": (_file(".g\u200cit", ""), "tree.path"),
    "git as a stream": (_file(".git::$INDEX_ALLOCATION", ""), "tree.path"),
    "gitmodules": (_file(".gitmodules", ""), "tree.path"),
    "git folder": (_file("config", ".git"), "tree.name"),
    "dots folder": (_file("x", ".."), "tree.name"),
    "empty name": (_file("", ""), "tree.path"),
    "slash in a name": (_file("a/b", ""), "tree.path"),
    "backslash": (_file("..\\x", ""), "tree.path"),
    "absolute": (_file("/etc/x", ""), "tree.path"),
    "drive": (_file("C:x", ""), "tree.path"),
    "control characters": (_file("x\x1b[31m\n.yaml"), "tree.path"),
    "not utf-8": (_file(os.fsdecode(b"\xff\xfe.yaml")), "tree.path"),
    "device": (_file("CON.yaml"), "tree.path"),
    "device folder": (_file("x", f"conflicts/{ID}/nul"), "tree.path"),
    "option": (_file("--output=x.yaml"), "tree.path"),
    "another id": (_file("zzzzzzzzzzzz.yaml"), "tree.path"),
    "capitals": (_file(f"{ID.upper()}.yaml"), "tree.path"),
    "workflow": (_file("ci.yaml", ".github/workflows"), "tree.name"),
    "code": (_file("setup.py", ""), "tree.path"),
    "unknown folder": (_file("x.yaml", "notes"), "tree.path"),
    "event behind the year 9999": (
        _file(f"7zzzzzzzzzzzzzzzzzzzzzzzzz.{ID}.json", "events/2026-03/0/1"),
        "tree.path",
    ),
    "case clash": (_file("Gitmem.yaml", ""), "tree.duplicate"),
    "symbolic link": (_file(f"{ID}.yaml", mode="120000", data=b"/etc/passwd"), "tree.mode"),
    "symbolic link for the policy": (_file("gitmem.yaml", "", "120000", b"/etc/passwd"), "tree.mode"),
    "program": (_file(f"{ID}.yaml", mode="100755"), "tree.mode"),
    "odd mode": (_file(f"{ID}.yaml", mode="100664"), "tree.mode"),
    "submodule": (_submodule, "tree.mode"),
    "folder for a file": (_tree_for_file, "tree.path"),
    "deep": (_deep, "tree.depth"),
    "64 KiB and one byte": (_file(f"{ID}.yaml", data=b"#" * (64 * 1024 + 1)), "tree.size"),
    "1 MiB": (_file("gitmem.yaml", "", data=b"#" * (1024 * 1024)), "tree.size"),
    "same folder twice": (_same_folder_twice, "tree.path"),
    "same name twice": (_twice_in_one_folder, "tree.duplicate"),
    "unsorted": (_unsorted, "tree.order"),
    "missing blob": (_missing_blob, "tree.missing"),
    "missing folder": (_missing_folder, "tree.missing"),
    "tree bomb": (_tree_bomb, "tree.depth"),
    "no tree": (_no_tree, "tree.damaged"),
}


@pytest.mark.parametrize("name", PLANTS)
def test_a_hostile_tree_is_refused_whole_and_the_last_believed_state_is_read_on(
    name: str, shop: Shop, branch: Branch, tmp_path: Path
) -> None:
    plant, code = PLANTS[name]
    before, good = shop.listed(), branch.tip()
    assert shop.codes() == [] and shop.unbelieved() == []
    outside = _names(tmp_path)
    branch.move(_commit_object(branch, plant(branch), good))
    assert code in shop.codes()
    assert not any(char < " " and char != "\n" for char in shop.run(shop.repo, "verify", "--all").out)
    assert_the_tip_is_not_entered(shop, branch, before, good)
    assert {name for name in _names(tmp_path) - outside if "/.git/" not in name} == set()


def _commit_object(branch: Branch, tree: str, parent: str) -> str:
    """A commit whatever its tree is: `git commit-tree` would look at it."""
    text = f"tree {tree}\nparent {parent}\nauthor A <a@b.invalid> 1 +0000\ncommitter A <a@b.invalid> 1 +0000\n\nx\n"
    done = subprocess.run(
        ["git", "-C", str(branch.repo), "hash-object", "-t", "commit", "-w", "--literally", "--stdin"],
        input=text.encode(),
        capture_output=True,
        check=True,
    )
    return done.stdout.decode().strip()


def _names(folder: Path) -> set[str]:
    return {str(path) for path in folder.rglob("*")}


def test_a_blob_that_unpacks_to_a_gibibyte_is_not_unpacked(shop: Shop, branch: Branch) -> None:
    before, good = shop.listed(), branch.tip()
    oid = _huge_blob(branch.repo, 1 << 30)
    branch.move(_commit_object(branch, branch.graft(FOLDER, "100644", f"{ID}.yaml", oid), good))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert shop.codes() == ["tree.size"]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 64 * 1024
    assert_the_tip_is_not_entered(shop, branch, before, good)


def _huge_blob(repo: Path, size: int) -> str:
    """A loose object of `size` zero bytes, about a thousandth of that on the disk."""
    import hashlib

    digest = hashlib.sha1(usedforsecurity=False)
    packer = zlib.compressobj(1)
    made = bytearray()
    zeros = bytes(1 << 20)
    for piece in (b"blob %d\0" % size, *(zeros for _ in range(size >> 20))):
        digest.update(piece)
        made += packer.compress(piece)
    made += packer.flush()
    oid = digest.hexdigest()
    path = repo / ".git/objects" / oid[:2] / oid[2:]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(made)
    return oid


def test_a_commit_that_is_no_commit_is_named(shop: Shop, branch: Branch) -> None:
    before, good = shop.listed(), branch.tip()
    assert shop.codes() == []
    tree = git(shop.repo, "rev-parse", "refs/heads/gitmem/main^{tree}").strip()
    orphan = branch.commit_tree(tree)
    branch.move(orphan)
    assert "history.root" in shop.codes()
    branch.move(branch.commit_tree(tree, good, orphan))
    assert "history.root" in shop.codes()
    assert_the_tip_is_not_entered(shop, branch, before, good)


def test_code_on_the_memory_branch_is_no_memory(shop: Shop, branch: Branch) -> None:
    before, good = shop.listed(), branch.tip()
    code = git(shop.repo, "rev-parse", "main").strip()
    branch.move(code)
    found = shop.codes()
    assert "history.root" in found
    assert_the_tip_is_not_entered(shop, branch, before, good)
