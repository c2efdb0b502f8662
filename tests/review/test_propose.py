"""Proposals: a branch with one commit a memory, merged by a forge in each of its ways."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitmem.app import propose_push
from gitmem.app.propose_forge import Forge
from tests.app.steps import INVOICE, POOL, RETRY, Run, codes, decided_here, events, ids, proposed, put, status, tips
from tests.conftest import git

WHY = ("--because", "looked at it")


@pytest.fixture(autouse=True)
def begun(repo: Path, gitmem: Run) -> None:
    assert gitmem(repo, "init").code == 0


@pytest.fixture
def remote(repo: Path, tmp_path: Path, gitmem: Run) -> Path:
    """A bare repository with gitmem's own hooks, which has the code and the memory branch."""
    where = tmp_path / "team.git"
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(where))
    git(repo, "remote", "add", "origin", str(where))
    git(repo, "push", "-q", "origin", "main", "gitmem/main")
    assert gitmem(where, "hooks", "install", "--server").code == 0
    return where


def offered(gitmem: Run, repo: Path, *words: str, channel: str = "terminal") -> dict:
    done = gitmem(repo, "propose", "--json", *words, channel=channel)
    assert done.code == 0, done.err
    return dict(done.lines[0])


def merged_by_the_forge(remote: Path, tmp_path: Path, branch: str, how: str) -> None:
    """What the button of a forge does: in a clone, by plain git, pushed through the hooks of the server."""
    desk = tmp_path / f"forge-{how}"
    git(tmp_path, "clone", "-q", "-b", "gitmem/main", str(remote), str(desk))
    if how == "rebase":
        git(desk, "switch", "-q", "-c", "their", f"origin/{branch}")
        git(desk, "rebase", "-q", "gitmem/main")
        git(desk, "switch", "-q", "gitmem/main")
        git(desk, "merge", "-q", "--ff-only", "their")
    elif how == "squash":
        git(desk, "merge", "-q", "--squash", f"origin/{branch}")
        git(desk, "commit", "-q", "-m", "memories (#1)")
    else:
        git(desk, "merge", "-q", "--no-ff", "-m", "Merge pull request #1", f"origin/{branch}")
    git(desk, "push", "-q", "origin", "gitmem/main")


def taken_home(repo: Path) -> None:
    git(repo, "fetch", "-q", "origin", "gitmem/main")
    git(repo, "update-ref", "refs/heads/gitmem/main", "FETCH_HEAD")


def test_a_proposal_is_a_branch_with_one_commit_a_memory(repo: Path, gitmem: Run) -> None:
    first, second = proposed(gitmem, repo, POOL), proposed(gitmem, repo, RETRY)
    before = git(repo, "rev-parse", "gitmem/main", "refs/gitmem/inbox")
    offer = offered(gitmem, repo)
    assert [m["id"] for m in offer["memories"]] == [first, second] and offer["left_out"] == []
    assert git(repo, "rev-list", "--count", f"gitmem/main..{offer['branch']}").strip() == "2"
    assert git(repo, "rev-parse", "gitmem/main", "refs/gitmem/inbox") == before
    assert gitmem(repo, "verify", "--base", "gitmem/main", "--head", offer["branch"]).code == 0
    assert (
        git(repo, "log", "-1", "--format=%an <%ae>", offer["branch"]).strip() == "Test Person <person@example.invalid>"
    )
    assert gitmem(repo, "propose").code == 4  # nothing that is not proposed already
    (standing,) = gitmem(repo, "propose", "--status", "--json").lines
    assert standing["state"] == "open" and standing["waiting"] == sorted([first, second]) and standing["pushed"] == []


def test_what_rests_on_another_candidate_comes_behind_it(repo: Path, gitmem: Run) -> None:
    problem = put(gitmem, repo, "Connects time out in the morning", channel="agent", kind="problem")
    solved = put(gitmem, repo, RETRY, "--solves", problem, channel="agent", kind="solution")
    assert codes(gitmem(repo, "propose", solved, "--json")) == ["link.missing"]  # by itself it leads nowhere
    offer = offered(gitmem, repo)
    assert [m["id"] for m in offer["memories"]] == [problem, solved]
    assert gitmem(repo, "verify", "--base", "gitmem/main", "--head", offer["branch"]).code == 0


