"""A repository with something of every type to cite, and sources that look at it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from gitmem.evidence.sources import Sources
from gitmem.model.nouns import Memory, Scope
from gitmem.model.vocabulary import Channel
from gitmem.store.repository import locate, open_backend
from tests.conftest import git

JUNIT = """<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="pytest" tests="4">
<testcase classname="tests.test_pool" name="test_size" time="0.1" />
<testcase classname="tests.test_pool" name="test_retry[a&gt;b]">
<failure message="assert 3 == 4&#10;second line">trace</failure></testcase>
<testcase classname="tests.test_other" name="test_size"><skipped message="no redis here"/></testcase>
<testcase classname="tests.test_pool" name="test_twice" />
<testcase classname="tests.test_pool" name="test_twice"><error/></testcase>
</testsuite></testsuites>
"""
TAP = """TAP version 14
1..3
# Subtest: pool
    ok 1 - opens
    not ok 2 - closes # TODO later
    1..2
ok 1 - pool
not ok 2 - retry gives up
  ---
  message: 'ok 9 - not a case'
  ...
ok 3 # SKIP no network
"""


def memory(title: str = "Retry the redis connect", body: str = "") -> Memory:
    scope = Scope("shop-k3x9qd")
    return Memory("7k3q9dxwm2ab", "fact", title, status="active", scope=scope, origin="inferred", body=body)


@dataclass
class World:
    """`sources()` looks at the repository as it is now; `memories` is what the branch holds."""

    repo: Path
    memories: dict[str, Memory] = field(default_factory=dict)
    opened: list[Sources] = field(default_factory=list)

    def elsewhere(self, repo: Path) -> World:
        """Another repository; what it opens is closed with this one's."""
        return World(repo, opened=self.opened)

    def sources(self, channel: Channel = "terminal", *, long_lived: bool = False) -> Sources:
        import os

        location = locate(self.repo, environ=dict(os.environ))
        backend = open_backend(location, long_lived=long_lived)
        sources = Sources(backend, location.head, location.work_tree, self.memory, channel)
        self.opened.append(sources)
        return sources

    def memory(self, prefix: str) -> Memory | None:
        return next((memory for name, memory in self.memories.items() if name.startswith(prefix)), None)

    def edit_memory(self, **changes: str) -> None:
        for name, one in self.memories.items():
            self.memories[name] = replace(one, **changes)  # type: ignore[arg-type]

    def commit(self, path: str, content: str | bytes, message: str = "more") -> str:
        self.write(path, content)
        git(self.repo, "add", "--", path)
        git(self.repo, "commit", "-q", "-m", message)
        return git(self.repo, "rev-parse", "HEAD").strip()

    def write(self, path: str, content: str | bytes) -> None:
        where = self.repo / path
        where.parent.mkdir(parents=True, exist_ok=True)
        where.write_bytes(content if isinstance(content, bytes) else content.encode())


def make_world(repo: Path) -> World:
    one = memory()
    world = World(repo, {one.id: one})
    world.commit("reports/junit.xml", JUNIT, "reports: keep the run of monday")
    world.write("out.tap", TAP)
    return world
