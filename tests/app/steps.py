"""Small steps through the command line that many tests take."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.app.conftest import Ran
from tests.conftest import git

Run = Callable[..., Ran]
# Claims that no two are near-duplicates of each other.
WEATHER = "Deploys wait for the weather report of the harbour"
POOL = "The pool holds twenty connections"
RETRY = "Retries of a failed connect stop after three attempts"
INVOICE = "Invoices are numbered by the accounting service"


def put(gitmem: Run, repo: Path, title: str, *flags: str, channel: str = "terminal", kind: str = "fact") -> str:
    """Remember a claim with a file as evidence; its id."""
    done = gitmem(repo, "remember", "--json", "-k", kind, title, "-e", "file:src/pool.py:2", *flags, channel=channel)
    assert done.code == 0, done.err
    return str(done.lines[0]["id"])


def proposed(gitmem: Run, repo: Path, title: str, *flags: str) -> str:
    """The id of a candidate that an agent proposed."""
    return put(gitmem, repo, title, *flags, channel="agent")


def codes(ran: Ran) -> list[str]:
    """The codes of the reasons of a refusal in JSON mode."""
    return [reason["code"] for reason in json.loads(ran.err)["error"]["reasons"]]


def ids(ran: Ran) -> list[str]:
    """The ids of an answer in JSON lines, without its summary."""
    assert ran.code == 0, ran.err
    return [line["id"] for line in ran.lines if "id" in line]


def status(gitmem: Run, repo: Path, identifier: str) -> str:
    return str(gitmem(repo, "show", identifier, "--json").lines[0]["status"])


def tips(repo: Path) -> str:
    """Every ref of the repository: equal before and after means that nothing was written."""
    return git(repo, "for-each-ref")


def everything(repo: Path) -> Iterator[tuple[str, bytes]]:
    """The name and bytes of every file below .git, and the content of every object."""
    for file in sorted((repo / ".git").rglob("*")):
        if file.is_file():
            yield str(file), file.read_bytes()
    for line in git(repo, "cat-file", "--batch-all-objects", "--batch-check").splitlines():
        oid, kind, _ = line.split()
        yield oid, _object(repo, kind, oid)


def _object(repo: Path, kind: str, oid: str) -> bytes:
    import subprocess

    done = subprocess.run(["git", "-C", str(repo), "cat-file", kind, oid], capture_output=True, check=True)
    return done.stdout


def events(gitmem: Run, repo: Path, *words: str) -> list[Any]:
    ran = gitmem(repo, "log", "--json", *words)
    assert ran.code == 0, ran.err
    return ran.lines


def decided_here(gitmem: Run, repo: Path) -> None:
    """Have people review here again, where review was on the forge: proposed, and merged by a fast-forward."""
    assert gitmem(repo, "policy", "set", "review", "local", "--because", "we decide here").code == 0
    git(repo, "update-ref", "refs/heads/gitmem/main", "refs/heads/gitmem/propose/policy-review")
    git(repo, "branch", "-q", "-D", "gitmem/propose/policy-review")
