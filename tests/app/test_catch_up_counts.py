"""What one catch-up of the index starts and reads, counted: it is bound by what is new, not by what is there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gitmem.app.belief import believed_view
from gitmem.app.catch_up import catch_up, opened_index
from gitmem.app.env import Env
from gitmem.app.workspace import View, open_workspace
from gitmem.model.layout import MAIN
from gitmem.store.port import Backend
from tests.app.conftest import Ran
from tests.app.test_counts import started, words
from tests.conftest import git
from tests.verify.forge import Branch

__all__ = ["started"]

SIZES = (10, 300)


class Counting:
    """A backend that notes which objects are read."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self.objects: list[str] = []

    def read(self, oid: str) -> tuple[str, bytes]:
        self.objects.append(oid)
        return self.backend.read(oid)

    def read_many(self, oids: Iterable[str]) -> Iterator[tuple[str, str, bytes]]:
        for found in self.backend.read_many(oids):
            self.objects.append(found[0])
            yield found

    def __getattr__(self, name: str) -> Any:
        return getattr(self.backend, name)


@contextmanager
def counted(env: Env) -> Iterator[tuple[View, list[str]]]:
    """The believed view, and the objects that are read through it from here on."""
    opened = open_workspace(env)
    counting = Counting(opened.backend)
    try:
        view = believed_view(replace(opened, backend=counting))
        counting.objects.clear()
        yield view, counting.objects
    finally:
        opened.close()


@pytest.fixture
def filled(repo: Path, gitmem: Callable[..., Ran]) -> Callable[[int], None]:
    """`filled(n)`: at least n memories on the branch, written in one commit, and an index that knows them."""
    assert gitmem(repo, "init").code == 0
    there = 0

    def fill(size: int) -> None:
        nonlocal there
        drafts = [
            {"kind": "fact", "title": words(n), "body": "", "evidence": ["file:README.md:1"]}
            for n in range(there, size)
        ]
        there = size
        done = gitmem(repo, "remember", "-f", "-", stdin=json.dumps(drafts))
        assert done.code == 0, done.err
        assert gitmem(repo, "list").code == 0

    return fill


def one_more(repo: Path, gitmem: Callable[..., Ran], number: int) -> None:
    done = gitmem(repo, "remember", "-k", "fact", words(9000 + number), "-e", "file:README.md:1")
    assert done.code == 0, done.err


def edited_by_hand(repo: Path, number: int) -> None:
    """A commit of somebody else's, with one record changed and the event of it."""
    branch = Branch(repo)
    path = branch.paths("memories/")[0]
    old = branch.memory(path.rsplit("/")[-1].removesuffix(".yaml"))
    new = replace(old, body=words(8000 + number))
    branch.commit(branch.with_event(branch.event("edit", new, old), new))


@pytest.mark.parametrize("way", ["written here", "by hand"])
def test_a_catch_up_after_one_commit_starts_and_reads_the_same_at_any_size(
    repo: Path, gitmem: Callable[..., Ran], env: Callable[..., Env], filled: Callable[[int], None],
    started: Callable[[], list[str]], way: str,
) -> None:  # fmt: skip
    processes, read = [], []
    for size in SIZES:
        filled(size)
        if way == "written here":
            one_more(repo, gitmem, size)
        else:
            edited_by_hand(repo, size)
        with counted(env(repo)) as (view, objects):
            before = opened_index(view.workspace).tips["main"]
            started()
            index = catch_up(view)
            processes.append(len(started()))
            read.append(len(objects))
            assert before != index.tips["main"] == git(repo, "rev-parse", MAIN).strip()
            assert index.count() >= size
    assert processes[0] == processes[1] <= 2, processes
    assert read[0] > 0 and read[1] <= read[0] + 6 and max(read) <= 24, read


def test_a_catch_up_with_nothing_new_starts_and_reads_nothing(
    repo: Path, env: Callable[..., Env], filled: Callable[[int], None], started: Callable[[], list[str]]
) -> None:
    filled(10)
    with counted(env(repo)) as (view, objects):
        catch_up(view)
        started()
        objects.clear()
        catch_up(view)
        assert (started(), objects) == ([], [])
        catch_up(view, rebuild=True)  # the control
        assert started() and objects


def test_many_commits_are_caught_up_with_one_git_more(
    repo: Path, gitmem: Callable[..., Ran], env: Callable[..., Env], filled: Callable[[int], None],
    started: Callable[[], list[str]],
) -> None:  # fmt: skip
    filled(10)
    counts = []
    for many in (1, 6):
        for number in range(many):
            one_more(repo, gitmem, many * 100 + number)
        with counted(env(repo)) as (view, _):
            started()
            catch_up(view)
            counts.append(len(started()))
    assert counts[0] == counts[1], counts


def test_a_rebuild_starts_no_more_git_for_more_memories(
    repo: Path, env: Callable[..., Env], filled: Callable[[int], None], started: Callable[[], list[str]]
) -> None:
    counts = []
    for size in (10, 60):
        filled(size)
        with counted(env(repo)) as (view, _):
            started()
            catch_up(view, rebuild=True)
            counts.append(len(started()))
    assert counts[0] == counts[1] <= 3, counts
