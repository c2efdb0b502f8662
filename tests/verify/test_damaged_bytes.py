"""Bytes that nobody meant: whatever is flipped or cut on a good branch, verification answers with findings."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import datetime, timezone

import pytest

from gitmem.app.env import Env
from gitmem.app.verify import Report, verify_range
from gitmem.app.workspace import Workspace, open_workspace
from gitmem.store.objects import object_id
from gitmem.store.snapshot import snapshot
from gitmem.store.transaction import TOOL, Transaction
from tests.conftest import git
from tests.verify.forge import MAIN, Branch, Shop

ROUNDS = 60  # for each kind of file
KINDS = ("memories/", "events/", "tombstones/", "gitmem.yaml", ".gitattributes", "README.md", "schemas/")


@pytest.fixture
def workspace(shop: Shop, env: Callable[..., Env]) -> Iterator[Workspace]:
    shop.ok("wrong", shop.ids["tuesday"], "--because", "it is Thursday now")
    opened = open_workspace(env(shop.repo), long_lived=True)
    yield opened
    opened.close()


def _damaged(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data))
    how = chance.randrange(6)
    if how == 0:
        return data[:at]
    if how == 1:
        return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]
    if how == 2:
        return data[:at] + chance.randbytes(chance.randrange(1, 9)) + data[at:]
    if how == 3:
        return data[:at] + data[at + chance.randrange(1, 40) :]
    if how == 4:  # a value of another type, or none
        lines = data.split(b"\n")
        number = chance.randrange(len(lines))
        key = lines[number].partition(b":")[0]
        other = chance.choice([b" null", b" 5", b" []", b" {}", b" true", b' "\\u0000"', b" 1e400", b' ""', b" -"])
        return b"\n".join([*lines[:number], key + b":" + other, *lines[number + 1 :]])
    words = [b'"', b"[", b"{", b"&a ", b"*a", b"!!x ", b"\n---\n", b"\xff", b"null", b"0", b"\n", b": "]
    return data[:at] + chance.choice(words) + data[at:]


def _verified(workspace: Workspace, edits: dict[str, bytes]) -> Report:
    base = snapshot(workspace.backend, MAIN)
    transaction = Transaction(workspace.backend, base)
    for path, data in edits.items():
        transaction.put(path, data)
    commit = transaction.commit("damage", TOOL, TOOL, datetime(2026, 3, 3, tzinfo=timezone.utc))
    return verify_range(workspace, base.commit, commit)


@pytest.mark.parametrize("kind", KINDS)
def test_damage_to_a_file_is_a_finding(kind: str, workspace: Workspace, branch: Branch) -> None:
    chance = random.Random(kind)
    paths = branch.paths(kind)
    assert _verified(workspace, {}).clean
    findings = 0
    for _ in range(ROUNDS):
        path = chance.choice(paths)
        data = branch.read(path)
        bad = _damaged(data, chance)
        report = _verified(workspace, {path: bad})
        if bad != data and kind != "README.md":
            findings += bool(report.faults)
    assert kind == "README.md" or findings > ROUNDS * 3 // 4


def test_damage_to_several_files_at_once_is_a_finding(workspace: Workspace, branch: Branch) -> None:
    chance = random.Random(3)
    files = {path: branch.read(path) for path in branch.paths() if path != "README.md"}
    for _ in range(ROUNDS):
        some = chance.sample(sorted(files), 3)
        assert _verified(workspace, {path: _damaged(files[path], chance) for path in some}).faults


def test_damage_to_a_tree_or_a_commit_is_a_finding(workspace: Workspace, branch: Branch) -> None:
    chance = random.Random(5)
    backend = workspace.backend
    tip = branch.tip()
    commit = backend.read(tip)[1]
    tree = snapshot(backend, MAIN).tree
    raw = backend.read(tree)[1]
    assert verify_range(workspace, git(branch.repo, "rev-parse", f"{tip}~").strip(), tip).clean
    answered = 0
    for _ in range(ROUNDS * 2):
        bad = _damaged(raw, chance)
        over = commit.replace(tree.encode(), object_id("tree", bad, "sha1").encode(), 1)
        backend.write([("tree", bad), ("commit", over)])
        answered += bool(verify_range(workspace, tip, object_id("commit", over, "sha1")).faults)
    assert answered > ROUNDS
    from gitmem.app.verify_commit import check_commit
    from gitmem.app.verify_lookup import Beneath, RangeLookup
    from gitmem.errors import GitmemError

    for _ in range(ROUNDS * 2):
        bad = _damaged(commit, chance)
        backend.write([("commit", bad)])
        try:
            check_commit(workspace, object_id("commit", bad, "sha1"), RangeLookup(Beneath(workspace, None)))
        except GitmemError as error:
            assert error.message
