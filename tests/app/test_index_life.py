"""The index is derived: busy, damaged, missing or left behind, it stops no write and hides nothing for good."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from gitmem.app import catch_up

WORDS: tuple[str, ...] = ("amber", "basil", "cedar", "daisy", "elder", "fennel", "ginger", "hazel")
WORDS += ("iris", "juniper", "kale", "laurel", "maple", "nettle", "olive", "poppy")


def fact(gitmem: Callable[..., Any], repo: Path, title: str) -> Any:
    return gitmem(repo, "remember", "-k", "fact", title, "-e", "file:src/pool.py:2")


@contextmanager
def index_held(repo: Path) -> Iterator[None]:
    """As if another process were writing the index."""
    locks = list((repo / ".git/gitmem/index").glob("*.lock"))
    assert locks
    with locks[0].open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def titles(count: int) -> list[str]:
    return [f"{WORDS[n % 16]} {WORDS[n // 16 % 16]} {WORDS[(n * 7 + 3) % 16]} grows in row {n}" for n in range(count)]


def test_a_busy_index_fails_no_write_and_is_told_to_the_reader(repo: Path, gitmem: Callable[..., Any]) -> None:
    gitmem(repo, "init")
    fact(gitmem, repo, "The first one is indexed")
    assert gitmem(repo, "recall", "indexed").out.count("indexed") == 1
    with index_held(repo):
        for title in titles(30):  # more than a write compares without the index
            assert fact(gitmem, repo, title).code == 0
        again = fact(gitmem, repo, titles(30)[0] + "!")
        assert again.code == 3
        assert "duplicate" in again.err  # what the index has not seen is still compared
        behind = gitmem(repo, "recall", "indexed")
        assert behind.code == 0
        assert "The first one is indexed" in behind.out
        assert "another process is updating the index" in behind.err
    after = gitmem(repo, "recall", "row")
    assert "grows in row 29" in gitmem(repo, "recall", "row 29").out
    assert "another process" not in after.err


@pytest.mark.parametrize("harm", ["gone", "emptied", "garbage", "flipped"])
def test_a_harmed_index_is_built_anew_without_a_word(repo: Path, gitmem: Callable[..., Any], harm: str) -> None:
    gitmem(repo, "init")
    for title in titles(4):
        fact(gitmem, repo, title)
    before = gitmem(repo, "recall", "grows").out
    assert before.count("grows in row") == 4
    folder = repo / ".git/gitmem/index"
    if harm == "gone":
        shutil.rmtree(folder)
    for file in [f for f in folder.rglob("*") if f.is_file() and not f.name.endswith(".lock")]:
        data = file.read_bytes()
        if harm == "emptied":
            file.write_bytes(b"")
        elif harm == "garbage":
            file.write_bytes(b"\xff" * len(data))
        elif harm == "flipped":
            file.write_bytes(data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 0xFF]) + data[len(data) // 2 + 1 :])
    assert fact(gitmem, repo, titles(4)[0] + "!").code == 3
    found = gitmem(repo, "recall", "grows")
    assert (found.code, found.out, found.err) == (0, before, "")


def test_two_processes_make_the_index_that_one_makes(
    repo: Path, gitmem: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    gitmem(repo, "init")
    for title in titles(9):
        fact(gitmem, repo, title)
    asked: list[bool] = []

    def always() -> bool:
        asked.append(True)
        return True

    monkeypatch.setattr(catch_up, "_MANY", 1)
    monkeypatch.setattr(catch_up, "_ITS_PART", 3)
    monkeypatch.setattr(catch_up, "_OUR_PART", 2)
    monkeypatch.setattr(catch_up, "worthwhile", always)
    before = gitmem(repo, "recall", "grows in row", "--json").out
    assert gitmem(repo, "reindex").code == 0 and asked
    assert gitmem(repo, "recall", "grows in row", "--json").out == before
    assert before.count('"id"') >= 9
