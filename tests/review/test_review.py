"""The review of candidates: everything a person needs as data, and the verdicts by words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.app.steps import INVOICE, POOL, RETRY, Run, codes, events, ids, proposed, put, status
from tests.conftest import git

WHY = ("--because", "looked at it")


@pytest.fixture(autouse=True)
def begun(repo: Path, gitmem: Run) -> None:
    assert gitmem(repo, "init").code == 0


def waiting(gitmem: Run, repo: Path, *words: str) -> list[dict]:
    done = gitmem(repo, "review", "--json", *words)
    assert done.code == 0, done.err
    return [line for line in done.lines if "id" in line]


def test_the_queue_tells_all_that_a_person_needs(repo: Path, gitmem: Run) -> None:
    wrong = proposed(gitmem, repo, POOL)
    assert gitmem(repo, "reject", wrong, "--because", "it was never twenty").code == 0
    held = put(gitmem, repo, INVOICE, "--key", "invoice.numbers")
    like = put(gitmem, repo, RETRY)
    done = gitmem(repo, "remember", "--json", "-k", "fact", "Invoices carry the number of the year", "-e",
                  "file:src/pool.py:2", "--key", "invoice.numbers", "--because", "seen in a run",
                  channel="agent")  # fmt: skip
    # A key that is taken is refused at once, so the holder is put away while the candidate comes in.
    assert codes_of(done) == ["key.taken"]
    assert gitmem(repo, "archive", held, *WHY).code == 0
    item = proposed(gitmem, repo, "Invoices carry the number of the year", "--key", "invoice.numbers",
                    "--because", "seen in a run")  # fmt: skip
    assert gitmem(repo, "restore", held, *WHY).code == 0
    (found,) = waiting(gitmem, repo)
    assert (
        found["id"] == item
        and found["proposed"]["channel"] == "agent"
        and found["proposed"]["reason"] == "seen in a run"
    )
    (cited,) = found["evidence"]
    assert cited["state"] == "verified"
    assert [(line["number"], line["cited"]) for line in cited["lines"]] == [
        (1, False),
        (2, True),
        (3, False),
        (4, False),
    ]
    assert cited["lines"][1]["text"] == "    size = 20"
    assert found["key_holder"]["id"] == held and [r["code"] for r in found["gate"]] == ["key.taken"]
    assert "the gate refuses it today" in found["alone"] and found["tier"] == "alone"
    assert found["review"] == {"level": 0, "label": "unproven (a terminal of one machine)"}
    assert like not in json.dumps(found)


def codes_of(ran) -> list[str]:
    return [reason["code"] for reason in json.loads(ran.err)["error"]["reasons"]]


def test_what_it_repeats_and_what_was_rejected_is_beside_it(repo: Path, gitmem: Run) -> None:
    control = proposed(gitmem, repo, INVOICE)
    mine = put(gitmem, repo, POOL + " now")
    assert gitmem(repo, "archive", mine, *WHY).code == 0
    first = proposed(gitmem, repo, POOL)
    second = proposed(gitmem, repo, RETRY)
    other = proposed(gitmem, repo, RETRY + " in a row", "--distinct-from", second, "--because", "another")
    assert gitmem(repo, "reject", other, "--because", "it is once, not in a row").code == 0
    found = {item["id"]: item for item in waiting(gitmem, repo)}
    assert [near["id"] for near in found[first]["neighbours"]] == [mine] and not found[control]["neighbours"]
    (rejected,) = found[second]["rejected"]
    assert rejected["id"] == other and rejected["reason"] == "it is once, not in a row"
    assert found[second]["tier"] == "alone"


def test_a_memory_with_the_same_title_is_beside_it_in_every_state(repo: Path, gitmem: Run) -> None:
    old = gitmem(repo, "remember", "--json", "-k", "fact", POOL, "-b", "Measured.", "-e", "file:src/pool.py:2").lines[
        0
    ]["id"]
    new = "The pool holds what the balancer grants"
    assert gitmem(repo, "supersede", old, new, "-e", "file:src/pool.py:2", *WHY).code == 0
    body = "At night it holds 7, by day 9, and nobody knows why it holds so few of them."
    same, other = proposed(gitmem, repo, POOL, "-b", body), proposed(gitmem, repo, INVOICE)
    rows = {item["id"]: item for item in waiting(gitmem, repo)}
    assert [(near["id"], near["status"]) for near in rows[same]["neighbours"]] == [(old, "superseded")]
    assert rows[same]["alone"] == ["something has the same title"] and not rows[other]["neighbours"]
    assert "has the same title" in gitmem(repo, "review").out


def test_evidence_is_looked_at_again(repo: Path, gitmem: Run) -> None:
    item = proposed(gitmem, repo, POOL)
    assert [e["drift"] for e in waiting(gitmem, repo)[0]["evidence"]] == [""]
    (repo / "src/pool.py").write_text("class Pool:\n    size = 50\n")
    git(repo, "commit", "-qam", "pool: larger")
    (found,) = waiting(gitmem, repo)
    assert found["id"] == item and [e["drift"] for e in found["evidence"]] == ["changed at HEAD"]


def test_low_risk_is_an_addition_that_nothing_speaks_against(repo: Path, gitmem: Run) -> None:
    low = proposed(gitmem, repo, POOL)
    rule = proposed(gitmem, repo, RETRY)
    telling = gitmem(
        repo, "remember", "--json", "-k", "convention", INVOICE, "-e", "file:src/pool.py:2", channel="agent"
    )
    tiers = {item["id"]: (item["tier"], item["alone"]) for item in waiting(gitmem, repo)}
    assert tiers[low] == tiers[rule] == ("low", [])
    assert tiers[telling.lines[0]["id"]] == ("alone", ["a convention tells readers what to do"])


def test_batches_by_session_and_day_and_their_filters(repo: Path, gitmem: Run) -> None:
    item = proposed(gitmem, repo, POOL)
    (found,) = waiting(gitmem, repo)
    assert (found["day"], found["session"]) == ("2026-03-02", "agent")
    assert [i["id"] for i in waiting(gitmem, repo, "--session", "agent")] == [item]
    assert not waiting(gitmem, repo, "--session", "claude-code")
    assert [i["id"] for i in waiting(gitmem, repo, "--since", "2026-03-02")] == [item]
    assert not waiting(gitmem, repo, "--since", "2026-03-03")
    shown = gitmem(repo, "review")
    assert shown.code == 0 and "── 2026-03-02  agent  (1 candidate)" in shown.out


def test_merge_into_gives_what_is_new_and_closes_the_candidate(repo: Path, gitmem: Run) -> None:
    mine = put(gitmem, repo, POOL, "-t", "pool")
    item = gitmem(repo, "remember", "--json", "-k", "fact", POOL + " for now", "-e", "file:src/pool.py:5", "-t", "size",
                  "--distinct-from", mine, "--because", "found again", channel="agent").lines[0]["id"]  # fmt: skip
    assert gitmem(repo, "review", "merge-into", item, mine).code == 2  # a reason is missing
    done = gitmem(repo, "review", "merge-into", item, mine, "--json", *WHY)
    assert done.code == 0, done.err
    memory = done.lines[0]["memory"]
    assert memory["id"] == mine and memory["tags"] == ["pool", "size"] and len(memory["evidence"]) == 2
    assert memory["title"] == POOL and memory["aliases"] == [POOL + " for now"]
    assert status(gitmem, repo, item) == "archived" and not waiting(gitmem, repo)
    assert [event["op"] for event in events(gitmem, repo, item)] == ["retract", "create"]
    assert gitmem(repo, "verify", "--all").code == 0


def test_supersede_puts_a_candidate_in_the_place_of_another(repo: Path, gitmem: Run) -> None:
    old = put(gitmem, repo, POOL)
    item = proposed(gitmem, repo, "The pool is sized by the load balancer")
    done = gitmem(repo, "review", "supersede", item, old, "--json", *WHY)
    assert done.code == 0, done.err
    assert status(gitmem, repo, old) == "superseded" and status(gitmem, repo, item) == "active"
    assert done.lines[0]["review"]["level"] == 0
    assert gitmem(repo, "verify", "--all").code == 0 and not waiting(gitmem, repo)


def test_the_verdicts_by_words_are_those_of_the_verbs(repo: Path, gitmem: Run) -> None:
    first, second = proposed(gitmem, repo, POOL), proposed(gitmem, repo, RETRY)
    done = gitmem(repo, "review", "accept", first, "--json")
    assert done.code == 0 and done.lines[0]["status"] == "active"
    assert gitmem(repo, "review", "reject", second).code == 2
    assert gitmem(repo, "review", "reject", second, *WHY).code == 0 and status(gitmem, repo, second) == "wrong"
    third = proposed(gitmem, repo, INVOICE)
    for words in (["accept", third], ["reject", third, *WHY], ["merge-into", third, first, *WHY],
                  ["supersede", third, first, *WHY]):  # fmt: skip
        assert codes(gitmem(repo, "review", *words, "--json", channel="agent")) == ["channel.authority"], words
    assert ids(gitmem(repo, "list", "--inbox", "--json")) == [third]


@pytest.mark.parametrize("words", [["accept"], ["merge-into", "7k3q"], ["edit"], ["accept", "7k3q", "--session", "x"]])
def test_wrong_usage_says_how(repo: Path, gitmem: Run, words: list[str]) -> None:
    done = gitmem(repo, "review", *words)
    assert done.code == 2 and "gitmem review" in done.err


def test_the_review_says_that_it_is_unproven(repo: Path, gitmem: Run) -> None:
    item = proposed(gitmem, repo, POOL)
    assert "a verdict here is review level 0, unproven" in gitmem(repo, "review").out
    assert "review level 0, unproven (a terminal of one machine)" in gitmem(repo, "accept", item).err


def test_what_is_in_a_candidate_cannot_draw_on_the_screen(repo: Path, gitmem: Run) -> None:
    (repo / "src/pool.py").write_bytes(b"x = '\x1b[2J\x1b]0;owned\x07'\n    size = 20\n")
    git(repo, "commit", "-qam", "pool: escapes")
    proposed(gitmem, repo, POOL)
    shown = gitmem(repo, "review").out
    assert "\\u{1b}[2J" in shown and "\x1b" not in shown and "\x07" not in shown
