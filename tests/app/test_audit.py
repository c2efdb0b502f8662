"""`gitmem audit`: what was done to the record of changes is named, and a record that is whole is not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.app.steps import POOL, WEATHER, Run, proposed, put
from tests.conftest import git

WHY = ("--because", "it was measured again")


@pytest.fixture
def begun(repo: Path, gitmem: Run) -> str:
    """A memory that was edited once; its id."""
    gitmem(repo, "init")
    identifier = put(gitmem, repo, POOL)
    assert gitmem(repo, "edit", identifier, "--tag", "pool", *WHY).code == 0
    return identifier


def events(tree: Path) -> list[Path]:
    """The event files of a checked-out branch, oldest first."""
    return sorted(tree.glob("events/*/*/*/*.json"), key=lambda path: path.name)


def tampered(repo: Path, tmp_path: Path, change: Callable[[Path], object], *, squash: bool) -> None:
    """Do something to the files of the branch, and commit it: as one more commit, or in one commit in place of all."""
    tree = tmp_path / "checked-out"
    git(repo, "worktree", "add", "-q", str(tree), "gitmem/main")
    if squash:
        root = git(tree, "rev-list", "--max-parents=0", "HEAD").strip()
        git(tree, "reset", "-q", "--soft", root)
    change(tree)
    git(tree, "add", "-A")
    git(tree, "commit", "-q", "-m", "tidy")
    git(repo, "worktree", "remove", "--force", str(tree))


def found(gitmem: Run, repo: Path) -> set[str]:
    ran = gitmem(repo, "audit", "verify", "--json")
    report = ran.lines[0]
    assert ran.code == (0 if report["clean"] else 3)
    return {fault["code"] for fault in report["faults"]}


def untouched(_: Path) -> None:
    """Nothing; the control of every test here."""


def edit_event(tree: Path) -> None:
    path = events(tree)[1]
    path.write_text(path.read_text().replace('"reason":""', '"reason":"because I say so"'))


def drop_event(tree: Path) -> None:
    events(tree)[1].unlink()


def edit_record(tree: Path) -> None:
    (path,) = tree.glob("memories/*/*/*.yaml")
    path.write_text(path.read_text().replace("twenty", "ninety"))


def fork_chain(tree: Path) -> None:
    last = events(tree)[-1]
    data = json.loads(last.read_text())
    before = data["id"]
    data["id"] = before[:-1] + ("0" if before[-1] != "0" else "1")
    last.with_name(last.name.replace(before, data["id"])).write_text(json.dumps(data, separators=(",", ":")) + "\n")


@pytest.mark.parametrize("squash", [False, True])
@pytest.mark.parametrize(
    ("change", "code"),
    [
        (edit_event, "audit.edited"),
        (drop_event, "audit.gap"),
        (edit_record, "audit.untold"),
        (fork_chain, "audit.fork"),
    ],
)
def test_what_was_done_to_the_record_is_named_whatever_became_of_the_history(
    repo: Path, tmp_path: Path, gitmem: Run, begun: str, change: Callable[[Path], object], code: str, squash: bool
) -> None:
    assert found(gitmem, repo) == set()
    tampered(repo, tmp_path, change, squash=squash)
    assert code in found(gitmem, repo)


def test_a_history_in_one_commit_is_whole(repo: Path, tmp_path: Path, gitmem: Run, begun: str) -> None:
    tampered(repo, tmp_path, untouched, squash=True)
    assert not {code for code in found(gitmem, repo) if code.startswith("audit.")}


def test_show_asks_by_channel_operation_actor_and_time(repo: Path, gitmem: Run, begun: str) -> None:
    proposed(gitmem, repo, WEATHER)
    refused = gitmem(repo, "remember", "-k", "fact", "Nothing proves this", channel="agent")
    assert refused.code == 3

    def shown(*flags: str) -> list[str]:
        ran = gitmem(repo, "audit", "show", "--json", *flags)
        assert ran.code == 0, ran.err
        return [line["op"] for line in ran.lines]

    assert shown() == ["refused", "edit", "create", "policy"]
    assert shown("--op", "edit") == ["edit"]
    assert shown("--op", "refused") == ["refused"]
    assert shown("--op", "refused", "--op", "edit", "-n", "1") == ["refused"]
    assert shown("--channel", "agent") == ["refused"]
    assert gitmem(repo, "edit", begun, "--tag", "size", *WHY).code == 0
    assert shown() == ["edit", "refused", "edit", "create", "policy"]  # by time, whichever it was
    assert shown("-n", "2") == ["edit", "refused"]
    assert shown("--actor", "nobody here") == []
    assert shown("--since", "2100-01-01") == []
    assert shown("--until", "2100-01-01", "--op", "create") == ["create"]
    assert gitmem(repo, "audit", "show", "--op", "invent").code == 2
    text = gitmem(repo, "audit", "show").out
    assert "not on the branch" in text and "through terminal" in text
