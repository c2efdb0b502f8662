"""Where review is on the forge, a person's word on a memory of the branch is a proposal that a merge decides on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.app.steps import (
    INVOICE,
    POOL,
    RETRY,
    WEATHER,
    Run,
    codes,
    decided_here,
    events,
    ids,
    proposed,
    put,
    status,
    tips,
)
from tests.conftest import git
from tests.review.test_propose import merged_by_the_forge, offered, remote, taken_home

__all__ = ["remote"]
WHY = ("--because", "looked at it")
MOVES = {"wrong": "wrong", "archive": "archived", "retract": "archived", "dispute": "disputed", "edit": "active"}


@pytest.fixture(autouse=True)
def begun(repo: Path, gitmem: Run) -> None:
    assert gitmem(repo, "init").code == 0


def on_the_forge(gitmem: Run, repo: Path) -> None:
    assert gitmem(repo, "policy", "set", "review", "forge", *WHY).code == 0


def asked(gitmem: Run, repo: Path, verb: str, item: str, *words: str) -> dict[str, Any]:
    """Propose one move; what `--json` says of the proposal."""
    more = ["--tag", "x"] if verb == "edit" and not words else []
    done = gitmem(repo, verb, item, *more, *words, "--json", *WHY)
    assert done.code == 0, done.err
    return dict(done.lines[0]["proposed"])


def judged(gitmem: Run, repo: Path, head: str, base: str = "gitmem/main") -> list[str]:
    """The codes that verify gives the commits of a proposal; none when they are clean."""
    done = gitmem(repo, "verify", "--base", base, "--head", head, "--json")
    return sorted({fault["code"] for fault in done.lines[0]["faults"]})


@pytest.mark.parametrize("verb", MOVES)
def test_a_persons_move_is_one_commit_on_a_branch_and_nothing_else_moves(repo: Path, gitmem: Run, verb: str) -> None:
    item = put(gitmem, repo, POOL)
    on_the_forge(gitmem, repo)
    before = git(repo, "rev-parse", "gitmem/main")
    refs = set(tips(repo).splitlines())
    told = asked(gitmem, repo, verb, item)
    assert told["branch"] == f"gitmem/propose/{verb}-{item}" and told["verb"] == verb
    assert git(repo, "rev-parse", "gitmem/main") == before and status(gitmem, repo, item) == "active"
    (made,) = set(tips(repo).splitlines()) - refs
    assert made.endswith(f"refs/heads/gitmem/propose/{verb}-{item}")
    assert git(repo, "rev-list", "--count", f"gitmem/main..{told['branch']}").strip() == "1"
    changed = git(repo, "diff", "--name-only", "gitmem/main", told["branch"]).split()
    kinds = sorted(path.split("/")[0] for path in changed)
    assert kinds == sorted(["events", "memories", *(["tombstones"] if verb == "wrong" else [])])
    assert judged(gitmem, repo, told["branch"]) == []
    (standing,) = gitmem(repo, "propose", "--status", "--json").lines
    assert (standing["state"], standing["waiting"], standing["pushed"]) == ("open", [item], [])
    # The same again is told of, and made no second time.
    again = gitmem(repo, verb, item, *(["--tag", "x"] if verb == "edit" else []), *WHY)
    assert again.code == 2 and f"gitmem propose --push --name {verb}-{item}" in again.err


@pytest.mark.parametrize("how", ["merge", "squash", "rebase"])
@pytest.mark.parametrize("verb", ["wrong", "edit", "dispute"])
def test_merged_on_the_forge_it_holds_for_everybody(
    repo: Path, remote: Path, gitmem: Run, tmp_path: Path, verb: str, how: str
) -> None:
    item, other = put(gitmem, repo, POOL), put(gitmem, repo, WEATHER)
    on_the_forge(gitmem, repo)
    git(repo, "push", "-q", "origin", "gitmem/main")
    told = asked(gitmem, repo, verb, item, *(["--body", "since the last release"] if verb == "edit" else []))
    meanwhile = asked(gitmem, repo, "archive", other)
    for name in (told["name"], meanwhile["name"]):
        pushed = gitmem(repo, "propose", "--push", "--name", name, "--json")
        assert pushed.code == 0 and pushed.lines[0]["pushed"]["result"] == "done", pushed.err
    (tmp_path / "desk").mkdir()
    merged_by_the_forge(remote, tmp_path / "desk", meanwhile["branch"], "squash")
    merged_by_the_forge(remote, tmp_path, told["branch"], how)
    taken_home(repo)
    assert gitmem(repo, "verify", "--all").code == 0
    assert (status(gitmem, repo, item), status(gitmem, repo, other)) == (MOVES[verb], "archived")
    if verb == "edit":
        assert gitmem(repo, "show", item, "--json").lines[0]["body"] == "since the last release"
        assert gitmem(repo, "show", item, "--json").lines[0]["origin"] == "human"
    last = events(gitmem, repo, item)[0]
    assert last["op"] == {"wrong": "reject"}.get(verb, verb) and last["actor"]["channel"] == "forge"
    assert last["proposed"]["actor"]["channel"] == "terminal"
    standings = gitmem(repo, "propose", "--status", "--json").lines
    assert {line["state"] for line in standings} == {"merged"} and all(
        line["pushed"] == ["origin"] for line in standings
    )
    if verb == "wrong":
        back = gitmem(repo, "remember", "-k", "fact", POOL, "-e", "file:src/pool.py:2", "--json")
        assert codes(back) == ["tombstoned"]


def test_what_was_withheld_is_brought_back_the_same_way(repo: Path, remote: Path, gitmem: Run, tmp_path: Path) -> None:
    words = ("-e", "human:the pool has twenty")
    wrong, away = put(gitmem, repo, POOL, *words), put(gitmem, repo, RETRY)
    assert gitmem(repo, "wrong", wrong, *WHY).code == 0 and gitmem(repo, "archive", away, *WHY).code == 0
    on_the_forge(gitmem, repo)
    git(repo, "push", "-q", "origin", "gitmem/main")
    for verb, item, how in (("lift", wrong, "merge"), ("restore", away, "rebase")):
        told = asked(gitmem, repo, verb, item)
        assert gitmem(repo, "propose", "--push", "--name", told["name"]).code == 0
        merged_by_the_forge(remote, tmp_path, told["branch"], how)
        taken_home(repo)
        assert status(gitmem, repo, item) == "active"
    assert gitmem(repo, "verify", "--all").code == 0
    # After a merge the same may be proposed once more, by another name.
    first = asked(gitmem, repo, "archive", away)
    assert gitmem(repo, "propose", "--push", "--name", first["name"]).code == 0
    (tmp_path / "again").mkdir()
    merged_by_the_forge(remote, tmp_path / "again", first["branch"], "merge")
    taken_home(repo)
    assert asked(gitmem, repo, "restore", away)["name"] == f"restore-{away}-2"


@pytest.mark.parametrize("verb", [*MOVES, "lift", "restore"])
def test_the_same_event_is_refused_where_people_review_here(repo: Path, gitmem: Run, verb: str) -> None:
    item = put(gitmem, repo, POOL)
    if verb in ("lift", "restore"):
        assert gitmem(repo, {"lift": "wrong", "restore": "archive"}[verb], item, *WHY).code == 0
    on_the_forge(gitmem, repo)
    told = asked(gitmem, repo, verb, item)
    assert judged(gitmem, repo, told["branch"]) == []  # the control: by the policy under which it was made
    decided_here(gitmem, repo)
    assert judged(gitmem, repo, onto(repo, told["branch"])) == ["channel.authority"]


def onto(repo: Path, branch: str) -> str:
    """The branch rebased onto gitmem/main, in a work tree of its own."""
    where = repo.parent / "rebase"
    git(repo, "branch", "-q", "onto", "gitmem/main")
    git(repo, "worktree", "add", "-q", "--detach", str(where), branch)
    git(where, "rebase", "-q", "onto")
    return git(where, "rev-parse", "HEAD").strip()


@pytest.mark.parametrize("verb", MOVES)
def test_a_program_asks_the_forge_for_no_move(repo: Path, gitmem: Run, verb: str) -> None:
    item = put(gitmem, repo, POOL)
    on_the_forge(gitmem, repo)
    before = tips(repo)
    more = ["--tag", "x"] if verb == "edit" else []
    for channel in ("agent", "ci"):
        done = gitmem(repo, verb, item, *more, "--json", *WHY, channel=channel)
        assert (done.code, codes(done)) == (3, ["channel.authority"]) and tips(repo) == before
    assert asked(gitmem, repo, verb, item)["verb"] == verb  # the control


@pytest.mark.parametrize("verb", ["wrong", "archive"])
def test_a_move_that_says_that_a_program_asked_for_it_stays_out(repo: Path, gitmem: Run, verb: str) -> None:
    """By hand, with plain git: the very commit of a person's proposal, in which an agent or nobody asked."""
    item = put(gitmem, repo, POOL)
    on_the_forge(gitmem, repo)
    told = asked(gitmem, repo, verb, item)
    (path,) = [p for p in git(repo, "diff", "--name-only", "gitmem/main", told["branch"]).split() if "events/" in p]
    raw = git(repo, "show", f"{told['branch']}:{path}")
    start, rest = raw.split('"proposed":')
    forged = {
        "agent": f'{start}"proposed":{rest.replace(chr(34) + "terminal" + chr(34), chr(34) + "agent" + chr(34))}',
        "nobody": start.rstrip(",") + "}\n",
        "terminal": raw,  # the control
    }
    where = repo.parent / "by-hand"
    git(repo, "worktree", "add", "-q", "--detach", str(where), told["branch"])
    for name, text in forged.items():
        (where / path).write_text(text)
        git(where, "commit", "-q", "-a", "--amend", "--allow-empty", "-m", f"by {name}")
        found = judged(gitmem, repo, git(where, "rev-parse", "HEAD").strip())
        assert found == ([] if name == "terminal" else ["channel.authority"]), name


