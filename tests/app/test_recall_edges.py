"""What a newcomer and a breaker of recall met, each with a control."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitmem.app import ground
from tests.app.conftest import Ran
from tests.app.steps import Run, put
from tests.conftest import git

WHY = ("--because", "it changed")


@pytest.fixture(autouse=True)
def begun(repo: Path, gitmem: Run) -> None:
    gitmem(repo, "init")


@contextmanager
def held(repo: Path) -> Iterator[None]:
    """As if another process were writing the index."""
    (path,) = (repo / ".git/gitmem/index").glob("*.lock")
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def titles(ran: Ran) -> list[str]:
    return [line["title"] for line in ran.lines if "title" in line]


def supersede(gitmem: Run, repo: Path, old: str, title: str) -> str:
    done = gitmem(repo, "supersede", old, title, "-e", "file:src/pool.py:2", *WHY)
    assert done.code == 0, done.err
    return str(gitmem(repo, "list", "--json").lines[0]["id"])


def test_while_the_index_is_busy_nothing_that_changed_is_given_out(
    repo: Path, gitmem: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ground, "_PATIENCE", 1)
    stays = put(gitmem, repo, "The pool keeps ten idle sockets", "--key", "pool.size")
    old = put(gitmem, repo, "The pool closes idle sockets after 300 s", "--key", "pool.timeout", "-p", "src/pool.py")
    assert len(titles(gitmem(repo, "recall", "idle sockets", "--json"))) == 2
    with held(repo):
        supersede(gitmem, repo, old, "The pool closes them after 60 s")
        lanes = [
            ("recall", "idle sockets", "--json"), ("recall", "idle sockets", "--format", "prompt"),
            ("context", "src/pool.py"), ("list",), ("related", stays), ("brief", "--peek"), ("why", "idle sockets"),
        ]  # fmt: skip
        for words in lanes:
            seen = gitmem(repo, *words)
            assert seen.code == 0 and "300 s" not in seen.out, words
        found = gitmem(repo, "recall", "idle sockets")
        assert "ten idle sockets" in found.out and "are left out" in found.err
        assert "are left out" in gitmem(repo, "recall", "idle sockets", "--format", "prompt").out
        for words in (("related", stays), ("why", "idle sockets"), ("key", "pool.size"), ("key", "pool.timeout")):
            assert "are left out" in gitmem(repo, *words).err, words
        assert gitmem(repo, "key", "pool.timeout").code == 4 and gitmem(repo, "key", "pool.size").code == 0
    assert titles(gitmem(repo, "key", "pool.timeout", "--json")) == ["The pool closes them after 60 s"]


def test_history_as_of_a_moment_does_not_show_what_came_after(repo: Path, gitmem: Run) -> None:
    first = put(gitmem, repo, "The pool closes idle sockets after 300 s")
    second = supersede(gitmem, repo, first, "The pool closes idle sockets after 60 s")
    then = git(repo, "rev-parse", "gitmem/main").strip()
    supersede(gitmem, repo, second, "The pool closes idle sockets after 45 s")
    now = gitmem(repo, "recall", "idle sockets", "--history", "--json").lines[:-1]
    assert {line["title"][-4:]: line["earlier"] for line in now} == {
        "45 s": "", "60 s": "superseded", "00 s": "superseded"
    }  # fmt: skip
    past = gitmem(repo, "recall", "idle sockets", "--history", "--as-of", then, "--json").lines[:-1]
    assert {line["title"][-4:]: line["earlier"] for line in past} == {"60 s": "", "00 s": "superseded"}
    assert titles(gitmem(repo, "recall", "idle sockets", "--as-of", then, "--json")) == [
        "The pool closes idle sockets after 60 s"
    ]


def test_a_branch_that_is_gone_is_brought_back_and_not_begun_again(repo: Path, gitmem: Run) -> None:
    put(gitmem, repo, "The pool keeps ten idle sockets")
    tip = git(repo, "rev-parse", "gitmem/main").strip()
    git(repo, "branch", "-qD", "gitmem/main")
    for words in (("init",), ("reindex", "--forget")):
        ran = gitmem(repo, *words)
        assert ran.code == 3 and f"git update-ref refs/heads/gitmem/main {tip}" in ran.err, words
    assert f"git update-ref refs/heads/gitmem/main {tip}" in gitmem(repo, "doctor").out
    assert "ten idle sockets" in gitmem(repo, "recall", "idle").out  # what was believed is still read
    git(repo, "update-ref", "refs/heads/gitmem/main", tip)
    assert gitmem(repo, "init").code == 0 and gitmem(repo, "reindex", "--forget").code == 0


def test_what_replaces_a_memory_is_about_the_same_files(repo: Path, gitmem: Run) -> None:
    old = put(gitmem, repo, "Amounts are integer cents", "-p", "src/pay.py", "-t", "money")
    new = supersede(gitmem, repo, old, "Amounts are integer milli cents")
    assert new[:8] in gitmem(repo, "context", "src/pay.py").out
    assert titles(gitmem(repo, "list", "-t", "money", "--json")) == ["Amounts are integer milli cents"]
    gitmem(repo, "supersede", new, "Amounts are decimals", "-p", "src/new.py", "-e", "file:src/pool.py:1", *WHY)
    assert "nothing" in gitmem(repo, "context", "src/pay.py").out


@pytest.mark.parametrize(
    "word", ["#sockets", "@sockets", "$sockets", "--sockets", "-sockets", "`sockets`", "(sockets)"]
)
def test_a_sign_before_a_word_hides_nothing(repo: Path, gitmem: Run, word: str) -> None:
    put(gitmem, repo, "The pool closes idle sockets")
    assert titles(gitmem(repo, "recall", "--json", "--", word)) == ["The pool closes idle sockets"]
    assert titles(gitmem(repo, "recall", "--json", "--", word.replace("sockets", "zebras"))) == []


def test_what_is_more_is_counted_as_it_would_be_shown(repo: Path, gitmem: Run) -> None:
    first = put(gitmem, repo, "The pool closes idle sockets after 300 s")
    supersede(gitmem, repo, first, "The pool closes idle sockets after 60 s")
    assert "more match" not in gitmem(repo, "recall", "idle", "-n", "1").err
    put(gitmem, repo, "An idle worker ends after an hour")
    assert "1 more match" in gitmem(repo, "recall", "idle", "-n", "1").err
    assert "more match" not in gitmem(repo, "recall", "idle", "--history").err


def test_a_block_without_room_and_a_phrase_without_a_match_are_told(repo: Path, gitmem: Run) -> None:
    put(gitmem, repo, "The pool closes idle sockets")
    small = gitmem(repo, "recall", "idle", "--format", "prompt", "--budget", "20")
    assert small.out == "" and "nothing fits into --budget 20" in small.err
    assert gitmem(repo, "recall", "idle", "--format", "prompt").out
    phrase = gitmem(repo, "recall", '"sockets idle"')
    assert "holds these words as they stand" in phrase.out and "leave out the quotes" in phrase.err
    assert "closes" in gitmem(repo, "recall", '"idle sockets"').out


def test_a_file_in_the_place_of_the_index_is_put_aside(repo: Path, gitmem: Run) -> None:
    put(gitmem, repo, "The pool closes idle sockets")
    assert "closes" in gitmem(repo, "recall", "idle").out
    folder = repo / ".git/gitmem/index"
    for make in (lambda: folder.write_text("x"), lambda: folder.symlink_to(repo / "nowhere")):
        shutil.rmtree(folder)
        make()
        found = gitmem(repo, "recall", "idle")
        assert "closes idle sockets" in found.out and found.err == "" and folder.is_dir()


@pytest.mark.parametrize(
    "words", [("context", "a" * 300), ("context", "a/" * 50_000), ("-C", "a" * 300, "recall", "x")]
)
def test_a_name_that_no_file_can_have_is_an_error_of_one_line(repo: Path, gitmem: Run, words: tuple[str, ...]) -> None:
    ran = gitmem(repo, *words)
    assert ran.code in (0, 1, 2, 6) and "unexpected" not in ran.err and len(ran.err) < 1000
    deep = repo / ".git/gitmem/belief.json"
    deep.write_text("[" * 100_000)
    assert gitmem(repo, "recall", "x").code == 0
