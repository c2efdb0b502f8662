"""A team: a bare remote with code on it, and clones of it with memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.app.conftest import Ran, env, gitmem
from tests.conftest import git

__all__ = ["env", "gitmem"]

MAIN = "refs/heads/gitmem/main"


@dataclass
class Clone:
    """One clone of the team's. `run` gives what a command line answered; `ok` asserts that it went well."""

    repo: Path
    gitmem: Callable[..., Ran]

    def run(self, *arguments: str, **how: Any) -> Ran:
        return self.gitmem(self.repo, *arguments, **how)

    def ok(self, *arguments: str, **how: Any) -> Ran:
        done = self.run(*arguments, **how)
        assert done.code == 0, done
        return done

    def remember(self, title: str, *more: str) -> str:
        before = self.ids()
        self.ok("remember", "-k", "fact", title, "-e", "file:src/pool.py:2", *more)
        (made,) = self.ids() - before
        return made

    def ids(self) -> set[str]:
        return {line["id"] for line in self.ok("list", "--json").lines if "kind" in line}

    def sync(self, *arguments: str, **how: Any) -> dict[str, Any]:
        """What the only remote's line says; the sync went well."""
        (line,) = self.ok("sync", "--json", *arguments, **how).lines
        return dict(line)

    def fails(self, *arguments: str, code: int, state: str, **how: Any) -> Ran:
        """The sync fails with this exit code for this reason, and says what to do next."""
        done = self.run("sync", "--json", *arguments, **how)
        assert done.code == code and done.lines[-1]["state"] == state, done
        assert done.lines[-1]["error"]["hint"], done
        return done

    def tip(self, ref: str = MAIN) -> str:
        return git(self.repo, "rev-parse", "-q", "--verify", ref, check=False).strip()


@dataclass
class Team:
    hub: Path
    ana: Clone
    top: Path
    gitmem: Callable[..., Ran]

    def clone(self, name: str, *options: str, trusted: bool = True) -> Clone:
        """One more clone, with the memory taken over."""
        git(self.top, "clone", "-q", *options, f"file://{self.hub}", name)
        made = Clone(self.top / name, self.gitmem)
        if trusted:
            made.ok("sync")
            made.ok("trust", "--yes")
        return made

    def tip(self) -> str:
        return git(self.hub, "rev-parse", "-q", "--verify", MAIN, check=False).strip()


@pytest.fixture
def team(repo: Path, tmp_path: Path, gitmem: Callable[..., Ran]) -> Team:
    """Ana's clone has one memory, which the hub has too."""
    hub = tmp_path / "hub.git"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(hub))
    git(repo, "remote", "add", "origin", f"file://{hub}")
    git(repo, "push", "-q", "-u", "origin", "main")
    ana = Clone(repo, gitmem)
    ana.ok("init")
    ana.remember("The pool opens twenty connections")
    assert ana.sync()["state"] == "pushed"
    return Team(hub, ana, tmp_path, gitmem)