def test_what_the_state_or_the_gate_refuses_makes_no_branch(repo: Path, gitmem: Run) -> None:
    item = put(gitmem, repo, POOL)
    on_the_forge(gitmem, repo)
    before = tips(repo)
    assert codes(gitmem(repo, "lift", item, "--json", *WHY)) == ["status.move"]
    assert gitmem(repo, "wrong", item).code == 2  # no reason
    assert gitmem(repo, "edit", item, *WHY).code == 2  # nothing would change
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    assert gitmem(repo, "edit", item, "--body", secret, *WHY).code == 3
    assert tips(repo) == before
    assert asked(gitmem, repo, "wrong", item)["verb"] == "wrong"  # the control


def test_what_is_a_persons_own_is_moved_at_once(repo: Path, gitmem: Run) -> None:
    own, team = put(gitmem, repo, POOL, "--private"), put(gitmem, repo, RETRY)
    on_the_forge(gitmem, repo)
    assert gitmem(repo, "archive", own, *WHY).code == 0 and status(gitmem, repo, own) == "archived"
    assert "proposed" in gitmem(repo, "archive", team, *WHY).err and status(gitmem, repo, team) == "active"


def test_every_hint_names_what_works_and_none_switches_the_rule_off(repo: Path, gitmem: Run) -> None:
    active = put(gitmem, repo, POOL)
    on_the_forge(gitmem, repo)
    said = gitmem(repo, "remember", "-k", "fact", INVOICE, "-e", "file:src/pool.py:2")
    assert "gitmem propose --push" in said.err and "gitmem accept" not in said.err
    theirs = gitmem(repo, "remember", "-k", "fact", RETRY, "-e", "file:src/pool.py:2", channel="agent")
    assert "gitmem propose --push" in theirs.err and "gitmem accept" not in theirs.err
    waits = ids(gitmem(repo, "list", "--inbox", "--json"))[0]
    shown = gitmem(repo, "show", waits)
    assert f"gitmem propose {waits[:8]} --push" in shown.err and "gitmem accept" not in shown.err
    told = {line["what"]: line for line in gitmem(repo, "policy", "explain", "--json").lines}
    assert told["remember"]["instead"] == "gitmem propose --push, and merge it on the forge"
    assert told["wrong"]["verdict"] == "proposal" and "gitmem wrong ID" in told["wrong"]["instead"]
    assert told["accept"]["verdict"] == "no" and "gitmem propose" in told["accept"]["instead"]
    refused = [gitmem(repo, "accept", waits, *WHY), gitmem(repo, "propose", active)]
    for done in refused:
        assert done.code in (2, 3) and "review local" not in done.err, done.err
    assert f"gitmem propose {waits} --push" in refused[0].err
    assert f"gitmem wrong {active}" in refused[1].err
    # And they do what they say.
    assert gitmem(repo, "retract", waits, *WHY).code == 0
    assert gitmem(repo, "wrong", active, *WHY).code == 0 and len(offered(gitmem, repo)["memories"]) == 1


def test_the_text_of_the_pull_request_is_no_markup_of_others(repo: Path, gitmem: Run) -> None:
    item = put(gitmem, repo, "Pool <img src=x> @team [size](http://evil.invalid)")
    on_the_forge(gitmem, repo)
    told = asked(gitmem, repo, "edit", item, "--body", "# Heading\n<script>x</script>")
    assert "Heading" in told["body"] and "Merging decides" in told["body"] and "looked at it" in told["body"]
    for bad in ("<img", "@team", "](http", "<script", "\n# Heading"):
        assert bad not in told["body"], bad


def test_review_only_shows_and_says_why(repo: Path, gitmem: Run) -> None:
    put(gitmem, repo, WEATHER, channel="agent")
    here = gitmem(repo, "review")
    assert "policy" not in here.err
    on_the_forge(gitmem, repo)
    done = gitmem(repo, "review")
    assert done.code == 0 and WEATHER in done.out
    assert "the policy leaves review to the forge" in done.err and "gitmem propose --push" in done.err
    assert "a person decides at a terminal" not in done.err
    assert proposed(gitmem, repo, POOL)
