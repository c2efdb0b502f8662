"""`policy` and `reindex`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.app.steps import POOL, Run, codes, events, ids, put, tips
from tests.conftest import git

WHY = ("--because", "it is so")


@pytest.fixture(autouse=True)
def begun(repo: Path, gitmem: Run) -> None:
    assert gitmem(repo, "init").code == 0


def test_a_setting_is_changed_with_its_reason_and_judges_the_next_write(repo: Path, gitmem: Run) -> None:
    assert gitmem(repo, "policy", "set", "evidence.fact", "test,commit", *WHY).code == 0
    assert gitmem(repo, "policy", "--json").lines[0]["evidence.fact"] == "test,commit"
    bad = gitmem(repo, "remember", "--json", "-k", "fact", POOL, "-e", "file:src/pool.py:2")
    assert codes(bad) == ["evidence.weak"]
    assert gitmem(repo, "policy", "set", "evidence.fact", "any", *WHY).code == 0
    assert "evidence.fact" not in gitmem(repo, "policy", "--json").lines[0]
    put(gitmem, repo, POOL)
    assert [(e["op"], e["reason"]) for e in events(gitmem, repo)][1:3] == [("policy", "it is so")] * 2
    assert gitmem(repo, "verify", "--all").code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["reviews", "forge"], "there is no setting 'reviews'"),
        (["review", "sometimes"], "it is local or forge"),
        (["evidence.rumour", "file"], "there is no setting 'evidence.rumour'"),
        (["evidence.fact", "hearsay"], "there is no evidence of type 'hearsay'"),
        (["unobservable", "shrug"], "it is hold or refuse"),
        (["review"], "local or forge"),
    ],
)
def test_a_wrong_setting_is_named_with_the_right_ones(repo: Path, gitmem: Run, words: list[str], said: str) -> None:
    before = tips(repo)
    bad = gitmem(repo, "policy", "set", *words, *WHY)
    assert bad.code == 2 and said in bad.err and tips(repo) == before


def test_the_same_setting_again_writes_nothing(repo: Path, gitmem: Run) -> None:
    before = tips(repo)
    assert gitmem(repo, "policy", "set", "review", "local", *WHY).code == 0 and tips(repo) == before
    assert gitmem(repo, "policy", "set", "review", "forge").code == 2


def test_reindex_finds_what_a_lost_index_held(repo: Path, gitmem: Run) -> None:
    memory = put(gitmem, repo, POOL)
    assert ids(gitmem(repo, "recall", "pool", "--json")) == [memory]
    files = [file for file in (repo / ".git/gitmem/index").rglob("*") if file.is_file()]
    assert files
    for file in files:
        file.write_bytes(b"")
    assert gitmem(repo, "reindex", "--json").lines == [{"records": 1, "not_believed": []}]
    assert ids(gitmem(repo, "recall", "pool", "--json")) == [memory]


def test_a_rewound_branch_is_not_believed_until_a_person_says_so(repo: Path, gitmem: Run) -> None:
    memory = put(gitmem, repo, POOL)
    git(repo, "update-ref", "refs/heads/gitmem/main", "gitmem/main~1")
    assert ids(gitmem(repo, "recall", "pool", "--json")) == [memory]
    told = gitmem(repo, "reindex", "--json").lines[0]
    assert told["records"] == 1 and "rewound" in told["not_believed"][0]
    write = gitmem(repo, "remember", "-k", "fact", "Another claim altogether", "-e", "file:src/pool.py:2", "--json")
    assert write.code == 3 and "gitmem reindex --forget" in json.loads(write.err)["error"]["hint"]
    assert gitmem(repo, "reindex", "--forget", "--json").lines == [{"records": 0, "not_believed": []}]
    assert ids(gitmem(repo, "recall", "pool", "--json")) == []
