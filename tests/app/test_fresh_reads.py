"""A read of what the index has seen already starts no git, writes nothing, and is the same where nothing can be
written."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.app.test_counts import started
from tests.app.test_index_life import index_held
from tests.cases.world import seeded
from tests.conftest import git
from tests.installed import PROGRAM, agent

__all__ = ["started"]

RECALL = ("recall", "pool connections")
FORMS = (RECALL, (*RECALL, "--json"), (*RECALL, "--format", "prompt"), (*RECALL, "--history"), (*RECALL, "--full"),
         ("recall", "-q", "pool connections", "-q", "twenty"), ("context", "src/pool.py"), ("list",),
         ("key", "no.such"))  # fmt: skip

_DROP, _OVERRIDES = 24, (1, 2)  # PR_CAPBSET_DROP of prctl(2); CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH


def files(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_fresh_read_starts_no_git_and_writes_nothing(repo: Path, started: Callable[[], list[str]]) -> None:
    identifier = seeded(repo)
    for words in FORMS:
        agent(repo, *words)
    started()
    before = files(repo / ".git")
    for words in FORMS:
        ran = agent(repo, *words)
        assert started() == [], words
        if words[0] != "key":
            assert identifier[:8] in ran.out, words
    assert files(repo / ".git") == before
    # The control: the stub does see git, once for the first read after a write.
    assert agent(repo, "remember", "-k", "fact", "Another thing about it", "-e", "file:README.md:1").code == 0
    started()
    assert agent(repo, *RECALL).code == 0
    assert started()
    assert agent(repo, *RECALL).code == 0
    assert started() == []


def test_a_fresh_read_asks_git_once_for_each_new_head(repo: Path, started: Callable[[], list[str]]) -> None:
    seeded(repo)
    agent(repo, *RECALL)
    started()
    git(repo, "commit", "-q", "--allow-empty", "-m", "head moved")  # what it cites may have changed
    started()
    assert agent(repo, *RECALL).code == 0
    assert started()
    assert agent(repo, *RECALL).code == 0
    assert started() == []


@pytest.mark.parametrize("how", ["packed", "linked", "subfolder", "detached", "unborn"])
def test_no_git_either_in_other_places_and_shapes(
    repo: Path, tmp_path: Path, started: Callable[[], list[str]], how: str
) -> None:
    identifier = seeded(repo)
    where = repo
    if how == "packed":
        git(repo, "pack-refs", "--all", "--prune")
        assert not (repo / ".git/refs/heads/gitmem/main").exists()
    elif how == "linked":
        where = tmp_path / "linked"
        git(repo, "worktree", "add", "-q", "--detach", str(where))
    elif how == "subfolder":
        where = repo / "src"
    elif how == "detached":
        git(repo, "checkout", "-q", "--detach")
    else:
        git(repo, "checkout", "-q", "--orphan", "unborn")
    first = agent(where, *RECALL).out
    started()
    ran = agent(where, *RECALL)
    assert (ran.code, ran.err, started()) == (0, "", [])
    assert ran.out == first
    assert identifier[:8] in ran.out


def test_with_a_variable_that_moves_git_the_answer_is_the_same(repo: Path, started: Callable[[], list[str]]) -> None:
    seeded(repo)
    at_hand = agent(repo, *RECALL)
    started()
    asked = agent(repo, *RECALL, environ={**os.environ, "GIT_DIR": ".git"})
    assert started()  # only git knows what it means
    assert (asked.code, asked.out, asked.err) == (at_hand.code, at_hand.out, at_hand.err)


def without_override() -> None:
    """Root ignores permissions unless these capabilities are taken from what it starts."""
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in _OVERRIDES:
            assert libc.prctl(_DROP, capability, 0, 0, 0) == 0


def held_to_permissions(where: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(PROGRAM), *words], cwd=where, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
        preexec_fn=without_override,
    )  # fmt: skip


@pytest.mark.skipif(os.geteuid() == 0 and sys.platform != "linux", reason="root needs Linux to be held to permissions")
@pytest.mark.parametrize("lost", ["", "index", "belief.json", "."], ids=["nothing", "the index", "belief", "all of it"])
def test_a_checkout_that_cannot_be_written_to_is_read(repo: Path, lost: str) -> None:
    identifier = seeded(repo)
    assert agent(repo, *RECALL).code == 0
    if lost:
        token = (repo / ".git/gitmem/trust.json").read_bytes()
        subprocess.run(["rm", "-r", str((repo / ".git/gitmem" / lost).resolve())], check=True)
        (repo / ".git/gitmem").mkdir(exist_ok=True)  # what says that this clone is trusted is derived from nothing
        (repo / ".git/gitmem/trust.json").write_bytes(token)
    everything = [repo, *repo.rglob("*")]
    for path in everything:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        for words in (RECALL, ("list",), ("context", "src/pool.py"), ("brief",)):
            ran = held_to_permissions(repo, *words)
            assert (ran.returncode, "Traceback" in ran.stderr) == (0, False), ran
            assert ran.stderr in (
                "",
                "note: the search index cannot be written now: it was made for this command alone\n",
            )
            assert identifier[:8] in ran.stdout or words == ("brief",), ran
        control = held_to_permissions(repo, "remember", "-k", "fact", "A thing", "-e", "file:README.md:1")
        assert control.returncode != 0
    finally:
        for path in everything:
            path.chmod(0o755)


@pytest.mark.skipif(os.geteuid() == 0 and sys.platform != "linux", reason="root needs Linux to be held to permissions")
def test_where_git_cannot_be_written_to_every_verb_reads_or_says_why_it_cannot_write(repo: Path) -> None:
    item = seeded(repo)
    made = agent(repo, "--json", "remember", "-k", "fact", "Deploys wait for the weather", "-e", "file:README.md:1")
    candidate = str(made.lines[0]["id"])
    because = ("--because", "looked at it")
    reads = (
        ("list", "--inbox"), ("show", item), ("log",), ("blame", item), ("related", item), ("status",), ("doctor",),
        ("verify", "--all"), ("audit", "verify"), ("stale",), ("policy",), ("policy", "explain"), ("conflicts",),
        ("plan",), ("lessons", "--dry-run"), ("sessions",), ("export",), ("propose", "--status"), ("review", "--json"),
        ("hooks", "status"), ("trust",), ("why", "pool connections"),
    )  # fmt: skip
    writes = (
        ("remember", "-k", "fact", "A thing", "-e", "file:README.md:1"), ("retract", candidate, *because),
        ("edit", candidate, "--tag", "x", *because), ("propose", candidate), ("reindex",), ("capture",), ("lessons",),
        ("hooks", "install"), ("init",), ("import", "README.md"), ("feedback", item, "useful"),
    )  # fmt: skip
    everything = [repo / ".git", *(repo / ".git").rglob("*")]
    modes = [(path, path.stat().st_mode) for path in everything]
    before = files(repo / ".git")
    for path, mode in modes:
        path.chmod(mode & ~0o222)
    try:
        for words in reads:
            ran = held_to_permissions(repo, *words)
            assert (ran.returncode, "cannot write" in ran.stderr) == (0, False), (words, ran)
        for words in writes:
            ran = held_to_permissions(repo, *words)
            assert (ran.returncode, "denied" in ran.stderr or "could not be kept" in ran.stderr) == (1, True), (
                words,
                ran,
            )
            assert "\n→ " in ran.stderr and "Traceback" not in ran.stderr, (words, ran)
        assert files(repo / ".git") == before
    finally:
        for path, mode in modes:
            path.chmod(mode)
    useful = ("feedback", item, "useful")
    for words in (useful, useful, ("retract", candidate, *because)):  # the control
        assert held_to_permissions(repo, *words).returncode == 0, words


def test_while_another_process_builds_the_first_index_the_answer_is_whole(repo: Path) -> None:
    identifier = seeded(repo)
    assert agent(repo, *RECALL).code == 0
    with index_held(repo):
        (folder,) = (path for path in (repo / ".git/gitmem/index").iterdir() if path.is_dir())
        shutil.rmtree(folder)
        for words in (RECALL, ("list",), ("context", "src/pool.py")):
            ran = agent(repo, *words)
            assert (ran.code, identifier[:8] in ran.out) == (0, True), ran
            assert "made for this command alone" in ran.err
        assert not folder.exists()
    assert agent(repo, *RECALL).err == ""
