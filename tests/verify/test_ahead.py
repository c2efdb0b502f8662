"""Read beside the judging, a commit has the same faults as read in turn; and a reader that ended is no verdict."""

from __future__ import annotations

import os
from typing import Any

import pytest

from gitmem.app import verify_commit
from gitmem.model.layout import event_path, memory_path
from gitmem.model.records import event_bytes, memory_bytes
from tests.verify.forge import Branch, Shop
from tests.verify.test_bad_commits import RECORDS, TIPS

FORGES = {**RECORDS, **TIPS}


@pytest.fixture
def beside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify_commit, "_MANY", 0)
    monkeypatch.setattr(verify_commit, "_AHEAD", 2)
    monkeypatch.setattr(verify_commit, "worthwhile", lambda: True)


def told(shop: Shop) -> Any:
    ran = shop.run(shop.repo, "verify", "--all", "--json")
    return ran.code, ran.lines


@pytest.mark.parametrize("name", FORGES)
def test_the_faults_are_the_same(name: str, shop: Shop, branch: Branch, request: pytest.FixtureRequest) -> None:
    forge, _ = FORGES[name]
    edits = dict(forge(shop, branch))
    # A sound record and one that cannot be read, in batches before and behind.
    for identifier in ("000000000000", "zzzzzzzzzzzz"):
        edits[memory_path(identifier)] = b"format: [\n"
    model = branch.memory(shop.ids["tuesday"])
    event = branch.event("create", model)
    edits[event_path(event.id, "000000000000")] = event_bytes(event)[:-2]
    edits.setdefault(memory_path("1" * 12), memory_bytes(model))
    branch.commit(edits)
    alone = told(shop)
    assert alone[0] != 0
    request.getfixturevalue("beside")
    assert told(shop) == alone


def test_a_reader_that_was_killed_is_no_verdict(
    shop: Shop, branch: Branch, beside: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert told(shop)[0] == 0

    def killed(_: Any) -> Any:
        os._exit(9)

    monkeypatch.setattr(verify_commit, "look", killed)
    ran = shop.run(shop.repo, "verify", "--all", "--json")
    assert ran.code == 1
    assert "clean" not in ran.out
