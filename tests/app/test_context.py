"""`gitmem context PATH…`: what still holds for these files, and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.app.conftest import Ran
from tests.app.steps import INVOICE, POOL, RETRY, WEATHER, ids, proposed, put
from tests.conftest import git

Run = Callable[..., Ran]


@pytest.fixture(autouse=True)
def begun(repo: Path, gitmem: Run) -> None:
    assert gitmem(repo, "init").code == 0


def about(gitmem: Run, repo: Path, title: str, *paths: str, kind: str = "fact", flags: tuple[str, ...] = ()) -> str:
    """A memory about patterns of paths that cites no file."""
    asked = [part for path in paths for part in ("-p", path)]
    done = gitmem(repo, "remember", "--json", "-k", kind, title, "-e", "commit:HEAD", *asked, *flags)
    assert done.code == 0, done.err
    return str(done.lines[0]["id"])


def commit(repo: Path, *paths: str, text: str = "x") -> None:
    for path in paths:
        (repo / path).parent.mkdir(parents=True, exist_ok=True)
        (repo / path).write_text(f"{text} {path}\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "--allow-empty", "-m", text)


def context(gitmem: Run, repo: Path, *words: str) -> list[str]:
    return ids(gitmem(repo, "context", *words, "--json"))


def test_patterns_are_matched_exactly_and_citations_by_file(repo: Path, gitmem: Run) -> None:
    cited = put(gitmem, repo, POOL)
    inside = about(gitmem, repo, RETRY, "src/**/*.py")
    folder = about(gitmem, repo, INVOICE, "src")
    about(gitmem, repo, WEATHER, "src/**/*.go")
    about(gitmem, repo, "Lambs are counted on Sundays by the shepherd", "lib/**")
    about(gitmem, repo, "Tulips grow best behind the northern wall")
    assert set(context(gitmem, repo, "src/pool.py")) == {cited, inside, folder}
    assert set(context(gitmem, repo, "src/new.py")) == {inside, folder}
    assert context(gitmem, repo, "README.md") == []
    said = gitmem(repo, "context", "src/pool.py")
    assert "applies to src/**/*.py" in said.out
    assert "cites src/pool.py" in said.out


def test_rules_and_traps_come_before_facts_and_near_ones_before_far_ones(repo: Path, gitmem: Run) -> None:
    fact = put(gitmem, repo, POOL)
    everywhere = about(gitmem, repo, "Every module has a docstring", "**", kind="convention")
    near = about(gitmem, repo, "Sockets are closed by the pool alone", "src/pool.py", kind="convention")
    problem = about(gitmem, repo, "Connects hang behind the proxy", "src/**", kind="problem")
    failed = ("--tried-for", problem)
    trap = about(gitmem, repo, "Raising the timeout does not help", "src/**", kind="failed_tactic", flags=failed)
    assert context(gitmem, repo, "src/pool.py") == [near, trap, problem, everywhere, fact]
    assert context(gitmem, repo, "src/pool.py", "--limit", "2") == [near, trap]


def test_what_is_withheld_is_in_no_form_of_the_answer(repo: Path, gitmem: Run) -> None:
    """One visible control and one memory for each state in which nobody is shown it."""
    control = put(gitmem, repo, POOL)
    gone = put(gitmem, repo, "Gone one: the queue is a heap")
    assert gitmem(repo, "supersede", gone, "The queue is a ring now", "-e", "commit:HEAD", "--because", "x").code == 0
    wrong = put(gitmem, repo, "Wrong two: every socket is blocking")
    assert gitmem(repo, "wrong", wrong, "--because", "no").code == 0
    archived = put(gitmem, repo, "Archived three: logs go to syslog")
    assert gitmem(repo, "archive", archived, "--because", "old").code == 0
    disputed = put(gitmem, repo, "Disputed four: threads are green here")
    assert gitmem(repo, "dispute", disputed, "--because", "hm").code == 0
    expired = put(gitmem, repo, "Expired five: builds run on Jenkins", "--valid-until", "2026-01-01")
    early = put(gitmem, repo, "Early six: python eleven is the floor", "--valid-from", "2027-01-01")
    candidate = proposed(gitmem, repo, "Candidate seven: the cache is warm at noon")
    answers = [
        gitmem(repo, "context", "src/pool.py", *form)
        for form in ((), ("--json",), ("--format", "prompt"), ("--full",), ("--budget", "100000"))
    ]
    answers.append(gitmem(repo, "context", ".", "--json"))
    for ran in answers:
        assert control[:8] in ran.out
        for hidden in (gone, wrong, archived, disputed, expired, early, candidate):
            assert hidden[:8] not in ran.out
        assert not re.search(r"(one|two|three|four|five|six|seven):", ran.out)


def test_what_was_superseded_is_not_followed_to_a_memory_about_another_file(repo: Path, gitmem: Run) -> None:
    old = put(gitmem, repo, POOL)
    ran = gitmem(repo, "supersede", old, "It holds thirty", "-e", "commit:HEAD", "--because", "x", "--json")
    new = ran.lines[0]["id"]
    assert context(gitmem, repo, "src/pool.py") == []
    assert ids(gitmem(repo, "recall", "--json", "thirty")) == [new]


def test_paths_as_a_person_or_a_hook_writes_them(repo: Path, gitmem: Run, tmp_path: Path) -> None:
    known = put(gitmem, repo, POOL)
    (repo / "deep/er").mkdir(parents=True)
    whole = str(repo / "src/pool.py")
    for where, path in (
        (repo, "src/pool.py"), (repo, "./src//pool.py"), (repo / "src", "pool.py"), (repo, whole), (tmp_path, whole),
        (repo / "deep/er", "../../src/pool.py"), (repo, "src"), (repo, "."),
    ):  # fmt: skip
        words = ("-C", str(repo)) if where == tmp_path else ()
        assert ids(gitmem(where, "context", path, "--json", *words)) == [known], path
    link = tmp_path / "a link"
    link.symlink_to(repo)
    assert context(gitmem, link, "src/pool.py") == [known]
    assert context(gitmem, repo, str(link / "src/pool.py")) == [known]
    assert context(gitmem, repo, "src/none.py", "src/pool.py") == [known]
    assert context(gitmem, repo, "not/there/yet.py") == []


def test_outside_of_the_repository_is_wrong_usage(repo: Path, gitmem: Run, tmp_path: Path) -> None:
    (repo / "out").symlink_to(tmp_path)
    assert gitmem(repo, "context", "src/pool.py").code == 0
    for path in ("/etc/passwd", "../other", "..", "out/x", str(tmp_path), ".git/config"):
        ran = gitmem(repo, "context", path, "--json")
        assert ran.code == 2, path
        assert ran.out == ""
    assert gitmem(repo, "context").code == 2
    assert gitmem(repo, "context", "src", "--format", "xml").code == 2


def test_cited_lines_that_changed_are_told(repo: Path, gitmem: Run) -> None:
    put(gitmem, repo, POOL)
    assert "changed at HEAD" not in gitmem(repo, "context", "src/pool.py").out
    text = (repo / "src/pool.py").read_text()
    (repo / "src/pool.py").write_text(text.replace("size = 20", "size = 30"))
    git(repo, "commit", "-q", "-a", "-m", "larger")
    for form in ((), ("--json",), ("--format", "prompt")):
        assert "changed at HEAD" in gitmem(repo, "context", "src/pool.py", *form).out
    assert "changed at HEAD" in gitmem(repo, "context", "src/pool.py").out  # as remembered


def test_a_file_that_changes_with_it_is_told_last(repo: Path, gitmem: Run) -> None:
    commit(repo, "src/schema.py", "docs/far.md")
    there = put(gitmem, repo, POOL)
    ran = gitmem(repo, "remember", "--json", "-k", "fact", WEATHER, "-e", "file:src/schema.py")
    beside = ran.lines[0]["id"]
    ran = gitmem(repo, "remember", "--json", "-k", "fact", INVOICE, "-e", "file:docs/far.md")
    assert context(gitmem, repo, "src/pool.py") == [there]
    for number in range(2):
        commit(repo, "src/schema.py", "src/pool.py", text=f"both {number}")
        commit(repo, "docs/far.md", text=f"one {number}")
    assert context(gitmem, repo, "src/pool.py") == [there, beside]
    assert "about src/schema.py, which changes with it (67% of the time)" in gitmem(repo, "context", "src/pool.py").out
    commit(repo, *(f"wide/{n}" for n in range(29)), "docs/far.md", "src/pool.py")
    assert context(gitmem, repo, "docs/far.md") == [ran.lines[0]["id"]]


def test_reminders_are_told_at_their_file_and_not_before_their_day(repo: Path, gitmem: Run) -> None:
    at_file = about(
        gitmem, repo, "Ask Ann about the pool", kind="reminder", flags=("--cue", "before src/pool.py changes")
    )
    about(gitmem, repo, "Renew the lease", "src/**", kind="reminder", flags=("--cue", "on 2027-01-01"))
    due = about(gitmem, repo, "Drop the shim", "src/**", kind="reminder", flags=("--cue", "2026-01-01"))
    assert set(context(gitmem, repo, "src/pool.py")) == {at_file, due}
    assert context(gitmem, repo, "src/other.py") == [due]


def test_a_budget_is_kept_and_the_block_is_framed(repo: Path, gitmem: Run) -> None:
    titles = ("Ants", "Bees", "Cats", "Dogs", "Eels", "Foxes", "Goats", "Hens", "Ibises", "Jays", "Kites", "Larks")
    for number, title in enumerate(titles):
        about(gitmem, repo, f"{title} walk {number} miles over {title.lower()}land in spring", "src/**")
    wide = gitmem(repo, "context", "src/pool.py", "--format", "prompt", "--budget", "100000").out
    assert wide.count('"why_here":"applies to src/**"') == 10
    small = gitmem(repo, "context", "src/pool.py", "--format", "prompt").out
    assert 0 < len(small.encode()) / 4 <= 400
    assert small.startswith("<gitmem-memory boundary=")
    assert 'about="src/pool.py"' in small
    assert gitmem(repo, "context", "README.md", "--format", "prompt").out == ""
    ran = gitmem(repo, "context", "src/pool.py", "--json", "--budget", "300")
    assert ran.lines[-1]["summary"]["paths"] == ["src/pool.py"]
    assert ran.lines[-1]["summary"]["total"] == 12


def test_a_problem_brings_its_solution(repo: Path, gitmem: Run) -> None:
    problem = about(gitmem, repo, "Connects hang behind the proxy", "src/**", kind="problem")
    solution = about(gitmem, repo, "Set keepalive to ten seconds", kind="solution", flags=("--solves", problem))
    line = gitmem(repo, "context", "src/pool.py", "--json").lines[0]
    assert (line["id"], [near["id"] for near in line["beside"]]) == (problem, [solution])


@pytest.mark.parametrize(
    "harm", ["[]", "{", '{"head": 1, "paths": {}, "commits": 3}', '{"paths": ["a"], "commits": [[9]]}']
)
def test_a_damaged_or_unwritable_memory_of_the_history_is_no_error(repo: Path, gitmem: Run, harm: str) -> None:
    known = put(gitmem, repo, POOL)
    assert context(gitmem, repo, "src/pool.py") == [known]
    (state,) = (repo / ".git/gitmem").glob("touched-*.json")
    before = state.read_bytes()
    state.write_text(harm)
    assert context(gitmem, repo, "src/pool.py") == [known]
    assert state.read_bytes() == before
    state.unlink()
    state.mkdir()
    assert context(gitmem, repo, "src/pool.py") == [known]


def test_an_unborn_repository_has_a_context_too(tmp_path: Path, gitmem: Run) -> None:
    where = tmp_path / "new"
    git(tmp_path, "init", "-q", str(where))
    assert gitmem(where, "init").code == 0
    done = gitmem(where, "remember", "--json", "-k", "convention", "Tabs", "-e", 'human:"use tabs"', "-p", "**")
    assert context(gitmem, where, "first.py") == [done.lines[0]["id"]]
    said: Any = gitmem(where, "brief", "--json").lines
    assert said[0]["section"] == "standing"


@pytest.mark.parametrize("name", ["cards", "positions"])
def test_a_damaged_part_of_a_fresh_index_is_made_anew_for_every_reader(repo: Path, gitmem: Run, name: str) -> None:
    about(gitmem, repo, "Pools are closed", "src/**", kind="convention", flags=())
    assert gitmem(repo, "brief").code == 0
    about(gitmem, repo, "Sockets are counted", "src/**")
    readers = (
        ("context", "src/pool.py"),
        ("brief", "--peek"),
        ("recall", "sockets", "--as-of", "2030-01-01"),
        ("list",),
    )
    for words in readers:
        before = gitmem(repo, *words)
        assert before.code == 0 and "Sockets are counted" in before.out
        (file,) = (repo / ".git/gitmem/index").rglob(f"{name}.*")
        data = bytearray(file.read_bytes())
        data[-3] ^= 0xFF
        file.write_bytes(data)
        assert gitmem(repo, *words) == before


def test_of_a_crowded_place_the_best_are_told_whatever_their_age(repo: Path, gitmem: Run) -> None:
    """A hundred facts about all of the repository, all newer than the few memories that matter more."""
    rule = about(gitmem, repo, "Every module has a docstring", "**", kind="convention")
    trap = about(gitmem, repo, "Connects hang behind the proxy", "**", kind="problem")
    exact = about(gitmem, repo, "Sockets are counted by the pool", "src/pool.py")
    why = about(gitmem, repo, "The queue is a ring", "**", kind="decision", flags=("--ruled-out", "a heap: slower"))
    words = [f"{a}{b}" for a in ("ant", "bee", "cat", "dog", "eel") for b in ("hill", "line", "moon", "rock", "wind")]
    drafts = [
        {"kind": "fact", "title": f"{w} {m}{w[::-1]} {m}", "applies_to": ["**"], "evidence": ["commit:HEAD"]}
        for w in words
        for m in ("jan", "jun", "sep", "oct")
    ]
    done = gitmem(repo, "remember", "--file", "-", stdin="\n".join(map(json.dumps, drafts)))
    assert done.code == 0, done.err
    assert context(gitmem, repo, "src/pool.py", "--limit", "4") == [rule, trap, exact, why]
    every = context(gitmem, repo, "src/pool.py", "--limit", "30")
    assert (every[:4], len(set(every))) == ([rule, trap, exact, why], 30)
    assert "more: --limit" in gitmem(repo, "context", "src/pool.py").err
    standing = gitmem(repo, "brief", "--json", "--peek").lines[0]
    assert (standing["section"], standing["id"]) == ("standing", rule)


def test_each_hit_brings_its_own_and_a_pair_is_told_once(repo: Path, gitmem: Run) -> None:
    first = about(gitmem, repo, "Connects hang behind the proxy", "src/**", kind="problem")
    second = about(gitmem, repo, "Ports run out under load", "src/**", kind="problem")
    one = about(gitmem, repo, "Set keepalive to ten seconds", kind="solution", flags=("--solves", first))
    both = about(
        gitmem, repo, "Reuse the sockets", "src/**", kind="solution", flags=("--solves", first, "--solves", second)
    )
    tried = about(gitmem, repo, "Raising the limit does not help", kind="failed_tactic", flags=("--tried-for", second))
    questions = ("-q", "connects hang behind the proxy", "-q", "ports run out under load", "-q", "reuse the sockets")
    for order in (("context", "src/pool.py"), ("recall", *questions)):
        ran = gitmem(repo, *order, "--json", "--limit", "50")
        near = {line["id"]: [(b["how"], b["id"]) for b in line["beside"]] for line in ran.lines if "beside" in line}
        assert {first, second, both} <= set(near)
        pairs = [frozenset((hit, other)) for hit, others in near.items() for _, other in others]
        assert len(pairs) == len(set(pairs))
        assert {frozenset(pair) for pair in ((first, one), (first, both), (second, both), (second, tried))} <= set(
            pairs
        )
