"""The installed command marks evidence that cannot be looked at wherever it would say that it changed."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import git
from tests.installed import person


def test_what_is_not_in_this_clone_is_said_beside_its_citation(repo: Path) -> None:
    assert person(repo, "init", "--offline").code == 0
    git(repo, "switch", "-q", "-c", "feature")
    (repo / "z.py").write_text("zebra = 11\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "a zebra of the feature")
    for title, evidence in (("zebra waits eleven seconds", "file:z.py:1"), ("zebra came by commit", "commit:HEAD")):
        assert person(repo, "remember", "-k", "fact", title, "-e", evidence).code == 0
    git(repo, "switch", "-q", "main")

    def drifts() -> list[list[str]]:
        return [row["drifts"] for row in person(repo, "recall", "zebra", "--json").lines if "drifts" in row]

    assert drifts() == drifts() == [[""], [""]]  # another branch has it, so it can be looked at
    git(repo, "branch", "-qD", "feature")
    git(repo, "reflog", "expire", "--expire=now", "--all")
    git(repo, "gc", "-q", "--prune=now")
    for _ in range(2):  # found out, and as remembered
        assert drifts() == [["unobservable"], ["unobservable"]]
    for form in ([], ["--format", "prompt"]):
        assert person(repo, "recall", "zebra", *form).out.count("unobservable") == 2
    assert "unobservable" in person(repo, "context", "z.py").out
