"""The moves of a memory's life: each with its reason, its authority and its refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.app.steps import (
    INVOICE,
    POOL,
    RETRY,
    WEATHER,
    Run,
    codes,
    events,
    ids,
    proposed,
    put,
    status,
    tips,
)
from tests.conftest import git

NEW = "Jitter spreads the attempts of a retry over ten seconds"
WHY = ("--because", "it is so")


@pytest.fixture(autouse=True)
def begun(repo: Path, gitmem: Run) -> None:
    assert gitmem(repo, "init").code == 0


def clean(gitmem: Run, repo: Path) -> bool:
    return bool(gitmem(repo, "verify", "--all").code == 0)


def test_supersede_closes_the_old_and_opens_the_new_in_one_commit(repo: Path, gitmem: Run) -> None:
    old = put(gitmem, repo, POOL, "--key", "pool.size")
    before = git(repo, "rev-parse", "gitmem/main").strip()
    done = gitmem(repo, "supersede", old, NEW, "-e", "file:src/pool.py:1", "--json", *WHY)
    new = done.lines[0]["id"]
    assert git(repo, "rev-parse", "gitmem/main^").strip() == before
    assert status(gitmem, repo, old) == "superseded" and status(gitmem, repo, new) == "active"
    shown = gitmem(repo, "show", new, "--json").lines[0]
    assert shown["links"] == [{"type": "supersedes", "to": old}] and shown["key"] == "pool.size"
    assert gitmem(repo, "show", old, "--json").lines[0]["links"] == [{"type": "superseded_by", "to": new}]
    assert ids(gitmem(repo, "recall", "jitter retry", "--json")) == [new]
    assert ids(gitmem(repo, "recall", "twenty connections", "--json")) == [new]  # by what it replaced
    assert clean(gitmem, repo)
    tip = tips(repo)
    again = gitmem(repo, "supersede", old, NEW, "-e", "file:src/pool.py:1", "--json", *WHY)
    assert (again.lines[0]["id"], again.lines[0]["result"]) == (new, "unchanged") and tips(repo) == tip
    other = gitmem(repo, "supersede", old, RETRY, "-e", "file:src/pool.py:1", "--json", *WHY)
    assert (other.code, codes(other)) == (3, ["status.move"])


def test_a_replacement_of_another_kind_is_refused(repo: Path, gitmem: Run) -> None:
    old = put(gitmem, repo, POOL)
    bad = gitmem(repo, "supersede", old, NEW, "-k", "convention", "-e", "file:src/pool.py:1", "--json", *WHY)
    assert codes(bad) == ["replacement.kind"] and "drafts" not in bad.err and status(gitmem, repo, old) == "active"


def test_an_agent_proposes_to_supersede_and_a_person_accepts(repo: Path, gitmem: Run) -> None:
    old = proposed(gitmem, repo, POOL, "--key", "pool.size")
    assert gitmem(repo, "accept", old, *WHY).code == 0
    words = ["supersede", old[:6], NEW, "-e", "file:src/pool.py:1", "--json", *WHY]
    offer = gitmem(repo, *words, channel="agent").lines[0]
    assert offer["result"] == "candidate" and offer["memory"]["links"] == [{"type": "supersedes", "to": old}]
    assert status(gitmem, repo, old) == "active"
    again = gitmem(repo, *words, channel="agent")
    assert again.code == 0, again.err
    assert again.lines[0]["result"] == "unchanged"
    before = git(repo, "rev-parse", "gitmem/main").strip()
    assert gitmem(repo, "accept", offer["id"], *WHY).code == 0
    assert git(repo, "rev-parse", "gitmem/main^").strip() == before
    assert status(gitmem, repo, old) == "superseded" and status(gitmem, repo, offer["id"]) == "active"
    assert ids(gitmem(repo, "key", "pool.size", "--json")) == [offer["id"]]
    assert clean(gitmem, repo)


def test_of_two_proposals_to_replace_one_memory_the_second_is_refused(repo: Path, gitmem: Run) -> None:
    old = proposed(gitmem, repo, POOL)
    gitmem(repo, "accept", old)
    offers = [
        gitmem(repo, "supersede", old, title, "-e", "file:src/pool.py:1", "--json", *WHY, channel="agent").lines[0][
            "id"
        ]
        for title in (NEW, WEATHER)
    ]
    assert gitmem(repo, "accept", offers[0], *WHY).code == 0
    late = gitmem(repo, "accept", offers[1], "--json")
    assert late.code == 3 and "status.move" in codes(late)
    assert status(gitmem, repo, offers[1]) == "archived" and clean(gitmem, repo)  # it closed itself


def test_an_agent_replaces_what_a_person_said_only_when_a_person_agrees(repo: Path, gitmem: Run) -> None:
    old = put(gitmem, repo, POOL)
    asked = gitmem(repo, "supersede", old, NEW, "-e", "file:src/pool.py:1", "--json", *WHY, channel="agent")
    new = asked.lines[0]["id"]
    assert status(gitmem, repo, old) == "active" and status(gitmem, repo, new) == "candidate"
    assert codes(gitmem(repo, "accept", new, "--json", channel="agent")) == ["channel.authority"]
    assert status(gitmem, repo, old) == "active"
    assert gitmem(repo, "accept", new, *WHY).code == 0
    assert status(gitmem, repo, old) == "superseded" and status(gitmem, repo, new) == "active"
    told = [event for event in events(gitmem, repo) if event["op"] == "accept"]
    assert told[0]["proposed"]["reason"] == WHY[1]  # why it was proposed is on the branch
    assert clean(gitmem, repo)


def test_all_that_waits_is_accepted_at_once(repo: Path, gitmem: Run) -> None:
    assert gitmem(repo, "accept", "--all").code == 4
    both = [proposed(gitmem, repo, POOL), proposed(gitmem, repo, WEATHER)]
    assert gitmem(repo, "accept", both[0], "--all").code == 2
    assert gitmem(repo, "accept", "--all").code == 0
    assert sorted(ids(gitmem(repo, "list", "--json"))) == sorted(both)


def test_what_is_decided_alone_is_so_at_every_door(repo: Path, gitmem: Run) -> None:
    rule = put(gitmem, repo, NEW, channel="agent", kind="convention")
    low = proposed(gitmem, repo, POOL)
    before = tips(repo)
    for words in (["accept", rule, low], ["accept", low, rule, *WHY], ["accept", rule], ["review", "accept", rule]):
        refused = gitmem(repo, *words, "--json")
        assert (refused.code, codes(refused)) == (3, ["review.alone"]), words
    assert tips(repo) == before
    accepted, left = gitmem(repo, "accept", "--all", "--json").lines
    assert (accepted["id"], accepted["status"]) == (low, "active")
    assert left["left"]["id"] == rule and left["left"]["command"] == f'gitmem accept {rule} --because "…"'
    assert status(gitmem, repo, rule) == "candidate"
    # All that waits is decided alone: nothing is done, and that is no success.
    assert codes(gitmem(repo, "accept", "--all", "--json", *WHY)) == ["review.alone"]
    assert gitmem(repo, "accept", rule, *WHY).code == 0 and status(gitmem, repo, rule) == "active"
    assert clean(gitmem, repo)


def test_all_of_low_risk_leaves_what_rests_on_one_that_is_decided_alone(repo: Path, gitmem: Run) -> None:
    # The problem says nearly what another memory says, so it is decided alone; its solution waits for it.
    put(gitmem, repo, "Connects time out in the evening")
    said = ("--because", "the other one is of the evening")
    there = ids(gitmem(repo, "list", "--json"))[0]
    problem = put(
        gitmem,
        repo,
        "Connects time out in the morning",
        "--distinct-from",
        there,
        *said,
        channel="agent",
        kind="problem",
    )
    solved = put(gitmem, repo, RETRY, "--solves", problem, channel="agent", kind="solution")
    low = proposed(gitmem, repo, INVOICE)
    accepted, *left = gitmem(repo, "accept", "--all", "--json").lines
    assert accepted["id"] == low and {each["left"]["id"] for each in left} == {problem, solved}
    assert gitmem(repo, "accept", problem, *WHY).code == 0 and gitmem(repo, "accept", "--all").code == 0
    assert status(gitmem, repo, solved) == "active" and clean(gitmem, repo)


@pytest.mark.parametrize(
    "flags",
    [
        ("-k", "concept", "How we wait", "--claim", POOL),
        ("-k", "plan", "What to do next", "--step", f"{POOL}."),
        ("-k", "reminder", "Look at the sockets", "--cue", POOL),
        ("-k", "fact", "Sockets are counted", "--alias", POOL),
        ("-k", "fact", "Sockets are counted", "--body", f"Somebody asked for it in spring. {POOL}. Nobody knows why."),
    ],
)
def test_a_rejected_claim_does_not_come_back_inside_another_record(
    repo: Path, gitmem: Run, flags: tuple[str, ...]
) -> None:
    rejected = put(gitmem, repo, POOL)
    assert gitmem(repo, "wrong", rejected, *WHY).code == 0
    again = gitmem(repo, "remember", *flags, "-e", "file:src/pool.py:2", "--json")
    assert (again.code, codes(again)) == (3, ["tombstoned"])
    harmless = tuple(word.replace(POOL, WEATHER) for word in flags)
    assert gitmem(repo, "remember", *harmless, "-e", "file:src/pool.py:2").code == 0


def test_what_was_replaced_comes_back_by_replacing_its_replacement(repo: Path, gitmem: Run) -> None:
    old = put(gitmem, repo, "Idle sockets are closed after 300 s")
    done = gitmem(
        repo, "supersede", old, "Idle sockets are closed after 90 s", "-e", "file:src/pool.py:1", "--json", *WHY
    )
    new = done.lines[0]["id"]
    for title in ("Idle sockets are closed after 300 s", "Idle sockets are closed after 300s"):
        beside = gitmem(repo, "remember", "-k", "fact", title, "-e", "file:src/pool.py:2", "--json")
        assert (beside.code, codes(beside)) == (3, ["duplicate"])
    back = gitmem(repo, "supersede", new, "Idle sockets are closed after 300 s", "-e", "file:src/pool.py:2", *WHY)
    assert back.code == 0 and status(gitmem, repo, new) == "superseded"
    assert clean(gitmem, repo)


def test_a_replacement_that_says_since_when_ends_what_it_replaces(repo: Path, gitmem: Run) -> None:
    old = put(gitmem, repo, "Python 3.11 builds the image", "--key", "python.version", "--valid-from", "2026-01-01")
    since = ("--valid-from", "2026-02-01", "-e", "file:src/pool.py:1", "--json", *WHY)
    new = gitmem(repo, "supersede", old, "Python 3.12 builds the image", *since).lines[0]["id"]
    assert gitmem(repo, "show", old, "--json").lines[0]["valid"] == {"from": "2026-01-01", "until": "2026-02-01"}
    for day, holder in (("2026-01-15", old), ("2026-02-01", new)):
        assert ids(gitmem(repo, "key", "python.version", "--valid-at", day, "--json")) == [holder]
    assert gitmem(repo, "key", "python.version", "--valid-at", "2025-12-31").code == 4
    assert ids(gitmem(repo, "recall", "Python image", "--json")) == [new]
    assert clean(gitmem, repo)


def test_accept_moves_several_at_once_or_none_and_only_once(repo: Path, gitmem: Run) -> None:
    first, second = proposed(gitmem, repo, POOL), proposed(gitmem, repo, WEATHER)
    before = tips(repo)
    assert gitmem(repo, "accept", first, "zzzz").code == 4 and tips(repo) == before
    assert gitmem(repo, "accept", first, second, first[:5]).code == 0
    assert ids(gitmem(repo, "list", "--inbox", "--json")) == []
    assert sorted(ids(gitmem(repo, "list", "--json"))) == sorted([first, second])
    twice = gitmem(repo, "accept", first)
    assert twice.code == 3 and f"{first} is active, not a candidate" in twice.err and f"gitmem log {first}" in twice.err
    assert clean(gitmem, repo)


def test_what_rests_on_a_candidate_is_let_in_with_it(repo: Path, gitmem: Run) -> None:
    problem = put(gitmem, repo, "Connects time out in the morning", channel="agent", kind="problem")
    solved = put(gitmem, repo, RETRY, "--solves", problem, channel="agent", kind="solution")
    assert codes(gitmem(repo, "accept", solved, "--json")) == ["link.missing"]
    assert gitmem(repo, "accept", solved, problem).code == 0
    assert clean(gitmem, repo)


def test_accept_is_judged_at_todays_tip(repo: Path, gitmem: Run) -> None:
    mine = put(gitmem, repo, f"{POOL} today")
    assert gitmem(repo, "archive", mine, *WHY).code == 0
    candidate = proposed(gitmem, repo, POOL)
    assert gitmem(repo, "restore", mine, *WHY).code == 0
    late = gitmem(repo, "accept", candidate, "--json")
    assert (late.code, codes(late)) == (3, ["duplicate"]) and status(gitmem, repo, candidate) == "candidate"
    assert gitmem(repo, "archive", mine, *WHY).code == 0 and gitmem(repo, "accept", candidate, *WHY).code == 0


def test_what_was_rejected_does_not_come_back(repo: Path, gitmem: Run) -> None:
    candidate = proposed(gitmem, repo, POOL)
    assert gitmem(repo, "reject", candidate, "--because", "thinking aloud").code == 0
    for channel in ("agent", "terminal"):
        for kind, title, evidence in (
            ("fact", POOL, "file:src/pool.py:2"),
            ("fact", f"{POOL.upper()}!", "file:src/pool.py:2"),
            ("convention", POOL, "file:src/pool.py:1"),
            ("fact", "Twenty connections: so many the pool holds", "file:src/pool.py:1"),
        ):
            again = gitmem(repo, "remember", "--json", "-k", kind, title, "-e", evidence, channel=channel)
            assert again.code == 3 and set(codes(again)) == {"tombstoned"}, title
            assert (f"gitmem lift {candidate}" in again.err) == (channel == "terminal")
            assert ("do not propose it again" in again.err) == (channel == "agent")
            assert POOL in again.err and "thinking aloud" in again.err
    exact = gitmem(repo, "remember", "-k", "fact", POOL, "-e", "file:src/pool.py:2")
    assert "thinking aloud" in exact.err
    # The control: another claim, with the same evidence, is let in.
    proposed(gitmem, repo, WEATHER)
    assert gitmem(repo, "lift", candidate, "--because", "it was meant", "--json").lines[0]["status"] == "candidate"
    assert ids(gitmem(repo, "list", "--inbox", "--json"))[-1] == candidate
    assert gitmem(repo, "accept", candidate).code == 0 and status(gitmem, repo, candidate) == "active"
    assert [e["op"] for e in events(gitmem, repo, candidate)] == ["accept", "lift", "reject", "create"]
    assert clean(gitmem, repo)


def test_a_rejection_holds_in_another_clone_and_after_a_rebuild(repo: Path, gitmem: Run, tmp_path: Path) -> None:
    candidate = proposed(gitmem, repo, POOL)
    gitmem(repo, "reject", candidate, "--because", "thinking aloud")
    git(tmp_path, "clone", "-q", str(repo), "other")
    other = tmp_path / "other"
    assert gitmem(other, "init").code == 0
    assert gitmem(other, "trust", "--yes").code == 0
    again = ["remember", "--json", "-k", "fact", f"{POOL}.", "-e", "file:src/pool.py:2"]
    for _ in range(2):
        assert codes(gitmem(other, *again, channel="agent")) == ["tombstoned"]
        assert gitmem(other, "reindex").code == 0
    lift = gitmem(other, "lift", candidate, *WHY)
    assert lift.code == 4 and "another clone" in lift.err and f"gitmem lift {candidate}" in lift.err
    assert proposed(gitmem, other, WEATHER)


def test_wrong_withholds_for_good_until_it_is_lifted(repo: Path, gitmem: Run) -> None:
    memory = put(gitmem, repo, POOL)
    done = gitmem(repo, "wrong", memory, "--because", "it was never so", "-e", "file:src/pool.py:1", "--json").lines[0]
    assert done["status"] == "wrong"
    assert [ref["role"] for ref in done["memory"]["evidence"]] == ["supports", "contradicts"]
    assert codes(gitmem(repo, "remember", "--json", "-k", "fact", POOL, "-e", "file:src/pool.py:1")) == ["tombstoned"]
    assert codes(gitmem(repo, "restore", memory, "--json", *WHY)) == ["status.move"]
    assert gitmem(repo, "lift", memory, "--because", "it was so after all").code == 0
    assert status(gitmem, repo, memory) == "active" and clean(gitmem, repo)
    assert codes(gitmem(repo, "remember", "--json", "-k", "fact", POOL, "-e", "file:src/pool.py:1")) == ["duplicate"]


@pytest.mark.parametrize(
    ("verb", "after", "back"),
    [("archive", "archived", "restore"), ("retract", "archived", "restore"), ("dispute", "disputed", "restore")],
)
def test_what_is_put_away_comes_back(repo: Path, gitmem: Run, verb: str, after: str, back: str) -> None:
    memory = put(gitmem, repo, POOL)
    assert gitmem(repo, verb, memory, *WHY).code == 0 and status(gitmem, repo, memory) == after
    assert ids(gitmem(repo, "recall", "pool", "--json")) == []
    again = gitmem(repo, verb, memory, *WHY)
    assert again.code == 3 and f"gitmem {back} {memory}" in again.err
    assert gitmem(repo, back, memory, *WHY).code == 0 and status(gitmem, repo, memory) == "active"
    assert ids(gitmem(repo, "recall", "pool", "--json")) == [memory] and clean(gitmem, repo)


@pytest.mark.parametrize("verb", ["wrong", "lift", "retract", "archive", "restore", "dispute", "reject", "edit"])
def test_every_move_says_why(repo: Path, gitmem: Run, verb: str) -> None:
    memory = put(gitmem, repo, POOL)
    before = tips(repo)
    for why in ((), ("--because", "  ")):
        bad = gitmem(repo, verb, memory, *why)
        assert bad.code == 2 and f'gitmem {verb} {memory} --because "…"' in bad.err
    assert tips(repo) == before


MOVES = ["wrong", "retract", "archive", "dispute", "edit"]


@pytest.mark.parametrize("channel", ["agent", "ci"])
def test_a_program_may_propose_and_nothing_else(repo: Path, gitmem: Run, channel: str) -> None:
    active, waits = put(gitmem, repo, POOL), proposed(gitmem, repo, WEATHER)
    away, wrong = put(gitmem, repo, RETRY), put(gitmem, repo, INVOICE)
    assert gitmem(repo, "archive", away, *WHY).code == 0 and gitmem(repo, "wrong", wrong, *WHY).code == 0
    before = tips(repo)
    for verb, memory in (
        *((verb, active) for verb in MOVES),
        ("restore", away),
        ("lift", wrong),
        ("accept", waits),
        ("reject", waits),
        ("edit", waits),
    ):
        more = ["--tag", "x"] if verb == "edit" else []
        bad = gitmem(repo, verb, memory, *more, "--json", *WHY, channel=channel)
        assert (bad.code, codes(bad)) == (3, ["channel.authority"]), verb
        assert f"a person runs: gitmem {verb} {memory}" in bad.err
    policy = gitmem(repo, "policy", "set", "review", "forge", "--json", *WHY, channel=channel)
    assert codes(policy) == ["channel.authority"] and "a person runs: gitmem policy set review forge" in policy.err
    assert tips(repo) == before
    kept = gitmem(repo, "list", "--refused", "--json").lines
    assert [item["asked"] for item in kept[:2]] == ["edit", "reject"] and kept[0]["memory"] == waits
    assert kept[0]["actor"]["channel"] == channel and kept[0]["reasons"][0]["code"] == "channel.authority"
    assert gitmem(repo, "archive", active, *WHY).code == 0


def test_a_program_takes_back_its_own_proposal_and_no_other(repo: Path, gitmem: Run) -> None:
    own = proposed(gitmem, repo, POOL)
    assert codes(gitmem(repo, "retract", own, "--json", *WHY, channel="ci")) == ["channel.authority"]
    assert gitmem(repo, "retract", own, *WHY, channel="agent").code == 0
    assert ids(gitmem(repo, "list", "--inbox", "--json")) == []
    assert ids(gitmem(repo, "list", "--status", "archived", "--json")) == [own]
    # Taken back is not rejected: it may be proposed again.
    assert proposed(gitmem, repo, POOL) != own
    gone = gitmem(repo, "accept", own)
    assert gone.code == 3 and "archived, not a candidate" in gone.err


@pytest.mark.parametrize("verb", ["wrong", "archive", "restore", "dispute", "lift"])
def test_a_candidate_has_moves_of_its_own(repo: Path, gitmem: Run, verb: str) -> None:
    waits = proposed(gitmem, repo, POOL)
    bad = gitmem(repo, verb, waits, *WHY)
    assert bad.code == 3 and "status.move" in bad.err
    for legal in ("accept", "edit", "reject", "retract"):
        assert f"gitmem {legal} {waits}" in bad.err
    assert gitmem(repo, "supersede", waits, NEW, "-e", "file:src/pool.py:1", *WHY).code == 3
    assert status(gitmem, repo, waits) == "candidate"


def test_edit_keeps_what_it_does_not_change(repo: Path, gitmem: Run) -> None:
    memory = put(gitmem, repo, POOL, "--tag", "old", "--tag", "kept", "--path", "src/**", "--valid-from", "2026-01-01")
    words = ["--tag", "new", "--untag", "old", "--body", "with a body", "--valid-until", "2027-01-01"]
    assert gitmem(repo, "edit", memory, *words, "--evidence", "file:src/pool.py:1", *WHY).code == 0
    shown = gitmem(repo, "show", memory, "--json").lines[0]
    assert shown["tags"] == ["kept", "new"] and shown["body"] == "with a body" and shown["applies_to"] == ["src/**"]
    assert shown["valid"] == {"from": "2026-01-01", "until": "2027-01-01"} and len(shown["evidence"]) == 2
    assert (shown["id"], shown["title"]) == (memory, POOL)
    before = tips(repo)
    nothing = gitmem(repo, "edit", memory, "--tag", "new", *WHY)
    assert nothing.code == 2 and f"nothing of {memory} would change" in nothing.err and tips(repo) == before
    assert clean(gitmem, repo)


def test_a_person_mends_a_candidate_before_it_is_accepted(repo: Path, gitmem: Run) -> None:
    waits = proposed(gitmem, repo, POOL)
    assert gitmem(repo, "edit", waits, "--title", f"{POOL}, no more", *WHY).code == 0
    assert gitmem(repo, "accept", waits).code == 0
    assert gitmem(repo, "show", waits, "--json").lines[0]["title"] == f"{POOL}, no more"
    assert clean(gitmem, repo)


def test_what_is_withheld_is_not_edited(repo: Path, gitmem: Run) -> None:
    memory = put(gitmem, repo, POOL)
    gitmem(repo, "archive", memory, *WHY)
    bad = gitmem(repo, "edit", memory, "--tag", "x", *WHY)
    assert bad.code == 3 and f"gitmem restore {memory}" in bad.err


def test_one_key_has_one_live_value(repo: Path, gitmem: Run) -> None:
    first = put(gitmem, repo, POOL, "--key", "pool.size")
    taken = gitmem(repo, "remember", "--json", "-k", "fact", NEW, "-e", "file:src/pool.py:1", "--key", "pool.size")
    assert codes(taken) == ["key.taken"] and f"gitmem supersede {first}" in taken.err
    gitmem(repo, "archive", first, *WHY)
    second = put(gitmem, repo, NEW, "--key", "pool.size")
    assert ids(gitmem(repo, "key", "pool.size", "--json")) == [second]
    back = gitmem(repo, "restore", first, "--json", *WHY)
    assert (back.code, codes(back)) == (3, ["key.taken"])


def test_a_contradiction_is_settled_by_superseding_and_can_be_undone(repo: Path, gitmem: Run) -> None:
    a = put(gitmem, repo, "pool size is 20")
    b = gitmem(
        repo, "supersede", a, "pool size is 50", "-e", "file:src/pool.py:2", "--because", "raised", "--json"
    ).lines[0]["id"]  # fmt: skip
    assert ids(gitmem(repo, "recall", "pool size", "--json")) == [b]
    history = ids(gitmem(repo, "list", "--status", "all", "--json"))
    assert sorted(history) == sorted([a, b])
    assert gitmem(repo, "wrong", b, "--because", "it was not raised").code == 0
    assert ids(gitmem(repo, "recall", "pool size", "--json")) == []
    told = json.dumps(events(gitmem, repo, a)) + json.dumps(events(gitmem, repo, b))
    assert "raised" in told and "it was not raised" in told
    assert clean(gitmem, repo)


def test_who_files_a_text_does_not_become_the_one_who_said_it(repo: Path, gitmem: Run) -> None:
    candidate = proposed(gitmem, repo, WEATHER)
    assert gitmem(repo, "accept", candidate).code == 0

    def origin() -> str:
        return str(gitmem(repo, "show", candidate, "--json").lines[0]["origin"])

    assert origin() == "inferred"
    filed = (("--tag", "deploys"), ("--path", "src/**"), ("-e", "file:src/pool.py:1"))
    for flags in filed:
        assert gitmem(repo, "edit", candidate, *flags, *WHY).code == 0
        assert origin() == "inferred"
    assert gitmem(repo, "edit", candidate, "--body", "Seen by the harbour master.", *WHY).code == 0
    assert origin() == "human"
    assert gitmem(repo, "verify", "--all").code == 0
