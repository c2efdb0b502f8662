"""The read lanes: what each shows, what each withholds, and how time composes."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app.steps import INVOICE, POOL, RETRY, WEATHER, Run, ids, proposed, put
from tests.conftest import git

WHY = ("--because", "it is so")
HIDDEN = "Hidden: the harbour crane is painted green"
VISIBLE = "Seen: the harbour crane lifts forty tons"


@pytest.fixture(autouse=True)
def begun(repo: Path, gitmem: Run) -> None:
    assert gitmem(repo, "init").code == 0


def withheld(gitmem: Run, repo: Path, state: str) -> str:
    """A memory that was brought into a withheld state by the verbs that do it."""
    if state == "candidate":
        return proposed(gitmem, repo, HIDDEN, "--key", "crane.paint", "--tag", "crane")
    memory = put(gitmem, repo, HIDDEN, "--key", "crane.paint", "--tag", "crane")
    if state == "superseded":
        words = ["supersede", memory, "Ships call by radio", "-e", "file:src/pool.py:1", "--key", "radio.call", *WHY]
        done = gitmem(repo, *words)
    else:
        verb = {"archived": "archive", "disputed": "dispute", "wrong": "wrong"}[state]
        done = gitmem(repo, verb, memory, *WHY)
    assert done.code == 0, done.err
    return memory


STATES = ["candidate", "archived", "disputed", "wrong", "superseded"]


@pytest.mark.parametrize("state", STATES)
def test_what_is_withheld_is_in_no_answer_unless_its_state_is_named(repo: Path, gitmem: Run, state: str) -> None:
    hidden = withheld(gitmem, repo, state)
    seen = put(gitmem, repo, VISIBLE, "--tag", "crane", "--key", "crane.load")
    # recall
    instead = ids(gitmem(repo, "list", "--key", "radio.call", "--json"))  # what was superseded gives its place to this
    assert len(instead) == (state == "superseded")
    assert ids(gitmem(repo, "recall", "harbour crane", "--json")) == [seen, *instead]
    assert ids(gitmem(repo, "recall", HIDDEN, "--json"))[:1] == instead
    told = gitmem(repo, "recall", HIDDEN).out  # what was put away is offered to a person, as such and by its id
    assert (hidden[:8] in told) == (state == "archived") and ("gitmem restore" in told) == (state == "archived")
    assert hidden[:8] not in gitmem(repo, "recall", "harbour crane", "--format", "prompt").out
    assert ids(gitmem(repo, "recall", hidden, "--json")) == []
    # list
    assert ids(gitmem(repo, "list", "--tag", "crane", "--json")) == [seen, *instead]
    assert ids(gitmem(repo, "list", "--tag", "crane", "--status", state, "--json")) == [hidden]
    every = ids(gitmem(repo, "list", "--tag", "crane", "--status", "all", "--json"))
    assert sorted(every) == sorted([seen, hidden, *instead])
    # key
    assert gitmem(repo, "key", "crane.paint").code == 4
    assert ids(gitmem(repo, "key", "crane.load", "--json")) == [seen]
    # export
    exported = [line["id"] for line in gitmem(repo, "export").lines]
    assert seen in exported and hidden not in exported
    everything = [line.get("id") for line in gitmem(repo, "export", "--all").lines]
    assert seen in everything and (hidden in everything) == (state != "candidate")
    # show says the state in words
    text = gitmem(repo, "show", hidden)
    assert f"{hidden}  fact  {state}" in text.out and text.err != ""
    assert gitmem(repo, "show", seen).err == ""


def test_an_expired_memory_is_not_recalled(repo: Path, gitmem: Run) -> None:
    past = put(gitmem, repo, HIDDEN, "--valid-until", "2026-01-01")
    future = put(gitmem, repo, "Later: the harbour crane gets a radio", "--valid-from", "2030-01-01")
    now = put(gitmem, repo, VISIBLE, "--valid-from", "2026-01-01", "--valid-until", "2030-01-01")
    assert ids(gitmem(repo, "recall", "harbour crane", "--json")) == [now]
    assert ids(gitmem(repo, "recall", "harbour crane", "--valid-at", "2025-06-01", "--json")) == [past]
    assert ids(gitmem(repo, "recall", "harbour crane", "--valid-at", "2031-01-01", "--json")) == [future]


def test_every_filter_of_list_takes_in_and_leaves_out(repo: Path, gitmem: Run) -> None:
    a = put(gitmem, repo, POOL, "--tag", "db", "--tag", "pool", "--path", "src/**", "--key", "pool.size")
    b = put(gitmem, repo, WEATHER, "--tag", "ops", "--path", "deploy/**", kind="convention")
    c = proposed(gitmem, repo, INVOICE)
    gitmem(repo, "accept", c)

    def listed(*words: str) -> list[str]:
        return sorted(ids(gitmem(repo, "list", "--json", *words)))

    assert listed() == sorted([a, b, c])
    assert listed("--kind", "convention") == [b]
    assert listed("--kind", "convention", "--kind", "fact") == sorted([a, b, c])
    assert listed("--kind", "plan") == []
    assert listed("--tag", "db") == [a] and listed("--tag", "db", "--tag", "ops") == []
    assert listed("--path", "deploy/run.sh") == [b] and listed("--path", "docs/x.md") == []
    assert listed("--key", "pool.size") == [a] and listed("--key", "pool") == []
    assert listed("--origin", "inferred") == [c] and listed("--origin", "human") == sorted([a, b])
    assert listed("--status", "active") == sorted([a, b, c]) and listed("--status", "stale") == []
    assert listed("--until", "2026-03-02T10:00:00Z") == [] and listed("--since", "2026-03-02") == sorted([a, b, c])
    assert listed("--since", "2030-01-01") == [] and listed("--limit", "1") != []
    project = gitmem(repo, "policy", "--json").lines[0]["project"]
    assert listed("--scope", project) == sorted([a, b, c])
    other = gitmem(repo, "list", "--scope", "bank-000000")
    assert other.code == 2 and project in other.err


def test_valid_at_applies_beside_a_status(repo: Path, gitmem: Run) -> None:
    old = put(gitmem, repo, POOL, "--valid-until", "2026-01-01")
    new = put(gitmem, repo, WEATHER, "--valid-from", "2026-01-01")
    for memory in (old, new):
        gitmem(repo, "archive", memory, *WHY)
    assert ids(gitmem(repo, "list", "--status", "archived", "--valid-at", "2025-12-31", "--json")) == [old]
    assert ids(gitmem(repo, "list", "--status", "archived", "--valid-at", "2026-01-01", "--json")) == [new]


def test_since_and_until_are_half_open(repo: Path, gitmem: Run) -> None:
    memory = put(gitmem, repo, POOL)
    at = gitmem(repo, "log", memory, "--json").lines[0]["at"]
    assert ids(gitmem(repo, "list", "--since", at, "--json")) == [memory]
    assert ids(gitmem(repo, "list", "--until", at, "--json")) == []


def test_quotes_on_the_command_line_mean_a_phrase(repo: Path, gitmem: Run) -> None:
    exact = put(gitmem, repo, "The exact words stand here in a row")
    loose = put(gitmem, repo, "Words that are exact may be moved about the sentence")
    assert sorted(ids(gitmem(repo, "recall", "exact words", "--json"))) == sorted([exact, loose])
    assert ids(gitmem(repo, "recall", '"exact words"', "--json")) == [exact]
    assert ids(gitmem(repo, "recall", '"exact', 'words"', "sentence", "--json")) == [exact]
    assert ids(gitmem(repo, "recall", '"words exact"', "--json")) == []
    assert ids(gitmem(repo, "recall", "--phrase", "exact words", "--json")) == [exact]
    assert sorted(ids(gitmem(repo, "recall", 'exact "words', "--json"))) == sorted([exact, loose])  # one quote is text


@pytest.mark.parametrize("words", ["a AND b", "title:x OR *", "(((", "~/x^2", "-e --force", "'", "\\", "🎉"])
def test_nothing_typed_is_query_syntax(repo: Path, gitmem: Run, words: str) -> None:
    put(gitmem, repo, POOL)
    assert gitmem(repo, "recall", "--", words).code == 0
    assert gitmem(repo, "recall", "   ").code == 2


def test_recall_says_how_much_was_searched_when_nothing_is_found(repo: Path, gitmem: Run) -> None:
    put(gitmem, repo, POOL)
    put(gitmem, repo, WEATHER)
    nothing = gitmem(repo, "recall", "zebra")
    assert nothing.code == 0 and "2 memories of shop-" in nothing.out
    (line,) = gitmem(repo, "recall", "zebra", "--json").lines
    summary = line["summary"]
    assert (summary["shown"], summary["total"], summary["searched"], summary["warnings"]) == (0, 0, 2, [])
    (why,) = summary["abstained"]
    assert why["searched"] == 2 and why["commit"] == summary["commit"] and why["withheld"] == {} and why["hint"]


TIMES = json.loads(
    """{"memories": [
      {"id": "a", "from": "2026-01-01T00:00:00Z", "to": "2026-06-01T00:00:00+05:30", "text": "The pool size was ten"},
      {"id": "b", "from": "2026-06-01T00:00:00+05:30", "to": null, "text": "Twenty sockets are the newer limit"},
      {"id": "c", "from": "2026-11-30", "to": null, "text": "A freeze of deploys begins"}],
    "as_of": [
      {"at": "2026-05-31T18:29:59Z", "must": ["a"]},
      {"at": "2026-05-31T18:30:00Z", "must": ["b"]},
      {"at": "2026-05-31T18:30:00", "must": ["b"]},
      {"at": "2025-12-31T23:59:59Z", "must": []},
      {"at": "2026-01-01", "must": ["a"]},
      {"at": "2026-11-29T23:59:59Z", "must": ["b"]},
      {"at": "2026-11-30", "must": ["b", "c"]},
      {"at": "2026-11-30T12:00:00Z", "must": ["b", "c"]}]}"""
)


@pytest.fixture(params=["UTC", "Asia/Kolkata", "America/New_York"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def test_validity_is_half_open_and_the_same_in_every_zone(repo: Path, gitmem: Run, zone: str) -> None:
    named = {}
    for item in TIMES["memories"]:
        until = ["--valid-until", item["to"]] if item["to"] else []
        named[put(gitmem, repo, item["text"], "--valid-from", item["from"], *until, "--tag", "time")] = item["id"]
    for asked in TIMES["as_of"]:
        found = ids(gitmem(repo, "list", "--tag", "time", "--valid-at", asked["at"], "--json"))
        assert sorted(named[i] for i in found) == asked["must"], (zone, asked["at"])
    assert gitmem(repo, "list", "--valid-at", "2026-02-30").code == 2


def test_record_time_and_valid_time_compose(repo: Path, gitmem: Run) -> None:
    # On record at first: the limit is 10 from 2026 on. Corrected later: it was 20 from the start.
    first = put(gitmem, repo, "The limit is ten", "--key", "limit", "--valid-from", "2026-01-01")
    git(repo, "tag", "before", "gitmem/main")
    words = ["supersede", first, "Twenty sockets were allowed all along", "-e", "file:src/pool.py:1", *WHY, "--json"]
    second = gitmem(repo, *words, "--valid-from", "2025-01-01").lines[0]["id"]

    def held(*words: str) -> list[str]:
        ran = gitmem(repo, "key", "limit", "--json", *words)
        return ids(ran) if ran.code == 0 else []

    assert held() == [second]
    assert held("--as-of", "before") == [first]
    assert held("--valid-at", "2025-06-01") == [second]
    assert held("--as-of", "before", "--valid-at", "2025-06-01") == []
    assert held("--as-of", "before", "--valid-at", "2026-01-01") == [first]
    at = gitmem(repo, "log", second, "--json").lines[0]["at"]
    assert held("--as-of", at) == [second] and held("--as-of", "gitmem/main~1") == [first]
    begun = gitmem(repo, "key", "limit", "--as-of", "2020-01-01")
    assert begun.code == 4 and "did not exist yet" in begun.err


def test_as_of_alone_asks_what_was_true_then(repo: Path, gitmem: Run) -> None:
    memory = put(gitmem, repo, POOL, "--key", "limit", "--valid-until", "2026-03-02T10:30:00Z")
    assert ids(gitmem(repo, "key", "limit", "--as-of", "2026-03-02T10:29:59Z", "--json")) == [memory]
    assert gitmem(repo, "key", "limit", "--as-of", "2026-03-02T10:30:00Z").code == 4


def test_show_at_a_date_a_revision_a_tag_or_a_revision_of_the_code(repo: Path, gitmem: Run) -> None:
    memory = put(gitmem, repo, POOL)
    git(repo, "tag", "first", "gitmem/main")
    at = gitmem(repo, "log", memory, "--json").lines[0]["at"]
    gitmem(repo, "edit", memory, "--title", f"{POOL}, no more", *WHY)

    def title(*words: str) -> str:
        return str(gitmem(repo, "show", memory, "--json", *words).lines[0]["title"])

    assert title() == f"{POOL}, no more"
    assert title("--at", "first") == title("--at", at) == title("--at", "gitmem/main~1") == POOL
    assert title("--at", git(repo, "rev-parse", "gitmem/main").strip()) == f"{POOL}, no more"
    # A commit of the code stands for its date: 10:00:00, before anything was remembered.
    early = gitmem(repo, "show", memory, "--at", "main")
    assert early.code == 4
    git(repo, "-c", "user.name=x", "-c", "user.email=x@example.invalid", "commit", "-q", "--allow-empty", "-m", "later",
        env={**os.environ, "GIT_COMMITTER_DATE": "2027-01-01T00:00:00Z"})  # fmt: skip
    assert title("--at", "main") == f"{POOL}, no more"
    for nothing in ("no-such-tag", "yesterday"):
        bad = gitmem(repo, "show", memory, "--at", nothing)
        assert bad.code == 4 and nothing in bad.err
    git(repo, "update-ref", "refs/heads/other", _foreign(repo))
    foreign = gitmem(repo, "show", memory, "--at", "other")
    assert foreign.code == 4 and "no earlier state" in foreign.err


def _foreign(repo: Path) -> str:
    """A commit on top of the memory branch that is not on it."""
    tree = git(repo, "rev-parse", "gitmem/main^{tree}").strip()
    return git(repo, "commit-tree", "-p", "gitmem/main", "-m", "x", tree).strip()


def test_an_id_is_typed_as_any_unique_prefix(repo: Path, gitmem: Run) -> None:
    memory = put(gitmem, repo, POOL)
    assert ids(gitmem(repo, "show", memory[:4], "--json")) == [memory]
    assert ids(gitmem(repo, "show", memory.upper(), "--json")) == [memory]
    for wrong, code, said in (
        ("zzzz", 4, "no memory begins with"),
        ("abc", 2, "4 to 12"),
        ("not-an-id!", 2, "4 to 12"),
    ):
        bad = gitmem(repo, "show", wrong)
        assert bad.code == code and said in bad.err, wrong


def test_an_ambiguous_prefix_names_the_candidates(repo: Path, gitmem: Run, env: Run) -> None:
    made = iter([b"\x12\x34\x56\x78\x9a\xbc\xde\x00", b"\x12\x34\x56\x78\x9a\xbc\xde\xff"])
    found = [_with_id(repo, env, next(made), title) for title in (POOL, RETRY)]
    assert len(found[0]) == 12 and found[0][:4] == found[1][:4] and found[0] != found[1]
    both = gitmem(repo, "show", found[0][:4])
    assert both.code == 4 and all(f"{identifier}" in both.err for identifier in found) and POOL in both.err
    data = json.loads(gitmem(repo, "show", found[0][:4], "--json").err)["error"]
    assert data["code"] == "ambiguous" and sorted(data["details"]["ids"]) == sorted(found)


def _with_id(repo: Path, env: Run, random: bytes, title: str) -> str:
    """A memory whose id is made of these bytes."""
    from dataclasses import replace

    from gitmem.app.remember import remember
    from gitmem.app.workspace import open_workspace
    from gitmem.model.nouns import Draft

    world = env(repo)
    first = iter([random])
    workspace = open_workspace(replace(world, random=lambda size: next(first, None) or world.random(size)))
    (done,) = remember(workspace, [Draft("fact", title, evidence=("file:src/pool.py:2",))])
    workspace.close()
    return done.memory.id


def test_cited_lines_that_no_longer_stand_in_the_code_are_marked(repo: Path, gitmem: Run) -> None:
    pool = repo / "src/pool.py"
    kept = gitmem(repo, "remember", "--json", "-k", "fact", WEATHER, "-e", "file:src/pool.py:4").lines[0]["id"]
    changed = put(gitmem, repo, POOL)  # cites line 2, size = 20
    assert "HEAD" not in gitmem(repo, "recall", POOL).out
    pool.write_text("# a line above\n" + pool.read_text().replace("size = 20", "size = 50"))
    git(repo, "commit", "-qam", "pool: larger")
    assert "changed at HEAD" in gitmem(repo, "recall", POOL).out
    assert gitmem(repo, "recall", POOL, "--json").lines[0]["drifts"] == ["changed at HEAD"]
    assert "verified" in gitmem(repo, "show", changed).out and "changed at HEAD" in gitmem(repo, "show", changed).out
    assert "HEAD" not in gitmem(repo, "show", kept).out  # the line moved, and it still stands there
    git(repo, "rm", "-q", "src/pool.py")
    git(repo, "commit", "-qm", "pool: gone")
    assert gitmem(repo, "show", kept, "--json").lines[0]["resolutions"][0]["drift"] == "gone at HEAD"


def test_the_branch_before_it_began_is_told_apart_from_no_memory(repo: Path, gitmem: Run) -> None:
    identifier = put(gitmem, repo, POOL)
    early = gitmem(repo, "show", identifier, "--at", "2026-01-02")
    assert early.code == 4 and "did not exist yet" in early.err
    assert gitmem(repo, "show", identifier, "--at", "2030-01-01").code == 0
