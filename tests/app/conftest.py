"""An Env for tests that go through the command line in process: streams in memory, a clock that counts, seeded."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from io import StringIO
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from gitmem.app import workspace
from gitmem.app.env import Env
from gitmem.cli.main import run
from gitmem.model.vocabulary import Channel
from gitmem.store.port import Backend
from gitmem.store.repository import Location

START = datetime(2026, 3, 2, 10, tzinfo=timezone.utc)


@pytest.fixture
def env() -> Callable[..., Env]:
    """`env(repo, channel="terminal")`: one clock and one seeded source of randomness for the whole test."""
    ticks = count()
    seeded = random.Random(7)

    def made(where: Path, channel: Channel = "terminal", *, host: str | None = None, stdin: str = "") -> Env:
        return Env(
            cwd=where,
            environ=dict(os.environ),
            stdin=StringIO(stdin),
            stdout=StringIO(),
            stderr=StringIO(),
            now=lambda: START + timedelta(seconds=next(ticks)),
            random=seeded.randbytes,
            channel=channel,
            host=host,
        )

    return made


@dataclass(frozen=True)
class Ran:
    """What one command line answered."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[Any]:
        """Standard output as JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def gitmem(env: Callable[..., Env], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """`gitmem(repo, "import", "--accept", channel="agent")` runs one command line in this process."""
    opened: list[Backend] = []
    really = workspace.open_backend

    def kept(location: Location, **how: bool) -> Backend:
        opened.append(really(location, **how))
        return opened[-1]

    # A command ends with its process, which closes what it opened; here the fixture has to.
    monkeypatch.setattr(workspace, "open_backend", kept)

    def ran(where: Path, *arguments: str, channel: Channel = "terminal", stdin: str = "") -> Ran:
        world = env(where, channel, stdin=stdin)

        def observed(named: str | None) -> Env:
            return world if named is None else replace(world, start=Path(named))

        code = run(list(arguments), observed)
        while opened:
            opened.pop().close()
        assert isinstance(world.stdout, StringIO) and isinstance(world.stderr, StringIO)
        return Ran(code, world.stdout.getvalue(), world.stderr.getvalue())

    return ran