def test_what_the_gate_refuses_is_left_out_or_refuses_when_it_is_named(repo: Path, gitmem: Run) -> None:
    mine = put(gitmem, repo, RETRY + " in a row")
    assert gitmem(repo, "archive", mine, "--because", "for now").code == 0
    good, bad = proposed(gitmem, repo, POOL), proposed(gitmem, repo, RETRY)
    assert gitmem(repo, "restore", mine, "--because", "said by a person").code == 0
    before = tips(repo)
    assert codes(gitmem(repo, "propose", good, bad, "--json")) == ["duplicate"] and tips(repo) == before
    offer = offered(gitmem, repo)
    assert [m["id"] for m in offer["memories"]] == [good]
    assert [(m["id"], m["reasons"][0]["code"]) for m in offer["left_out"]] == [(bad, "duplicate")]


def test_nobody_else_reads_of_what_is_not_proposed(repo: Path, gitmem: Run, tmp_path: Path) -> None:
    # Found by an attack: the page of the request named what was left out, a private candidate among it.
    own = put(gitmem, repo, "Retries of mine alone", "--private", channel="agent")
    assert gitmem(repo, "propose").code == 4  # nothing waits for the team
    mine = put(gitmem, repo, RETRY + " in a row")
    assert gitmem(repo, "archive", mine, "--because", "for now").code == 0
    good, bad = proposed(gitmem, repo, POOL), proposed(gitmem, repo, RETRY)
    assert gitmem(repo, "restore", mine, "--because", "said by a person").code == 0
    page = tmp_path / "page.md"
    offer = offered(gitmem, repo, "--body", str(page))
    assert [m["id"] for m in offer["memories"]] == [good] and [m["id"] for m in offer["left_out"]] == [bad]
    told = page.read_text() + offer["branch"]
    assert POOL in told and bad in told and RETRY not in told.replace(RETRY + " in a row", "")
    assert "of mine alone" not in told and own not in told
    for channel in ("terminal", "agent"):
        assert codes(gitmem(repo, "propose", own, "--json", channel=channel)) == ["audience.store"]


@pytest.mark.parametrize("how", ["merge", "squash", "rebase"])
def test_the_way_out_where_review_is_on_the_forge(
    repo: Path, remote: Path, gitmem: Run, tmp_path: Path, how: str
) -> None:
    assert gitmem(repo, "policy", "set", "review", "forge", *WHY).code == 0
    git(repo, "push", "-q", "origin", "gitmem/main")
    mine = put(gitmem, repo, POOL)  # a person's own words wait as well
    theirs = proposed(gitmem, repo, RETRY)
    assert codes(gitmem(repo, "accept", mine, "--json")) == ["channel.authority"]
    offer = offered(gitmem, repo, "--push", channel="agent")
    assert offer["pushed"]["result"] == "done" and offer["pushed"]["url"] == ""
    # Somebody else's memory lands on the branch meanwhile.
    desk = tmp_path / "desk"
    git(tmp_path, "clone", "-q", str(remote), str(desk))
    git(desk, "branch", "-q", "gitmem/main", "origin/gitmem/main")
    gitmem(desk, "trust", "--yes")
    put(gitmem, desk, INVOICE)
    other = offered(gitmem, desk, "--push")
    merged_by_the_forge(remote, tmp_path / "desk", other["branch"], "squash")
    merged_by_the_forge(remote, tmp_path, offer["branch"], how)
    taken_home(repo)
    assert gitmem(repo, "verify", "--all").code == 0
    assert status(gitmem, repo, mine) == status(gitmem, repo, theirs) == "active"
    done = gitmem(repo, "list", "--inbox")
    assert done.code == 0 and done.err.count("merged: it is on gitmem/main as active") == 2
    assert ids(gitmem(repo, "list", "--inbox", "--json")) == []
    told = [(e["op"], e["actor"]["channel"]) for e in events(gitmem, repo, theirs)]
    assert ("accept", "forge") in told and told[-1] == ("create", "agent") and ("merge", "terminal") in told
    (standing,) = gitmem(repo, "propose", "--status", "--json").lines
    assert standing["state"] == "merged" and standing["pushed"] == ["origin"]


