"""However the branch came to be, an index that was caught up now and then answers as one that was built at the end."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from io import StringIO
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from gitmem.app import belief, workspace
from gitmem.app.catch_up import catch_up, index_folder
from gitmem.app.env import Env
from gitmem.app.workspace import View
from gitmem.cli.main import run
from gitmem.model.ids import ALPHABET
from gitmem.model.layout import INBOX, MAIN, memory_of_path
from gitmem.model.records import memory_bytes, memory_from_bytes
from gitmem.model.vocabulary import Channel
from gitmem.recall.query import EVERY_VERSION, Query
from gitmem.recall.search_index import SearchIndex
from gitmem.store.port import Backend
from gitmem.store.repository import Location
from tests.conftest import git
from tests.verify.forge import Branch

START = datetime(2026, 3, 2, 10, tzinfo=timezone.utc)
CITED = ("-e", "file:src/pool.py:2")
TEXTS = ("pool", "retry the pool", "cedar", "poll", "hazel maple retry", "--no-header", "src/pool.py")


@dataclass
class World:
    """One clone: commands in this process, with a clock and randomness of its own."""

    repo: Path
    seed: int
    names: Iterator[int] = field(default_factory=count)
    refused: int = 0

    def __post_init__(self) -> None:
        self.ticks = count(self.seed * 1000)
        self.random = random.Random(self.seed)
        self.opened: list[Backend] = []
        self.main: list[str] = []  # ids that were written to the branch
        self.inbox: list[str] = []
        self.failing: list[tuple[str, bytes]] = []  # what once lay at a path

    def env(self, channel: Channel = "terminal") -> Env:
        return Env(
            cwd=self.repo, environ=dict(os.environ), stdin=StringIO(), stdout=StringIO(), stderr=StringIO(),
            now=lambda: START + timedelta(seconds=next(self.ticks)), random=self.random.randbytes, channel=channel,
        )  # fmt: skip

    def run(self, *arguments: str, channel: Channel = "terminal") -> bool:
        """A refusal is an answer too: what is drawn need not be allowed."""
        world = self.env(channel)
        code = run(list(arguments), lambda _: world)
        assert isinstance(world.stderr, StringIO)
        assert code in (0, 2, 3, 4, 7), world.stderr.getvalue()
        self.refused += code != 0
        return code == 0

    @contextmanager
    def view(self) -> Iterator[View]:
        opened = workspace.open_workspace(self.env())
        try:
            yield belief.believed_view(opened)
        finally:
            opened.close()

    def all_ids(self) -> list[str]:
        """Of memories of any ref at any time."""
        done = git(self.repo, "log", "--all", "-m", "--format=", "--name-only", "--", "memories/")
        return sorted({found for path in done.split() if (found := memory_of_path(path))})

    def ids(self, ref: str) -> list[str]:
        done = git(self.repo, "ls-tree", "-r", "--name-only", ref, "memories/", check=False)
        return [found for path in done.splitlines() if (found := memory_of_path(path))]


def title(number: int) -> str:
    chance = random.Random(number)
    made = ["".join(chance.choices("bcdfgklmnprstv", k=3)) + chance.choice("aeiou") for _ in range(8)]
    return " ".join([*made, chance.choice(["pool", "retry", "cedar", "maple", "--no-header"])])


# Steps. Each takes a world and a number that chooses among what is there.


def create(world: World, number: int) -> None:
    key = ("--key", f"key.k{number % 3}") if number % 2 else ()
    world.run("remember", "-k", "fact", title(next(world.names)), "--tag", f"t{number % 3}", *key, *CITED)


def propose(world: World, number: int) -> None:
    world.run("remember", "-k", "fact", title(next(world.names)), *CITED, channel="agent")


def _one(world: World, ref: str, number: int) -> str:
    ids = world.ids(ref)
    return ids[number % len(ids)] if ids else "zzzz"


def edit(world: World, number: int) -> None:
    world.run("edit", _one(world, MAIN, number), "--body", title(next(world.names)), "--because", "it says more")


def supersede(world: World, number: int) -> None:
    world.run("supersede", _one(world, MAIN, number), title(next(world.names)), "--because", "it changed", *CITED)


def _move(verb: str) -> Callable[[World, int], None]:
    def step(world: World, number: int) -> None:
        world.run(verb, _one(world, MAIN, number), "--because", "so it is")

    step.__name__ = verb
    return step


def decide(world: World, number: int) -> None:
    verb = ("accept", "reject")[number % 2]
    world.run(verb, _one(world, INBOX, number), "--because", "looked at it")


def edit_candidate(world: World, number: int) -> None:
    world.run(
        "edit", _one(world, INBOX, number), "--body", title(next(world.names)), "--because", "more", channel="agent"
    )


def by_hand(world: World, number: int) -> None:
    """An edit with plain git, with the event that it needs."""
    branch, identifier = Branch(world.repo), _one(world, MAIN, number)
    if identifier == "zzzz":
        return
    old = branch.memory(identifier)
    new = replace(old, body=title(next(world.names)))
    branch.commit(branch.with_event(branch.event("edit", new, old), new))


def by_hand_without_event(world: World, number: int) -> None:
    """Not to be believed: the record is quarantined, until a later change of it is good."""
    branch, identifier = Branch(world.repo), _one(world, MAIN, number)
    if identifier == "zzzz":
        return
    new = replace(branch.memory(identifier), body=title(next(world.names)))
    branch.commit({f"memories/{identifier[0]}/{identifier[1]}/{identifier}.yaml": memory_bytes(new)})


def put_back(world: World, number: int) -> None:
    """`git revert` of a record alone: bytes that were good come back without an event, and fail."""
    branch, identifier = Branch(world.repo), _one(world, MAIN, number)
    path = f"memories/{identifier[0]}/{identifier[1]}/{identifier}.yaml"
    commits = git(world.repo, "log", "--format=%H", MAIN, "--", path).split()
    if len(commits) > 1:
        branch.commit({path: branch.read(path, commits[-1])})


def rogue_candidate(world: World, number: int) -> None:
    """What a hand puts into the inbox: a text that is no record, or one record at the place of another."""
    identifier = _one(world, INBOX, number)
    if identifier != "zzzz":
        branch, path = Branch(world.repo), f"memories/{identifier[0]}/{identifier[1]}/{identifier}.yaml"
        data = b"title: [" if number % 2 else branch.read(path, INBOX).replace(identifier.encode(), b"a/b")
        tree = branch.tree_with({path: data}, base=INBOX)
        tip = git(world.repo, "rev-parse", INBOX).strip()
        git(world.repo, "update-ref", INBOX, branch.commit_tree(tree, tip))


def nothing_new(world: World, number: int) -> None:
    """A commit that changes no file."""
    branch = Branch(world.repo)
    branch.move(branch.commit_tree(git(world.repo, "rev-parse", f"{MAIN}^{{tree}}").strip(), branch.tip()))


def side_branch(world: World, number: int) -> None:
    """Somebody else wrote from an earlier commit; merged from either side, or from theirs with one more on top."""
    line = git(world.repo, "rev-list", "--first-parent", MAIN).split()
    start = line[min(number % 5, len(line) - 2)]
    where = world.repo.parent / f"other{next(world.names)}"
    shutil.copytree(world.repo, where, symlinks=True)
    shutil.rmtree(where / ".git/gitmem")
    git(where, "update-ref", MAIN, start)
    git(where, "update-ref", "-d", INBOX)
    other = World(where, world.seed + 1 + next(world.names), world.names)
    assert other.run("trust", "--yes")
    for step in (create, *((create, edit) if number % 3 else ())):
        step(other, number)
    git(world.repo, "fetch", "-q", str(where), f"+{MAIN}:refs/heads/theirs")
    shutil.rmtree(where)
    ours, theirs = (git(world.repo, "rev-parse", ref).strip() for ref in (MAIN, "refs/heads/theirs"))
    tree = git(world.repo, "merge-tree", "--write-tree", ours, theirs, check=False).split()
    if len(tree) == 1:  # else both changed one record
        branch = Branch(world.repo)
        parents = (ours, theirs) if number % 2 else (theirs, ours)
        branch.move(branch.commit_tree(tree[0], *parents, message="merge"))


def go_back(world: World, number: int) -> None:
    """The branch is rewound, and the person says that this is right."""
    line = git(world.repo, "rev-list", "--first-parent", MAIN).split()
    git(world.repo, "update-ref", MAIN, line[min(number % 4, len(line) - 2)])
    opened = workspace.open_workspace(world.env())
    belief.forget(opened)
    opened.close()


def look(world: World, number: int) -> None:
    with world.view() as view:
        catch_up(view)


MOVES = [_move(verb) for verb in ("wrong", "archive", "restore", "dispute", "lift")]
OFTEN = [create, create, create, edit, edit, decide, decide, side_branch, side_branch, look, look, look, look]
STEPS = [
    *OFTEN, *MOVES, propose, supersede, edit_candidate, by_hand, by_hand_without_event, put_back, nothing_new,
    rogue_candidate, go_back,
]  # fmt: skip


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Closes what the commands opened; a command ends with its process."""
    opened: list[Backend] = []
    really = workspace.open_backend

    def kept(location: Location, **how: bool) -> Backend:
        opened.append(really(location, **how))
        return opened[-1]

    def close() -> None:
        while opened:
            opened.pop().close()

    monkeypatch.setattr(workspace, "open_backend", kept)
    yield close
    close()


