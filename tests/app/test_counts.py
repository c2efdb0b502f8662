"""What one write starts and what it adds, counted: numbers that do not depend on the machine."""

from __future__ import annotations

import json
import os
import random
import shutil
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path

import pytest

from gitmem.model.ids import ALPHABET, memory_id
from gitmem.model.layout import EVENTS, MAIN, MEMORIES, event_path, memory_path
from gitmem.store.objects import FILE, TREE, Entry, object_id, tree_bytes
from gitmem.store.repository import locate, open_backend
from gitmem.store.snapshot import Snapshot, snapshot
from gitmem.store.transaction import TOOL, Transaction
from tests.app.conftest import Ran
from tests.conftest import git
from tests.installed import agent

MOST_OBJECTS = 12
LEAF = 98  # memories in each of the 32 x 32 folders, when there are 100,000
NOW = datetime(2026, 3, 2, 10, tzinfo=timezone.utc)


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """`started()` gives the git commands that were started since it was asked last."""
    real = shutil.which("git")
    folder, log = tmp_path / "bin", tmp_path / "started"
    folder.mkdir()
    (folder / "git").write_text(f'#!/bin/sh\necho "$*" >> "{log}"\nexec "{real}" "$@"\n')
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    def told() -> list[str]:
        lines = log.read_text().splitlines() if log.exists() else []
        log.write_text("")
        return lines

    return told


def words(seed: int) -> str:
    chance = random.Random(seed)
    return " ".join("".join(chance.choices("bcdfgklmnprstv", k=3)) + chance.choice("aeiou") for _ in range(12))


def remember_many(where: Path, count: int) -> None:
    """`count` candidates in one commit."""
    drafts = [
        {"kind": "fact", "title": words(1000 + n), "body": "", "evidence": ["file:README.md:1"]} for n in range(count)
    ]
    done = agent(where, "remember", "-f", "-", stdin=json.dumps(drafts))
    assert done.code == 0, done.err


def test_a_shell_write_starts_four_git_processes_whatever_is_there(
    repo: Path, started: Callable[[], list[str]]
) -> None:
    assert agent(repo, "init").code == 0
    counted = []
    for size in (1, 200):
        remember_many(repo, size)
        assert agent(repo, "list").code == 0  # the index catches up, so that the next write does not have to
        assert started()
        done = agent(repo, "remember", "-k", "fact", words(size), "-e", "file:README.md:1")
        assert done.code == 0, done.err
        counted.append(started())
    assert [len(lines) for lines in counted] == [4, 4], counted
    for lines in counted:
        for verb in ("rev-parse", "cat-file", "config", "update-ref"):
            assert sum(f" {verb} " in f"{line} " for line in lines) == 1, lines


