"""What the cases share: a memory put in by the installed command, and what git itself sees."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.conftest import git
from tests.installed import Ran, agent, person

TITLE = "The pool opens twenty connections when it starts"
QUOTE = "size = 20"


def environ(**changes: str | None) -> dict[str, str]:
    """The sealed environment with changes; None takes a variable out."""
    merged: dict[str, str | None] = {**os.environ, **changes}
    return {name: value for name, value in merged.items() if value is not None}


def remember(
    where: Path,
    title: str = TITLE,
    evidence: str = "file:src/pool.py:2",
    *more: str,
    env: Mapping[str, str] | None = None,
) -> Ran:
    """One fact, written by a person."""
    return person(where, "remember", "-k", "fact", title, "-e", evidence, *more, environ=env)


def records(ran: Ran) -> list[dict[str, Any]]:
    """The memories in a JSON answer."""
    return [line for line in ran.lines if "id" in line and "kind" in line]


def seeded(where: Path) -> str:
    """`gitmem init` and one memory; gives its id."""
    assert person(where, "init").code == 0
    done = remember(where)
    assert done.code == 0, done.err
    [record] = records(agent(where, "list", "--json"))
    return str(record["id"])


def users_own(where: Path) -> dict[str, str]:
    """What is the user's in a repository: every file of it and of the work tree, less gitmem's refs, objects, state."""
    common = Path(git(where, "rev-parse", "--path-format=absolute", "--git-common-dir").strip())
    top = git(where, "rev-parse", "--show-toplevel", check=False).strip()
    found: dict[str, str] = {}
    for root in {common, Path(top) if top else common}:
        for path in sorted(root.rglob("*")):
            inside = path.relative_to(common).parts if path.is_relative_to(common) else ()
            if "objects" in inside or "gitmem" in inside or not path.is_file():
                continue
            found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def hand_commit(repo: Path, files: Mapping[str, bytes | None], message: str = "edited by hand") -> str:
    """A commit of plain git on gitmem/main, through a worktree; None removes a file. Gives its id."""
    place = repo.parent / f"{repo.name}-hand"
    git(repo, "worktree", "add", "-q", "--force", str(place), "gitmem/main")
    for name, data in files.items():
        if data is None:
            (place / name).unlink()
        else:
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(data)
    git(place, "add", "-A", "--force")
    git(place, "commit", "-q", "--no-verify", "-m", message)
    git(repo, "worktree", "remove", "--force", str(place))
    return git(repo, "rev-parse", "gitmem/main").strip()


def record_file(repo: Path, identifier: str) -> tuple[str, str]:
    """Path and text of a memory on the branch."""
    path = f"memories/{identifier[0]}/{identifier[1]}/{identifier}.yaml"
    return path, git(repo, "show", f"gitmem/main:{path}")
