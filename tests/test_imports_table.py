"""What each verb loads, by the names of modules: start-up cost is a matter of imports, and names do not flicker.

`python benchmarks/startup.py` prints the whole table, with times.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import git

# Runs one command line as the installed command does, then writes the names of all loaded modules.
PROBE = """\
import json, sys
names = sys.argv.pop(1)
from gitmem.app.env import observe
from gitmem.cli.main import run
code = run(sys.argv[1:], observe)
with open(names, "w") as file:
    json.dump(sorted(sys.modules), file)
sys.exit(code)
"""
# The same for a person at a terminal, without a terminal: only what lies on gitmem/main matters here.
PERSON = """\
import sys
from dataclasses import replace
from gitmem.app.env import observe
from gitmem.cli.main import run
sys.exit(run(sys.argv[1:], lambda start: replace(observe(start), channel="terminal")))
"""
HEAVY = ("pydantic", "pydantic_core", "pygit2", "ruamel", "rich", "numpy")
ABSENT = "0" * 40


def gitmem(program: str, where: Path, *words: str, stdin: str = "") -> str:
    """Run a program above on one command line; what it printed on both streams. It must succeed."""
    done = subprocess.run(
        [sys.executable, "-c", program, *words], cwd=where, input=stdin, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def loaded(where: Path, *words: str, stdin: str = "", expect: str = "") -> set[str]:
    """The packages that `gitmem words`, run as by an agent, has loaded when it ends; it prints `expect`."""
    names = where.parent / "modules.json"
    assert expect in gitmem(PROBE, where, str(names), *words, stdin=stdin)
    return {name.partition(".")[0] for name in json.loads(names.read_text())}


@pytest.fixture
def known(repo: Path) -> tuple[Path, str]:
    """A repository with a memory on gitmem/main and one in the inbox, all of it indexed; the first one's id."""
    gitmem(PERSON, repo, "init")
    words = ["remember", "-k", "fact", "The pool tries three times to connect", "-e", "file:src/pool.py:4-5", "--json"]
    identifier = json.loads(gitmem(PERSON, repo, *words))["id"]
    loaded(repo, "remember", "-k", "fact", "A pool holds 20 connections", "-e", "file:src/pool.py:1-2")
    return repo, identifier


def test_the_probe_sees_what_is_loaded(known: tuple[Path, str]) -> None:
    # The control of every test below: a verb that does need pydantic and tantivy is seen to load them.
    where, _ = known
    assert "pydantic" in loaded(where, "schema", "memory", expect="gitmem memory")
    assert {"tantivy", "typer"} <= loaded(where, "why", "pool", expect="tries three times")


def test_version_and_help_load_no_typer(repo: Path) -> None:
    for words, said in ((["--version"], "gitmem "), (["--help"], "Exit codes:")):
        assert not loaded(repo, *words, expect=said) & {*HEAVY, "typer", "click", "tantivy", "re2", "ryaml"}, words


def test_init_loads_nothing_heavy(repo: Path) -> None:
    assert not loaded(repo, "init", expect="created gitmem/main") & {*HEAVY, "tantivy"}


def test_remember_loads_nothing_heavy(known: tuple[Path, str]) -> None:
    where, _ = known
    words = ["remember", "-k", "fact", "The class of connections is named Pool", "-e", "file:src/pool.py:1"]
    assert not loaded(where, *words, expect="waits in the inbox") & set(HEAVY)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["list"], "tries three times"),
        (["list", "--inbox"], "holds 20 connections"),
        (["recall", "three times"], "tries three times"),
        (["show", "ID"], "verified"),
        (["log", "ID"], "through terminal"),
        (["log"], "the memory of this project begins"),
        (["blame", "ID"], "terminal"),
    ],
    ids=str,
)
def test_reading_loads_nothing_heavy(known: tuple[Path, str], words: list[str], said: str) -> None:
    where, identifier = known
    assert not loaded(where, *(identifier if word == "ID" else word for word in words), expect=said) & set(HEAVY)


def test_the_hooks_cost_a_code_branch_nothing_heavy(known: tuple[Path, str]) -> None:
    where, _ = known
    tip, memory = (git(where, "rev-parse", name).strip() for name in ("main", "gitmem/main"))
    code = f"refs/heads/main {tip} refs/heads/main {ABSENT}\n"
    for words in (["pre-push", "origin", "url"], ["reference-transaction", "prepared"], ["pre-commit"]):
        stdin = code if words[0] == "pre-push" else f"{ABSENT} {tip} refs/heads/main\n"
        modules = loaded(where, "hook-impl", *words, stdin=stdin)
        assert not modules & {*HEAVY, "tantivy"}, words
    # The control: for a memory branch the hook reads and judges records.
    pushed = f"refs/heads/gitmem/main {memory} refs/heads/gitmem/main {ABSENT}\n"
    assert modules < loaded(where, "hook-impl", "pre-push", "origin", "url", stdin=pushed)


# What a hook pays for at every prompt, edit and session; a name of the standard library is here for what it costs.
SLOW = {"typer", "click", "pydantic", "pydantic_core", "pygit2", "ruamel", "rich", "ryaml", "re2", "hashlib"}
SLOWER = {"subprocess", "dataclasses", "inspect", "threading", "tempfile", "shutil", "asyncio", "logging", "email"}


@pytest.mark.parametrize(
    "words",
    [
        ["recall", "pool connect"],
        ["recall", "pool connect", "--json"],
        ["recall", "pool connect", "--format", "prompt"],
        ["recall", "pool connect", "--history", "--full", "-q", "three times", "--path", "src"],
        ["recall", "zebra crossings"],
        ["context", "src/pool.py"],
        ["context", "src/pool.py", "--format", "prompt"],
        ["brief", "--peek"],
        ["brief", "--peek", "--format", "prompt"],
    ],
    ids=" ".join,
)
def test_a_read_of_a_fresh_index_loads_no_more_than_it_needs(known: tuple[Path, str], words: list[str]) -> None:
    where, identifier = known
    loaded(where, *words)  # the index catches up, and what HEAD touched is looked up
    said = "" if words[0] == "brief" else "nothing known" if "zebra" in words[1] else "tries three times"
    modules = loaded(where, *words, expect=said)
    never = SLOW if words[0] == "brief" else SLOW | SLOWER  # brief starts git, for what is uncommitted
    assert not modules & never
    assert "tantivy" in modules
    # The control: the probe sees such modules where they are needed.
    assert {"subprocess", "dataclasses", "typer"} <= loaded(where, "show", identifier, expect="tries three times")


def test_a_commit_that_is_cited_for_the_first_time_at_a_new_head_loads_no_more(known: tuple[Path, str]) -> None:
    where, _ = known
    gitmem(PERSON, where, "remember", "-k", "fact", "Kettles boil at noon", "-e", "commit:HEAD")
    gitmem(PERSON, where, "recall", "pool connect")  # the index has seen it
    for packed in (False, True):
        git(where, "commit", "-q", "--allow-empty", "-m", "head moved")
        if packed:
            git(where, "gc", "-q", "--prune=now")
        told = loaded(where, "recall", "kettles", expect="commit:")
        assert not told & (SLOW | SLOWER), packed
    # The control: one that is gone is looked for by git.
    git(where, "checkout", "-q", "--orphan", "other")
    git(where, "commit", "-qm", "without a past")
    git(where, "branch", "-qD", "main")
    git(where, "reflog", "expire", "--expire=now", "--all")
    git(where, "gc", "-q", "--prune=now")
    assert "subprocess" in loaded(where, "recall", "kettles", expect="unobservable")