@pytest.fixture
def begun(repo: Path, closed: Callable[[], None]) -> Path:
    """A repository with a memory branch, to be copied."""
    assert World(repo, 0).run("init")
    closed()
    return repo


def answers(index: SearchIndex, every: list[str]) -> dict[str, Any]:
    """Everything that can be asked of the index. `every`: the ids that are and were."""
    positions = index.positions()
    moments = [None, EVERY_VERSION, *range(len(positions))]
    found: dict[str, Any] = {
        "tips": dict(index.tips),
        "positions": [(positions.commit(n), positions.time(n)) for n in range(len(positions))],
        "ids": [pair for letter in ALPHABET for pair in index.ids(letter)],
        "count": index.count(),
        "recorded": index.recorded(every),
        "alike": {(hit.ref, hit.id) for hit in index.similar(" ".join(TEXTS), 1000)},
    }
    for key in ("key.k0", "key.k1", "key.k2"):
        found[key] = index.with_key(key)
    for at in moments:
        found[f"versions {at}"] = index.versions(every, None, at)
        found[f"newest {at}"] = index.search(Query(refs=(), position=at, limit=1000), None)
        found[f"pages {at}"] = [index.search(Query(refs=(), position=at, limit=2, offset=o), None) for o in (0, 2, 4)]
        found[f"solving {at}"] = index.linking([f"superseded_by:{i}" for i in every], None, at)
        for text in TEXTS:
            found[f"{text!r} {at}"] = index.search(Query((text,), refs=(), position=at, limit=1000), None)
    return found


