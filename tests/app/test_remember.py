"""`remember`: what is admitted, what is refused, retries, batches, drafts from everywhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.app.steps import INVOICE, POOL, RETRY, WEATHER, Run, codes, decided_here, ids, proposed, put, tips
from tests.conftest import git

MAIN, INBOX = "refs/heads/gitmem/main", "refs/gitmem/inbox"


@pytest.fixture(autouse=True)
def begun(repo: Path, gitmem: Run) -> None:
    assert gitmem(repo, "init").code == 0


def commits(repo: Path, ref: str) -> int:
    return int(git(repo, "rev-list", "--count", ref))


def test_a_person_writes_to_the_branch_and_everybody_else_to_the_inbox(repo: Path, gitmem: Run) -> None:
    mine = gitmem(repo, "remember", "--json", "-k", "fact", POOL, "-e", "file:src/pool.py:2").lines[0]
    assert (mine["result"], mine["memory"]["ref"], mine["memory"]["origin"]) == ("active", MAIN, "human")
    for channel, title in (("agent", WEATHER), ("ci", INVOICE)):
        done = gitmem(
            repo, "remember", "--json", "-k", "fact", title, "-e", "file:src/pool.py:2", channel=channel
        ).lines[0]
        assert (done["result"], done["memory"]["ref"], done["memory"]["status"]) == ("candidate", INBOX, "candidate")
    assert ids(gitmem(repo, "list", "--json")) == [mine["id"]]


@pytest.mark.parametrize("channel", ["terminal", "agent"])
def test_the_same_request_again_is_answered_and_writes_nothing(repo: Path, gitmem: Run, channel: str) -> None:
    first = put(gitmem, repo, POOL, "--tag", "pool", channel=channel)
    before = tips(repo)
    again = gitmem(
        repo, "remember", "--json", "-k", "fact", POOL, "-e", "file:src/pool.py:2", "--tag", "pool", channel=channel
    )
    assert again.code == 0 and again.lines[0]["result"] == "unchanged" and again.lines[0]["id"] == first
    assert again.lines[0]["written"] is False and tips(repo) == before
    # The control: with other evidence it is another request, and the gate judges it.
    other = gitmem(repo, "remember", "--json", "-k", "fact", POOL, "-e", "file:src/pool.py:1", channel=channel)
    assert (other.code, codes(other)) == (3, ["duplicate"])


def test_an_agent_may_ask_again_after_its_proposal_was_accepted(repo: Path, gitmem: Run) -> None:
    candidate = proposed(gitmem, repo, POOL)
    assert gitmem(repo, "accept", candidate).code == 0
    assert proposed(gitmem, repo, POOL) == candidate


def test_a_person_who_says_what_waits_is_told_to_accept_it(repo: Path, gitmem: Run) -> None:
    candidate = proposed(gitmem, repo, POOL)
    refused = gitmem(repo, "remember", "-k", "fact", POOL, "-e", "file:src/pool.py:2")
    assert refused.code == 3 and f"gitmem accept {candidate}" in refused.err
    near = gitmem(repo, "remember", "-k", "fact", f"{POOL}.", "-e", "file:src/pool.py:1", channel="agent")
    assert near.code == 3 and "gitmem accept" not in near.err and f"gitmem show {candidate}" in near.err


def test_an_agent_who_repeats_a_person_is_refused(repo: Path, gitmem: Run) -> None:
    mine = put(gitmem, repo, POOL)
    refused = gitmem(repo, "remember", "--json", "-k", "fact", POOL, "-e", "file:src/pool.py:2", channel="agent")
    assert (refused.code, codes(refused)) == (3, ["duplicate"])
    assert mine in refused.err


BATCH = [
    {"kind": "fact", "title": POOL, "evidence": ["file:src/pool.py:2"]},
    {"kind": "problem", "title": WEATHER, "evidence": ["file:src/pool.py:1"], "tags": ["ops"]},
]
YAML = "".join(
    f"- kind: {one['kind']}\n  title: {one['title']}\n  evidence:\n    - {one['evidence'][0]}\n" for one in BATCH
)


@pytest.mark.parametrize(
    "text",
    [json.dumps(BATCH), "\n".join(map(json.dumps, BATCH)), YAML],
    ids=["json", "json lines", "yaml"],
)
@pytest.mark.parametrize("source", ["file", "stdin", "dash"])
def test_a_batch_is_one_commit(repo: Path, gitmem: Run, text: str, source: str) -> None:
    (repo / "drafts.txt").write_text(text)
    before = commits(repo, MAIN)
    if source == "file":
        done = gitmem(repo, "remember", "--json", "--file", "drafts.txt")
    else:
        done = gitmem(repo, "remember", "--json", *(["-f", "-"] if source == "dash" else []), stdin=text)
    assert [line["memory"]["title"] for line in done.lines] == [POOL, WEATHER], done.err
    assert commits(repo, MAIN) == before + 1
    assert gitmem(repo, "verify", "--all").code == 0


def test_of_a_batch_with_one_bad_draft_nothing_is_written_and_every_reason_is_shown(repo: Path, gitmem: Run) -> None:
    drafts = [*BATCH, {"kind": "fact", "title": RETRY}, {"kind": "fact", "title": INVOICE, "evidence": ["file:no"]}]
    before = tips(repo)
    refused = gitmem(repo, "remember", "--json", stdin=json.dumps(drafts))
    assert (refused.code, codes(refused)) == (3, ["evidence.missing", "evidence.gone"])
    assert [reason["where"] for reason in json.loads(refused.err)["error"]["reasons"]] == [
        "draft 3: evidence", "draft 4: evidence[0]",
    ]  # fmt: skip
    assert tips(repo) == before
    assert gitmem(repo, "remember", stdin=json.dumps(BATCH)).code == 0


def test_drafts_of_one_batch_that_say_the_same_are_refused(repo: Path, gitmem: Run) -> None:
    twice = [BATCH[0], {**BATCH[0], "evidence": ["file:src/pool.py:1"]}]
    assert codes(gitmem(repo, "remember", "--json", stdin=json.dumps(twice))) == ["duplicate"]


def test_a_dry_run_shows_the_yaml_and_writes_nothing(repo: Path, gitmem: Run) -> None:
    before = tips(repo)
    shown = gitmem(repo, "remember", "-k", "fact", POOL, "-e", "file:src/pool.py:2", "--dry-run")
    assert shown.code == 0 and "gitmem/main as active" in shown.out
    assert f"  title: {POOL}\n" in shown.out and "  status: active\n" in shown.out
    data = gitmem(repo, "remember", "--json", "-k", "fact", POOL, "-e", "file:src/pool.py:2", "--dry-run").lines[0]
    assert data["written"] is False and data["yaml"].startswith("# yaml-language-server")
    assert gitmem(repo, "remember", "-k", "fact", POOL, "--dry-run").code == 3
    assert tips(repo) == before
    assert gitmem(repo, "list", "--refused").out == ""


@pytest.mark.parametrize("audience", ["private", "user"])
def test_nothing_private_lands_where_the_team_reads(repo: Path, gitmem: Run, audience: str) -> None:
    before = git(repo, "rev-parse", "gitmem/main")
    draft = {**BATCH[0], "audience": audience, "evidence": ['human:"batches are what I send"']}
    assert gitmem(repo, "remember", "--json", stdin=json.dumps(draft)).lines[0]["result"] == "active"
    assert gitmem(repo, "remember", stdin=json.dumps({**draft, "audience": "world"})).code == 2
    assert git(repo, "rev-parse", "gitmem/main") == before
    assert gitmem(repo, "remember", stdin=json.dumps({**BATCH[0], "audience": "team"})).code == 0
    assert git(repo, "rev-parse", "gitmem/main") != before


def test_check_says_what_remember_would_and_writes_nothing(repo: Path, gitmem: Run) -> None:
    (repo / "good.yaml").write_text(f"kind: fact\ntitle: {POOL}\nevidence: [file:src/pool.py:2]\n")
    (repo / "bad.json").write_text(json.dumps([{"kind": "solution", "title": RETRY}, BATCH[1]]))
    before = tips(repo)
    both = gitmem(repo, "check", "--json", "good.yaml", "bad.json")
    assert both.code == 3
    assert [(line["file"], line["draft"], line["verdict"]) for line in both.lines] == [
        ("good.yaml", 1, "admit"), ("bad.json", 1, "refuse"), ("bad.json", 2, "admit"),
    ]  # fmt: skip
    assert [r["code"] for r in both.lines[1]["reasons"]] == ["evidence.missing", "problem.missing"]
    assert gitmem(repo, "check", "good.yaml").code == 0
    assert tips(repo) == before and gitmem(repo, "list", "--refused").out == ""


@pytest.mark.parametrize("title", ["evil \x1b[31mred", "bidi \u202etext", "zero\u200bwidth", "null\x00byte"])
def test_a_title_with_forbidden_characters_is_refused_and_never_shown_raw(repo: Path, gitmem: Run, title: str) -> None:
    refused = gitmem(repo, "remember", "-k", "fact", title, "-e", "file:src/pool.py:2")
    assert refused.code == 3 and "text.characters" in refused.err
    odd = next(char for char in title if not char.isprintable())
    assert odd not in refused.err + refused.out + gitmem(repo, "list", "--refused").out
    assert gitmem(repo, "remember", "-k", "fact", "Größe des Pools: 日本語 🎉", "-e", "file:src/pool.py:2").code == 0


def test_words_of_every_kind_come_back_as_they_went_in(repo: Path, gitmem: Run) -> None:
    body = 'def f():\n\treturn "x: y"  # no\n\n- a list\n{"json": 1}\n---\n"quoted" \'twice\''
    title = 'A "quoted" title: with # marks & 日本語'
    identifier = put(gitmem, repo, title, "--body", body, "--alias", "how to ask", "--path", "src/**")
    shown = gitmem(repo, "show", identifier, "--json").lines[0]
    assert (shown["title"], shown["body"]) == (title, body)
    assert (shown["aliases"], shown["applies_to"]) == (["how to ask"], ["src/**"])


def test_a_solution_names_its_problem_by_a_prefix(repo: Path, gitmem: Run) -> None:
    problem = put(gitmem, repo, WEATHER, kind="problem")
    lone = gitmem(repo, "remember", "-k", "solution", RETRY, "-e", "file:src/pool.py:2")
    assert lone.code == 3 and "--solves ID" in lone.err
    solution = put(gitmem, repo, RETRY, "--solves", problem[:5], kind="solution")
    assert gitmem(repo, "show", solution, "--json").lines[0]["links"] == [{"type": "solves", "to": problem}]


def test_the_reason_of_a_write_is_in_the_log(repo: Path, gitmem: Run) -> None:
    identifier = put(gitmem, repo, POOL, "--because", "measured in March")
    assert gitmem(repo, "log", identifier, "--json").lines[0]["reason"] == "measured in March"


def test_near_duplicates_are_let_in_when_the_difference_is_said(repo: Path, gitmem: Run) -> None:
    first = put(gitmem, repo, POOL)
    near = ["remember", "--json", "-k", "fact", f"{POOL} today", "-e", "file:src/pool.py:1"]
    assert codes(gitmem(repo, *near)) == ["duplicate"]
    assert codes(gitmem(repo, *near, "--distinct-from", first)) == ["link.why", "duplicate"]
    assert gitmem(repo, *near, "--distinct-from", first, "--because", "another day").code == 0


def test_under_forge_review_a_person_writes_to_the_inbox_too(repo: Path, gitmem: Run) -> None:
    assert gitmem(repo, "policy", "set", "review", "forge", "--because", "we review there").code == 0
    done = gitmem(repo, "remember", "-k", "fact", POOL, "-e", "file:src/pool.py:2")
    assert done.code == 0 and "the policy leaves review to the forge: gitmem propose --push" in done.err
    (candidate,) = ids(gitmem(repo, "list", "--inbox", "--json"))
    refused = gitmem(repo, "accept", candidate)
    assert refused.code == 3 and f"gitmem propose {candidate} --push" in refused.err
    decided_here(gitmem, repo)
    assert gitmem(repo, "accept", candidate).code == 0
