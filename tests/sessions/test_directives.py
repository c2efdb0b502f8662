"""What a person tells an agent to do from now on, from the transcript to the next session."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import git
from tests.installed import Ran, person
from tests.sessions.hosts import SESSION, Host, line, said

RULE = "always run the linter before you commit"
TITLE = "Always run the linter before you commit"


@pytest.fixture
def here(host: Host) -> Host:
    assert person(host.repo, "init").code == 0
    return host


def stands(host: Host) -> list[dict[str, Any]]:
    return host.run("directives", "list", "--json").lines


def titles(host: Host) -> list[str]:
    return [row["title"] for row in stands(host)]


def test_a_rule_that_a_person_states_is_there_in_the_next_session(here: Host) -> None:
    here.say("Why does the pool time out?", f"Good. {RULE}. Go on with the parser.")
    (learned,) = here.capture()["learned"]
    assert (learned["title"], learned["kind"], learned["status"]) == (TITLE, "convention", "active")
    for shown in (here.run("recall", "linter"), here.run("brief")):
        assert "(private)" in shown.out and TITLE in shown.out and shown.code == 0
        assert f"transcript:claude-code/{SESSION}#00000002" in shown.out and "human" in shown.out
    memory = here.run("show", learned["id"], "--json").lines[0]
    (ref,) = memory["evidence"]
    assert ref["quote"] == f"Good. {RULE}. Go on with the parser."
    assert (memory["origin"], memory["scope"]["audience"]) == ("human", "private")
    assert memory["valid"]["from"] == "2026-03-01T00:02:00Z"
    assert person(here.repo, "verify", "--all").code == 0
    assert TITLE not in git(here.repo, "log", "--format=%B", "refs/heads/gitmem/main")


def test_the_same_words_of_anybody_else_give_nothing(here: Host) -> None:
    rows = [
        said(1, RULE, here.repo, "assistant"),
        said(2, "", here.repo),
        said(3, f"<system-reminder>{RULE}</system-reminder>", here.repo),
        said(4, f'<gitmem-memory id="x">\n{RULE}\n</gitmem-memory>', here.repo),
        said(5, RULE, here.repo, isMeta=True),
        said(6, RULE, here.repo, isSidechain=True),
        said(7, f"```\n{RULE}\n```", here.repo),
        said(8, f"> {RULE}", here.repo),
        said(9, f"for this PR {RULE}", here.repo),
        said(10, RULE, here.repo, isCompactSummary=True),
    ]
    rows[1]["message"]["content"] = [{"type": "tool_result", "tool_use_id": "t1", "content": RULE}]
    here.write(b"".join(map(line, rows)))
    child = here.projects / SESSION / "subagents" / "agent-1.jsonl"
    child.parent.mkdir(parents=True)
    child.write_bytes(line(said(1, RULE, here.repo)))
    summary = here.capture()
    assert summary["learned"] == [] and titles(here) == []
    assert len(summary["sessions"]) == 2
    here.say(RULE, first=11)
    here.capture()
    assert titles(here) == [TITLE]


def test_a_line_gives_one_memory_whatever_is_captured_again(here: Host) -> None:
    here.say(RULE, "go on")
    here.capture()
    (first,) = stands(here)
    assert here.capture()["learned"] == []
    here.say(f"As I said: {RULE}", "ok", first=3)  # after a colon it is shown, and it is known anyway
    here.capture()
    data = here.path().read_bytes()
    here.path().write_bytes(line({"type": "summary", "summary": "x"}) + data)  # the host rewrote its file
    assert here.capture()["sessions"][SESSION]["state"] == "rewritten"
    here.write(data.replace(SESSION.encode(), b"other"), session="other")  # and goes on with a copy of it
    here.capture()
    state = here.repo / ".git/gitmem/directives.json"
    state.unlink()  # all of it can be lost
    assert here.capture()["learned"] == []
    assert [row["id"] for row in stands(here)] == [first["id"]]


def test_a_later_contrary_one_takes_its_place_and_an_unsure_one_stays_beside_it(here: Host) -> None:
    here.say("always use pnpm", "always use tabs")
    here.capture()
    (old,) = [row for row in stands(here) if "pnpm" in row["title"]]
    here.say("never use pnpm", "always use spaces in YAML files", first=3)
    done = here.run("capture")
    assert "in the place of “Always use pnpm”" in done.out
    assert sorted(titles(here)) == ["Always use spaces in YAML files", "Always use tabs", "Never use pnpm"]
    was = here.run("show", old["id"], "--json").lines[0]
    assert was["status"] == "superseded" and was["valid"]["until"] == "2026-03-01T00:03:00Z"
    assert "Always use pnpm" not in here.run("recall", "pnpm").out
    here.say("always use pnpm", first=5)
    here.capture()
    assert "Always use pnpm" in titles(here) and "Never use pnpm" not in titles(here)


def test_what_was_said_before_does_not_overturn_what_was_said_later(here: Host) -> None:
    here.say("never use pnpm", first=50)
    here.capture()
    here.say("always use pnpm", first=10, session="older")
    here.capture()
    assert titles(here) == ["Never use pnpm"]
    here.say("always use pnpm", first=60, session="older")
    here.capture()
    assert titles(here) == ["Always use pnpm"]


def test_what_a_person_rejected_is_not_learned_again(here: Host) -> None:
    here.say(RULE, "never use eval")
    here.capture()
    (one,) = [row for row in stands(here) if row["title"] == TITLE]
    assert person(here.repo, "wrong", one["id"], "--because", "it was a joke").code == 0
    (here.repo / ".git/gitmem/directives.json").unlink()
    again = here.capture()
    assert again["learned"] == [] and again["not_learned"] == []
    here.say(RULE, first=9)  # said again: the claim was rejected, and it is told
    (refused,) = here.capture()["not_learned"]
    assert refused["title"] == TITLE and "gitmem lift" in refused["reasons"][0]
    assert titles(here) == ["Never use eval"]


def test_one_about_the_whole_team_is_private_and_offered(here: Host) -> None:
    here.say("no, we use vitest here", RULE)
    done = here.run("capture")
    (team,) = [row for row in stands(here) if row["team"]]
    offer = f"gitmem promote {team['id']}"
    assert offer in done.out and offer in here.run("status").out and offer in here.run("directives", "list").out
    assert done.out.count("gitmem promote") == 1
    assert team["title"] not in here.run("list", "--audience", "team").out
    assert person(here.repo, "promote", team["id"], "--because", "all of us do").code == 0
    assert offer not in here.run("status").out
    assert team["title"] in here.run("list", "--inbox").out


def test_it_can_be_switched_off(here: Host) -> None:
    config = Path(os.environ["XDG_CONFIG_HOME"]) / "gitmem"
    config.mkdir(parents=True, exist_ok=True)
    (config / "learn.json").write_text('{"directives": false}')
    here.say(RULE)
    assert here.capture()["learned"] == []
    (config / "learn.json").unlink()
    here.say("never use eval", first=2)
    here.capture()
    assert titles(here) == ["Never use eval"]  # what was said meanwhile stays unheard
    (config / "learn.json").write_text('{"directives": "no"}')
    here.say("never use goto", first=3)
    done = here.run("capture")
    assert done.code == 0 and "learn.json" in done.err
    (config / "learn.json").unlink()
    here.capture()
    assert "Never use goto" in titles(here)


def test_nothing_is_learned_before_there_is_a_memory_and_all_of_it_after(host: Host) -> None:
    host.say(RULE)
    assert host.capture()["learned"] == []
    assert person(host.repo, "init").code == 0
    assert [row["title"] for row in host.capture()["learned"]] == [TITLE]


def test_what_cannot_be_written_now_is_heard_again(here: Host, tmp_path: Path) -> None:
    git(here.repo, "worktree", "add", "-q", str(tmp_path / "open"), "gitmem/main")  # the branch is in use
    here.say(RULE)
    summary = here.capture()
    assert summary["captured"] == 1 and summary["learned"] == [] and summary["unheard"]
    git(here.repo, "worktree", "remove", str(tmp_path / "open"))
    assert [row["title"] for row in here.capture()["learned"]] == [TITLE]


def test_several_that_one_turns_around_all_stay(here: Host) -> None:
    here.say("always use pnpm and yarn", "prefer pnpm over yarn")
    here.capture()
    before = titles(here)
    assert len(before) == 2
    here.say("never use pnpm and yarn", first=3)
    here.capture()
    assert len(titles(here)) == 2 and "Never use pnpm and yarn" in titles(here)  # one was sure, the other stays


def test_a_transcript_that_somebody_names_teaches_nothing(here: Host, tmp_path: Path) -> None:
    made_up = tmp_path / "made-up.jsonl"
    made_up.write_bytes(line(said(1, RULE, here.repo, session="made-up")))
    assert here.capture("--host", "claude-code", str(made_up))["captured"] == 1
    here.capture()
    assert titles(here) == []
    here.say(RULE)
    here.capture(str(here.path()))
    assert titles(here) == [TITLE]


def test_a_line_with_a_secret_teaches_nothing(here: Host) -> None:
    here.say("always use the token ghp_16C7e42F292c6912E7710c838347Ae178B4a", RULE)
    here.capture()
    assert titles(here) == [TITLE]


def test_a_line_is_tried_without_a_repository(seal: Any, tmp_path: Path) -> None:
    from tests.installed import agent

    done: Ran = agent(tmp_path, "directives", "test", "from now on use uv instead of pip", "--json")
    assert done.code == 0, done.err
    assert done.lines[0]["title"] == "Use uv instead of pip" and done.lines[0]["rule"] == "en/from-now-on"
    nothing = agent(tmp_path, "directives", "test", "do you prefer uv?")
    assert nothing.code == 1 and "nothing" in nothing.err


def test_a_language_is_added_by_file(here: Host) -> None:
    folder = Path(os.environ["XDG_CONFIG_HOME"]) / "gitmem/directives"
    folder.mkdir(parents=True)
    rules = {
        "language": "de",
        "signs": ["immer"],
        "rules": [
            {
                "name": "immer",
                "kind": "convention",
                "polarity": "for",
                "title": "Immer {claim}",
                "pattern": "^nimm immer (?P<claim>.+)",
            }
        ],
    }
    (folder / "de.yaml").write_text(json.dumps(rules))
    here.say("nimm immer pnpm")
    here.capture()
    assert titles(here) == ["Immer pnpm"]
