"""Names of files come from ids, never from what somebody wrote; a branch with other names is refused whole."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cases.world import hand_commit, record_file, records, remember, seeded
from tests.conftest import git
from tests.installed import agent, person

TITLES = (
    "Pool", "pool", "aux", "con.txt", "a:b", "trailing. ", "new\nline", "-x", "n" * 300, ".git", "../escape", "GIT~1",
    "COM1", "name\\with\\back", "*", "日本",
)  # fmt: skip
GENERATED = re.compile(r"memories/[0-9a-z]/[0-9a-z]/[0-9a-z]{12}\.yaml")


def test_no_title_has_a_say_in_a_path(repo: Path) -> None:
    seeded(repo)
    kept = 1
    for number, title in enumerate(TITLES):
        (repo / "draft.json").write_text(
            json.dumps({"kind": "fact", "title": title, "evidence": [f"human:{title.strip() or 'x'} {number}"]})
        )
        done = person(repo, "remember", "--file", "draft.json")
        assert done.code in (0, 3) and "Traceback" not in done.err, (title, done)
        kept += done.code == 0
    paths = git(repo, "ls-tree", "-r", "--name-only", "gitmem/main", "memories").split()
    assert kept > 5 and len(paths) == kept and all(GENERATED.fullmatch(path) for path in paths)
    assert sorted(p.name for p in repo.iterdir()) == [".git", "README.md", "draft.json", "src"]


@pytest.mark.parametrize(
    "name", ["memories/aux.yaml", "memories/a/Pool.yaml", "notes/con.txt", "memories/a/b/a:b.yaml", "README.MD"]
)
def test_a_branch_with_names_of_its_own_is_refused_whole(repo: Path, name: str) -> None:
    identifier = seeded(repo)
    believed = git(repo, "rev-parse", "gitmem/main").strip()
    hand_commit(repo, {name: b"title: x\n"})
    checked = agent(repo, "verify", "--all")
    assert checked.code == 3 and name in checked.out
    assert [record["id"] for record in records(agent(repo, "list", "--json"))] == [identifier]
    refused = remember(repo, "A second fact of the day", "human:second fact")
    assert refused.code == 3 and name in refused.err and believed in refused.err
    git(repo, "update-ref", "refs/heads/gitmem/main", believed)
    assert remember(repo, "A second fact of the day", "human:second fact").code == 0
    clone = repo.parent / "clone"
    git(repo.parent, "clone", "-q", str(repo), str(clone))
    assert person(clone, "init").code == 0


def test_a_commit_that_removes_records_without_tombstones_is_refused(repo: Path) -> None:
    identifiers = [seeded(repo)]
    for word in ("kettle", "mirror", "ladder"):
        assert remember(repo, f"The {word} stands in the hall", f"human:the {word} stands").code == 0
    identifiers = [record["id"] for record in records(agent(repo, "list", "--json"))]
    tip = hand_commit(repo, {record_file(repo, each)[0]: None for each in identifiers})
    checked = agent(repo, "verify", "--all")
    assert checked.code == 3
    assert sum(tip[:10] in line and "removed" in line for line in checked.out.splitlines()) == len(identifiers)
    still = [record["id"] for record in records(agent(repo, "list", "--json"))]
    assert sorted(still) == sorted(identifiers)  # absence deletes nothing
