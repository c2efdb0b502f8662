"""`export`: records as JSON lines, the branch as a bundle that plain git reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.steps import POOL, WEATHER, Run, put
from tests.conftest import git

WHY = ("--because", "it is so")


@pytest.fixture(autouse=True)
def begun(repo: Path, gitmem: Run) -> None:
    assert gitmem(repo, "init").code == 0


def test_each_record_is_a_line_as_in_its_file(repo: Path, gitmem: Run) -> None:
    memory = put(gitmem, repo, POOL, "--tag", "db")
    (line,) = gitmem(repo, "export").lines
    shown = gitmem(repo, "show", memory, "--json").lines[0]
    assert line == {key: shown[key] for key in line} and line["tags"] == ["db"]


def test_all_brings_what_is_withheld_and_the_tombstones(repo: Path, gitmem: Run) -> None:
    kept, wrong = put(gitmem, repo, POOL), put(gitmem, repo, WEATHER)
    gitmem(repo, "wrong", wrong, "--because", "never so")
    assert [line["id"] for line in gitmem(repo, "export").lines] == [kept]
    lines = gitmem(repo, "export", "--all").lines
    assert sorted(line["id"] for line in lines if "id" in line) == sorted([kept, wrong])
    (tomb,) = [line["tombstone"] for line in lines if "tombstone" in line]
    assert tomb["title"] == WEATHER and tomb["history"][0]["reason"] == "never so"


def test_a_bundle_is_read_by_plain_git(repo: Path, gitmem: Run, tmp_path: Path) -> None:
    put(gitmem, repo, POOL)
    done = gitmem(repo, "export", "--bundle", "out.bundle", "--json")
    tip = git(repo, "rev-parse", "gitmem/main").strip()
    assert done.lines == [{"bundle": str(repo / "out.bundle"), "tip": tip}]
    git(tmp_path, "init", "-q", "elsewhere")
    git(
        tmp_path / "elsewhere", "fetch", "-q", str(repo / "out.bundle"), "refs/heads/gitmem/main:refs/heads/gitmem/main"
    )
    assert git(tmp_path / "elsewhere", "rev-parse", "gitmem/main").strip() == tip
    assert gitmem(tmp_path / "elsewhere", "verify", "--all").code == 0
    again = gitmem(repo, "export", "--bundle", "out.bundle")
    assert again.code == 1 and "out.bundle exists" in again.err


def test_what_is_not_believed_is_not_exported(repo: Path, gitmem: Run) -> None:
    memory = put(gitmem, repo, POOL)
    tree = git(repo, "write-tree").strip()
    forged = git(repo, "commit-tree", tree, "-p", "gitmem/main", "-m", "forged").strip()
    git(repo, "update-ref", "refs/heads/gitmem/main", forged)
    assert [line["id"] for line in gitmem(repo, "export").lines] == [memory]
    refused = gitmem(repo, "export", "--bundle", "out.bundle")
    assert refused.code == 1 and "gitmem verify --all" in refused.err and not (repo / "out.bundle").exists()
