"""Where review is on the forge, every verb that writes has a way that works: at once here, or as a proposal."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitmem.cli.main import VERBS
from tests.app.steps import INVOICE, POOL, RETRY, WEATHER, Run, codes, events, ids, proposed, put, status, tips
from tests.conftest import git
from tests.review.test_propose import merged_by_the_forge, remote, taken_home
from tests.review.test_propose_move import judged

__all__ = ["remote"]
WHY = ("--because", "looked at it")
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIF1/0sNsSbGzAJdmyZCyJCl3+6Lz8IVcdZTmiNq1OBSy"
# Verbs that move no memory of the team: they read, talk to the forge, keep the clone's own things, or are hooks.
OTHERS = frozenset(
    {
        "init", "trust", "sync", "check", "propose", "promote", "install", "uninstall", "package", "capture",
        "sessions", "lessons", "directives", "distill", "skill", "recall", "context", "brief", "mcp", "list", "show",
        "key", "why", "related", "log", "blame", "export", "stale", "verify", "audit", "scan-secrets", "status",
        "doctor", "hooks", "reindex", "schema", "completion", "merge-driver", "hook-impl", "hook-agent",
        "consolidate",
    }
)  # fmt: skip
# What a person types, and what comes of it: a `branch` that is proposed, a change `here`, `candidate`, or `refused`
# with a command that works. NAMES are the memories of `stock`.
WALK = (
    ("remember -k fact {new} -e file:src/pool.py:2", "candidate"),
    ("supersede active {new2} -e file:src/pool.py:2", "candidate"),
    ("import --accept", "refused"),
    ("accept waits", "refused"),
    ("review supersede takes other", "here"),
    ("edit waits --tag x", "here"),
    ("review edit waits", "refused"),  # an editor, which a test has not
    ("reject no", "branch"),
    ("lift no", "here"),
    ("review reject no2", "branch"),
    ("review merge-into adds active", "branch"),
    ("retract waits", "here"),
    ("wrong active", "branch"),
    ("dispute active", "branch"),
    ("archive active", "branch"),
    ("retract active", "branch"),
    ("edit active --tag y", "branch"),
    ("lift false", "branch"),
    ("restore away", "branch"),
    ("conflicts resolve disputed --take ours", "branch"),
    ("reverify moved", "branch"),
    ("plan done 1 todo", "branch"),
    ("plan drop todo", "branch"),
    ("policy set unobservable refuse", "branch"),
    ("policy set evidence.fact file,test", "branch"),
    ("policy signer add ann@example.invalid KEY", "branch"),
    ("policy set review local", "branch"),
    ("policy set review forge", "nothing"),  # it stands so already
    ("feedback active wrong", "refused"),  # it asks; the answer is one of the verbs above
)


@pytest.fixture
def stock(repo: Path, gitmem: Run) -> dict[str, str]:
    """A memory of every state that a verb needs, and candidates; then review is left to the forge."""
    assert gitmem(repo, "init").code == 0
    found = {
        "active": put(gitmem, repo, POOL),
        "other": put(gitmem, repo, WEATHER),
        "false": put(gitmem, repo, "Backups run on every second Sunday"),
        "away": put(gitmem, repo, "Tickets are closed after ninety days"),
        "disputed": put(gitmem, repo, "The cache is cleared by each release"),
        "moved": put(gitmem, repo, "Logs rotate when they reach a gigabyte"),
        "todo": put(gitmem, repo, "Move the queue", "--step", "copy it", "--step", "switch", kind="plan"),
        "waits": proposed(gitmem, repo, RETRY),
        "no": proposed(gitmem, repo, INVOICE),
        "no2": proposed(gitmem, repo, "Sessions expire at midnight"),
        "adds": proposed(gitmem, repo, "The pool keeps twenty open connections", "--tag", "pool"),
        "takes": proposed(gitmem, repo, "Harbour deploys look at the tide table first"),
    }
    for verb in ("wrong", "archive", "dispute"):
        name = {"wrong": "false", "archive": "away", "dispute": "disputed"}[verb]
        assert gitmem(repo, verb, found[name], *WHY).code == 0
    assert gitmem(repo, "policy", "set", "review", "forge", *WHY).code == 0
    file = repo / "src/pool.py"
    file.write_text("# a line above\n" + file.read_text())
    git(repo, "commit", "-q", "-am", "a line above")
    return found


def test_every_verb_that_writes_has_a_way(repo: Path, gitmem: Run, stock: dict[str, str]) -> None:
    walked = {line.split()[0] for line, _ in WALK}
    assert walked | OTHERS == set(VERBS) and not walked & OTHERS  # a new verb decides where it belongs
    words = {
        **stock,
        "KEY": KEY,
        "{new}": "Metrics are kept for a fortnight",
        "{new2}": "The pool holds thirty connections",
    }
    for line, outcome in WALK:
        typed = [words.get(word, word) for word in line.split()]
        before, main = set(tips(repo).splitlines()), git(repo, "rev-parse", "gitmem/main")
        done = gitmem(repo, *typed, *([] if "import" in line else WHY))
        made = set(tips(repo).splitlines()) - before
        assert git(repo, "rev-parse", "gitmem/main") == main, line
        refs = sorted(row.split("\t")[1] for row in made)
        if outcome == "nothing":
            assert (done.code, made) == (0, set()), line
            continue
        if outcome == "refused":
            assert not made and "gitmem " in done.out + done.err, (line, done.out, done.err)
            continue
        assert done.code == 0, (line, done.err)
        if outcome == "branch":
            branch = next(ref for ref in refs if "propose" in ref)
            assert judged(gitmem, repo, branch) == [], line
            assert "gitmem propose --push --name" in done.err, line
        else:
            assert refs == ["refs/gitmem/inbox"], (line, refs)
    # The same is no way for a program.
    for line in ("reject takes", "edit takes --tag z", "conflicts resolve disputed --take ours", "reverify moved"):
        before = set(tips(repo).splitlines())
        words_of = [stock.get(word, word) for word in line.split()]
        done = gitmem(repo, *words_of, "--json", *WHY, channel="agent")
        assert (done.code, codes(done)) == (3, ["channel.authority"]) and set(tips(repo).splitlines()) == before
        assert "gitmem restore" not in done.err


def test_merged_the_verdicts_hold_for_everybody(
    repo: Path, gitmem: Run, stock: dict[str, str], remote: Path, tmp_path: Path
) -> None:
    steps = (
        (("reject", stock["no"]), "merge"),
        (("review", "merge-into", stock["adds"], stock["active"]), "squash"),
        (("conflicts", "resolve", stock["disputed"], "--take", "ours"), "rebase"),
        (("reverify", stock["moved"]), "squash"),
        (("plan", "done", "1", stock["todo"]), "merge"),
    )
    for number, (words, how) in enumerate(steps):
        told = gitmem(repo, *words, "--json", *WHY).lines[0]["proposed"]
        assert words[0] != "review" or stock["adds"] in ids(gitmem(repo, "list", "--inbox", "--json"))
        assert gitmem(repo, "propose", "--push", "--name", told["name"]).code == 0
        (tmp_path / str(number)).mkdir()
        merged_by_the_forge(remote, tmp_path / str(number), told["branch"], how)
        taken_home(repo)
        assert gitmem(repo, "verify", "--all").code == 0, words
        if how == "squash" and words[0] == "review":  # what was offered is merged, so the candidate closes itself
            waits = ids(gitmem(repo, "list", "--inbox", "--json"))
            assert stock["adds"] not in waits and stock["waits"] in waits
            assert f"merged into {stock['active']}" in events(gitmem, repo, stock["adds"])[0]["reason"]
    assert {line["state"] for line in gitmem(repo, "propose", "--status", "--json").lines} == {"merged"}
    back = gitmem(repo, "remember", "-k", "fact", INVOICE, "-e", "file:src/pool.py:2", "--json")
    assert codes(back) == ["tombstoned"] and status(gitmem, repo, stock["no"]) == "wrong"
    assert gitmem(repo, "show", stock["active"], "--json").lines[0]["tags"] == ["pool"]
    assert status(gitmem, repo, stock["disputed"]) == "active"
    assert gitmem(repo, "show", stock["todo"], "--json").lines[0]["steps"][0]["done"] is True
    # The team's tombstone stands, so what lifts it is a proposal as well.
    told = gitmem(repo, "lift", stock["no"], "--json", *WHY).lines[0]["proposed"]
    assert gitmem(repo, "propose", "--push", "--name", told["name"]).code == 0
    (tmp_path / "lift").mkdir()
    merged_by_the_forge(remote, tmp_path / "lift", told["branch"], "merge")
    taken_home(repo)
    assert gitmem(repo, "lift", stock["no"], *WHY).code == 0 and status(gitmem, repo, stock["no"]) == "candidate"


def test_a_change_of_the_policy_holds_when_it_is_merged(
    repo: Path, gitmem: Run, stock: dict[str, str], remote: Path, tmp_path: Path
) -> None:
    assert "proposal" in gitmem(repo, "policy", "explain", "policy").out
    steps = (
        (("unobservable", "refuse"), "merge"),
        (("evidence.fact", "file,test"), "squash"),
        (("unobservable", "hold"), "rebase"),  # once more of the same setting: the branch has another name
        (("review", "local"), "squash"),
    )
    names = []
    for number, ((setting, value), how) in enumerate(steps):
        done = gitmem(repo, "policy", "set", setting, value, "--json", *WHY)
        told = done.lines[0]["proposed"]
        names.append(told["name"])
        assert done.lines[0].get(setting) == gitmem(repo, "policy", "--json").lines[0].get(setting) != value
        assert setting in told["body"] and "looked at it" in told["body"]
        again = gitmem(repo, "policy", "set", setting, value, *WHY)
        assert again.code == 2 and f"gitmem propose --push --name {told['name']}" in again.err
        # Judged by the policy of what it is merged into, which says that it may, and that somebody has to look.
        report = gitmem(repo, "verify", "--merge-into", "gitmem/main", "--head", told["branch"], "--json").lines[0]
        assert report["clean"] and [note["code"] for note in report["notes"]] == ["policy.changed"]
        states = {line["name"]: line["state"] for line in gitmem(repo, "propose", "--status", "--json").lines}
        assert states == {**dict.fromkeys(names, "merged"), told["name"]: "open"}
        assert gitmem(repo, "propose", "--push", "--name", told["name"]).code == 0
        (tmp_path / str(number)).mkdir()
        merged_by_the_forge(remote, tmp_path / str(number), told["branch"], how)
        taken_home(repo)
        assert gitmem(repo, "verify", "--all").code == 0, how
        assert gitmem(repo, "policy", "--json").lines[0][setting] == value
    assert names == ["policy-unobservable", "policy-evidence.fact", "policy-unobservable-2", "policy-review"]
    assert {line["state"] for line in gitmem(repo, "propose", "--status", "--json").lines} == {"merged"}
    # People decide here again, so a change is made at once: this one too, by which the forge decides.
    main = git(repo, "rev-parse", "gitmem/main")
    assert gitmem(repo, "policy", "set", "review", "forge", *WHY).code == 0
    assert git(repo, "rev-parse", "gitmem/main") != main
