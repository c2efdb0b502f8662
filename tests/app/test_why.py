"""`why`: every reason that keeps a memory out of an answer, and what a score is made of; `related`: what belongs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gitmem.app.recalling import SURE
from gitmem.model.frozen import replace
from gitmem.model.nouns import Link
from tests.app.steps import INVOICE, POOL, RETRY, WEATHER, Run, ids, proposed, put
from tests.app.test_context import about
from tests.conftest import git
from tests.verify.forge import Branch

Asked = Callable[..., Any]
WHY = ("--because", "it is so")
QUESTION = "twenty connections"


@pytest.fixture(autouse=True)
def begun(repo: Path, gitmem: Run) -> None:
    assert gitmem(repo, "init").code == 0


@pytest.fixture
def why(repo: Path, gitmem: Run) -> Callable[..., Any]:
    """`why(question, id, *flags)` as data."""

    def asked(*words: str) -> Any:
        ran = gitmem(repo, "why", "--json", *words)
        assert ran.code == 0, ran.err
        return ran.lines[0]

    return asked


@pytest.fixture
def reasons(why: Callable[..., Any]) -> Callable[..., list[str]]:
    """Why a memory is not in the answer to `QUESTION`; none when it is."""

    def told(identifier: str, *flags: str) -> list[str]:
        found: list[str] = why(QUESTION, identifier, *flags)["expected"]["reasons"]
        return found

    return told


def test_what_the_question_was_reduced_to_and_what_each_score_is_made_of(repo: Path, gitmem: Run, why: Asked) -> None:
    pool = put(gitmem, repo, POOL, "--tag", "db")
    put(gitmem, repo, WEATHER)
    found = why("what are the Twenty connections of a zebra?")
    words = {row["word"]: row["versions"] for row in found["words"]}
    assert words == {"twenti": 1, "connect": 1, "zebra": 0}
    assert (found["total"], found["searched"], found["threshold"]) == (1, 2, SURE)
    assert found["commit"] == git(repo, "rev-parse", "gitmem/main").strip()
    (one,) = found["ranked"]
    assert (one["rank"], one["id"], sorted(one["matched"])) == (1, pool, ["connect", "twenti"])
    product = sum(one["lanes"].values())
    for factor in one["factors"].values():
        product *= factor
    assert one["score"] == pytest.approx(product, abs=1e-5)
    text = gitmem(repo, "why", "twenty connections zebra").out
    assert "zebra  1, 0  nowhere" in text
    assert "holds: " in text
    assert "text 1.000" in text
    exact = why("db twenty")["ranked"][0]
    assert "exact" in exact["lanes"]


def test_the_order_is_that_of_recall(repo: Path, gitmem: Run, why: Asked) -> None:
    for title in (POOL, RETRY, WEATHER, INVOICE):
        put(gitmem, repo, title)
    old = put(gitmem, repo, "The pool drains its connections at night")
    assert gitmem(repo, "supersede", old, "Nothing happens after dark", "-e", "file:src/pool.py:1", *WHY).code == 0
    for question in ("pool connections", "connect after the pool drains", "retries", "the weather report"):
        told = ids(gitmem(repo, "recall", question, "--json"))
        ranked = [one["id"] for one in why(question)["ranked"]]
        assert ranked[: len(told)] == told
        assert told


def test_filters_are_told_in_words(repo: Path, gitmem: Run, why: Asked) -> None:
    put(gitmem, repo, POOL, "--tag", "db", "--key", "pool.size", "-p", "src/**")
    plain = why(QUESTION)["filters"]
    project = gitmem(repo, "policy", "--json").lines[0]["project"]
    assert f"project {project}, audience private or team or user" in plain
    assert "state active, maybe_stale, stale" in plain
    flags = ("--kind", "fact", "--tag", "db", "--origin", "human", "--key", "pool.size", "--path", "src/pool.py",
             "--since", "2026-01-01", "--until", "2027-01-01")  # fmt: skip
    asked = why(QUESTION, *flags)
    for line in ("kind fact", "tag db", "origin human", "key pool.size", "path src/pool.py"):
        assert line in asked["filters"]
        assert line not in plain
    assert sum(line.startswith(("since 2026", "until 2027")) for line in asked["filters"]) == 2
    assert len(asked["ranked"]) == 1


def test_what_is_in_the_answer_has_no_reason_against_it(repo: Path, gitmem: Run, why: Asked, reasons: Asked) -> None:
    pool = put(gitmem, repo, POOL)
    assert reasons(pool) == []
    assert why(QUESTION, pool[:6])["expected"]["ranked"]["rank"] == 1
    assert f"{pool[:8]}  {POOL}\n  is in the answer, as number 1" in gitmem(repo, "why", QUESTION, pool).out
    assert why(QUESTION)["expected"] is None


@pytest.mark.parametrize("verb", ["wrong", "archive", "dispute"])
def test_a_state_is_a_reason(repo: Path, gitmem: Run, reasons: Asked, verb: str) -> None:
    put(gitmem, repo, "Twenty-one connections are too many for the gateway")
    pool = put(gitmem, repo, POOL)
    assert reasons(pool) == []
    assert gitmem(repo, verb, pool, *WHY).code == 0
    state = {"wrong": "wrong", "archive": "archived", "dispute": "disputed"}[verb]
    assert reasons(pool) == [f"it is {state}: gitmem log {pool[:8]} tells why"]


def test_what_replaced_it_is_named(repo: Path, gitmem: Run, why: Asked, reasons: Asked) -> None:
    pool = put(gitmem, repo, POOL)
    done = gitmem(repo, "supersede", pool, "There is no limit any more", "-e", "file:src/pool.py:1", *WHY, "--json")
    new = done.lines[0]["id"]
    assert reasons(pool) == [f"it is superseded by {new[:8]}: gitmem log {pool[:8]} tells why"]
    found = why(QUESTION, new)["expected"]
    assert (found["reasons"], list(found["ranked"]["lanes"])) == ([], ["replaces"])


def test_the_inbox_is_a_reason(repo: Path, gitmem: Run, reasons: Asked) -> None:
    pool = proposed(gitmem, repo, POOL)
    assert reasons(pool) == [f"it waits in the inbox as candidate: gitmem accept {pool[:8]} lets it in"]
    assert gitmem(repo, "accept", pool).code == 0
    assert reasons(pool) == []
    other = proposed(gitmem, repo, "Twenty sockets are open at night")
    assert gitmem(repo, "reject", other, *WHY).code == 0
    (said,) = reasons(other)
    assert "is wrong" in said
    assert "accept" not in said


def test_time_is_a_reason(repo: Path, gitmem: Run, reasons: Asked) -> None:
    before = git(repo, "rev-parse", "gitmem/main").strip()
    pool = put(gitmem, repo, POOL, "--valid-until", "2026-01-01")
    (said,) = reasons(pool)
    assert said.startswith("it holds from ever until 2026-01-01, not at 2026-03-02")
    assert reasons(pool, "--valid-at", "2025-06-01") == []
    assert reasons(pool, "--as-of", before, "--valid-at", "2025-06-01") == [f"it was not on record at {before[:12]}"]
    assert reasons(pool, "--as-of", "gitmem/main", "--valid-at", "2025-06-01") == []


@pytest.mark.parametrize(
    ("against", "with_it", "said"),
    [
        (("--kind", "plan"), ("--kind", "fact"), "--kind: it is a fact"),
        (("--origin", "inferred"), ("--origin", "human"), "--origin: it is human"),
        (("--tag", "ops", "--tag", "db"), ("--tag", "DB"), "--tag: it has no tag ops"),
        (("--key", "pool.limit"), ("--key", "pool.size"), "--key: its key is pool.size"),
        (("--path", "docs/a.md"), ("--path", "src/pool.py"), "--path: it is not about docs/a.md"),
        (("--since", "2027-01-01"), ("--since", "2026-01-01"), "--since: it was recorded earlier"),
        (("--until", "2026-01-01"), ("--until", "2027-01-01"), "--until: it was recorded later"),
    ],
)
def test_each_flag_is_a_reason(
    repo: Path, gitmem: Run, reasons: Asked, against: tuple[str, ...], with_it: tuple[str, ...], said: str
) -> None:
    pool = put(gitmem, repo, POOL, "--tag", "db", "--key", "pool.size")
    assert reasons(pool, *with_it) == []
    assert reasons(pool, *against) == [said]


def test_all_reasons_are_told(repo: Path, gitmem: Run, reasons: Asked) -> None:
    pool = put(gitmem, repo, WEATHER)
    assert gitmem(repo, "archive", pool, *WHY).code == 0
    said = reasons(pool, "--kind", "plan", "--tag", "x")
    assert [line.split(" ")[0] for line in said] == ["it", "--kind:", "--tag:", "it"]
    assert said[-1] == "it holds none of these words, nor one that is spelt like them"


def test_words_are_a_reason(repo: Path, gitmem: Run, why: Asked, reasons: Asked) -> None:
    pool, weather = put(gitmem, repo, POOL), put(gitmem, repo, WEATHER)
    assert reasons(pool) == []
    assert reasons(weather) == ["it holds none of these words, nor one that is spelt like them"]
    question = "connections of purple unicorns grazing beside haunted castles"
    found = why(question, pool)
    assert found["confidence"] < found["threshold"]
    (said,) = found["expected"]["reasons"]
    assert said.endswith("nothing is shown")
    assert found["expected"]["ranked"]["rank"] == 1
    assert "no answer" in gitmem(repo, "why", question).out
    assert ids(gitmem(repo, "recall", question, "--json")) == []


def test_a_limit_is_a_reason(repo: Path, gitmem: Run, reasons: Asked) -> None:
    best = put(gitmem, repo, "Twenty connections")
    pool = put(gitmem, repo, POOL)
    assert (reasons(best, "--limit", "1"), reasons(pool, "--limit", "2")) == ([], [])
    assert reasons(pool, "--limit", "1") == ["1 come before it: --limit 2"]


def test_one_question_and_one_memory_are_needed(repo: Path, gitmem: Run) -> None:
    pool = put(gitmem, repo, POOL)
    for words, code in (((" ",), 2), ((QUESTION, "zzzz"), 4), ((QUESTION, "x"), 2), ((QUESTION, pool, "more"), 2)):
        ran = gitmem(repo, "why", *words)
        assert (ran.code, ran.out) == (code, ""), words
        assert "→" in ran.err
    assert gitmem(repo, "related", "zzzz").code == 4


def test_what_a_record_says_is_escaped(repo: Path, gitmem: Run) -> None:
    put(gitmem, repo, POOL)
    ran = gitmem(repo, "why", "twenty \x1b[31m\u202e connections")
    assert ran.code == 0
    assert ran.out.replace("\n", "").isprintable()


# -- related -----------------------------------------------------------------------------------------------------


def related(gitmem: Run, repo: Path, identifier: str) -> dict[str, str]:
    """How each memory belongs to one."""
    ran = gitmem(repo, "related", identifier, "--json")
    assert ran.code == 0, ran.err
    return {line["id"]: line["how"] for line in ran.lines}


def linked(repo: Path, source: str, kind: str, target: str) -> None:
    """A link that only another tool would make."""
    branch = Branch(repo)
    old = branch.memory(source)
    new = replace(old, links=(*old.links, Link(kind, target)))  # type: ignore[arg-type]
    branch.commit(branch.with_event(branch.event("edit", new, old), new))


def test_links_of_every_type_are_told_from_both_ends(repo: Path, gitmem: Run) -> None:
    problem = about(gitmem, repo, "Connects hang behind the proxy", kind="problem")
    cure = about(gitmem, repo, "Set keepalive to ten seconds", kind="solution", flags=("--solves", problem))
    failed = about(gitmem, repo, "Longer waits help nobody", kind="failed_tactic", flags=("--tried-for", problem))
    source = about(gitmem, repo, "Sockets are counted by the kernel")
    leaf = about(gitmem, repo, "Ports end early in winter", flags=("--derived-from", source, "--relates-to", problem))
    other = about(gitmem, repo, "Lambs graze near the harbour wall")
    linked(repo, other, "contradicts", source)
    assert related(gitmem, repo, problem) == {cure: "solved by", failed: "failed for it", leaf: "related from"}
    assert related(gitmem, repo, cure) == {problem: "solves"}
    assert related(gitmem, repo, failed) == {problem: "was tried for"}
    assert related(gitmem, repo, source) == {leaf: "gave rise to", other: "contradicted by"}
    assert related(gitmem, repo, leaf) == {source: "derived from", problem: "relates to"}
    assert related(gitmem, repo, other) == {source: "contradicts"}
    text = gitmem(repo, "related", problem).out
    assert "(solved by)" in text
    assert "(related from)" in text


def test_supersession_is_told_from_the_old_and_hidden_from_the_new(repo: Path, gitmem: Run) -> None:
    old = about(gitmem, repo, "Sessions live in memcached")
    done = gitmem(repo, "supersede", old, "Logins are kept by the broker", "-e", "commit:HEAD", *WHY, "--json")
    new = done.lines[0]["id"]
    assert related(gitmem, repo, old)[new] == "superseded by"
    assert related(gitmem, repo, new) == {}
    assert "nothing is related to it that may be shown" in gitmem(repo, "related", new).err


def test_what_shares_files_words_or_evidence(repo: Path, gitmem: Run) -> None:
    pool = put(gitmem, repo, POOL)
    file = put(gitmem, repo, WEATHER)
    alike = about(gitmem, repo, "A pool of connections is what the gateway holds too")
    away = about(gitmem, repo, "Tulips bloom beyond that northern wall")
    told = related(gitmem, repo, pool)
    assert told == {file: "is about src/pool.py too", alike: "says something like it"}
    assert away not in told
    cited = about(gitmem, repo, "Gateways copy whatever the kernel does", flags=("-e", f"memory:{away}"))
    assert related(gitmem, repo, cited)[away] == "cited by it"


def test_a_key_is_shared_by_what_holds_it_now(repo: Path, gitmem: Run) -> None:
    first = about(gitmem, repo, "Sessions live in memcached", flags=("--key", "session.store"))
    assert gitmem(repo, "archive", first, *WHY).code == 0
    second = about(gitmem, repo, "Logins are kept by the broker", flags=("--key", "session.store"))
    assert related(gitmem, repo, first) == {second: "has its key, session.store"}
    assert related(gitmem, repo, second) == {}  # what is archived is not shown


@pytest.mark.parametrize("verb", ["wrong", "archive", "dispute"])
def test_a_link_never_widens_what_is_seen(repo: Path, gitmem: Run, verb: str) -> None:
    problem = about(gitmem, repo, "Connects hang behind the proxy", kind="problem")
    cure = about(gitmem, repo, "Set keepalive to ten seconds", kind="solution", flags=("--solves", problem))
    other = about(gitmem, repo, "Reuse sockets instead", kind="solution", flags=("--solves", problem))
    assert related(gitmem, repo, problem) == {cure: "solved by", other: "solved by"}
    assert gitmem(repo, verb, cure, *WHY).code == 0
    assert related(gitmem, repo, problem) == {other: "solved by"}
    assert [near["id"] for near in gitmem(repo, "recall", "connects hang", "--json").lines[0]["beside"]] == [other]
    rows = json.dumps(gitmem(repo, "related", problem, "--json").lines)
    assert cure not in rows


def test_why_takes_what_recall_takes(repo: Path, gitmem: Run, why: Asked, reasons: Callable[..., list[str]]) -> None:
    pool = put(gitmem, repo, POOL)
    assert reasons(pool, "--phrase") == []
    assert why("connections twenty", pool, "--phrase")["expected"]["reasons"] == [
        "--phrase: it does not hold these words in this order"
    ]
    assert reasons(pool, "--status", "active") == []
    assert reasons(pool, "--status", "stale") == ["--status: it is active"]
    replaced = gitmem(repo, "supersede", pool, "The pool has ninety sockets", "-e", "file:src/pool.py:1", *WHY)
    assert replaced.code == 0, replaced.err
    assert any("superseded" in reason for reason in reasons(pool))
    recalled = gitmem(repo, "recall", "--json", "--history", QUESTION).lines
    ranked = why(QUESTION, "--history")["ranked"]
    assert pool in [line.get("id") for line in recalled] and pool in [one["id"] for one in ranked]


def test_related_tells_who_cites_a_memory(repo: Path, gitmem: Run) -> None:
    pool = put(gitmem, repo, POOL)
    citing = gitmem(
        repo, "remember", "--json", "-k", "fact", WEATHER, "-e", f"memory:{pool}", "-e", "file:src/pool.py:1"
    )
    assert citing.code == 0, citing.err
    (one,) = gitmem(repo, "related", pool, "--json").lines
    assert (one["how"], one["title"]) == ("cites it", WEATHER)
