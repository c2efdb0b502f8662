"""The installed command cites no lines of HEAD for lines that an editor counted in a file with other bytes."""

from __future__ import annotations

import json
from pathlib import Path

from tests.conftest import git
from tests.installed import Ran, person


def remember(repo: Path, evidence: str, title: str) -> Ran:
    return person(repo, "remember", "--json", "-k", "fact", title, "-e", evidence)


def test_lines_that_are_not_as_committed_are_refused_with_both(repo: Path) -> None:
    (repo / "src/wait.py").write_text("first = 11\nsecond = 22\nthird = 33\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "three")
    assert person(repo, "init", "--offline").code == 0
    (repo / "src/wait.py").write_text("added = 44\r\nsecond = 22\r\nthird = 33\r\nfourth = 55\r\n")
    for lines, now, before in (("1", '"added = 44"', '"first = 11"'), ("4", '"fourth = 55"', "no such lines")):
        refused = remember(repo, f"file:src/wait.py:{lines}", f"the file has line {lines}")
        said = refused.out + refused.err
        assert refused.code == 3 and json.loads(said.splitlines()[-1]), said
        assert "evidence.shape" in said and f"src/wait.py@HEAD:{lines}" in said and "commit" in said
        assert now in said.replace('\\"', '"') and before in said.replace('\\"', '"'), said
    same = remember(repo, "file:src/wait.py:2-3", "the second waits longer")  # these lines stand in both
    named = remember(repo, "file:src/wait.py@HEAD:1", "the first one waits")
    whole = remember(repo, "file:src/wait.py", "the file is about waiting")
    assert [done.code for done in (same, named, whole)] == [0, 0, 0], (same, named, whole)
    assert named.lines[0]["memory"]["evidence"][0]["quote"] == "first = 11"
    git(repo, "commit", "-qam", "four")
    assert remember(repo, "file:src/wait.py:1", "the added one waits").code == 0
