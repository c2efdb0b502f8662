"""A repository with something of every type to cite, and sources that look at it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from hashlib import sha256
from pathlib import Path

from gitmem.evidence.sources import Sources
from gitmem.model.layout import MANIFEST, chunk_path, session_ref
from gitmem.model.nouns import Memory, Scope
from gitmem.model.sessions import Chunk, Generation, Manifest, manifest_bytes
from gitmem.model.vocabulary import Channel
from gitmem.store.port import RefMove
from gitmem.store.repository import locate, open_backend
from gitmem.store.sessions import StoredSession
from gitmem.store.transaction import TOOL, Transaction
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


# A session as lines; `Heard` reads them as an adapter would.
SESSION = "8c2f6a10-7d1e-4c55-9a3b-2f1e0d9c8b7a"
SAID = (
    {"id": "4d1e0001", "who": "human", "text": 'Please use a pool of 20 \u2014 and "never" touch prod.'},
    {"id": "4d1e0002", "who": "assistant", "text": "I think retries should be 7.", "call": "call_1"},
    {"id": "6bbb0004", "who": "ours", "text": "<gitmem-memory>The pool has 20 sockets.</gitmem-memory>"},
    {"id": "5aaa0003", "who": "tool", "text": "412 passed in 31.20s\n1 warning", "call": "call_1"},
)


@dataclass(frozen=True)
class Turn:
    record: str
    call: str | None
    start: int
    end: int
    speaker: str
    text: str


class Heard:
    """Who said what in a stored session, told from the lines above."""

    def turns(self, stored: StoredSession, generation: Generation) -> Iterator[Turn]:
        at = 0
        for line in b"".join(stored.stream(generation)).split(b"\n")[:-1]:
            row = json.loads(line)
            yield Turn(row["id"], row.get("call"), at, at + len(line), row["who"], row["text"])
            at += len(line) + 1

    def captured_here(self, stored: StoredSession) -> bool:
        return not stored.fetched

    def forgotten(self, name: str) -> str:
        return ""

    def receipt(self, stored: StoredSession) -> str:
        return ""


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
        sources = Sources(backend, location.head, location.work_tree, self.memory, channel, Heard())
        self.opened.append(sources)
        return sources

    def say(self, session: str = SESSION, said: tuple[dict[str, str], ...] = SAID) -> None:
        """Store a session of `claude-code` as one generation."""
        data = b"".join(json.dumps(row).encode() + b"\n" for row in said)
        backend = self.sources().backend
        chunk = Chunk(0, len(data), sha256(data).hexdigest())
        generation = Generation(1, "2026-03-02T10:00:00Z", "2026-03-02T10:00:00Z", len(data), len(said), (chunk,))
        transaction = Transaction(backend, None)
        transaction.put(MANIFEST, manifest_bytes(Manifest("claude-code", session, "jsonl", (generation,))))
        transaction.put(chunk_path(1, 0, len(data), "jsonl"), data)
        commit = transaction.commit("capture", TOOL, TOOL, datetime(2026, 3, 2, tzinfo=timezone.utc))
        ref = session_ref("claude-code", session)
        backend.move_refs([RefMove(ref, commit, backend.ref(ref), "capture")])

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
    world.say()
    return world
