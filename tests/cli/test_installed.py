"""The installed command in processes of its own: a person at a terminal, an agent without, and pipes."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

from tests.app.steps import POOL, WEATHER
from tests.conftest import git
from tests.installed import PROGRAM, agent, person


def test_a_person_and_an_agent_are_told_apart(repo: Path) -> None:
    assert person(repo, "init").code == 0
    mine = person(repo, "remember", "--json", "-k", "fact", POOL, "-e", "file:src/pool.py:2")
    assert mine.code == 0 and mine.lines[0]["result"] == "active", mine.err
    theirs = agent(repo, "remember", "--json", "-k", "fact", WEATHER, "-e", "file:src/pool.py:2")
    assert theirs.lines[0]["result"] == "candidate"
    candidate = theirs.lines[0]["id"]
    refused = agent(repo, "accept", candidate)
    assert refused.code == 3 and f"a person runs: gitmem accept {candidate}" in refused.err
    marked = person(repo, "accept", candidate, environ={**os.environ, "CLAUDECODE": "1"})
    assert marked.code == 3 and "claude-code" in marked.err
    assert person(repo, "accept", candidate).code == 0
    assert agent(repo, "verify", "--all").code == 0


def test_a_reader_that_goes_away_is_no_error(repo: Path) -> None:
    person(repo, "init")
    for number in range(3):
        person(repo, "remember", "-k", "fact", f"Claim {number} {'abc'[number] * 8}", "-e", "file:src/pool.py:2")
    for verb in ("list", "export", "log --json"):
        script = f'{{ {PROGRAM} {verb}; echo "code $?" >&2; }} | true'
        done = subprocess.run(["bash", "-c", script], cwd=repo, capture_output=True, text=True, check=True)
        assert done.stderr == "code 0\n", verb


def test_a_full_disk_is_named(repo: Path) -> None:
    agent(repo, "init")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [str(PROGRAM), "policy"], cwd=repo, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1 and "No space left on device" in done.stderr and "Traceback" not in done.stderr


def test_an_interrupt_ends_with_130_and_writes_nothing(repo: Path) -> None:
    agent(repo, "init")
    before = git(repo, "for-each-ref")
    running = subprocess.Popen(
        [str(PROGRAM), "remember", "-f", "-"], cwd=repo, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert running.stdin is not None
    # It waits for its input: once the first part is read, the interpreter is up.
    running.stdin.write("kind: fact\n" * 20_000)
    running.stdin.flush()
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert running.returncode == 130 and out == "" and err == "interrupted\n"
    assert git(repo, "for-each-ref") == before


def test_it_runs_in_folders_worktrees_and_bare_repositories(repo: Path, tmp_path: Path) -> None:
    agent(repo, "init")
    words = ["remember", "--json", "-k", "fact", POOL, "-e", "file:src/pool.py:2"]
    identifier = agent(repo / "src", *words).lines[0]["id"]
    assert agent(repo, *words).lines[0]["id"] == identifier
    git(repo, "worktree", "add", "-q", str(tmp_path / "wt"), "-b", "topic")
    assert agent(tmp_path / "wt", "show", identifier).code == 0
    git(tmp_path, "clone", "-q", "--bare", str(repo), "bare.git")
    assert agent(tmp_path, "-C", "bare.git", "list").code == 3  # a clone is inert until a person trusts it
    assert person(tmp_path, "-C", "bare.git", "trust", "--yes").code == 0
    bare = agent(tmp_path, "-C", "bare.git", *words[:4], WEATHER, *words[5:])
    assert bare.code == 0, bare.err
    assert agent(tmp_path, "--repo", "bare.git", "list", "--inbox", "--json").lines[0]["id"] == bare.lines[0]["id"]


def test_without_home_or_identity_it_still_writes(repo: Path) -> None:
    bare = {name: value for name, value in os.environ.items() if not name.startswith(("HOME", "XDG_", "GIT_"))}
    assert agent(repo, "init", environ=bare).code == 0
    done = agent(repo, "remember", "-k", "fact", POOL, "-e", "file:src/pool.py:2", environ=bare)
    assert done.code == 0, done.err
    who = git(repo, "log", "-1", "--format=%an <%ae>", "refs/gitmem/inbox").strip()
    assert who == "gitmem <gitmem@localhost.invalid>"


def test_git_mem_is_the_same_command(repo: Path) -> None:
    environ = {**os.environ, "PATH": f"{PROGRAM.parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["git", "mem", "--version"], cwd=repo, env=environ, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("gitmem ")
