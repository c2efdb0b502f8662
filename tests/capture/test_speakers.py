"""Who speaks: the traps of each host, one record each. What is not known to be a person's is not a person's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.capture.fields import paths
from gitmem.capture.records import records
from gitmem.capture.registry import adapters
from gitmem.capture.tagged import typed
from gitmem.capture.turns import OURS, Turn, finished, of_child
from tests.capture.samples import CASES, claude, codex, copilot, cursor, lines, pi, said, text

SOURCE = {"timestamp": "2026-03-02T10:00:00Z"}


def turns(host: str, *rows: Mapping[str, Any]) -> list[Turn]:
    adapter = adapters()[host]
    return list(adapter.turns(records([lines(*rows)], adapter.suffix)))


def spoken(host: str, *rows: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in turns(host, *rows)]


CLAUDE_TRAPS: list[tuple[str, dict[str, Any], list[tuple[str, str]]]] = [
    ("plain", {"content": "yes"}, [("human", "yes")]),
    ("typed tag", {"content": "<div>x</div> why?", "promptSource": "typed"}, [("human", "<div>x</div> why?")]),
    ("queued by a person", {"content": "more", "promptSource": "queued"}, [("human", "more")]),
    ("queued by the harness", {"content": "<task-notification>x</task-notification>", "promptSource": "queued"},
     [("harness", "<task-notification>x</task-notification>")]),
    ("unknown tag", {"content": "<brand-new>x</brand-new>"}, [("unknown", "<brand-new>x</brand-new>")]),
    ("system prompt", {"content": "tick", "promptSource": "system"}, [("harness", "tick")]),
    ("program", {"content": "go", "promptSource": "sdk"}, [("unknown", "go")]),
    ("kind to come", {"content": "go", "promptSource": "loop"}, [("unknown", "go")]),
    ("print mode", {"content": "go", "entrypoint": "sdk-py"}, [("unknown", "go")]),
    ("other origin", {"content": "done", "origin": {"kind": "task-notification"}}, [("harness", "done")]),
    ("meta", {"content": "x", "isMeta": True}, [("harness", "x")]),
    ("summary", {"content": "The user wants 44", "isCompactSummary": True}, [("harness", "The user wants 44")]),
    ("transcript only", {"content": "x", "isVisibleInTranscriptOnly": True}, [("harness", "x")]),
    ("summary without a flag", {"content": "This session is being continued from a previous conversation. 44"},
     [("harness", "This session is being continued from a previous conversation. 44")]),
    ("text of a skill", {"content": "Use 5", "sourceToolUseID": "t1"}, [("harness", "Use 5")]),
    ("side chain", {"content": "You are", "isSidechain": True}, [("subagent", "You are")]),
    ("agent id", {"content": "You are", "agentId": "a"}, [("subagent", "You are")]),
    ("stop hook", {"content": "Stop hook feedback:\n- x"}, [("harness", "Stop hook feedback:\n- x")]),
    ("interrupt", {"content": [text("[Request interrupted by user for tool use]")]},
     [("harness", "[Request interrupted by user for tool use]")]),
    ("opened file before the words", {"content": [text("<ide_opened_file>a</ide_opened_file>"), text("fix it")]},
     [("harness", "<ide_opened_file>a</ide_opened_file>"), ("human", "fix it")]),
    ("opened file in the same text", {"content": "<ide_selection>a</ide_selection>\nfix it"},
     [("harness", "<ide_selection>a</ide_selection>"), ("human", "fix it")]),
    ("reminder that never ends", {"content": "<system-reminder>a\nuse 5"}, [("harness", "<system-reminder>a\nuse 5")]),
    ("output of a command", {"content": "<local-command-stdout>x</local-command-stdout>"},
     [("harness", "<local-command-stdout>x</local-command-stdout>")]),
    ("bash output", {"content": "<bash-stdout>x</bash-stdout><bash-stderr></bash-stderr>"},
     [("harness", "<bash-stdout>x</bash-stdout><bash-stderr></bash-stderr>")]),
    ("command", {"content": "<command-message>x</command-message>\n<command-name>/x</command-name>\n"
                            "<command-args>a b</command-args>"}, [("human", "/x a b")]),
    ("skill that the model loads", {"content": "<command-message>x</command-message>\n<command-name>x</command-name>"},
     [("harness", "<command-message>x</command-message>\n<command-name>x</command-name>")]),
    ("result with the person's words", {"content": [{"type": "tool_result", "tool_use_id": "t", "is_error": True,
     "content": "The user doesn't want to proceed. The user said:\nuse 5"}]},
     [("tool", "The user doesn't want to proceed. The user said:\nuse 5")]),
    ("picture", {"content": [{"type": "image", "source": {"data": "x"}}, text("see")]}, [("human", "see")]),
    ("number", {"content": 7}, []),
]  # fmt: skip


@pytest.mark.parametrize(
    ("row", "expected"), [case[1:] for case in CLAUDE_TRAPS], ids=[case[0] for case in CLAUDE_TRAPS]
)
def test_a_user_row_of_claude_code(row: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    content = row.pop("content")
    assert [pair for pair in spoken("claude-code", claude(1, "user", content, **row)) if pair[1].strip()] == expected
    row["content"] = content


def test_an_error_that_claude_code_writes_itself_is_not_the_models_word() -> None:
    row = claude(1, "assistant", [text("API Error: 529")])
    row["message"]["model"] = "<synthetic>"
    assert spoken("claude-code", row) == [("harness", "API Error: 529")]
    row["message"]["model"] = "m"
    assert [(t.speaker, t.model) for t in turns("claude-code", row)] == [("assistant", "m")]


def test_outcomes_of_claude_code() -> None:
    texts = [
        ("Exit code 1\nx", True),
        ("Exit code 2", False),
        ("ok", False),
        ("no", True),
        ("The user doesn't want to", True),
    ]
    rows = [
        claude(n, "user", [{"type": "tool_result", "tool_use_id": f"t{n}", "content": words, "is_error": bad}])
        for n, (words, bad) in enumerate(texts)
    ]
    assert [turn.outcome for turn in turns("claude-code", *rows)] == ["failed", "failed", "ok", "failed", None]


def test_fields_of_a_turn() -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Edit", "input": {"file_path": "/srv/shop/a.py", "old": "x"}}
    asked, answer = turns(
        "claude-code",
        claude(1, "assistant", [call]),
        claude(2, "user", [{"type": "tool_result", "tool_use_id": "t1", "content": "done"}]),
    )
    at = datetime(2026, 3, 2, 10, tzinfo=timezone.utc)
    assert (asked.record, asked.call, asked.tool, asked.outcome, asked.at) == ("u1", "t1", "Edit", None, at)
    assert (asked.cwd, asked.branch, asked.paths) == ("/srv/shop", "main", ("/srv/shop/a.py",))
    assert asked.text == "file_path: /srv/shop/a.py\nold: x"
    assert (answer.record, answer.call, answer.tool, answer.outcome) == ("u2", "t1", "Edit", "ok")
    assert answer.paths == ("/srv/shop/a.py",)


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("Edit", {"file_path": "/a/b.py", "old_string": "c.py"}, ("/a/b.py",)),
        ("Grep", {"path": "/a", "pattern": "x"}, ()),
        ("ReadLints", {"paths": ["a.py", 7, "b.py", "a.py"]}, ("a.py", "b.py")),
        ("view_file", {"AbsolutePath": "/a/b c.py"}, ("/a/b c.py",)),
        (
            "shell",
            {"command": ["apply_patch", "*** Begin Patch\n*** Add File: a.py\n+x\n*** Move to: b.py\n"]},
            ("a.py", "b.py"),
        ),
        ("exec", 'await tools.apply_patch("*** Begin Patch\\n*** Update File: a.py\\n@@\\n")', ("a.py",)),
        ("Bash", {"command": "cat a.py"}, ()),
        ("Read", {"file_path": "a\nb"}, ()),
        ("Read", {"path": ["x"]}, ()),
        ("Read", ["a.py"], ()),
        ("Read", None, ()),
    ],
)
def test_files_that_a_call_names(tool: str, arguments: Any, expected: tuple[str, ...]) -> None:
    assert paths(arguments, tool) == expected


@pytest.mark.parametrize(
    ("source", "speaker"),
    [("cli", "human"), ("vscode", "human"), (None, "human"), ("exec", "unknown"), ("mcp", "unknown"),
     ({"subagent": "review"}, "subagent")],
)  # fmt: skip
def test_a_prompt_of_codex_by_who_started_the_thread(source: Any, speaker: str) -> None:
    meta = codex("session_meta", {"id": "c", "cwd": "/srv", "source": source})
    assert spoken("codex", meta, said("user", "fix it")) == [(speaker, "fix it")]
    parent = codex("session_meta", {"id": "c", "parent_thread_id": "p", "source": "cli"})
    assert spoken("codex", parent, meta, said("user", "fix it"), said("assistant", "ok")) == [
        ("subagent", "fix it"), ("subagent", "ok"),
    ]  # fmt: skip


@pytest.mark.parametrize("start", ["# AGENTS.md instructions for /x\n", "<skill>", "<turn_aborted>", "<hook_prompt>",
                                   "<codex_internal_context a>", "<user_instructions>"])  # fmt: skip
def test_what_codex_puts_under_the_persons_name(start: str) -> None:
    assert {speaker for speaker, _ in spoken("codex", said("user", f"{start}\nuse 5"))} == {"harness"}
    assert spoken("codex", said("user", f"use {start}")) == [("human", f"use {start}".strip())]


@pytest.mark.parametrize(
    ("output", "outcome"),
    [
        ("Process exited with code 0\nOutput:\nProcess exited with code 1", "ok"),
        ("Script completed\nOutput:\nExit code: 1", "ok"),
        ("Exit code: 1\nWall time: 1 s\nOutput:\n", "failed"),
        ("Script error:\nx", "failed"),
        ([{"type": "input_text", "text": "Script failed\nOutput:\n"}], "failed"),
        ("exec command rejected by user", None),
        ('{"output":"x","metadata":{"exit_code":3}}', "failed"),
        ('{"output":"x","metadata":{"exit_code":0}}', "ok"),
        ("Plan updated", "ok"),
    ],
)
def test_outcomes_of_codex(output: Any, outcome: str | None) -> None:
    row = codex("response_item", {"type": "function_call_output", "call_id": "k", "output": output})
    assert [turn.outcome for turn in turns("codex", row)] == [outcome]


def test_a_turn_that_a_fork_of_codex_replays_is_read_once() -> None:
    call = codex("response_item", {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "k"})
    output = codex("response_item", {"type": "function_call_output", "call_id": "k", "output": "x"})
    rows = [codex("event_msg", {"type": "task_started", "turn_id": "t1"}), said("user", "yes"), call, output]
    later = [{**row, "timestamp": "2026-03-03T10:00:00Z"} for row in rows]
    assert turns("codex", *rows, *later) == turns("codex", *rows)
    again = [codex("event_msg", {"type": "task_started", "turn_id": "t2"}), said("user", "yes")]
    assert [words for speaker, words in spoken("codex", *rows, *again) if speaker == "human"] == ["yes", "yes"]
    bare = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "yes"}]}
    assert spoken("codex", bare, bare) == [("human", "yes"), ("human", "yes")]


def test_copilot_shell_exit_codes_and_sources() -> None:
    done = {"toolCallId": "k", "success": True, "result": {"content": "<shellId: 1 completed with exit code 0>"}}
    assert [t.outcome for t in turns("copilot-cli", copilot(1, "tool.execution_complete", done))] == ["ok"]
    for source, speaker in [(None, "human"), ("agent-1", "subagent"), ("skill-x", "harness"), ("brand-new", "harness")]:
        row = copilot(1, "user.message", {"content": "x", "source": source})
        assert spoken("copilot-cli", row) == [(speaker, "x")]


def test_roles_of_pi() -> None:
    roles = ["user", "custom", "branchSummary", "compactionSummary", "system", "brand-new"]
    assert [spoken("pi", pi(1, {"role": role, "content": "x"}))[0][0] for role in roles] == [
        "human", "harness", "harness", "harness", "harness", "unknown",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [("Monday, May 4, 2026, 12:39 AM (UTC+5:30)", "2026-05-03T19:09:00+00:00"),
     ("Friday, December 11, 2026, 1:05 PM (UTC-8)", "2026-12-11T21:05:00+00:00"),
     ("Friday, May 8, 2026, 12:00 PM (UTC)", "2026-05-08T12:00:00+00:00"),
     ("Friday, May 8, 2026, 12:00 PM", None), ("Friday, Maj 8, 2026, 12:00 PM (UTC)", None),
     ("Friday, May 88, 2026, 12:00 PM (UTC)", None)],
)  # fmt: skip
def test_the_time_that_cursor_writes_before_a_prompt(stamp: str, expected: str | None) -> None:
    row = cursor("user", text(f"<timestamp>{stamp}</timestamp>\n<user_query>\nhi\n</user_query>"))
    at = turns("cursor", row)[-1].at
    assert (at.isoformat() if at else None) == expected


def test_gemini_shows_what_was_typed() -> None:
    message = {
        "id": "m",
        "type": "user",
        "displayContent": "fix @a.py",
        "content": [{"text": "fix a.py"}, {"text": "99"}],
    }
    assert spoken("gemini-cli", message) == [("human", "fix @a.py")]
    sub = {"sessionId": "s", "kind": "subagent"}
    assert spoken("gemini-cli", sub, {"id": "m", "type": "user", "content": "do"}) == [("subagent", "do")]


def test_aider_headings_in_a_reply_are_the_models() -> None:
    parts = ["# aider chat started at x", "#### do  ", "reply", "#### Step 1", "> quote", "#### Step 2", "> Tokens: 1"]
    history = "\n\n".join([*parts, "#### go\n"])
    found = adapters()["aider"].turns(records([history.encode()], "md"))
    assert [turn.text for turn in found if turn.speaker == "human"] == ["do", "go"]


def test_our_block_is_told_apart_in_every_place() -> None:
    block = f"<{OURS} a='b'>\nuse 66\n</{OURS}>"
    for body, expected in [
        (f"before\n{block}\nafter", [("human", "before\n"), ("ours", block), ("human", "\nafter")]),
        (block, [("ours", block)]),
        (f"context: {block}", [("human", "context: "), ("ours", block)]),
        (f"torn\n<{OURS}>\nuse 66", [("human", "torn\n"), ("ours", f"<{OURS}>\nuse 66")]),
        (f"what is <{OURS} for?", [("human", f"what is <{OURS} for?")]),
        (f"<{OURS}-2>x", [("human", f"<{OURS}-2>x")]),
        (f"&lt;{OURS}&gt;\nuse 66\n&lt;/{OURS}&gt;", [("ours", f"&lt;{OURS}&gt;\nuse 66\n&lt;/{OURS}&gt;")]),
    ]:
        found = finished([Turn("r", 0, 1, "human", body)])
        assert [(turn.speaker, turn.text) for turn in found] == expected
    result = claude(1, "user", [{"type": "tool_result", "tool_use_id": "t", "content": f"recall:\n{block}"}])
    assert spoken("claude-code", result) == [("tool", "recall:\n"), ("ours", block)]


def test_turns_of_a_child_are_no_persons() -> None:
    given_turns = [
        Turn("r", 0, 1, speaker, "x") for speaker in ("human", "assistant", "unknown", "tool", "harness", "ours")
    ]
    assert [turn.speaker for turn in of_child(given_turns)] == ["subagent"] * 3 + ["tool", "harness", "ours"]


TAGS = frozenset({"note", "memo"})


@settings(deadline=None)
@given(st.lists(st.sampled_from(["<note>", "</note>", "<memo a='1'>", "</memo>", "word ", "\n", "<", ">", "<b>"])))
def test_no_character_of_a_tagged_text_is_lost(pieces: list[str]) -> None:
    whole = "".join(pieces)
    parts = [part for _, part in typed(whole, TAGS)]
    assert "".join("".join(parts).split()) == "".join(whole.split())


@pytest.mark.parametrize(
    "piece", ["<note></note>", "<note>", "</note>", "<", " ", "<note a='", f"<{OURS}>", f"</{OURS}>"]
)
def test_hostile_text_ends(piece: str) -> None:
    """Each takes hours when a step is quadratic."""
    body = piece * 200_000
    assert "".join("".join(part for _, part in typed(body, TAGS)).split()) == "".join(body.split())
    list(finished([Turn("r", 0, 1, "human", body), Turn("r", 0, 1, "human", f"x {body}")]))


@pytest.mark.parametrize("case", ["B076", "B078", "B082"])
def test_shared_cases(case: str) -> None:
    if not CASES.is_dir():
        pytest.skip("the shared cases are not here; the traps above hold the same with rows of our own")
    expected = json.loads((CASES / case / "expect.json").read_text())

    def people(name: str) -> list[tuple[str, str]]:
        data = (CASES / case / name).read_bytes()
        return [
            (t.record, t.text)
            for t in adapters()["claude-code"].turns(records([data], "jsonl"))
            if t.speaker == "human"
        ]

    if case == "B076":
        assert [words for _, words in people("dup.jsonl")] == expected["dup"]["human_sentences"]
        assert len(people("dup_content.jsonl")) == expected["dup_content"]["records"]
    elif case == "B078":
        assert [words for _, words in people("v2.jsonl")] == expected["v2_human"]
    else:
        assert {record for record, _ in people("inj.jsonl")} == set(expected["human"])
        assert not [
            words for _, words in people("inj.jsonl") for number in expected["never_human_numbers"] if number in words
        ]
