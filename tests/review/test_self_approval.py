"""Nobody decides on a proposal of their own, where it is proven whose it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitmem.app import verdicts
from gitmem.model.nouns import Actor
from tests.app.steps import POOL, RETRY, Run, codes, proposed, status


@pytest.fixture(autouse=True)
def begun(repo: Path, gitmem: Run) -> None:
    assert gitmem(repo, "init").code == 0


def as_if_signed(monkeypatch: pytest.MonkeyPatch, proposer: str, reviewer: str) -> None:
    """As it will be when keys tell: the principals of this version are all unproven."""
    really: Callable[..., Any] = verdicts.proposal_of

    def signed(*arguments: Any) -> Any:
        from dataclasses import replace

        found = really(*arguments)
        return replace(found, actor=replace(found.actor, principal=proposer))

    monkeypatch.setattr(verdicts, "proposal_of", signed)
    monkeypatch.setattr(verdicts, "deciding", lambda view: Actor("terminal", reviewer))


@pytest.mark.parametrize("verb", [("accept",), ("reject", "--because", "no")])
def test_a_proven_self_approval_is_refused_and_another_persons_is_not(
    repo: Path, gitmem: Run, monkeypatch: pytest.MonkeyPatch, verb: tuple[str, ...]
) -> None:
    mine, other = proposed(gitmem, repo, POOL), proposed(gitmem, repo, RETRY)
    as_if_signed(monkeypatch, "ana", "ana")
    assert codes(gitmem(repo, verb[0], mine, *verb[1:], "--json")) == ["review.self"]
    assert status(gitmem, repo, mine) == "candidate"
    as_if_signed(monkeypatch, "ana", "ben")
    assert gitmem(repo, verb[0], other, *verb[1:]).code == 0
    as_if_signed(monkeypatch, "unproven", "unproven")
    assert gitmem(repo, verb[0], mine, *verb[1:]).code == 0
