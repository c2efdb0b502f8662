"""Locks and other writers: what a crash left is recovered or named, what others hold is waited for."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.cases.world import environ, records, remember, seeded
from tests.conftest import git
from tests.installed import PROGRAM, Ran, agent, person

LOCK = ".git/refs/heads/gitmem/main.lock"


def at_once(lines: list[tuple[Path, list[str]]]) -> list[Ran]:
    """Start all command lines, then wait for all."""
    started = [
        subprocess.Popen(
            [str(PROGRAM), *words], cwd=where, env=environ(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )
        for where, words in lines
    ]  # fmt: skip
    answers = [process.communicate(timeout=120) for process in started]
    return [Ran(process.returncode, *said) for process, said in zip(started, answers, strict=True)]


def worktrees(repo: Path, count: int) -> list[Path]:
    places = [repo.parent / f"tree{number}" for number in range(count)]
    for place in places:
        git(repo, "worktree", "add", "-q", "--detach", str(place))
    return places


def test_a_lock_that_a_crash_left_is_recovered(repo: Path) -> None:
    seeded(repo)
    (repo / LOCK).touch()
    old = time.time() - 3 * 3600
    os.utime(repo / LOCK, (old, old))
    assert "main.lock" in agent(repo, "doctor").out
    assert remember(repo, "A second fact of the day", "human:second fact").code == 0
    assert not (repo / LOCK).exists()
    assert len(records(agent(repo, "list", "--json"))) == 2


@pytest.mark.parametrize("told", ["option", "variable"])
def test_a_lock_is_left_while_a_git_at_work_elsewhere_was_told_of_the_repository(repo: Path, told: str) -> None:
    seeded(repo)
    (repo / LOCK).touch()
    old = time.time() - 3 * 3600
    os.utime(repo / LOCK, (old, old))
    place = os.path.relpath(repo / ".git", "/")
    words = [f"--git-dir={place}"] if told == "option" else []
    with subprocess.Popen(
        ["git", *words, "hash-object", "--stdin"], cwd="/", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
        env=environ() | ({} if words else {"GIT_DIR": place}),
    ) as held:  # fmt: skip
        refused = remember(repo, "A second fact of the day", "human:second fact")
        assert refused.code != 0 and str(held.pid) in refused.err and (repo / LOCK).exists()
    assert remember(repo, "A second fact of the day", "human:second fact").code == 0
    assert not (repo / LOCK).exists()


def test_the_first_init_of_many_processes_is_one(repo: Path) -> None:
    answers = at_once([(place, ["init", "--json"]) for place in worktrees(repo, 3) * 2])
    assert [answer.code for answer in answers] == [0] * 6, answers
    made = [answer.lines[0] for answer in answers]
    assert len({line["commit"] for line in made}) == len({line["project"] for line in made}) == 1
    assert sorted(line["result"] for line in made) == ["created"] + ["present"] * 5
    assert git(repo, "rev-list", "--count", "gitmem/main").strip() == "2"


WORDS = ["pump", "valve", "socket", "buffer", "kettle", "mirror", "ladder", "window"]


def test_no_write_of_many_processes_is_lost_and_all_are_found(repo: Path) -> None:
    seeded(repo)
    lines = [
        (
            place,
            ["remember", "-k", "fact", f"The {word} was measured at {7 * number} units", "-e", "file:src/pool.py:2"],
        )
        for number, (place, word) in enumerate(zip(worktrees(repo, 4) * 2, WORDS, strict=True))
    ]
    answers = at_once(lines)
    assert [answer.code for answer in answers] == [0] * len(WORDS), answers
    waiting = records(agent(repo, "list", "--inbox", "--json"))
    assert sorted(record["title"].split()[1] for record in waiting) == sorted(WORDS)
    done = person(repo, "accept", *[record["id"] for record in waiting])
    assert done.code == 0, done.err
    for word in WORDS:
        assert f"The {word} was measured" in agent(repo, "recall", word, "measured").out
    assert agent(repo, "verify", "--all").code == 0 and not git(repo, "fsck", "--strict", "--no-dangling")


def test_an_index_that_is_held_or_was_left_is_no_obstacle(repo: Path) -> None:
    seeded(repo)
    assert agent(repo, "recall", "pool").code == 0
    process = subprocess.Popen([str(PROGRAM), "reindex"], cwd=repo, env=environ(), stdin=subprocess.DEVNULL)
    process.send_signal(signal.SIGKILL)
    process.wait()
    [lock] = (repo / ".git/gitmem/index").glob("*.lock")
    held = subprocess.Popen(["flock", str(lock), "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert held.stdin and held.stdout
    held.stdin.write(b"held\n")
    held.stdin.flush()
    assert held.stdout.readline() == b"held\n"
    try:
        done = remember(repo, "The kettle boils at ninety degrees up here", "human:boils at ninety")
        assert done.code == 0, done.err
        assert agent(repo, "recall", "pool connections").code in (0, 1, 5)  # an answer or a named wait, never a hang
    finally:
        held.communicate()
    assert "kettle" in agent(repo, "recall", "kettle boils").out


@pytest.mark.parametrize("name", ["index.lock", "HEAD.lock", "config.lock", "packed-refs.lock"])
def test_a_lock_of_the_users_is_left_alone(repo: Path, name: str) -> None:
    seeded(repo)
    (repo / ".git" / name).write_text(json.dumps("theirs"))
    assert remember(repo, "A second fact of the day", "human:second fact").code == 0
    assert (repo / ".git" / name).read_text() == '"theirs"'
