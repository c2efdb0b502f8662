"""Memory of one's own: where it lies, who sees it, what becomes of it, and what the gate says to it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gitmem.app.remember import remember
from gitmem.app.user_store import store_path
from gitmem.app.workspace import Workspace, open_workspace
from gitmem.errors import Refused
from gitmem.model.layout import INBOX, PRIVATE
from gitmem.model.nouns import Draft, Memory
from tests.app.conftest import Ran
from tests.conftest import git

Run = Callable[..., Ran]
CRANE = "The harbour crane lifts forty tons"
MINE = "I want small commits for crane code"
OURS = "Crane prose is written in British English"
SAID = ("-e", 'human:"as I said at the crane"')
CITED = ("-e", "file:src/pool.py:2")
WHY = ("--because", "it is so")


def keep(workspace: Workspace, drafts: Sequence[Draft], *, host: str | None = None, reason: str = "") -> list[Memory]:
    """What comes by the channel of capture, for this user alone."""
    caught = replace(workspace, env=replace(workspace.env, channel="capture", host=host))
    own = [replace(draft, audience="private") for draft in drafts]
    return [item.memory for item in remember(caught, own, reason=reason)]


@pytest.fixture
def shop(repo: Path, gitmem: Run) -> Path:
    assert gitmem(repo, "init").code == 0
    return repo


@pytest.fixture
def depot(tmp_path: Path, shop: Path, gitmem: Run) -> Path:
    where = tmp_path / "depot"
    where.mkdir()
    git(where, "init", "-q", "-b", "main")
    assert gitmem(where, "init").code == 0
    return where


def put(gitmem: Run, where: Path, title: str, *flags: str, **how: str) -> str:
    done = gitmem(where, "remember", "--json", "-k", "preference", title, *(flags or CITED), **how)
    assert done.code == 0, done
    return str(done.lines[0]["id"])


def codes(ran: Ran) -> list[str]:
    assert ran.code == 3, ran
    return [line.split()[0].split(" ")[0] for line in ran.err.splitlines() if line.startswith("  ") and "→" not in line]


def titles(gitmem: Run, where: Path, *words: str) -> set[str]:
    return {line["title"] for line in gitmem(where, *words, "--json").lines if "title" in line}


def test_private_is_told_here_and_user_everywhere(shop: Path, depot: Path, gitmem: Run) -> None:
    put(gitmem, shop, CRANE)
    put(gitmem, shop, MINE, *SAID, "--private")
    put(gitmem, shop, OURS, *SAID, "--user")
    for words in (("recall", "crane"), ("list",)):
        assert titles(gitmem, shop, *words) == {CRANE, MINE, OURS}
        assert titles(gitmem, depot, *words) == {OURS}
        for audience, title in (("team", CRANE), ("private", MINE), ("user", OURS)):
            assert titles(gitmem, shop, *words, "--audience", audience) == {title}
    text = gitmem(shop, "recall", "crane").out
    assert f"(private) {MINE}" in text and f"(user) {OURS}" in text and f"  {CRANE}" in text
    block = gitmem(shop, "recall", "crane", "--format", "prompt").out
    assert '"only_for":"this user, in this project"' in block.replace(": ", ":")
    store = store_path(dict(os.environ))
    assert store is not None and store.stat().st_mode & 0o777 == 0o700


def test_two_worktrees_share_private_and_another_clone_has_none(shop: Path, gitmem: Run, tmp_path: Path) -> None:
    put(gitmem, shop, CRANE)
    put(gitmem, shop, MINE, *SAID, "--private")
    put(gitmem, shop, OURS, *SAID, "--user")
    git(shop, "worktree", "add", "-q", str(tmp_path / "beside"))
    assert titles(gitmem, tmp_path / "beside", "recall", "crane") == {CRANE, MINE, OURS}
    git(tmp_path, "clone", "-q", str(shop), "other")
    git(tmp_path / "other", "branch", "-q", "gitmem/main", "origin/gitmem/main")
    assert gitmem(tmp_path / "other", "trust", "--yes").code in (0, 2)
    assert titles(gitmem, tmp_path / "other", "list", "--audience", "user") == {OURS}
    assert titles(gitmem, tmp_path / "other", "list", "--audience", "private") == set()


@pytest.mark.parametrize(("flag", "audience"), [("--private", "private"), ("--user", "user")])
def test_what_an_agent_says_waits_and_lands_in_its_store(shop: Path, gitmem: Run, flag: str, audience: str) -> None:
    if audience == "private":
        waiting = put(gitmem, shop, MINE, *CITED, flag, channel="agent")
    else:  # an agent has nothing to cite that every project has
        refused = gitmem(shop, "remember", "-k", "preference", MINE, *CITED, flag, channel="agent")
        assert codes(refused) == ["evidence.elsewhere"]
        return
    assert titles(gitmem, shop, "list") == set()
    assert gitmem(shop, "list", "--inbox", "--json").lines[0]["scope"]["audience"] == audience
    before = git(shop, "rev-parse", "gitmem/main")
    assert gitmem(shop, "accept", waiting, *WHY).code == 0
    assert titles(gitmem, shop, "list", "--audience", audience) == {MINE}
    assert git(shop, "rev-parse", "gitmem/main") == before


def test_the_gate_judges_it_beside_what_its_reader_sees(shop: Path, gitmem: Run) -> None:
    put(gitmem, shop, CRANE)
    again = ("remember", "-k", "preference", "The crane of the harbour lifts forty tons")
    assert codes(gitmem(shop, *again, *CITED, "--private")) == ["duplicate"]
    mine = put(gitmem, shop, MINE, *SAID, "--private")
    assert codes(gitmem(shop, "remember", "-k", "preference", MINE, *CITED, "--private")) == ["duplicate"]
    # The team is not told of what is somebody's own, nor held up by it.
    linked = ("remember", "-k", "fact", "The gantry is painted each spring", *CITED, "--relates-to", mine)
    assert codes(gitmem(shop, *linked)) == ["link.private"]
    assert gitmem(shop, *linked, "--private").code == 0
    assert gitmem(shop, "remember", "-k", "preference", MINE, *CITED, "--dry-run").code == 0
    secret = "gh" + "p_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5"
    for flag in ("--private", "--user"):
        assert codes(gitmem(shop, "remember", "-k", "fact", f"the token is {secret}", *SAID, flag)).count("secret")
    assert codes(gitmem(shop, "remember", "-k", "fact", "cranes rust", *CITED, "--user")) == ["evidence.elsewhere"]


@pytest.mark.parametrize("flag", ["--private", "--user"])
def test_what_the_team_rejected_does_not_come_back_as_ones_own(shop: Path, gitmem: Run, flag: str) -> None:
    wrong = put(gitmem, shop, CRANE)
    assert gitmem(shop, "wrong", wrong, *WHY).code == 0
    for title in (CRANE, CRANE.upper(), "The crane of the harbour lifts forty tons"):
        assert codes(gitmem(shop, "remember", "-k", "preference", title, *SAID, flag)) == ["tombstoned"], title
    assert gitmem(shop, "remember", "-k", "preference", MINE, *SAID, flag).code == 0


@pytest.mark.parametrize("flag", ["--private", "--user"])
def test_its_moves_stay_in_its_store(shop: Path, gitmem: Run, flag: str) -> None:
    before = git(shop, "rev-parse", "gitmem/main")
    own = put(gitmem, shop, MINE, *SAID, flag)
    for words in (
        ("edit", own, "--title", "I want tiny commits for crane code"), ("dispute", own), ("restore", own),
        ("archive", own), ("restore", own), ("wrong", own),
    ):  # fmt: skip
        assert gitmem(shop, *words, *WHY).code == 0, words
    again = ("remember", "-k", "preference", "I want tiny commits for crane code", *SAID, flag)
    assert codes(gitmem(shop, *again)) == ["tombstoned"]
    assert gitmem(shop, *again[:-1], "--dry-run").code == 0  # the team did not reject it
    assert gitmem(shop, "lift", own, *WHY).code == 0
    done = gitmem(shop, "supersede", own, "I want commits of one thought each", *SAID, *WHY)
    assert done.code == 0, done
    assert titles(gitmem, shop, "list") == {"I want commits of one thought each"}
    told = [line["op"] for line in gitmem(shop, "log", own, "--json").lines]
    assert told == ["supersede", "lift", "reject", "restore", "archive", "restore", "dispute", "edit", "create"]
    assert git(shop, "rev-parse", "gitmem/main") == before
    assert gitmem(shop, "verify").code == 0
    assert "supersede" in gitmem(shop, "blame", own).out


def test_for_whom_it_is_does_not_change(shop: Path, gitmem: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    own = put(gitmem, shop, MINE, *SAID, "--private")
    monkeypatch.setenv("EDITOR", "sed -i 's/^audience: private/audience: team/'")
    edited = gitmem(shop, "edit", own, "--edit", *WHY)
    print(edited)
    assert codes(edited) == ["audience.fixed"]


def test_promotion_is_a_proposal_and_tells_nothing_of_where_it_comes_from(shop: Path, gitmem: Run) -> None:
    own = put(gitmem, shop, MINE, *SAID, "--private")
    kept = put(gitmem, shop, OURS, *SAID, "-p", "src/**", "--user")
    assert gitmem(shop, "promote", own, "--because", "all of us").code == 0
    assert gitmem(shop, "promote", kept).code == 0
    assert titles(gitmem, shop, "list", "--audience", "team") == set()
    waiting = [line["id"] for line in gitmem(shop, "list", "--inbox", "--json").lines if "id" in line]
    assert len(waiting) == 2 and gitmem(shop, "accept", *waiting, *WHY).code == 3  # a preference is decided alone
    for identifier in waiting:
        assert gitmem(shop, "accept", identifier, *WHY).code == 0
    assert titles(gitmem, shop, "list", "--audience", "team") == {MINE, OURS}
    assert titles(gitmem, shop, "list", "--audience", "private") == set()  # not told twice
    assert titles(gitmem, shop, "list", "--audience", "user") == {OURS}  # other projects are told it by nobody else
    for asked in (
        ["recall", "who writes crane prose in which English"],
        ["context", "src/pool.py"],
        ["brief", "--peek"],
    ):
        told = [line for line in gitmem(shop, *asked, "--json").lines if line.get("title") == OURS]
        assert [line["scope"]["audience"] for line in told] == ["team"], asked
        block = gitmem(shop, *asked, "--format", "prompt").out
        assert block.count(OURS) == 1 and kept[:8] not in block
    mine = gitmem(shop, "recall", "crane prose English", "--audience", "user", "--json").lines
    assert mine[0]["id"] == kept  # the control: it is there, and told to who asks for it
    for identifier in (own, kept):
        objects = git(shop, "rev-list", "--objects", "gitmem/main").split("\n")
        held = "".join(git(shop, "cat-file", "-p", line.split()[0]) for line in objects if line)
        assert identifier not in held
    assert MINE in held  # the control: it is looked for where it would be
    assert gitmem(shop, "show", own, "--json").lines[0]["status"] == "archived"
    again = gitmem(shop, "promote", own)
    assert codes(again) == ["status.move"]
    team = next(line["id"] for line in gitmem(shop, "list", "--audience", "team", "--json").lines if "id" in line)
    assert gitmem(shop, "promote", team).code == 2


def test_an_agent_may_propose_to_promote_but_a_persons_words_are_a_persons(shop: Path, gitmem: Run) -> None:
    said = put(gitmem, shop, MINE, *SAID, "--private")
    cited = put(gitmem, shop, CRANE, *CITED, "--private")
    assert codes(gitmem(shop, "promote", said, channel="agent")) == ["human.unproven"]
    assert gitmem(shop, "promote", cited, channel="agent").code == 0
    (waiting,) = [line for line in gitmem(shop, "list", "--inbox", "--json").lines if "id" in line]
    assert waiting["origin"] == "inferred"  # derived again, by who promotes


def test_the_past_is_that_of_the_branch_and_says_so(shop: Path, gitmem: Run) -> None:
    put(gitmem, shop, CRANE)
    old = git(shop, "rev-parse", "gitmem/main").strip()
    put(gitmem, shop, "The crane driver takes lunch at noon")
    put(gitmem, shop, MINE, *SAID, "--private")
    then = gitmem(shop, "recall", "crane", "--as-of", old)
    assert CRANE in then.out and MINE not in then.out
    assert "memory of your own (private) is left out" in then.err
    assert MINE in gitmem(shop, "recall", "crane", "--history").out


def test_export_leaves_it_out_unless_it_is_named(shop: Path, gitmem: Run, tmp_path: Path) -> None:
    put(gitmem, shop, CRANE)
    put(gitmem, shop, MINE, *SAID, "--private")
    put(gitmem, shop, OURS, *SAID, "--user")
    assert titles(gitmem, shop, "export") == titles(gitmem, shop, "export", "--all") == {CRANE}
    assert titles(gitmem, shop, "export", "--audience", "private", "--audience", "user") == {MINE, OURS}
    assert gitmem(shop, "export", "--bundle", str(tmp_path / "b"), "--audience", "private").code == 2


def test_a_private_ref_that_somebody_else_wrote_is_not_read(shop: Path, gitmem: Run, tmp_path: Path) -> None:
    put(gitmem, shop, CRANE)
    put(gitmem, shop, MINE, *SAID, "--private")
    git(tmp_path, "clone", "-q", "--mirror", str(shop), "mirror.git")
    git(tmp_path, "clone", "-q", "--bare", str(shop), "plain.git")
    assert PRIVATE in git(tmp_path / "mirror.git", "for-each-ref")  # it came along
    told = gitmem(tmp_path / "mirror.git", "list")
    assert MINE not in told.out
    # And here: what is not ours is left out, what was ours goes on being read, and nothing is written over it.
    tip = git(shop, "rev-parse", PRIVATE).strip()
    git(shop, "update-ref", PRIVATE, git(shop, "rev-parse", "gitmem/main").strip())
    assert titles(gitmem, shop, "list") == {CRANE, MINE}
    refused = gitmem(shop, "remember", "-k", "fact", "cranes are birds", *CITED, "--private")
    assert refused.code == 3 and "which this clone did not write" in refused.err
    assert gitmem(shop, "verify").code == 3
    git(shop, "update-ref", PRIVATE, tip)
    assert gitmem(shop, "remember", "-k", "fact", "cranes are birds", *CITED, "--private").code == 0
    assert gitmem(shop, "verify").code == 0


def test_a_store_that_is_gone_or_broken_stops_nobody(shop: Path, gitmem: Run) -> None:
    put(gitmem, shop, CRANE)
    put(gitmem, shop, OURS, *SAID, "--user")
    store = store_path(dict(os.environ))
    assert store is not None
    shutil.rmtree(store / "objects")
    assert titles(gitmem, shop, "recall", "crane") >= {CRANE}
    assert "user" in gitmem(shop, "doctor").out
    shutil.rmtree(store)
    assert titles(gitmem, shop, "recall", "crane") == {CRANE}


def test_capture_keeps_words_and_what_it_saw_and_nothing_else(shop: Path, env: Callable[..., object]) -> None:
    workspace = open_workspace(env(shop, "agent"))  # type: ignore[arg-type]
    try:
        (seen,) = keep(workspace, [Draft(kind="fact", title=CRANE, evidence=("file:src/pool.py:2",))])
        assert (seen.status, seen.origin, seen.scope.audience) == ("active", "observed", "private")
        with pytest.raises(Refused) as refused:  # nobody shows that a person said it
            keep(workspace, [Draft(kind="preference", title=MINE, evidence=('human:"small, please"',))])
        assert [reason.code for reason in refused.value.reasons] == ["human.unproven"]
        again: list[Memory] = keep(workspace, [Draft(kind="fact", title=CRANE, evidence=("file:src/pool.py:2",))])
        assert again == [replace(seen)]
    finally:
        workspace.close()
    assert git(shop, "for-each-ref", INBOX) == ""


def test_a_person_sees_the_two_flags_as_two(shop: Path, gitmem: Run) -> None:
    assert gitmem(shop, "remember", "-k", "fact", CRANE, *SAID, "--private", "--user").code == 2
    said = gitmem(shop, "remember", "-k", "fact", CRANE, *SAID, "--private", "--dry-run")
    assert "your private memory of this project as active" in said.out
    assert git(shop, "for-each-ref", PRIVATE) == ""


def test_a_verdict_that_broke_off_between_two_repositories_is_ended(shop: Path, gitmem: Run) -> None:
    # Found by an attack: the store had the memory, the candidate could be neither accepted nor closed ever again.
    rule = put(gitmem, shop, OURS, *SAID, "--user")
    accepted = put(gitmem, shop, "Colour is spelled with u", "-e", f"memory:{rule}", "--user", channel="agent")
    turned_down = put(gitmem, shop, "Grey is spelled with e", "-e", f"memory:{rule}", "--user", channel="agent")
    before = git(shop, "rev-parse", INBOX).strip()
    assert gitmem(shop, "accept", accepted, *WHY).code == 0
    assert gitmem(shop, "reject", turned_down, "--because", "it is not").code == 0
    git(shop, "update-ref", INBOX, before)
    done = gitmem(shop, "list", "--inbox")
    assert done.code == 0 and gitmem(shop, "list", "--inbox", "--json").lines[:-1] == [], done
    states = {i: gitmem(shop, "show", i, "--json").lines[0]["status"] for i in (accepted, turned_down)}
    assert states == {accepted: "active", turned_down: "archived"}


def test_what_rests_on_another_memory_of_ones_own_is_verified(shop: Path, gitmem: Run) -> None:
    rule = put(gitmem, shop, OURS, *SAID, "--user")
    put(gitmem, shop, "Colour is spelled with u", "-e", f"memory:{rule}", "--user")
    assert gitmem(shop, "verify").code == 0
    store = store_path(dict(os.environ))
    assert store is not None
    nothing = git(store, "hash-object", "-t", "tree", "-w", "/dev/null").strip()
    emptied = git(store, "commit-tree", nothing, "-p", "gitmem/main", "-m", "by hand").strip()
    git(store, "update-ref", "refs/heads/gitmem/main", emptied)
    assert gitmem(shop, "verify").code == 3  # the store is looked at
