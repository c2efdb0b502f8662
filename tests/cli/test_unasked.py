"""`context` and `brief` as they are installed: quick, in every form, and read by Typer as by themselves."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.main import get_command

from gitmem.cli import brief, context
from gitmem.cli.main import application
from gitmem.cli.quick import Flags
from tests.conftest import git
from tests.installed import agent, person

SHOWN = """
import sys
from gitmem.app.env import observe
from gitmem.cli.main import run
code = run(sys.argv[1:], observe)
print(code, *sys.modules, file=sys.stderr)
"""
HEAVY = {"typer", "click", "pydantic", "pydantic_core", "pygit2", "ruamel", "re2", "asyncio", "email", "tempfile"}
VERBS: list[tuple[str, Flags, Any]] = [("context", context.FLAGS, context), ("brief", brief.FLAGS, brief)]


def modules(repo: Path, *words: str) -> set[str]:
    """The modules that a process has loaded when it has run a command line."""
    done = subprocess.run([sys.executable, "-c", SHOWN, *words], cwd=repo, capture_output=True, text=True, check=True)
    code, *names = done.stderr.split("\n")[-2].split(" ")
    assert code == "0", done.stderr
    return {name.split(".")[0] for name in names} | {name for name in names if name.startswith("gitmem.")}


def test_with_a_fresh_index_little_is_loaded_and_context_starts_no_git(repo: Path) -> None:
    assert person(repo, "init").code == 0
    assert person(repo, "remember", "-k", "convention", "Pools are closed", "-e", "file:src/pool.py:2").code == 0
    first = agent(repo, "context", "src/pool.py")  # brings the index up to date
    for words in (("context", "src/pool.py"), ("context", "src/pool.py", "--format", "prompt"), ("brief", "--peek")):
        loaded = modules(repo, *words)
        assert not loaded & HEAVY, words
        assert "tantivy" in loaded
        assert ("subprocess" in loaded) == (words[0] == "brief")
        assert "gitmem.app.belief" not in loaded
    assert HEAVY & modules(repo, "context", "--help")
    assert agent(repo, "context", "src/pool.py").out == first.out
    git(repo, "commit", "-q", "--allow-empty", "-m", "on")
    assert "subprocess" in modules(repo, "context", "src/pool.py")  # a new commit is looked at once
    assert "subprocess" not in modules(repo, "context", "src/pool.py")


def test_a_person_and_an_agent_are_told_the_same(repo: Path) -> None:
    assert person(repo, "init").code == 0
    assert person(repo, "remember", "-k", "convention", "Pools are closed", "-e", "file:src/pool.py:2").code == 0
    assert agent(repo, "remember", "-k", "fact", "Ships wait for the tide", "-e", "file:src/pool.py:2").code == 0
    for words in (("context", "src/pool.py"), ("brief", "--peek"), ("brief", "--peek", "--json")):
        said = agent(repo, *words)
        assert said.code == 0, said.err
        assert "Pools are closed" in said.out
        assert "Ships" not in said.out
        assert person(repo, *words).out.replace("\r", "") == said.out
    assert "1 candidate waits for a person" in agent(repo, "brief").out
    outside = agent(repo, "context", "../x", "--json")
    assert (outside.code, outside.out) == (2, "")
    assert agent(repo.parent, "brief").code == 6
    bare = {**os.environ, "PATH": os.environ["PATH"], "NO_COLOR": "1"}
    assert agent(repo, "brief", "--format", "prompt", environ=bare).out.startswith("<gitmem-memory boundary=")


@pytest.mark.parametrize(("name", "flags", "module"), VERBS)
def test_every_flag_is_known_and_no_other(name: str, flags: Flags, module: Any) -> None:
    options = {n: p for p in get_command(application(name)).params for n in p.opts if n.startswith("-")}
    assert {n: str(p.name) for n, p in options.items()} == {**flags.one, **flags.many, **flags.yes}
    assert {n for n, p in options.items() if p.is_flag} == set(flags.yes)


WORDS = st.sampled_from(
    [
        "src",
        "a.py",
        "--limit",
        "-n",
        "3",
        "--budget",
        "--format",
        "prompt",
        "--full",
        "--peek",
        "--budget=9",
        "-",
        "--",
        "-x",
    ]
)


@pytest.mark.parametrize(("name", "flags", "module"), VERBS)
@settings(deadline=None, max_examples=100)
@given(words=st.lists(WORDS, max_size=6))
def test_what_is_read_quickly_is_what_typer_reads(name: str, flags: Flags, module: Any, words: list[str]) -> None:
    quick = flags.read(words)
    if quick is None or (name == "context" and "paths" not in quick):
        return
    told: list[dict[str, Any]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "run", lambda door, **given: told.append(given))
        try:
            get_command(application(name)).main(list(words), standalone_mode=False)
        except Exception:  # a value that Typer refuses; the quick way refuses it too, in words of its own
            return
    given_ = {key: str(value) for key, value in told[0].items() if key in quick}
    assert given_ == {key: str(value) for key, value in quick.items()}


def test_both_ways_refuse_the_same_values(repo: Path, gitmem: Callable[..., Any]) -> None:
    gitmem(repo, "init")
    for words in (("--limit", "0"), ("--limit", "x"), ("--budget", "x"), ("--format", "xml")):
        assert gitmem(repo, "context", "src", *words).code == 2
        first, second = words
        assert gitmem(repo, "context", f"{first}={second}", "src", "--").code == 2
    assert gitmem(repo, "brief", "--budget", "-1").code == 2
    assert gitmem(repo, "brief", "src").code == 2
    assert gitmem(repo, "brief").code == 0
