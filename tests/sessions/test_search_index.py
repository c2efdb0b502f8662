"""The index of sessions answers as the search that reads every turn, whatever is asked, and reads no turn for it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.app import sessions_index, sessions_search
from gitmem.app.env import Env
from gitmem.app.sessions_index import from_index
from gitmem.app.sessions_scan import from_sessions
from gitmem.app.sessions_search import DEFAULT, SPEAKERS, Answer, Asked, search, wanted_words
from gitmem.app.workspace import Workspace, open_workspace
from tests.app.conftest import env
from tests.conftest import git
from tests.installed import person
from tests.sessions.hosts import Host, line, said

__all__ = ["env"]

WORDS = ["redis", "pool", "timeout", "lamp", "human", "tool", "retry", "the", "deploy", "monday", "café", "src/pool.py"]
START = datetime(2026, 3, 1, tzinfo=timezone.utc)


def session(number: int) -> str:
    return f"{number:08x}-aaaa-4aaa-8aaa-aaaaaaaaaaaa"


def rows(host: Host, number: int, first: int, many: int) -> bytes:
    """Turns of all speakers, some without a time, some that touch a file."""
    chance = random.Random(number * 1000 + first)
    data = []
    for n in range(first, first + many):
        text = " ".join(chance.choices(WORDS, k=chance.randint(1, 9)))
        if chance.random() < 0.15:
            text = f"<system-reminder>{text}</system-reminder>"
        row = said(n, text, host.repo, chance.choice(["user", "assistant"]), session=session(number))
        if row["type"] == "assistant" and chance.random() < 0.3:
            path = str(host.repo / chance.choice(["src/pool.py", "docs/lamp.md"]))
            row["message"]["content"].append(
                {"type": "tool_use", "id": f"toolu_{n}", "name": "Edit", "input": {"file_path": path, "new": text}}
            )
        if chance.random() < 0.1:
            del row["timestamp"]
        data.append(line(row))
    return b"".join(data)


@pytest.fixture
def corpus(host: Host, env: Callable[..., Env]) -> Iterator[Workspace]:
    for number in range(5):
        host.write(rows(host, number, 1, 25), session(number))
    host.capture()
    workspace = open_workspace(env(host.repo))
    yield workspace
    workspace.close()


def told(answer: Answer) -> Any:
    hits = [(h.stored.ref, h.generation, h.turn, round(h.score, 9)) for h in answer.hits]
    return hits, answer.total, answer.coverage, answer.sessions, answer.others


def same(workspace: Workspace, asked: Asked) -> Answer:
    words = wanted_words(asked)
    indexed = from_index(workspace, asked, words)
    assert told(indexed) == told(from_sessions(workspace, asked, words))
    return indexed


moments = st.none() | st.integers(0, 40).map(lambda n: START + timedelta(minutes=n))
questions = st.builds(
    Asked,
    words=st.lists(st.sampled_from([*WORDS, "kubernetes"]), min_size=1, max_size=12).map(" ".join),
    roles=st.sampled_from([DEFAULT, SPEAKERS, ("human",), ("tool", "harness"), ("assistant", "human")]),
    host=st.sampled_from([None, None, "claude-code", "codex"]),
    since=moments,
    until=moments,
    session=st.sampled_from([None, None, "0000000", "00000003", "claude-code/00000001", "9"]),
    path=st.sampled_from([None, None, "src/pool.py", "docs", "nowhere"]),
    order=st.sampled_from(["relevance", "time"]),
    limit=st.integers(1, 200),
    by=st.sampled_from(["turn", "session"]),
)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(asked=questions, most=st.sampled_from([2000, 2000, 7]))
def test_whatever_is_asked_both_answer_the_same(corpus: Workspace, asked: Asked, most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sessions_search, "MOST_RANKED", most)
        same(corpus, asked)


def test_it_is_caught_up_and_reads_only_what_changed(
    host: Host, corpus: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    made = sessions_index._made

    def noted(workspace: Workspace, place: Any, stored: Any) -> Any:
        read.append(stored.manifest.session)
        return made(workspace, place, stored)

    monkeypatch.setattr(sessions_index, "_made", noted)
    asked = Asked("redis pool", limit=1000)
    first = same(corpus, asked)
    assert first.total and sorted(read) == [session(n) for n in range(5)]
    read.clear()
    same(corpus, asked)
    assert read == []
    host.write(rows(host, 2, 26, 10), session(2))
    host.capture()
    grown = same(corpus, asked)
    assert read == [session(2)] and grown.coverage.turns != first.coverage.turns
    assert person(host.repo, "sessions", "forget", session(4), "--yes").code == 0
    less = same(corpus, asked)
    assert read == [session(2)] and less.coverage.sessions == {"claude-code": 4}


@pytest.mark.parametrize("harm", ["bytes", "gone", "schema"])
def test_an_index_in_doubt_is_made_again(host: Host, corpus: Workspace, harm: str) -> None:
    asked = Asked("redis pool", limit=1000)
    good = told(search(corpus, asked))
    assert good[1] > 0
    (folder,) = (path for path in (host.repo / ".git/gitmem/index").glob("turns-*") if path.is_dir())
    files = [path for path in folder.iterdir() if path.suffix in (".term", ".store", ".idx", ".fast")]
    assert files
    if harm == "gone":
        files[0].unlink()
    elif harm == "schema":
        (folder / "meta.json").write_text("{}")
    else:
        for path in files:
            path.write_bytes(b"\x00" * path.stat().st_size)
    assert told(search(corpus, asked)) == good


def test_what_is_damaged_is_said_by_both(host: Host, corpus: Workspace) -> None:
    ref = host.ref.split()[0]
    blob = git(host.repo, "hash-object", "-w", "-t", "tree", "/dev/null").strip()
    git(host.repo, "update-ref", ref, git(host.repo, "commit-tree", "-m", "x", blob).strip())
    answer = same(corpus, Asked("redis pool", limit=1000))
    assert len(answer.coverage.damaged) == 1 and answer.coverage.sessions == {"claude-code": 4}


def test_sessions_are_found_by_their_best_turns(host: Host) -> None:
    """A session in which it was spoken of several times stands before one that names it once; three turns of each."""
    talks = {
        1: ["The redis timeout again."],
        2: [f"Redis: the timeout is {n} seconds." for n in range(5)],
        3: ["Lamp."],
    }
    for number, texts in talks.items():
        told = (said(10 * number + n, text, host.repo, session=session(number)) for n, text in enumerate(texts))
        host.write(b"".join(map(line, told)), session(number))
    host.capture()
    *hits, last = host.run("sessions", "search", "redis timeout", "--by", "session", "--json").lines
    assert [hit["session"] for hit in hits] == [session(2)] * 3 + [session(1)]
    assert hits[0]["session_score"] == 1.0 > hits[-1]["session_score"]
    assert last["summary"]["sessions"] == 2 and last["summary"]["total"] == 6
    shown = host.run("sessions", "search", "redis timeout", "--by", "session", "-n", "1")
    assert shown.out.startswith(f"claude-code/{session(2)}  1.00\n") and session(1) not in shown.out
    assert "1 session more: --limit 2" in shown.err
    *hits, _ = host.run("sessions", "search", "redis timeout", "--by", "session", "--order", "time", "--json").lines
    assert hits[0]["session"] == session(2) and hits[-1]["session"] == session(1)
    assert "no turn has" in host.run("sessions", "search", "kubernetes", "--by", "session").out
    assert host.run("sessions", "search", "redis", "--by", "day").code == 2


def test_what_a_resumed_session_repeats_is_told_once(host: Host) -> None:
    """Case B077: the second file begins with the records of the first."""
    old = line(said(1, "The redis timeout is 30.", host.repo, session=session(1)))
    new = line(said(2, "Make the redis timeout 40.", host.repo, session=session(2)))
    host.write(old, session(1))
    host.write(old.replace(session(1).encode(), session(2).encode()) + new, session(2))
    host.capture()
    *hits, last = host.run("sessions", "search", "redis timeout", "--json").lines
    assert sorted(hit["text"] for hit in hits) == ["Make the redis timeout 40.", "The redis timeout is 30."]
    assert last["summary"]["total"] == 3