def true_versions(view: View, positions: Any, position: int) -> dict[str, bytes]:
    """What git itself has at a commit of the branch, less what failed verification."""
    backend, found = view.workspace.backend, {}
    for line in git(view.workspace.location.git_dir, "ls-tree", "-r", positions.commit(position)).splitlines():
        head, _, path = line.partition("\t")
        oid = head.split()[2]
        if (identifier := memory_of_path(path)) and oid not in view.failed.get(path, ()):
            found[identifier] = memory_bytes(memory_from_bytes(backend.read(oid)[1]))
    return found


def check(world: World) -> None:
    with world.view() as view:
        index = catch_up(view)
        every = world.all_ids()
        caught = answers(index, every)
        line = git(world.repo, "rev-list", "--first-parent", "--reverse", view.main.commit or MAIN).split()
        assert [commit for commit, _ in caught["positions"]] == line
        for position in range(len(line)):
            said = {hit.id: hit.record for hit in caught[f"versions {position}"]}
            assert said == true_versions(view, index.positions(), position), position
        assert caught["versions None"] == caught[f"versions {len(line) - 1}"]
        rebuilt = answers(catch_up(view, rebuild=True), every)
        shutil.rmtree(index_folder(view.workspace))
        anew = answers(catch_up(view), every)
    for name in anew:
        assert rebuilt[name] == anew[name], name
        assert caught[name] == anew[name], name


@settings(
    deadline=None, max_examples=int(os.environ.get("HISTORIES", "8")), suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # to shrink a history takes minutes
)  # fmt: skip
@example([(propose, 0), (look, 0), (rogue_candidate, 1), (look, 0), (create, 2)])
@example([(propose, 0), (propose, 0), (look, 0), (rogue_candidate, 0), (look, 0), (create, 2)])
@example([(edit, 0), (look, 0), (side_branch, 2), (look, 0), (edit, 1), (side_branch, 3), (go_back, 1), (look, 0)])
@example([(by_hand_without_event, 0), (look, 0), (by_hand, 0)])
@example([(edit, 0), (look, 0), (put_back, 0), (look, 0), (edit, 0)])
@given(st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 30)), min_size=4, max_size=14))
def test_an_index_that_was_caught_up_answers_as_one_that_was_built_at_the_end(
    begun: Path, closed: Callable[[], None], steps: list[tuple[Callable[[World, int], None], int]]
) -> None:
    where = begun.parent / "example" / "shop"
    shutil.rmtree(where.parent, ignore_errors=True)
    shutil.copytree(begun, where, symlinks=True)
    world = World(where, 1)
    assert world.run("trust", "--yes")
    create(world, 1)
    look(world, 0)
    for step, number in steps:
        step(world, number)
        closed()
    check(world)
