"""What an agent is told unasked, by the installed command and the JSON that the hosts document."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from gitmem.app.injection_hosts import EVENTS
from gitmem.app.shown import MOST_IDS, MOST_SESSIONS
from gitmem.recall.budget import estimate
from tests.cases.test_hidden_everywhere import CONTROL, WORDS, made
from tests.conftest import git
from tests.installed import agent, person

CITED = ("-e", "file:src/pool.py:2")
RULE = "Sleeping in src/pool.py is done by the timer of the event loop"
FACT = "The pool closes idle sockets after three hundred seconds"
ASKS = "why does the pool close idle sockets?"
OTHER = "write a poem about the moon"


def remember(repo: Path, kind: str, title: str, *flags: str) -> str:
    done = person(repo, "remember", "--json", "-k", kind, title, *CITED, *flags)
    assert done.code == 0, done
    return str(done.lines[0]["id"])[:8]


@pytest.fixture
def known(repo: Path) -> Path:
    """A repository with one rule about src/, one fact about the pool, and one candidate."""
    assert person(repo, "init").code == 0
    remember(repo, "convention", RULE, "-p", "src/**")
    remember(repo, "fact", FACT)
    assert agent(repo, "remember", "-k", "fact", "Ships wait for the tide", *CITED).code == 0
    return repo


def payload(host: str, event: str, repo: Path, **more: Any) -> dict[str, Any]:
    """What a host hands to a hook, with the fields that hosts.md documents for it."""
    if host == "copilot-cli":
        return {"sessionId": "s-1", "timestamp": 1, "cwd": str(repo), **more}
    if host == "antigravity":
        return {"conversationId": "s-1", "invocationNum": 0, "artifactDirectoryPath": "/a", **more}
    if host == "cursor":
        same = {"conversation_id": "s-1", "session_id": "s-1", "cursor_version": "3.2", "user_email": "a@b.invalid"}
        return {**same, "hook_event_name": event, "workspace_roots": [str(repo)], "transcript_path": None, **more}
    return {"session_id": "s-1", "transcript_path": None, "cwd": str(repo), "hook_event_name": event, **more}


def hook(repo: Path, host: str, event: str, **more: Any) -> str:
    """What a hook answers on standard output. It is always quiet and well."""
    done = agent(repo, "hook-agent", host, event, stdin=json.dumps(payload(host, event, repo, **more)))
    assert (done.code, done.err) == (0, ""), done
    return done.out


def block(out: str) -> str:
    """The text that the host puts into the context of its agent."""
    if not out or out == "{}\n":
        return ""
    data = json.loads(out)
    if "injectSteps" in data:
        (step,) = data["injectSteps"]
        return str(step["ephemeralMessage"])
    inner = data.get("hookSpecificOutput", data)
    return str(inner.get("additionalContext") or inner.get("additional_context"))


def started(repo: Path, session: str = "s-1", **more: Any) -> str:
    return block(hook(repo, "claude-code", "SessionStart", **{"source": "startup", "session_id": session, **more}))


def prompted(repo: Path, prompt: str, session: str = "s-1", **more: Any) -> str:
    return block(hook(repo, "claude-code", "UserPromptSubmit", **{"prompt": prompt, "session_id": session, **more}))


def edits(repo: Path, path: str, session: str = "s-1", tool: str = "Edit") -> str:
    given = {"tool_name": tool, "tool_input": {"file_path": path, "new_string": "x"}, "session_id": session}
    return block(hook(repo, "claude-code", "PreToolUse", **given))


CASES = [(host, event) for host, events in EVENTS.items() for event, moment in events.items() if moment != "compact"]


@pytest.mark.parametrize(("host", "event"), CASES)
def test_each_host_is_answered_in_its_own_json(known: Path, tmp_path: Path, host: str, event: str) -> None:
    transcript = tmp_path / "transcript_full.jsonl"
    step = {"step_index": 0, "source": "USER_EXPLICIT", "type": "USER_INPUT", "status": "DONE"}
    transcript.write_text(json.dumps({**step, "content": f"<USER_REQUEST>\n{ASKS}\n</USER_REQUEST>"}) + "\n")
    more: dict[str, Any] = {
        "start": {"source": "startup"},
        "prompt": {"transcriptPath": str(transcript)} if host == "antigravity" else {"prompt": ASKS},
        "edit": {"tool_name": "Write", "tool_input": {"file_path": str(known / "src/pool.py"), "content": "x"}},
    }[EVENTS[host][event]]
    data = json.loads(hook(known, host, event, **more))
    if host in ("claude-code", "codex", "gemini-cli"):
        assert list(data) == ["hookSpecificOutput"]
        assert set(data["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
        assert data["hookSpecificOutput"]["hookEventName"] == event
    else:
        wanted = {"cursor": "additional_context", "antigravity": "injectSteps"}
        assert list(data) == [wanted.get(host, "additionalContext")]
    text = block(json.dumps(data))
    assert text.startswith("<gitmem-memory boundary=") and RULE in text
    assert hook(known, host, event, **more) == ("{}\n" if host == "cursor" else "")  # and not again


def test_a_session_starts_with_a_brief_and_the_candidates_counted(known: Path) -> None:
    told = started(known)
    assert RULE in told and "Ships" not in told
    rows = [json.loads(line) for line in told.split("\n")[2:-2]]
    assert rows[-1] == {"note": "1 candidate waits for a person: gitmem list --inbox"}  # what changes stands last
    assert {"id", "status", "review", "origin", "cites"} <= rows[0].keys()
    assert started(known, source="resume") == ""
    assert RULE in started(known, source="compact")
    assert RULE in started(known, "s-2")


def test_a_prompt_brings_what_surely_answers_it_once(known: Path) -> None:
    started(known)
    assert prompted(known, OTHER) == ""
    assert FACT in prompted(known, f'{ASKS} "please"')  # quotes do not ask for words as they stand
    assert prompted(known, ASKS) == ""
    assert FACT in prompted(known, ASKS, "s-2")
    assert FACT in prompted(known, ASKS, agent_id="a-1")  # another agent has a context of its own
    found = person(known, "list", "--json").lines
    identifier = next(row["id"] for row in found if row.get("title") == FACT)
    assert person(known, "edit", identifier, "--tag", "sockets", "--because", "found so").code == 0
    assert FACT in prompted(known, ASKS)  # it changed
    assert prompted(known, "/clear") == "" and prompted(known, "") == ""


def test_the_brief_comes_with_the_first_prompt_when_the_start_was_missed_or_the_context_was_lost(known: Path) -> None:
    first = block(hook(known, "copilot-cli", "userPromptSubmitted", prompt=OTHER))
    assert RULE in first
    assert hook(known, "copilot-cli", "userPromptSubmitted", prompt=OTHER) == ""
    assert hook(known, "copilot-cli", "preCompact", trigger="auto") == ""
    again = block(hook(known, "copilot-cli", "userPromptSubmitted", prompt=ASKS))
    assert again.count("<gitmem-memory ") == 2 and RULE in again and FACT in again


def test_a_short_follow_up_is_read_with_the_prompt_before_it(known: Path, tmp_path: Path) -> None:
    transcript = tmp_path / "s-1.jsonl"

    def turn(text: str, number: int) -> str:
        row = {"type": "user", "uuid": f"u{number}", "sessionId": "s-1", "message": {"role": "user", "content": text}}
        return json.dumps(row) + "\n"

    started(known)
    short = "and for those that are closed?"
    transcript.write_text(turn(OTHER, 1) + turn(short, 2))
    assert prompted(known, short, transcript_path=str(transcript)) == ""
    transcript.write_text(turn(ASKS, 1) + turn(short, 2))
    assert FACT in prompted(known, short, transcript_path=str(transcript))
    assert not [
        path for path in (known / ".git/gitmem").rglob("*") if path.is_file() and b"for those" in path.read_bytes()
    ]


def test_before_an_edit_comes_what_holds_for_the_file(known: Path) -> None:
    assert edits(known, "/etc/passwd") == ""
    assert edits(known, str(known / "README.md")) == ""
    assert edits(known, str(known / "src/pool.py"), tool="Read") == ""
    told = edits(known, str(known / "src/pool.py"))
    assert RULE in told and 'about="src/pool.py"' in told
    assert edits(known, str(known / "src/pool.py")) == ""
    patch = "*** Begin Patch\n*** Update File: src/pool.py\n@@\n-a\n+b\n*** End Patch"
    given = {"tool_name": "apply_patch", "tool_input": {"command": patch}}
    assert RULE in block(hook(known, "codex", "PreToolUse", **given))


@pytest.mark.parametrize("event", ["start", "prompt", "edit"])
def test_every_block_keeps_its_budget_and_the_settings_say_how_large_it_is(repo: Path, seal: Path, event: str) -> None:
    assert person(repo, "init").code == 0
    for place in ("north", "south", "east", "west", "upper", "lower", "old", "new"):
        title = f"The harbour crane of the {place} quay"
        body = " ".join(f"{place}{number}" for number in range(80))
        flags = ("-b", body, "-p", "src/**", *CITED)
        assert person(repo, "remember", "-k", "convention", title, *flags).code == 0

    def told(session: str) -> str:
        if event == "start":
            return started(repo, session)
        if event == "prompt":
            return prompted(repo, "harbour crane", session)
        return edits(repo, str(repo / "src/pool.py"), session)

    most = {"start": 1200, "prompt": 2000, "edit": 400}[event]  # a first prompt brings the brief too
    assert most / 3 < estimate(told("s-1")) <= most
    config = seal / ".config/gitmem/inject.json"
    config.parent.mkdir(parents=True)
    config.write_text('{"brief": 300, "prompt": 0, "edit": 250}')
    assert 0 < estimate(told("s-2")) <= 300
    config.write_text('{"brief": 0, "prompt": 0, "edit": 0}')
    assert told("s-3") == ""
    config.write_text('{"brief": "all"}')
    assert told("s-4") == ""
    assert "inject.json is no JSON object of numbers" in person(repo, "status").out


def test_what_is_too_long_for_a_block_is_named_once_and_keeps_nothing_out(repo: Path, seal: Path) -> None:
    assert person(repo, "init").code == 0
    long = "The harbour crane stands on rails that were laid in the year of the flood and moved twice since"
    remember(repo, "convention", long, "-b", "rails " * 200, "-p", "src/pool.py")
    remember(repo, "fact", FACT, "-p", "src/**")
    config = seal / ".config/gitmem/inject.json"
    config.parent.mkdir(parents=True)
    config.write_text('{"edit": 220, "brief": 0}')
    first = edits(repo, str(repo / "src/pool.py"))
    rows = [json.loads(line) for line in first.split("\n")[2:-2]]
    assert {row["title"]: "status" in row for row in rows} == {FACT: True, long: False}
    assert edits(repo, str(repo / "src/pool.py")) == ""
    config.write_text('{"edit": 400, "brief": 0}')  # where there is room it is told after all, with its body cut
    assert "rails rails" in edits(repo, str(repo / "src/pool.py"))
    assert edits(repo, str(repo / "src/pool.py")) == ""


def test_unasked_comes_what_holds_and_not_what_shares_a_word_or_once_happened(known: Path) -> None:
    started(known)
    went = "The ferry was late and the harbour crane was idle all day"
    for kind, title in (("episode", went), ("change", "Rename the ferry timetable to its winter plan")):
        remember(known, kind, title)
        assert title in agent(known, "recall", title).out  # whoever asks is told
    assert prompted(known, went) == "" and edits(known, str(known / "src/pool.py"), "s-3").count("ferry") == 0
    assert prompted(known, "the ferry timetable: which plan for the summer and the pier?") == ""
    assert "Rename the ferry" in prompted(known, "rename the ferry timetable to its winter plan")
    assert prompted(known, "sockets") == ""  # one word in common is chance
    assert FACT in prompted(known, "idle sockets")


def test_nothing_withheld_is_told_at_any_event(repo: Path, seal: Path) -> None:
    made(repo)
    asks = "harbour crane"
    brief = started(repo, "s-1")
    config = seal / ".config/gitmem/inject.json"
    config.parent.mkdir(parents=True)
    config.write_text('{"brief": 0}')  # so that each event has to tell the control by itself
    told = {
        "start": brief,
        "prompt": prompted(repo, asks, "s-2"),
        "edit": edits(repo, str(repo / "src/pool.py"), "s-3"),
        "codex": block(hook(repo, "codex", "UserPromptSubmit", prompt=asks)),
        "cursor": block(hook(repo, "cursor", "beforeSubmitPrompt", prompt=asks)),
        "gemini": block(hook(repo, "gemini-cli", "BeforeAgent", prompt=asks)),
        "copilot": block(hook(repo, "copilot-cli", "userPromptSubmitted", prompt=asks)),
    }
    config.unlink()
    told["compact"] = started(repo, "s-1", source="compact")
    for event, text in told.items():
        assert CONTROL.split(":")[0] in text, event
        for name, word in WORDS.items():
            assert word not in text, (event, name)


def test_what_goes_wrong_is_silence_for_the_host_and_told_by_status(known: Path) -> None:
    secret = "the launch code is 0000"
    assert person(known, "status", "--json").lines[-1]["untold"] == []
    for raw in (secret, f'["{secret}"]', "", "\x00", '{"session_id": ' * 5000):
        done = agent(known, "hook-agent", "claude-code", "UserPromptSubmit", stdin=raw)
        assert (done.code, done.out, done.err) == (0, "", "")
    for words in (("claude-code", "Nonsense"), ("vim", "SessionStart")):
        done = agent(known, "hook-agent", *words, stdin=json.dumps(payload("claude-code", "x", known, prompt=secret)))
        assert (done.code, done.out, done.err) == (0, "", "")
    for words in ((), ("claude-code",), ("a", "b", "c")):
        assert agent(known, "hook-agent", *words, stdin="{}").out == ""
    found = person(known, "status", "--json").lines[-1]["untold"]
    assert len(found) == 7 and {"at", "host", "event", "message"} == found[0].keys()
    said = person(known, "status")
    assert "nothing was told: vim SessionStart at" in said.out and person(known, "status", "--check").code == 1
    for _ in range(20):
        agent(known, "hook-agent", "claude-code", "UserPromptSubmit", stdin="no")
    log = (known / ".git/gitmem/injection-errors.json").read_text()
    assert len(json.loads(log)["errors"]) == 20 and secret not in log


def test_a_damaged_branch_is_silence_too(known: Path) -> None:
    assert FACT in prompted(known, ASKS)
    git(known, "update-ref", "refs/heads/gitmem/main", "HEAD")
    done = agent(
        known,
        "hook-agent",
        "claude-code",
        "UserPromptSubmit",
        stdin=json.dumps(payload("claude-code", "UserPromptSubmit", known, prompt=ASKS, session_id="s-9")),
    )
    assert (done.code, done.err) == (0, "")


def test_after_a_hook_that_its_host_stopped_others_do_not_wait_for_the_same(known: Path) -> None:
    assert FACT in prompted(known, ASKS)
    mark = known / ".git/gitmem/shown/.at-work"
    assert not mark.exists()
    mark.touch()
    assert prompted(known, ASKS, "s-2") == ""
    assert "was stopped before it ended (gitmem reindex)" in person(known, "status").out
    os.utime(mark, (0, 0))
    assert FACT in prompted(known, ASKS, "s-2") and not mark.exists()


def test_where_gitmem_is_not_set_up_nothing_is_told_and_nothing_is_written(repo: Path, tmp_path: Path) -> None:
    before = sorted(repo.rglob("*"))
    assert hook(repo, "claude-code", "SessionStart", source="startup") == ""
    assert hook(tmp_path, "claude-code", "SessionStart", source="startup") == ""
    assert hook(repo, "cursor", "beforeSubmitPrompt", prompt="x") == "{}\n"
    assert sorted(repo.rglob("*")) == before


def test_a_hook_of_another_hosts_settings_is_answered_to_the_host_that_runs_it(known: Path) -> None:
    said = payload("cursor", "beforeSubmitPrompt", known, prompt=ASKS)
    done = agent(known, "hook-agent", "claude-code", "UserPromptSubmit", stdin=json.dumps(said))
    assert list(json.loads(done.out)) == ["additional_context"]
    assert hook(known, "cursor", "beforeSubmitPrompt", prompt=ASKS) == "{}\n"  # the session was told
    assert "additionalContext" in hook(known, "copilot-cli", "SessionStart", source="new")
    assert hook(known, "copilot-cli", "PreToolUse", toolName="edit") == ""  # it takes nothing there


def test_what_a_session_was_told_is_bounded(known: Path) -> None:
    prompted(known, OTHER)
    for number in range(MOST_SESSIONS + 3):
        (known / ".git/gitmem/shown" / f"{number:024}.json").write_text("{}")
    folder = known / ".git/gitmem/shown"
    many = {"versions": [f"{number:08}abcd:1" for number in range(5 * MOST_IDS)], "briefed": True}
    (folder / "claude-code.s-1.json").write_text(json.dumps(many))
    started(known)
    (kept,) = [json.loads(path.read_text()) for path in folder.glob("*.json") if path.name == "claude-code.s-1.json"]
    assert len(kept["versions"]) == MOST_IDS
    started(known, "the last")
    started(known, "another/one: é")
    assert len(list(folder.glob("*.json"))) == MOST_SESSIONS
    assert folder.stat().st_mode & 0o777 == 0o700


def test_our_block_in_a_transcript_is_never_evidence(known: Path, tmp_path: Path) -> None:
    told = prompted(known, ASKS)
    folder = Path(os.environ["HOME"]) / ".claude/projects/-shop"
    folder.mkdir(parents=True)
    session = "8c2f6a10-7d1e-4c55-9a3b-2f1e0d9c8b7a"
    same = {"sessionId": session, "cwd": str(known), "version": "2.1.235", "timestamp": "2026-03-02T10:00:00.000Z"}
    rows = [
        {"type": "user", "uuid": "u1", "message": {"role": "user", "content": f"{ASKS}\n{told}"}, **same},
        {
            "type": "attachment",
            "uuid": "a1",
            "attachment": {
                "type": "hook_additional_context",
                "content": [told],
                "hookEvent": "UserPromptSubmit",
                "hookName": "x",
            },
            **same,
        },
    ]
    (folder / f"{session}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert person(known, "capture").code == 0
    turns = [row for row in person(known, "sessions", "show", session[:8], "--json").lines if "speaker" in row]
    assert [row["speaker"] for row in turns if FACT in json.dumps(row)] == ["ours"] * sum(
        FACT in json.dumps(row) for row in turns
    )
    assert any(row["speaker"] == "human" for row in turns) and any(row["speaker"] == "ours" for row in turns)
    quoted = person(
        known, "remember", "-k", "fact", "Idle sockets are closed late", "-e", f'transcript:{session[:8]}#u1:"{FACT}"'
    )
    own = person(
        known, "remember", "-k", "fact", "Somebody asked about the pool", "-e", f'transcript:{session[:8]}#u1:"{ASKS}"'
    )
    assert quoted.code == 3 and own.code == 0, (quoted, own)


SHOWN = """
import sys
from gitmem.app.env import observe
from gitmem.cli.main import run
code = run(sys.argv[1:], observe)
print(code, *sys.modules, file=sys.stderr)
"""
HEAVY = {
    "numpy",
    "onnxruntime",
    "typer",
    "click",
    "pydantic",
    "pydantic_core",
    "pygit2",
    "ruamel",
    "re2",
    "asyncio",
    "email",
    "tempfile",
    "mcp",
}


@pytest.mark.parametrize("event", ["UserPromptSubmit", "PreToolUse"])
def test_with_a_fresh_index_a_hook_loads_little_and_starts_no_git(known: Path, event: str) -> None:
    more = {"prompt": ASKS, "tool_name": "Edit", "tool_input": {"file_path": str(known / "src/pool.py")}}
    started(known)
    agent(known, "context", "src/pool.py")
    done = subprocess.run(
        [sys.executable, "-c", SHOWN, "hook-agent", "claude-code", event], cwd=known, capture_output=True, text=True,
        input=json.dumps(payload("claude-code", event, known, **more)), check=True,
    )  # fmt: skip
    code, *names = done.stderr.split("\n")[-2].split(" ")
    assert code == "0" and done.stdout
    assert not {name.split(".")[0] for name in names} & HEAVY
    assert "subprocess" not in names and "gitmem.app.belief" not in names
    assert len(names) < 260, len(names)
