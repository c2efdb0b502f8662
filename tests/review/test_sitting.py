"""A review at a terminal, through the installed command and a pseudo-terminal."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from gitmem.cli.review_session import PROMPT
from tests.app.steps import INVOICE, POOL, RETRY
from tests.installed import Ran, agent, person


@pytest.fixture(autouse=True)
def begun(repo: Path) -> None:
    assert person(repo, "init").code == 0


def proposed(repo: Path, title: str, *flags: str, kind: str = "fact") -> str:
    done = agent(repo, "remember", "--json", "-k", kind, title, "-e", "file:src/pool.py:2", *flags)
    assert done.code == 0, done.err
    return str(done.lines[0]["id"])


def state(repo: Path, identifier: str) -> str:
    return str(agent(repo, "show", identifier, "--json").lines[0]["status"])


def sat(repo: Path, typed: str, *answers: tuple[str, str], **environ: str) -> Ran:
    """A sitting; `typed` is typed ahead, each of `answers` when its prompt is there."""
    done = person(repo, "review", typed=typed, answers=answers, environ={**os.environ, **environ} if environ else None)
    assert done.code == 0, done
    return done


def test_one_key_for_what_is_of_low_risk_and_a_reason_to_reject(repo: Path) -> None:
    first, second, third = proposed(repo, POOL), proposed(repo, RETRY), proposed(repo, INVOICE)
    # k skips the first; r without a reason does nothing; r with one rejects; the last is let in by one key.
    done = sat(repo, "kr\n\n", ("no reason, so nothing was done", ""), (PROMPT, "rnobody measured it\na"))
    assert [state(repo, item) for item in (first, second, third)] == ["candidate", "wrong", "active"]
    assert "1 skipped, 1 rejected, 1 accepted" in done.out and "review level 0, unproven" in done.out
    log = agent(repo, "log", second, "--json").lines
    assert log[0]["op"] == "reject" and log[0]["reason"] == "nobody measured it"


def test_what_is_weighty_asks_for_a_reason(repo: Path) -> None:
    rule = proposed(repo, POOL, kind="convention")
    done = sat(repo, "a\n\n", ("no reason", ""), (PROMPT, "q"))
    assert "decide this one alone" in done.out and state(repo, rule) == "candidate"
    sat(repo, "athe team agreed\n")
    assert state(repo, rule) == "active"


def test_several_at_once_only_of_low_risk(repo: Path) -> None:
    low = [proposed(repo, POOL), proposed(repo, RETRY)]
    rule = proposed(repo, INVOICE, kind="convention")
    done = sat(repo, "An\nAy\nq")
    assert [state(repo, item) for item in (*low, rule)] == ["active", "active", "candidate"]
    assert "this one is to be decided alone" in sat(repo, "Aq").out and "2 candidates of low risk" in done.out


def test_edit_runs_the_gate_again_and_shows_it_again(repo: Path, tmp_path: Path) -> None:
    item = proposed(repo, POOL)
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i "s/twenty connections/20 connections at most/" "$1"\n')
    editor.chmod(0o755)
    # The reason is asked for when the editor is closed, and once.
    done = sat(repo, "eclearer\na", EDITOR=str(editor))
    assert "20 connections at most" in done.out and state(repo, item) == "active"
    assert [event["op"] for event in agent(repo, "log", item, "--json").lines] == ["accept", "edit", "create"]


def test_merge_and_supersede_by_key(repo: Path) -> None:
    kept = person(repo, "remember", "--json", "-k", "fact", POOL, "-e", "file:src/pool.py:2").lines[0]["id"]
    item = proposed(repo, RETRY, "-t", "seen")
    done = sat(repo, f"m{kept}\nsays the same\n")
    assert done.out.index(POOL) < done.out.index("because:")
    assert state(repo, item) == "archived" and "seen" in agent(repo, "show", kept, "--json").lines[0]["tags"]
    new = proposed(repo, INVOICE)
    sat(repo, f"s{kept}\nholds no more\n")
    assert (state(repo, kept), state(repo, new)) == ("superseded", "active")


def test_a_refusal_is_shown_and_the_candidate_stays(repo: Path) -> None:
    item = proposed(repo, POOL)
    # The id is looked at before it is asked why, and what was typed for the reason is no list of keys.
    done = sat(repo, "szzzz\na\n", (PROMPT, ""), (PROMPT, "?q"))
    assert "because:" not in done.out
    assert "zzzz" in done.err and "merge into another memory" in done.out and state(repo, item) == "candidate"


# What follows the escape: arrows, Delete, F5, F1, F1 of the Linux console, Alt with a letter or an arrow, answers.
SEQUENCES = [
    "[A",
    "[1;5A",
    "[3~",
    "[15~",
    "OA",
    "OP",
    "[[A",
    "a",
    "A",
    "\x1b[A",
    "]0;A\x07",
    "]0;aA\x1b\\",
    "[200~",
    "NA",
]


def test_a_key_without_a_letter_is_none(repo: Path) -> None:
    low = [proposed(repo, POOL), proposed(repo, RETRY)]
    done = sat(repo, "".join(f"\x1b{sequence}" for sequence in SEQUENCES) + "kk")
    assert "2 skipped" in done.out and "low risk?" not in done.out and "supersede: let" not in done.out
    assert [state(repo, item) for item in low] == ["candidate", "candidate"]
    # Within a line they are no letters either, and the keys behind them are read.
    sat(repo, "\x1b[Arno\x1b[Dbody\x1bOA knows\n\x1b[Aa")
    assert [state(repo, item) for item in low] == ["wrong", "active"]
    assert agent(repo, "log", low[0], "--json").lines[0]["reason"] == "nobody knows"


@pytest.mark.parametrize("key", ["r", "m", "s"])
def test_what_follows_an_empty_answer_is_no_list_of_keys(repo: Path, key: str) -> None:
    item = proposed(repo, POOL)
    # After the second empty line "as written" would let it in: a.
    done = sat(repo, f"{key}\n\nas written\n", ("so nothing was done", ""), (PROMPT, "q"))
    assert "goes back" in done.out and state(repo, item) == "candidate"
    # After the first it is the answer.
    if key == "r":
        sat(repo, "r\nas written\n")
        assert state(repo, item) == "wrong"


def test_an_edit_without_a_reason_is_none(repo: Path, tmp_path: Path) -> None:
    item = proposed(repo, POOL)
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i "s/twenty connections/20 connections at most/" "$1"\n')
    editor.chmod(0o755)
    done = sat(repo, "e\n\n", ("no reason", ""), (PROMPT, "q"), EDITOR=str(editor))
    assert "20 connections" not in done.out and agent(repo, "show", item, "--json").lines[0]["title"] == POOL
    assert "20 connections" in sat(repo, "e\nclearer\nq", EDITOR=str(editor)).out
    # An editor that is closed without a change asks for no reason.
    left = sat(repo, "e", (PROMPT, ""), (PROMPT, "q"), EDITOR="true")
    assert "because:" not in left.out and "left as it was" in left.err


def test_a_program_is_only_shown_the_queue(repo: Path) -> None:
    item = proposed(repo, POOL)
    done = agent(repo, "review", stdin="a")
    assert done.code == 0 and "a person decides at a terminal" in done.err and state(repo, item) == "candidate"


def test_a_verdict_is_on_what_was_shown(repo: Path, tmp_path: Path) -> None:
    # Somebody changes the second candidate while the person is still at the first.
    first, second = proposed(repo, POOL), proposed(repo, RETRY)
    editor = tmp_path / "editor"
    meanwhile = (
        "import sys; from pathlib import Path; from tests.installed import person;"
        f"done = person(Path({str(repo)!r}), 'edit', {second!r}, '--title', 'Retries stop after seven attempts',"
        " '--because', 'another count'); assert done.code == 0, done"
    )
    editor.write_text(f'#!/bin/sh\ncd {Path.cwd()}\nexec {sys.executable} -c "{meanwhile}"\n')
    editor.chmod(0o755)
    done = sat(
        repo,
        "e",
        (PROMPT, ""),
        (PROMPT, "ka"),
        ("Retries stop after seven attempts", ""),
        (PROMPT, "a"),
        EDITOR=str(editor),
    )
    assert f"{second} was changed after it was shown" in done.err and [state(repo, i) for i in (first, second)] == [
        "candidate",
        "active",
    ]
    # It was shown again as it is before the second key let it in.
    assert done.out.index(RETRY) < done.out.index("Retries stop after seven attempts")
    assert "1 skipped, 1 accepted" in done.out


def test_where_review_is_on_the_forge_only_what_is_ones_own_is_asked_about(repo: Path) -> None:
    team, own = proposed(repo, POOL), proposed(repo, RETRY, "--private")
    assert person(repo, "policy", "set", "review", "forge", "--because", "we review there").code == 0
    done = sat(repo, "athis is mine\naagain\n")
    assert (
        POOL in done.out and done.out.count("a accept  r reject") == 1 and done.out.index(POOL) < done.out.index(RETRY)
    )
    assert "the policy leaves review to the forge" in done.out + done.err
    assert (state(repo, team), state(repo, own)) == ("candidate", "active")
    alone = sat(repo, "")
    assert "a accept  r reject" not in alone.out and "gitmem propose --push" in alone.out + alone.err