def test_where_people_review_here_a_program_offers_candidates(
    repo: Path, remote: Path, gitmem: Run, tmp_path: Path
) -> None:
    item = proposed(gitmem, repo, POOL)
    offer = offered(gitmem, repo, "--push", channel="agent")
    assert [m["status"] for m in offer["memories"]] == ["candidate"]
    merged_by_the_forge(remote, tmp_path, offer["branch"], "merge")
    taken_home(repo)
    assert gitmem(repo, "recall", "pool connections").code in (0, 4) and POOL not in gitmem(repo, "recall", "pool").out
    (found,) = [line for line in gitmem(repo, "review", "--json").lines if "id" in line]
    assert found["id"] == item and found["memory"]["ref"] == "refs/heads/gitmem/main"
    assert gitmem(repo, "accept", item).code == 0 and status(gitmem, repo, item) == "active"
    assert gitmem(repo, "verify", "--all").code == 0


def test_a_person_offers_what_is_active_when_it_is_merged(
    repo: Path, remote: Path, gitmem: Run, tmp_path: Path
) -> None:
    old = put(gitmem, repo, POOL)
    git(repo, "push", "-q", "origin", "gitmem/main")
    new = gitmem(repo, "supersede", old, "The pool grows with the load", "-e", "file:src/pool.py:2", "--json", *WHY,
                 channel="agent").lines[0]["id"]  # fmt: skip
    offer = offered(gitmem, repo, "--push")
    merged_by_the_forge(remote, tmp_path, offer["branch"], "squash")
    taken_home(repo)
    assert (status(gitmem, repo, old), status(gitmem, repo, new)) == ("superseded", "active")
    assert gitmem(repo, "verify", "--all").code == 0


def test_the_channel_forge_decides_only_where_the_policy_says_so(repo: Path, gitmem: Run) -> None:
    """An event that says forge does not let anything in where people decide at their terminals."""
    assert gitmem(repo, "policy", "set", "review", "forge", *WHY).code == 0
    proposed(gitmem, repo, POOL)
    offer = offered(gitmem, repo, channel="agent")
    assert gitmem(repo, "verify", "--base", "gitmem/main", "--head", offer["branch"]).code == 0
    decided_here(gitmem, repo)
    git(repo, "branch", "-q", "onto", "gitmem/main")
    where = repo.parent / "rebase"
    git(repo, "worktree", "add", "-q", "--detach", str(where), offer["branch"])
    git(where, "rebase", "-q", "onto")
    head = git(where, "rev-parse", "HEAD").strip()
    done = gitmem(repo, "verify", "--base", "gitmem/main", "--head", head, "--json")
    assert done.code == 3 and {fault["code"] for fault in done.lines[0]["faults"]} == {"channel.authority"}


def test_nothing_is_pushed_where_it_was_not_meant(repo: Path, gitmem: Run, tmp_path: Path) -> None:
    proposed(gitmem, repo, POOL)
    assert gitmem(repo, "propose", "--push", "--name", "one").code == 2  # no remote at all
    for name in ("team", "fork"):
        git(tmp_path, "init", "-q", "--bare", "-b", "main", str(tmp_path / f"{name}.git"))
        git(repo, "remote", "add", name, str(tmp_path / f"{name}.git"))
    several = gitmem(repo, "propose", "--push", "--name", "one")
    assert several.code == 2 and "fork" in several.err and "team" in several.err
    empty = gitmem(repo, "propose", "--push", "--name", "one", "--remote", "team")
    assert empty.code == 3 and "is empty" in empty.err and git(tmp_path / "team.git", "for-each-ref") == ""
    git(repo, "push", "-q", "team", "main")
    lacking = gitmem(repo, "propose", "--push", "--name", "one", "--remote", "team")
    assert lacking.code == 3 and "has no gitmem/main" in lacking.err
    git(repo, "push", "-q", "team", "gitmem/main")
    assert gitmem(repo, "propose", "--push", "--name", "one", "--remote", "team").code == 0
    assert "gitmem/propose/one" in git(tmp_path / "team.git", "for-each-ref")
    assert git(tmp_path / "fork.git", "for-each-ref") == ""
    assert "refs/gitmem" not in git(tmp_path / "team.git", "for-each-ref")