def test_a_name_in_the_environment_saves_one(
    repo: Path, started: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert agent(repo, "init").code == 0
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Test Person")
    monkeypatch.setenv("GIT_AUTHOR_EMAIL", "person@example.invalid")
    started()
    assert agent(repo, "remember", "-k", "fact", words(1), "-e", "file:README.md:1").code == 0
    lines = started()
    assert len(lines) == 3 and not any(" config " in line for line in lines), lines


def loose(where: Path) -> dict[str, int]:
    """Bytes on disk of each loose object."""
    return {f"{p.parent.name}{p.name}": p.stat().st_size for p in (where / ".git/objects").glob("[0-9a-f][0-9a-f]/*")}


def test_a_write_adds_few_small_objects(repo: Path, gitmem: Callable[..., Ran]) -> None:
    gitmem(repo, "init")
    for number in range(3):
        before = loose(repo)
        assert gitmem(repo, "remember", "-k", "fact", words(number), "-b", words(-number), "-e", "file:README.md:1")
        added = [size for oid, size in loose(repo).items() if oid not in before]
        assert 3 < len(added) <= MOST_OBJECTS
        assert sum(added) <= 6 * 1024


class Wide:
    """The branch as it would be with 100,000 memories, as far as one write looks at it: the folders on the way are
    full, and of all that lies beside them there are only names and made-up ids."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.objects: list[tuple[str, bytes]] = []

    def tree(self, entries: list[Entry]) -> str:
        data = tree_bytes(entries)
        self.objects.append(("tree", data))
        return object_id("tree", data, "sha1")

    def oid(self) -> str:
        return self.chance.randbytes(20).hex()

    def fanned_out(self, first: str, second: str, names: list[str]) -> str:
        """A folder of 32 x 32 folders; `names` are the files of the one that is written to."""
        oid = self.tree([Entry(name, FILE, self.oid()) for name in names])
        for letter in (second, first):
            oid = self.tree([Entry(other, TREE, oid if other == letter else self.oid()) for other in ALPHABET])
        return oid


@contextmanager
def wide_branch(where: Path, identifier: str, event: str, months: int) -> Iterator[Snapshot]:
    """gitmem/main as a backend sees it, with a hundred thousand memories of the last `months` in place of its own."""
    backend = open_backend(locate(where, environ=dict(os.environ)), long_lived=False)
    wide = Wide(5)
    a, b = identifier[0], identifier[1]
    ids = [a + b + memory_id(wide.chance.randbytes(8))[2:] for _ in range(LEAF)]
    month = event.split("/")[1]
    stem = event.rsplit("/", 1)[-1][:10]  # the time of the event; those beside it are of the same month
    names = [f"{stem}{wide.chance.randbytes(8).hex()}.{other}.json" for other in ids]
    base = snapshot(backend, MAIN)
    top = [entry for entry in base.children("") if entry.name not in (MEMORIES, EVENTS)]
    memories = wide.fanned_out(a, b, [f"{other}.yaml" for other in ids])
    past = [Entry(f"2025-{number:02}", TREE, wide.oid()) for number in range(1, months)]
    events = wide.tree([*past, Entry(month, TREE, wide.fanned_out(a, b, names[: LEAF // months]))])
    root = wide.tree([*top, Entry(MEMORIES, TREE, memories), Entry(EVENTS, TREE, events)])
    backend.write(wide.objects)
    try:
        yield Snapshot(backend, base.commit, root)
    finally:
        backend.close()


@pytest.mark.parametrize(
    ("months", "most"),
    [
        (12, 9 * 1024),
        (2, 12 * 1024),
        (1, 13 * 1024),  # as after an import of all of them, until the month is over
    ],
)
def test_a_write_to_a_hundred_thousand_memories_adds_a_few_kilobytes(
    repo: Path, gitmem: Callable[..., Ran], months: int, most: int
) -> None:
    gitmem(repo, "init")
    assert gitmem(repo, "remember", "-k", "fact", words(1), "-b", words(2) * 4, "-e", "file:README.md:1").code == 0
    files = git(repo, "diff-tree", "-r", "--name-only", f"{MAIN}^", MAIN).split()
    raw = {path: git(repo, "show", f"{MAIN}:{path}").encode() for path in files}
    (memory,) = (path for path in files if path.startswith(MEMORIES))
    (event,) = (path for path in files if path.startswith(EVENTS))
    identifier = memory.rsplit("/", 1)[-1].removesuffix(".yaml")
    assert memory == memory_path(identifier)
    assert event == event_path(event.rsplit("/", 1)[-1].split(".")[0], identifier)
    with wide_branch(repo, identifier, event, months) as wide:
        transaction = Transaction(wide.backend, wide)
        for path, data in raw.items():
            transaction.put(path, data)
        before = loose(repo)
        transaction.commit("remember it\n", TOOL, TOOL, NOW)
    added = [size for oid, size in loose(repo).items() if oid not in before]
    files_on_disk = sum(len(zlib.compress(data, 1)) for data in raw.values())  # they were there before
    assert len(added) + len(raw) <= MOST_OBJECTS
    assert 6 * 1024 < sum(added) + files_on_disk <= most
