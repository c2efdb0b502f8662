"""Use: what counts as use, how it raises a memory, what fades; all of it local and losable."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from math import isclose, sqrt
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.app import use
from gitmem.app.use import FADES_AFTER, FILE, MOST_MEMORIES, RECENT, Used
from tests.app.conftest import START, Ran
from tests.app.steps import POOL, RETRY, ids, proposed, put, tips
from tests.conftest import git

Run = Callable[..., Ran]
NOW = datetime(2026, 3, 2, 12, tzinfo=timezone.utc)
DAY = 86400


@pytest.fixture(autouse=True)
def begun(repo: Path, gitmem: Run) -> None:
    assert gitmem(repo, "init").code == 0


def private(repo: Path) -> Path:
    return repo / ".git/gitmem"


def rows(repo: Path) -> dict[str, Any]:
    path = private(repo) / FILE
    return dict(json.loads(path.read_text())["memories"]) if path.exists() else {}


def settings_file(**values: bool) -> None:
    file = Path(os.environ["XDG_CONFIG_HOME"]) / "gitmem/learn.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(values))


def test_what_is_shown_is_not_used_and_what_is_opened_or_cited_is(repo: Path, gitmem: Run) -> None:
    first, second, third = put(gitmem, repo, POOL), put(gitmem, repo, RETRY), put(gitmem, repo, "Logs are kept a week")
    before = tips(repo)
    for verb in (("recall", "pool connections"), ("list",), ("brief",), ("context", "src/pool.py")):
        assert gitmem(repo, *verb).code == 0
    assert rows(repo) == {}
    assert gitmem(repo, "show", first[:8], channel="agent").code == 0
    assert gitmem(repo, "show", first[:8]).code == 0  # within the hour: no second use
    assert tips(repo) == before  # no ref knows of it
    proposed(gitmem, repo, "Deploys wait for the night", "-e", f"memory:{second}")
    kept = rows(repo)
    assert {name: row["how"] for name, row in kept.items()} == {first: {"opened": 1}, second: {"cited": 1}}
    assert third not in kept
    assert (private(repo) / FILE).stat().st_mode & 0o777 == 0o600


def test_use_decides_between_equals_and_raises_nothing_weak(repo: Path, gitmem: Run) -> None:
    older = put(gitmem, repo, "The cache of pages is emptied at night")
    newer = put(gitmem, repo, "The cache of images is emptied at noon")
    best = put(gitmem, repo, "The cache of queries and of sessions is emptied by hand")
    asked = ("recall", "when is the cache emptied", "--json")
    assert ids(gitmem(repo, *asked))[:2] == [newer, older]
    gitmem(repo, "show", older)
    plain = gitmem(repo, *asked)
    assert ids(plain)[:2] == [older, newer]
    raised = gitmem(repo, "why", "when is the cache emptied", "--json").lines[0]["ranked"]
    lane = {row["id"]: row["lanes"].get("use") for row in raised}
    assert lane[older] and not lane[newer]
    assert ids(gitmem(repo, "recall", "cache of queries and sessions", "--json"))[0] == best
    (private(repo) / FILE).unlink()  # losing it is losing nothing
    assert ids(gitmem(repo, *asked))[:2] == [newer, older]


def test_it_is_switched_off_in_one_place(repo: Path, gitmem: Run) -> None:
    older = put(gitmem, repo, "The cache of pages is emptied at night")
    newer = put(gitmem, repo, "The cache of images is emptied at noon")
    gitmem(repo, "show", older)
    asked = ("recall", "when is the cache emptied", "--json")
    assert ids(gitmem(repo, *asked))[0] == older
    kept = rows(repo)
    settings_file(use=False)
    assert ids(gitmem(repo, *asked))[0] == newer
    gitmem(repo, "show", newer)
    assert rows(repo) == kept


def test_the_past_is_told_as_it_was_whatever_is_used_now(repo: Path, gitmem: Run) -> None:
    older = put(gitmem, repo, "The cache of pages is emptied at night")
    newer = put(gitmem, repo, "The cache of images is emptied at noon")
    gitmem(repo, "show", older)
    then = gitmem(repo, "recall", "when is the cache emptied", "--as-of", "gitmem/main", "--json")
    assert ids(then)[:2] == [newer, older]


def brief(gitmem: Run, repo: Path) -> str:
    done = gitmem(repo, "brief")
    assert done.code == 0
    return done.out


def test_an_inference_that_nobody_uses_fades_and_nothing_else_does(repo: Path, gitmem: Run) -> None:
    words = ("--private", "-e", 'human:"small commits, please"')
    said = gitmem(repo, "remember", "--json", "-k", "preference", "Commits are small", *words).lines[0]["id"]
    guesses = [
        proposed_rule(gitmem, repo, title) for title in ("Buttons are blue", "Pages are short", "Names are long")
    ]
    unused, opened, credited = guesses
    put(gitmem, repo, POOL)
    for _ in range(2 * FADES_AFTER):  # as of an inference that a person has put in words of their own since
        use.note_told(private(repo), {}, [said])
    for number in range(FADES_AFTER):
        told = brief(gitmem, repo)
        assert all(identifier[:8] in told for identifier in (said, *guesses)), number
    gitmem(repo, "show", opened)
    use.credit(private(repo), {}, [credited], "claude-code/one")
    told = brief(gitmem, repo)
    assert unused[:8] not in told
    assert all(identifier[:8] in told for identifier in (said, opened, credited))
    assert unused[:8] in gitmem(repo, "list").out and unused[:8] in gitmem(repo, "recall", "blue buttons").out
    gitmem(repo, "show", unused)
    assert unused[:8] in brief(gitmem, repo)


def proposed_rule(gitmem: Run, repo: Path, title: str) -> str:
    """A rule that an agent concluded, and a person let in."""
    found = put(gitmem, repo, title, kind="convention", channel="agent")
    assert gitmem(repo, "accept", found, "--because", "it is so").code == 0
    memory = gitmem(repo, "show", found, "--json").lines[0]
    (private(repo) / FILE).unlink(missing_ok=True)  # showing it here is no use by the one who tests
    assert memory["origin"] == "inferred", memory
    return found


def test_what_was_archived_is_offered_to_a_person_and_to_nobody_else(repo: Path, gitmem: Run) -> None:
    gone = put(gitmem, repo, POOL)
    assert gitmem(repo, "archive", gone, "--because", "we moved on").code == 0
    asked = "twenty pool connections"
    told = gitmem(repo, "recall", asked)
    assert f"gitmem restore {gone[:8]}" in told.out and POOL in told.out
    assert POOL not in gitmem(repo, "recall", "the weather of the harbour").out
    for form in ((), ("--format", "prompt"), ("--json",)):
        said = gitmem(repo, "recall", asked, *form, channel="agent")
        assert POOL not in said.out + said.err and gone[:8] not in said.out + said.err
    for form in (("--format", "prompt"), ("--json",)):
        assert gone[:8] not in gitmem(repo, "recall", asked, *form).out


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(0, 400 * DAY), max_size=30))
def test_strength_is_bounded_grows_with_use_and_falls_with_time(ages: list[int]) -> None:
    now = int(NOW.timestamp())
    used = Used()
    for time in sorted(now - age for age in ages):
        used = use._once_more(used, "opened", time)
    strength = used.strength(now)
    assert 0.0 <= strength < 1.0 and len(used.times) <= RECENT
    assert bool(ages) == (strength > 0)
    later = used.strength(now + 100 * DAY)
    assert later < strength if ages else later == 0.0
    assert use._once_more(used, "opened", now + 2 * 3600).strength(now + 2 * 3600) >= used.strength(now + 2 * 3600)


def test_activation_is_the_sum_over_all_uses_and_nearly_so_over_those_that_were_dropped() -> None:
    now = int(NOW.timestamp())
    times = [now - age * DAY for age in (1, 4, 9)]
    assert isclose(Used(tuple(sorted(times)), 3, min(times)).activation(now), 1 + 1 / 2 + 1 / 3)
    used = Used()
    every = [now - age * DAY for age in range(40, 0, -1)]
    for time in every:
        used = use._once_more(used, "ran", time)
    exact = sum(1 / sqrt((now - time) / DAY) for time in every)
    assert (used.count, len(used.times)) == (40, RECENT) and abs(used.activation(now) - exact) < 0.05 * exact


def test_the_file_is_bounded_and_what_is_no_file_of_ours_counts_for_nothing(tmp_path: Path) -> None:
    for batch in range(3):
        names = [f"{batch}{number:011d}" for number in range(MOST_MEMORIES // 2)]
        use.note(tmp_path, {}, "opened", names, NOW + timedelta(days=batch))
    use.credit(tmp_path, {}, ["first0000000"], "claude-code/one")
    kept = use.load(tmp_path)
    assert len(kept) == MOST_MEMORIES and (tmp_path / FILE).stat().st_size < use.LARGEST
    assert not [name for name in kept if name.startswith("0")][10:] and "first0000000" in kept
    assert use.credit(tmp_path, {}, ["first0000000"], "claude-code/one") == []
    assert use.credit(tmp_path, {}, ["first0000000"], "claude-code/two") == ["first0000000"]
    for harm in (b"", b"[]", b"{", b'{"memories": {"a": {"at": ["x"], "n": 1}}}', b'{"memories": {"a": {"at": [-1]}}}'):
        (tmp_path / FILE).write_bytes(harm)
        assert use.load(tmp_path) == {} and use.strengths(tmp_path, {}, NOW).get("a") is None


def test_a_message_of_a_commit_cites(repo: Path, gitmem: Run) -> None:
    first, second = put(gitmem, repo, POOL), put(gitmem, repo, RETRY)
    assert gitmem(repo, "hooks", "install", "--sessions").code == 0
    (repo / "src/pool.py").write_text("POOL = 20\n")
    git(
        repo,
        "commit",
        "-qam",
        f"Raise the pool\n\nAs {first[:8]} says; not aaaaaaaa, and not {second[:7]}.",
        env=os.environ,
    )
    if not (private(repo) / "commits-made").exists():  # the hook calls the installed program
        oid = git(repo, "rev-parse", "HEAD").strip()
        (private(repo) / "commits-made").write_text(f"made {oid}\n")
    assert gitmem(repo, "capture").code == 0
    assert {name: row["how"] for name, row in rows(repo).items()} == {first: {"cited": 1}}
    assert second not in rows(repo) and START.year == 2026