def test_what_only_has_the_name_of_a_proposal_is_not_pushed(repo: Path, remote: Path, gitmem: Run) -> None:
    mine = "Salaries are paid on the third working day"
    assert gitmem(repo, "remember", "-k", "fact", mine, "-e", "file:src/pool.py:1", "--private").code == 0
    proposed(gitmem, repo, POOL)
    good = offered(gitmem, repo, "--name", "good")
    git(repo, "branch", "gitmem/propose/private", "refs/gitmem/private")
    git(repo, "branch", "gitmem/propose/inbox", "refs/gitmem/inbox")
    git(repo, "branch", "gitmem/propose/code", "main")
    where = repo.parent / "secret"
    git(repo, "worktree", "add", "-q", "-b", "gitmem/propose/secret", str(where), good["branch"])
    (record,) = where.glob(f"memories/*/*/{good['memories'][0]['id']}.yaml")
    token = "ghp_" + "x7Kq2Lm9Rt4Vb1Zc8Ws3Yd6Nf5Hj0PaQeUi2"
    record.write_text(record.read_text().replace('body: ""', f'body: "with {token}"'))
    git(where, "commit", "-qam", "by hand")
    for name in ("private", "inbox", "code", "secret"):
        for channel in ("terminal", "agent"):
            done = gitmem(repo, "propose", "--push", "--name", name, channel=channel)
            assert done.code == 3 and "no sound proposal" in done.err and token not in done.err, (name, done.err)
    assert "propose" not in git(remote, "for-each-ref")
    assert gitmem(repo, "propose", "--push", "--name", "good", channel="agent").code == 0
    assert "gitmem/propose/good" in git(remote, "for-each-ref")


def test_a_plain_push_takes_what_was_not_pushed_yet(repo: Path, remote: Path, gitmem: Run) -> None:
    def there() -> set[str]:
        return set(git(remote, "for-each-ref", "--format=%(refname:lstrip=4)", "refs/heads/gitmem/propose").split())

    first = proposed(gitmem, repo, POOL)
    offered(gitmem, repo, "--name", "one")
    assert there() == set()
    done = gitmem(repo, "propose", "--push", "--json")
    assert done.code == 0 and [line["name"] for line in done.lines] == ["one"] and there() == {"one"}
    # Of what has arrived nothing is pushed again; what is new goes with what is left.
    again = gitmem(repo, "propose", "--push")
    assert again.code == 4 and "not proposed already" in again.err
    second = proposed(gitmem, repo, RETRY)
    offered(gitmem, repo, "--name", "two")
    proposed(gitmem, repo, INVOICE)
    # A branch that somebody else made is theirs to push.
    git(repo, "branch", "gitmem/propose/theirs", "gitmem/propose/two")
    done = gitmem(repo, "propose", "--push", "--json")
    assert done.code == 0 and len(done.lines) == 2 and there() == {"one", "two", done.lines[0]["name"]}
    rows = {line["name"]: line for line in gitmem(repo, "propose", "--status", "--json").lines}
    assert rows["one"]["pushed"] == rows["two"]["pushed"] == ["origin"] and rows["theirs"]["pushed"] == []
    assert (rows["one"]["waiting"], rows["two"]["waiting"]) == ([first], [second])


def test_what_was_accepted_here_is_told_from_what_was_merged(
    repo: Path, remote: Path, gitmem: Run, tmp_path: Path
) -> None:
    here, there = proposed(gitmem, repo, POOL), proposed(gitmem, repo, RETRY)
    offered(gitmem, repo, here, "--name", "one")
    branch = offered(gitmem, repo, there, "--name", "two", "--push")["branch"]
    assert gitmem(repo, "accept", here).code == 0
    git(repo, "push", "-q", "origin", "gitmem/main")
    merged_by_the_forge(remote, tmp_path, branch, "squash")
    taken_home(repo)
    rows = {line["name"]: line for line in gitmem(repo, "propose", "--status", "--json").lines}
    assert (rows["one"]["state"], rows["one"]["accepted_here"], rows["one"]["merged"]) == (
        "accepted here",
        [here],
        [here],
    )
    assert (rows["two"]["state"], rows["two"]["accepted_here"], rows["two"]["merged"]) == ("merged", [], [there])
    one, two = sorted(gitmem(repo, "propose", "--status").out.splitlines())
    assert "1 of 1 accepted here" in one and "not pushed" not in one and "merged" not in one
    assert "1 of 1 merged, pushed to origin" in two


def test_the_message_of_a_commit_says_what_it_rests_on(repo: Path, remote: Path, gitmem: Run) -> None:
    item = proposed(gitmem, repo, POOL, "--because", "read in the code")
    tip = offered(gitmem, repo, item)["tip"]
    subject, _, *body = git(repo, "log", "-1", "--format=%B", tip).strip().split("\n")
    head = git(repo, "rev-parse", "HEAD")[:10]
    assert subject == f"propose {item}: {POOL}" and body[0] == f"supports: file:src/pool.py@{head}:2"
    assert "size = 20" not in "".join(body)  # what is quoted stays in the record
    assert gitmem(repo, "verify", "--base", "gitmem/main", "--head", tip).code == 0


