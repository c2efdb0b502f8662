"""Memory that came from elsewhere is inert until a person trusts it, and no repository brings that along."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from gitmem.model.layout import MAIN
from tests.app.conftest import Ran
from tests.conftest import git
from tests.sync.conftest import Clone, Team

TITLE = "The pool opens twenty connections"
LANES = (
    ("recall", "pool connections"), ("recall", "pool connections", "--json"), ("recall", "pool", "--format", "prompt"),
    ("context", "src/pool.py"), ("context", "src/pool.py", "--format", "prompt"), ("brief",), ("brief", "--json"),
    ("brief", "--format", "prompt"), ("list",), ("list", "--json"), ("log",), ("why", "pool connections"),
    ("export",), ("key", "pool.size"), ("remember", "-k", "fact", TITLE, "-e", "file:src/pool.py:2"),
)  # fmt: skip


def inert(clone: Clone, *words: str) -> Ran:
    """The command shows nothing of the memory, and names what would change that."""
    done = clone.run(*words, channel="agent")
    assert done.code == 3 and "gitmem trust" in done.err and not done.out, (words, done)
    assert "twenty" not in done.err
    return done


@pytest.mark.parametrize("how", ["init", "sync", "fetch"])
def test_every_lane_is_silent_until_it_is_trusted_and_again_after_that_is_taken_back(how: str, team: Team) -> None:
    ben = team.clone("ben", trusted=False)
    if how == "fetch":
        git(ben.repo, "fetch", "-q", "origin", f"{MAIN}:{MAIN}")
    else:
        ben.ok(how)
    (known,) = team.ana.ids()
    lanes = (*LANES, ("show", known), ("related", known), ("blame", known), ("retract", known, "--because", "x"))
    for words in lanes:
        inert(ben, *words)
    ben.ok("trust", "--yes")
    assert TITLE in ben.ok("recall", "pool connections").out and TITLE in ben.ok("list").out
    for words in (("brief",), ("context", "src/pool.py"), ("show", known), ("log",)):
        ben.ok(*words)
    assert TITLE in ben.ok("recall", "pool connections").out  # the fast way, on a fresh index
    ben.ok("trust", "--revoke")
    for words in lanes:
        inert(ben, *words)


def test_what_is_shown_before_one_decides(team: Team) -> None:
    ben = team.clone("ben", trusted=False)
    ben.ok("sync")
    asked = ben.run("trust", stdin="n\n")
    assert asked.code == 0 and "not trusted" in asked.out
    tip = git(ben.repo, "rev-parse", MAIN).strip()
    root = git(ben.repo, "rev-list", "--max-parents=0", MAIN).strip()
    for shown in (
        tip,
        root,
        "1 fact",
        "1 human",
        "Test Person <person@example.invalid>",
        str(team.hub),
        "review local",
    ):
        assert shown in asked.out, shown
    assert TITLE not in asked.out
    (data,) = ben.ok("trust", "--json").lines
    assert (data["trusted"], data["tip"], data["root"], data["kinds"]) == (False, tip, root, {"fact": 1})
    assert data["elsewhere"] == [{"path": str(team.ana.repo / ".git"), "same_history": True}]
    inert(ben, "list")
    assert "trusted" in ben.ok("trust", stdin="yes\n").out
    assert ben.ids() == team.ana.ids()
    assert ben.ok("trust", "--json").lines[0]["trusted"]


@pytest.mark.parametrize("channel", ["agent", "tool", "ci", "capture", "import"])
def test_a_program_cannot_trust_nor_take_trust_back(channel: str, team: Team) -> None:
    ben = team.clone("ben", trusted=False)
    ben.ok("sync")
    for words in (("trust",), ("trust", "--yes"), ("trust", "--yes", "--json"), ("trust", "--revoke")):
        done = ben.run(*words, channel=channel, stdin="y\n")
        assert done.code == 3 and "person at a terminal" in done.err, words
    inert(ben, "list")
    assert team.ana.run("trust", "--revoke", channel=channel).code == 3 and team.ana.ids()


def test_what_init_begins_is_trusted_and_an_empty_one_has_nothing_to_trust(team: Team, repo: Path) -> None:
    assert team.ana.ids() and team.ana.ok("trust", "--json").lines[0]["trusted"]
    new = Clone(team.top / "new", team.gitmem)
    git(team.top, "init", "-q", "new")
    assert new.run("list").code == 4 and new.run("trust").code == 4
    new.ok("init", channel="agent")
    assert new.ids() == set()


def test_a_git_dir_that_was_handed_over_brings_no_trust(team: Team) -> None:
    elsewhere = team.top / "handed"
    shutil.copytree(team.ana.repo, elsewhere, symlinks=True)  # with state, index, token and all
    inert(Clone(elsewhere, team.gitmem), "recall", "pool connections")
    inert(Clone(elsewhere, team.gitmem), "list")
    # At the same place, without the token that the trusted clone had: another clone.
    token = team.ana.repo / ".git/gitmem/trust.json"
    kept = token.read_bytes()
    for forged in ('{"clone": "../../x"}', '{"clone": "00000000000000000000000000000000"}', "[]", "{", '{"clone": 7}'):
        token.write_text(forged)
        inert(team.ana, "recall", "pool connections")
    record = json.loads(kept)
    folder = Path(os.environ["XDG_STATE_HOME"]) / "gitmem/trust"
    told = json.loads((folder / f"{record['clone']}.json").read_text())
    token.write_text(json.dumps({**record, "clone": "0" * 32, "no home": told}))  # counts for nobody who has a home
    inert(team.ana, "list")
    token.write_bytes(kept)
    assert team.ana.ids()
    (folder / f"{record['clone']}.json").write_text(json.dumps({**told, "project": "other-abc123"}))
    inert(team.ana, "recall", "pool connections")
    inert(team.ana, "list")


def test_another_history_is_not_the_one_that_was_trusted(team: Team) -> None:
    ben = team.clone("ben")
    first = git(ben.repo, "rev-parse", f"{MAIN}~1").strip()
    git(ben.repo, "update-ref", MAIN, first)
    ben.ok("reindex", "--forget")
    inert(ben, "list")
    git(ben.repo, "update-ref", MAIN, "refs/remotes/origin/gitmem/main")
    inert(ben, "list")  # trust that is gone does not come back by itself


def test_status_and_doctor_name_it(team: Team) -> None:
    ben = team.clone("ben", trusted=False)
    ben.ok("sync")
    assert "gitmem trust" in ben.run("doctor").out and "gitmem trust" in ben.run("status").out
    assert "gitmem trust" not in team.ana.run("doctor").out
    assert ben.ok("verify", "--all").out.startswith("clean") and ben.ok("policy").out
