"""Real processes: clones that write and sync at the same time lose nothing and end up with the same tree."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cases.world import records
from tests.conftest import git
from tests.installed import PROGRAM, Ran, agent, person
from tests.sync.conftest import MAIN

STEPS = int(os.environ.get("SYNC_STEPS", "100"))
CLONES = 20
WORDS = [
    *(
        "harbour",
        "crane",
        "pool",
        "retry",
        "cedar",
        "maple",
        "socket",
        "ledger",
        "invoice",
        "deploy",
        "cache",
        "timeout",
    ),
    *("lantern", "copper", "violet", "meadow", "anchor", "bridge", "candle", "dagger", "engine", "falcon", "garden"),
    *("hammer", "island", "jungle", "kettle", "ladder", "magnet", "needle"),
]


@pytest.fixture
def hub(repo: Path, tmp_path: Path) -> Path:
    """A bare remote that has the code and a memory, which `repo` began."""
    where = tmp_path / "hub.git"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(where))
    git(repo, "remote", "add", "origin", f"file://{where}")
    git(repo, "push", "-q", "origin", "main")
    assert person(repo, "init").code == 0
    assert person(repo, "sync").code == 0
    return where


def clone(hub: Path, name: str) -> Path:
    where = hub.parent / name
    git(hub.parent, "clone", "-q", f"file://{hub}", name)
    assert person(where, "sync").code == 0
    assert person(where, "trust", "--yes").code == 0
    return where


def title(chance: random.Random) -> str:
    return " ".join([*chance.sample(WORDS, 7), f"{chance.randrange(10**9)}"])


def statuses(where: Path) -> dict[str, str]:
    answer = agent(where, "list", "--json", "--status", "all", "--limit", "10000")
    assert answer.code == 0, answer
    return {record["id"]: record["status"] for record in records(answer)}


class Pair:
    """Two clones; what each was told that it wrote."""

    def __init__(self, clones: list[Path], seed: int) -> None:
        self.clones = clones
        self.chance = random.Random(seed)
        self.written: set[str] = set()
        self.rejected: set[str] = set()
        self.superseded: set[str] = set()
        self.refused = 0

    def step(self) -> None:
        where = self.chance.choice(self.clones)
        kind = self.chance.choices(("remember", "supersede", "wrong", "sync"), (6, 2, 2, 4))[0]
        getattr(self, kind)(where)

    def remember(self, where: Path) -> None:
        done = person(where, "remember", "--json", "-k", "fact", title(self.chance), "-e", "file:src/pool.py:2")
        assert done.code == 0, done
        self.written.add(done.lines[0]["id"])

    def supersede(self, where: Path) -> None:
        known = self.active(where)
        if known:
            old = self.chance.choice(known)
            done = person(
                where, "supersede", old, title(self.chance), "-e", "file:src/pool.py:2", "--because", "newer", "--json"
            )  # fmt: skip
            self.note(done, self.superseded, old)
            if done.code == 0:
                self.written.update(record["id"] for record in records(done) if record["id"] != old)

    def wrong(self, where: Path) -> None:
        known = self.active(where)
        if known:
            old = self.chance.choice(known)
            self.note(person(where, "wrong", old, "--because", "it never was so"), self.rejected, old)

    def sync(self, where: Path) -> None:
        """Sometimes only one way: the network is a bad one."""
        words = self.chance.choice(([], [], [], ["--pull"]))
        done = person(where, "sync", *words)
        assert done.code == 0, done

    def active(self, where: Path) -> list[str]:
        return sorted(record["id"] for record in records(agent(where, "list", "--json", "--limit", "10000")))

    def note(self, done: Ran, kind: set[str], identifier: str) -> None:
        assert done.code in (0, 3), done
        if done.code == 0:
            kind.add(identifier)
        self.refused += done.code == 3


@pytest.mark.race
def test_two_clones_and_a_bare_remote_with_random_partitions(hub: Path, repo: Path) -> None:
    pair = Pair([repo, clone(hub, "other")], seed=11)
    for _ in range(STEPS):
        pair.step()
    for where in (*pair.clones, *pair.clones):
        done = person(where, "sync")
        assert done.code == 0, done
    one, two = pair.clones
    assert git(one, "rev-parse", MAIN) == git(two, "rev-parse", MAIN) == git(hub, "rev-parse", MAIN)
    found = statuses(one)
    assert found == statuses(two)
    assert pair.written <= found.keys()  # nothing is lost
    assert all(found[identifier] == "wrong" for identifier in pair.rejected), "what was rejected stays so"
    assert all(found[identifier] not in ("active", "maybe_stale") for identifier in pair.superseded)
    assert len(pair.written) > STEPS // 5 and pair.rejected and pair.superseded
    for where in pair.clones:
        checked = agent(where, "verify", "--all")
        assert checked.code == 0, checked.out
        assert git(where, "fsck", "--connectivity-only", "--no-dangling") == ""


@pytest.mark.race
def test_twenty_clones_that_push_at_once_all_land(hub: Path, repo: Path) -> None:
    base = clone(hub, "base")
    clones = []
    for number in range(CLONES):
        where = hub.parent / f"c{number}"
        shutil.copytree(base, where, symlinks=True)
        shutil.rmtree(where / ".git/gitmem")
        assert person(where, "trust", "--yes").code == 0
        words = " ".join(random.Random(number).sample(WORDS, 7))
        assert person(where, "remember", "-k", "fact", f"{words} {number}", "-e", "file:src/pool.py:2").code == 0
        clones.append(where)
    environ: Mapping[str, str] = dict(os.environ)
    running = [
        subprocess.Popen(
            [str(PROGRAM), "sync", "--json"], cwd=where, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL, text=True,
        )
        for where in clones
    ]  # fmt: skip
    for process in running:
        out, err = process.communicate(timeout=600)
        assert process.returncode == 0, (out, err)
    assert person(repo, "sync").code == 0
    assert len(records(agent(repo, "list", "--json"))) == CLONES
    assert agent(repo, "verify", "--all").code == 0
