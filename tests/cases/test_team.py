"""A team with the installed command: three clones, a remote that checks, agents that propose, people who decide."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import git
from tests.installed import PROGRAM, Ran, agent, person

CHECK = Path(__file__).resolve().parents[2] / "hooks/ci/check"
GOOD, BAD = "The pool holds twenty connections", "Retries of a failed connect stop after three attempts"
WHY = ("--because", "measured again")


def ok(ran: Ran) -> Ran:
    assert ran.code == 0, ran
    return ran


@pytest.fixture
def hub(repo: Path, tmp_path: Path) -> Path:
    """A bare remote with the code and a memory begun by `repo`, which refuses what verification refuses."""
    where = tmp_path / "hub.git"
    git(tmp_path, "init", "-q", "--bare", str(where))
    git(repo, "remote", "add", "origin", str(where))
    git(repo, "push", "-q", "origin", "HEAD")
    ok(person(repo, "init"))
    ok(person(repo, "sync"))
    ok(person(where, "hooks", "install", "--server"))
    return where


def joined(hub: Path, where: Path) -> Path:
    """A clone of somebody who looked at the memory and trusts it."""
    git(hub.parent, "clone", "-q", str(hub), str(where))
    ok(person(where, "init"))
    assert person(where, "recall", "anything").code == 3  # nothing is shown before somebody looked
    ok(person(where, "trust", "--yes"))
    return where


def proposed(where: Path, title: str) -> str:
    """The id of what an agent proposed there."""
    return str(ok(agent(where, "remember", "--json", "-k", "fact", title, "-e", "file:src/pool.py:2")).lines[0]["id"])


def tip(where: Path) -> str:
    return git(where, "rev-parse", "refs/heads/gitmem/main").strip()


def test_a_team_shares_what_its_people_let_in_and_nothing_else(repo: Path, hub: Path, tmp_path: Path) -> None:
    ann, bob, eve = repo, joined(hub, tmp_path / "bob"), joined(hub, tmp_path / "eve")

    # An agent proposes, a person decides with both before them; nobody is shown anything until then.
    good, bad = proposed(bob, GOOD), proposed(bob, BAD)
    assert GOOD not in agent(bob, "recall", GOOD).out
    waiting = {line["id"]: line for line in ok(person(bob, "review", "--json")).lines if "id" in line}
    assert set(waiting) == {good, bad}
    assert agent(bob, "accept", good).code == 3
    ok(person(bob, "review", "accept", good))
    ok(person(bob, "review", "reject", bad, *WHY))
    ok(person(bob, "sync"))
    for clone in (ann, eve):
        ok(person(clone, "sync"))
        assert GOOD in agent(clone, "recall", GOOD).out

    # What was rejected is not learned again: by another clone, in another spelling, from notes, by an agent.
    notes = ann / "notes.md"
    notes.write_text(f"# Notes\n\n- {BAD}\n- Invoices are numbered by the accounting service\n")
    before = tip(ann)
    for title in (BAD, BAD.upper(), BAD.replace("a", "\u0430"), f"{BAD}."):
        assert person(ann, "remember", "-k", "fact", title, "-e", "file:src/pool.py:2").code == 3
        assert agent(eve, "remember", "-k", "procedure", title, "-e", "file:src/pool.py:2").code == 3
    person(ann, "import", "notes.md", "--accept", "--yes")
    assert BAD not in person(ann, "list", "--status", "every").out
    ok(person(ann, "remember", "-k", "fact", "The nightly report is sent by mail", "-e", "file:src/pool.py:2"))
    assert tip(ann) != before
    ok(person(ann, "sync"))

    # A hostile push is refused by the remote, with the reason, and changes nothing.
    ok(person(eve, "sync"))
    believed, desk = tip(hub), tmp_path / "desk"
    git(eve, "worktree", "add", "-q", "--detach", str(desk), "gitmem/main")
    (record,) = desk.glob(f"memories/*/*/{good}.yaml")
    record.write_text(record.read_text().replace("twenty", "ninety"))
    git(desk, "commit", "-qam", "a small fix")
    pushed = subprocess.run(
        ["git", "push", "--no-verify", "origin", "HEAD:refs/heads/gitmem/main"],
        cwd=desk, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert pushed.returncode and "gitmem" in pushed.stderr and good in pushed.stderr
    assert tip(hub) == believed

    # A pull request: what an agent offers is judged by the script of CI as it would be merged.
    proposed(ann, "Deploys wait for the weather report of the harbour")
    offer = ok(agent(ann, "propose", "--json", "--push", "--name", "weather")).lines[0]
    assert offer["pushed"]["result"] == "done"
    request = f"refs/heads/{offer['branch'].removeprefix('refs/heads/')}"
    done = subprocess.run(
        ["sh", str(CHECK), "refs/heads/gitmem/main", request],
        cwd=hub, env={**os.environ, "GITMEM": str(PROGRAM)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "gitmem check: good\n"), done

    for clone in (bob, eve, ann):
        ok(person(clone, "sync"))
        assert tip(clone) == tip(hub)
        ok(person(clone, "verify", "--all"))
        ok(person(clone, "audit", "verify"))
