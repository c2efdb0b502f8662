"""What a clone believes: its own writing at once, what it fetched after verification, nothing else."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pygit2
import pytest

from gitmem.app import verify
from gitmem.model.layout import memory_path
from gitmem.model.records import memory_bytes
from tests.app.conftest import Ran
from tests.conftest import git
from tests.verify.forge import MAIN, Branch, Shop


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str | None, str]]:
    """Every range that was verified since the test began."""
    ranges: list[tuple[str | None, str]] = []
    really = verify.verify_range

    def noted(workspace: object, base: str | None, head: str, **how: object) -> object:
        ranges.append((base, head))
        return really(workspace, base, head, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(verify, "verify_range", noted)
    return ranges


def test_own_writing_is_believed_without_verifying_it_again(
    shop: Shop, branch: Branch, judged: list[tuple[str | None, str]]
) -> None:
    shop.remember("a", "Invoices are numbered by the year", "--evidence", "commit:HEAD")
    shop.ok("edit", shop.ids["a"], "--tag", "billing", "--because", "to find it")
    shop.ok("wrong", shop.ids["a"], "--because", "by the month")
    shop.ok("policy", "set", "unobservable", "refuse", "--because", "everything is committed")
    shop.ok("list")
    assert judged == []
    mine = branch.tip()
    old = branch.memory(shop.ids["idle"])
    new = replace(old, tags=("pool",))
    theirs = branch.commit(branch.with_event(branch.event("edit", new, old), new))
    assert shop.listed("--tag", "pool") == {shop.ids["idle"]}
    shop.ok("list")
    assert judged == [(mine, theirs)]


def test_a_clone_believes_what_it_fetched_by_plain_git(
    shop: Shop, branch: Branch, gitmem: Callable[..., Ran], tmp_path: Path
) -> None:
    where = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(shop.repo), str(where))
    clone = Shop(where, gitmem)
    missing = gitmem(where, "list")
    assert missing.code == 4 and "gitmem init" in missing.err  # only refs/remotes/origin/gitmem/main is there
    git(where, "fetch", "-q", "origin", "gitmem/main:gitmem/main")
    inert = gitmem(where, "list")
    assert inert.code == 3 and "gitmem trust" in inert.err and not inert.out  # verified, and nobody has looked at it
    clone.ok("trust", "--yes")
    assert clone.listed() == set(shop.ids.values())
    shop.remember("a", "Invoices are numbered by the year", "--evidence", "commit:HEAD")
    git(where, "fetch", "-q", "origin", "gitmem/main:gitmem/main")
    assert clone.listed() == set(shop.ids.values())
    bad = {memory_path(shop.ids["a"]): None}
    branch.commit(bad)
    git(where, "fetch", "-q", "origin", "gitmem/main:gitmem/main")
    assert clone.listed() == set(shop.ids.values())
    assert len(clone.unbelieved()) == 1
    # A fresh clone of the bad tip has nothing that it believed before, and says so.
    fresh = tmp_path / "fresh"
    git(tmp_path, "clone", "-q", str(shop.repo), str(fresh))
    git(fresh, "fetch", "-q", "origin", "gitmem/main:gitmem/main")
    listed = gitmem(fresh, "list")
    assert listed.code == 3 and "a memory was removed" in listed.err
    adopted = tmp_path / "adopted"
    git(tmp_path, "clone", "-q", str(shop.repo), str(adopted))
    refused = gitmem(adopted, "init")
    assert refused.code == 3 and "memory.removed" in refused.err
    assert git(adopted, "for-each-ref", "refs/heads/gitmem") == ""


def test_a_commit_by_libgit2_or_from_a_worktree_is_judged_like_any_other(shop: Shop, branch: Branch) -> None:
    path = memory_path(shop.ids["retries"])
    spoilt = memory_bytes(replace(branch.memory(shop.ids["retries"]), title="The pool never retries"))
    good = branch.tip()
    repository = pygit2.Repository(str(shop.repo))
    parent = repository[good]
    index = pygit2.Index()
    index.read_tree(parent.peel(pygit2.Tree))
    index.add(pygit2.IndexEntry(path, repository.create_blob(spoilt), pygit2.enums.FileMode.BLOB))
    who = pygit2.Signature("Somebody", "somebody@example.invalid", 1_800_000_000, 0)
    repository.create_commit(MAIN, who, who, "by libgit2", index.write_tree(repository), [parent.id])
    assert shop.codes() == ["event.missing"]
    assert shop.ids["retries"] not in shop.listed()
    branch.move(good)
    assert "rewound" in " ".join(shop.unbelieved())  # the bad commit was entered, without the record
    shop.ok("reindex", "--forget")
    assert shop.ids["retries"] in shop.listed()
    where = shop.repo.parent / "by-hand"
    git(shop.repo, "worktree", "add", "-q", str(where), "gitmem/main")
    (where / path).write_bytes(spoilt)
    git(where, "commit", "-q", "-a", "-m", "by hand")
    assert shop.codes() == ["event.missing"]
    assert shop.ids["retries"] not in shop.listed()
    git(where, "revert", "--no-edit", "HEAD", env={**os.environ, "GIT_COMMITTER_DATE": "2026-03-02T12:00:00Z"})
    git(shop.repo, "worktree", "remove", str(where))
    assert shop.ids["retries"] in shop.listed()


def test_the_reader_is_told_what_is_left_out_and_what_a_person_can_do(shop: Shop, branch: Branch) -> None:
    path = memory_path(shop.ids["retries"])
    assert shop.ok("list").err == ""
    branch.commit({path: branch.read(path).replace(b"three", b"four")})
    assert "a record failed verification and is left out; see gitmem doctor" in shop.ok("list").err
    assert "left out" in shop.ok("recall", "deploys").err
    shown = shop.run(shop.repo, "show", shop.ids["retries"])
    assert shown.code == 4 and "event.missing" in shown.err
    branch.commit({"gitmem.yaml": None})
    assert "gitmem/main is not believed as it is now" in shop.ok("list").err
    done = shop.run(shop.repo, "--json", "doctor")
    faults = [line for line in done.lines if line["state"] == "fault"]
    assert done.code == 1 and any("gitmem reindex --forget" in line["hint"] for line in faults)


def test_a_state_file_that_is_damaged_costs_a_verification_and_nothing_else(
    shop: Shop, branch: Branch, judged: list[tuple[str | None, str]]
) -> None:
    state = shop.repo / ".git/gitmem/belief.json"
    for text in ("", "[]", "{", '{"commit": 5}', '{"commit": null, "quarantined": 7}', '{"failed": {"x": 1}}'):
        state.write_text(text)
        assert shop.listed() == set(shop.ids.values())
    assert {head for _, head in judged} == {branch.tip()}