def test_a_refusing_server_is_told_from_a_remote_that_does_not_answer(
    repo: Path, remote: Path, gitmem: Run, tmp_path: Path
) -> None:
    item = proposed(gitmem, repo, POOL)
    hook = remote / "hooks/update"
    kept = hook.read_bytes()
    hook.write_text("#!/bin/sh\necho 'this branch is protected' >&2\nexit 1\n")
    done = gitmem(repo, "propose", "--push", "--name", "one", "--json")
    assert done.code == 3 and codes(done)[0] in ("push.refused", "push.protected")
    hook.write_bytes(kept)
    remote.rename(tmp_path / "gone.git")
    assert gitmem(repo, "propose", "--push", "--name", "one").code == 8
    (tmp_path / "gone.git").rename(remote)
    assert gitmem(repo, "propose", "--push", "--name", "one").code == 0
    assert ids(gitmem(repo, "list", "--inbox", "--json")) == [item]


@pytest.mark.parametrize(("kind", "program"), [("github", "gh"), ("gitlab", "glab")])
def test_the_program_of_the_forge_opens_the_pull_request(
    repo: Path, remote: Path, gitmem: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, program: str
) -> None:
    forge = Forge(kind, f"{kind}.com", "team/shop")
    monkeypatch.setattr(propose_push, "forge_of", lambda url: forge)
    tools = tmp_path / "tools"
    tools.mkdir()
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    proposed(gitmem, repo, "The pool holds $(touch PWNED) twenty")
    plain = gitmem(repo, "propose", "--push", "--name", "one", "--json").lines[0]["pushed"]
    assert plain["opened"] is None and plain["said"] == f"{program} is not installed" and f"{kind}.com" in plain["url"]
    there = tools / program
    there.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >{tools}/said\necho https://{kind}.com/team/shop/pull/7\n')
    there.chmod(0o755)
    again = gitmem(repo, "propose", "--push", "--name", "one", "--json").lines[0]["pushed"]
    assert again["opened"] == program and again["url"] == f"https://{kind}.com/team/shop/pull/7"
    said = (tools / "said").read_text()
    assert "gitmem/propose/one" in said and "gitmem/main" in said
    there.write_text("#!/bin/sh\necho 'you are not logged in: https://me:secret@host/' >&2\nexit 1\n")
    failed = (
        gitmem(repo, "propose", "--push", "--name", "one").out + gitmem(repo, "propose", "--push", "--name", "one").err
    )
    assert "not logged in" in failed and "secret" not in failed and "open the pull request" in failed
    assert not list(tmp_path.rglob("PWNED"))


def test_hostile_text_does_not_leave_its_place_in_the_pull_request(repo: Path, gitmem: Run) -> None:
    title = "Pool | size](http://evil.invalid) <img src=x> @team #1 **x** `code` ::error::x"
    proposed(gitmem, repo, title, "-b", "# Heading\n```\n<script>alert(1)</script>\n::set-output name=x::y\n- [ ] task")
    body = offered(gitmem, repo)["body"]
    for bad in ("<img", "<script", "](http", "@team", "**x**", "```", "::error", "::set-output", "\n# Heading", " #1"):
        assert bad not in body, bad
    assert "Heading" in body and "| `" in body
    rows = [line for line in body.split("\n") if line.startswith("| `")]
    assert len(rows) == 1 and rows[0].count("|") == 6


def test_the_text_goes_where_it_is_asked_for(repo: Path, gitmem: Run, tmp_path: Path) -> None:
    item = proposed(gitmem, repo, POOL)
    assert gitmem(repo, "propose", item, "--name", "one", "--body", str(tmp_path / "body.md")).code == 0
    text = (tmp_path / "body.md").read_text()
    assert POOL in text and "src/pool.py" in text and "Review level 0" in text
    assert gitmem(repo, "propose", item, "--name", "two", "--body", "-").out.count("Review level 0") == 1
    for name in ("..", "a/b", "-x", "X", "con"):
        assert gitmem(repo, "propose", item, f"--name={name}").code == 2, name
    assert gitmem(repo, "propose", item, "--name", "two").code == 2  # there is one already
