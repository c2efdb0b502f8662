"""Which files of a host are sessions of a repository, and which are not: folders on disk as hosts lay them out."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from gitmem.capture.adapter import Origin
from gitmem.capture.registry import adapters
from tests.capture.samples import ANTIGRAVITY, CASES, CODEX, COPILOT, GEMINI, PI, claude, copilot, cursor, lines, text


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "shop" / "api").mkdir(parents=True)
    return tmp_path / "shop"


def put(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def found(host: str, home: Path, tree: Path, environ: Mapping[str, str] | None = None) -> list[Origin]:
    origins = list(adapters()[host].origins(home, environ or {}, [tree]))
    assert all(origin.host == host for origin in origins)
    for origin in origins:
        with adapters()[host].open(origin) as stream:
            assert stream.read()
    return origins


def sessions(
    host: str, home: Path, tree: Path, environ: Mapping[str, str] | None = None
) -> list[tuple[str, str | None]]:
    return [(origin.session, origin.parent) for origin in found(host, home, tree, environ)]


def moved(data: bytes, cwd: Path) -> bytes:
    """A sample whose session ran in `cwd`."""
    return data.replace(b"/srv/shop", str(cwd).encode())


# Claude Code


def row(cwd: Path, **more: Any) -> bytes:
    return lines({"type": "mode", "mode": "normal"}, {**claude(1, "user", "hi"), "cwd": str(cwd), **more})


def test_claude_sessions_are_told_by_the_working_folder_in_them(home: Path, tree: Path, tmp_path: Path) -> None:
    projects = home / ".claude/projects/-one-name-for-many"
    put(projects / "inside.jsonl", row(tree))
    put(projects / "below.jsonl", row(tree / "api"))
    put(projects / "beside.jsonl", row(tmp_path / "shop-2"))
    put(projects / "above.jsonl", row(tmp_path))
    put(projects / "through.jsonl", row(tree / "api/../../elsewhere"))
    put(projects / "empty.jsonl", b"")
    put(projects / "notes.md", b"x")
    assert sessions("claude-code", home, tree) == [("below", None), ("inside", None)]


def test_claude_subagents_belong_to_their_session_and_a_journal_is_none(home: Path, tree: Path) -> None:
    projects = home / ".claude/projects/p"
    put(projects / "s1.jsonl", row(tree))
    put(projects / "s1/subagents/agent-a1.jsonl", row(tree, isSidechain=True))
    put(projects / "s1/subagents/agent-a1.meta.json", b"{}")
    put(projects / "s1/subagents/workflows/wf_1/agent-a1.jsonl", row(tree, isSidechain=True))
    put(projects / "s1/subagents/workflows/wf_1/journal.jsonl", b"{}\n")
    put(projects / "s1/tool-results/x.txt", b"x")
    put(projects / "agent-old.jsonl", row(tree, isSidechain=True, sessionId="s1"))
    assert sessions("claude-code", home, tree) == [
        ("s1.agent-old", "s1"), ("s1", None), ("s1.agent-a1", "s1"), ("s1.wf_1.agent-a1", "s1"),
    ]  # fmt: skip


def test_claude_the_longer_copy_of_a_session_wins_and_other_words_are_kept(home: Path, tree: Path) -> None:
    first, more, other = row(tree), lines(claude(2, "user", "more")), lines(claude(3, "user", "other"))
    put(home / ".claude/projects/a/s1.jsonl", first)
    longest = put(home / ".claude/projects/b/s1.jsonl", first + more)
    assert [origin.path for origin in found("claude-code", home, tree)] == [longest]
    put(home / ".claude/projects/a/s1.jsonl", first + other[:-9])
    copies = sessions("claude-code", home, tree)
    assert copies[0] == ("s1", None)
    assert [session.partition(".copy-")[0] for session, _ in copies] == ["s1", "s1"]
    assert len(set(copies)) == 2


def test_claude_first_line_with_a_large_picture(home: Path, tree: Path) -> None:
    picture = {**claude(1, "user", "x" * 3_000_000), "cwd": str(tree)}
    put(home / ".claude/projects/p/s1.jsonl", lines(picture))
    assert sessions("claude-code", home, tree) == [("s1", None)]


def test_claude_config_dir_and_links(home: Path, tree: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tree)
    put(tmp_path / "conf/projects/p/s1.jsonl", row(link))
    environ = {"CLAUDE_CONFIG_DIR": str(tmp_path / "conf")}
    assert sessions("claude-code", home, tree) == []
    assert sessions("claude-code", home, tree, environ) == [("s1", None)]
    assert sessions("claude-code", home, link, environ) == [("s1", None)]
    assert adapters()["claude-code"].watched(home, environ) == (tmp_path / "conf/projects",)


def test_shared_cases_of_folders(home: Path) -> None:
    if not CASES.is_dir():
        pytest.skip("the shared cases are not here; the tests above hold the same with files of their own")
    shutil.copytree(CASES / "B077/projects", home / ".claude/projects")
    assert [origin.session for origin in found("claude-code", home, Path("/srv/a-b"))] == ["aaaa"]
    assert [origin.session for origin in found("claude-code", home, Path("/srv/a/b"))] == ["bbbb"]
    shutil.rmtree(home / ".claude")
    shutil.copytree(CASES / "B084/projects", home / ".claude/projects")
    parents = [parent is not None for _, parent in sessions("claude-code", home, Path("/srv/demo"))]
    assert parents == [False, True, True]


# Codex


def test_codex_rollouts_live_and_archived_and_children(home: Path, tree: Path, tmp_path: Path) -> None:
    base = tmp_path / "codex"
    name = "rollout-2026-03-02T10-00-00-019e56c6-7526-7d03-9fd0-d8067191edf9.jsonl"
    put(base / "sessions/2026/03/02" / name, moved(CODEX, tree))
    put(base / "sessions/2026/03/02" / name.replace("019e", "019f"), CODEX)
    spawn = {"subagent": {"thread_spawn": {"parent_thread_id": "c1", "depth": 1}}}
    child = {"type": "session_meta", "payload": {"id": "c2", "cwd": str(tree), "source": spawn}}
    put(base / "archived_sessions" / name.replace("019e", "019d"), lines(child))
    long = {
        "id": "c4",
        "parent_thread_id": "c1",
        "cwd": str(tree),
        "base_instructions": {"text": "x" * 20_000},
        "git": {},
    }
    put(base / "sessions/2026/03/03" / name.replace("019e", "019b"), lines({"type": "session_meta", "payload": long}))
    put(
        base / "sessions/2026/03/03" / name.replace("019e", "019a"),
        lines(
            {
                "type": "session_meta",
                "payload": {"id": "c5", "base_instructions": {"text": "x" * 20_000}, "cwd": str(tree)},
            }
        ),
    )
    old = {"type": "message", "role": "user", "content": [{"text": f"<environment_context>\n<cwd>{tree}</cwd>"}]}
    put(
        base / "sessions/2025/01/01" / name.replace("019e", "019c"),
        lines({"id": "c3", "instructions": "x" * 90_000}, old),
    )
    assert sorted(sessions("codex", home, tree, {"CODEX_HOME": str(base)})) == [
        ("c1", None), ("c2", "c1"), ("c3", None), ("c4", "c1"), ("c5", None),
    ]  # fmt: skip


# Cursor


def call(path: Path) -> bytes:
    return lines(cursor("assistant", {"type": "tool_use", "name": "Read", "input": {"path": str(path)}}))


def test_cursor_folders_that_may_stand_for_the_tree_and_paths_that_decide(
    home: Path, tree: Path, tmp_path: Path
) -> None:
    name = str(tree).strip("/").replace("/", "-").replace("_", "-")
    prompt = lines(cursor("user", text("<user_query>\nhi\n</user_query>")))
    base = home / ".cursor/projects"
    put(base / name / "agent-transcripts/u1/u1.jsonl", prompt + call(tree / "a.py"))
    put(base / name / "agent-transcripts/u1/subagents/u2.jsonl", prompt + call(tree / "a.py"))
    put(base / name / "agent-transcripts/u3.jsonl", prompt)
    put(base / name / "agent-transcripts/u4.jsonl", prompt + call(tmp_path / "other/a.py"))
    put(base / f"{name}-api/agent-transcripts/u5.jsonl", prompt + call(tree / "api/a.py"))
    put(base / f"{name}-2/agent-transcripts/u6.jsonl", prompt)
    put(base / "elsewhere/agent-transcripts/u7.jsonl", prompt + call(tree / "a.py"))
    assert sorted(sessions("cursor", home, tree), key=lambda pair: pair[0]) == [
        ("u1", None), ("u2", "u1"), ("u3", None), ("u5", None),
    ]  # fmt: skip


# Gemini CLI and Antigravity


def test_gemini_projects_by_marker_list_and_hash(home: Path, tree: Path, tmp_path: Path) -> None:
    tmp = home / ".gemini/tmp"
    put(tmp / "shop/.project_root", str(tree).encode())
    put(tmp / "shop/chats/session-2026-03-02T10-00-aaaa.jsonl", GEMINI)
    put(tmp / "shop/chats/session-2026-03-02T10-00-aaaa.json", b'{\n  "sessionId": "g1",\n  "messages": []\n}')
    put(tmp / "shop/chats/session-2026-03-01T10-00-bbbb.json", b'{\n  "sessionId": "g2",\n  "messages": []\n}')
    put(tmp / "shop/chats/g1/sub.jsonl", GEMINI.replace(b'"g1"', b'"g3"'))
    put(tmp / "other/.project_root", str(tmp_path).encode())
    put(tmp / "other/chats/session-x.jsonl", GEMINI.replace(b'"g1"', b'"g4"'))
    put(tmp / sha256(str(tree).encode()).hexdigest() / "chats/session-x.jsonl", GEMINI.replace(b'"g1"', b'"g5"'))
    put(tmp / "listed/chats/session-x.jsonl", GEMINI.replace(b'"g1"', b'"g6"'))
    put(home / ".gemini/projects.json", json.dumps({"projects": {str(tree / "api"): "listed"}}).encode())
    assert sorted(sessions("gemini-cli", home, tree)) == [
        ("g1", None), ("g2", None), ("g3", "g1"), ("g5", None), ("g6", None),
    ]  # fmt: skip
    assert adapters()["gemini-cli"].watched(home, {"GEMINI_CLI_HOME": "/x"}) == (Path("/x/.gemini/tmp"),)


def test_antigravity_conversations_are_placed_by_the_prompt_history(home: Path, tree: Path, tmp_path: Path) -> None:
    base = home / ".gemini/antigravity-cli"
    for name in ("v1", "v2", "v3"):
        put(base / "brain" / name / ".system_generated/logs/transcript_full.jsonl", ANTIGRAVITY)
        put(base / "brain" / name / ".system_generated/logs/transcript.jsonl", ANTIGRAVITY)
    put(base / "history.jsonl", lines(
        {"display": "first prompt", "workspace": str(tree)},
        {"display": "second", "workspace": tree.as_uri(), "conversationId": "v1"},
        {"display": "second", "workspace": str(tmp_path), "conversationId": "v2"},
    ))  # fmt: skip
    (origin,) = found("antigravity", home, tree)
    assert (origin.session, origin.path.name) == ("v1", "transcript_full.jsonl")
    started = json.dumps({"conversationId": "v3", "logAbsoluteUri": "file:///x"}, indent=2)
    step = {"step_index": 9, "source": "MODEL", "type": "INVOKE_SUBAGENT", "content": f"Created:\n{started}"}
    with origin.path.open("ab") as file:
        file.write(lines(step, {**step, "content": started.replace("v3", "v2")}))
    assert sessions("antigravity", home, tree) == [("v1", None), ("v3", "v1")]


# Copilot CLI, Pi, Aider, others


def test_copilot_sessions(home: Path, tree: Path, tmp_path: Path) -> None:
    base = tmp_path / "copilot"
    put(base / "session-state/o1/events.jsonl", moved(COPILOT, tree))
    put(base / "session-state/o2/events.jsonl", COPILOT)
    put(
        base / "session-state/o3.jsonl",
        lines(copilot(1, "session.start", {"sessionId": "o3", "context": {"cwd": str(tree)}})),
    )
    (base / "session-state/o4").mkdir()
    assert sessions("copilot-cli", home, tree, {"COPILOT_HOME": str(base)}) == [("o1", None), ("o3", None)]


def test_pi_sessions(home: Path, tree: Path, tmp_path: Path) -> None:
    put(home / ".pi/agent/sessions/--srv-shop--/2026_p1.jsonl", moved(PI, tree))
    put(home / ".pi/agent/sessions/--srv-shop--/2026_p2.jsonl", PI)
    assert sessions("pi", home, tree) == [("p1", None)]
    put(tmp_path / "flat/2026_p1.jsonl", moved(PI, tree))
    assert sessions("pi", home, tree, {"PI_CODING_AGENT_SESSION_DIR": str(tmp_path / "flat")}) == [("p1", None)]
    assert sessions("pi", home, tree, {"PI_CODING_AGENT_DIR": str(tmp_path)}) == []


def test_aider_history_in_the_work_tree(home: Path, tree: Path) -> None:
    assert sessions("aider", home, tree) == []
    put(tree / ".aider.chat.history.md", b"# aider chat started at 2026-03-02 10:00:00\n")
    put(tree / "log.md", b"# aider chat started at 2026-03-02 10:00:00\n")
    (plain,) = found("aider", home, tree)
    (named,) = found("aider", home, tree, {"AIDER_CHAT_HISTORY_FILE": "log.md"})
    assert plain.path.name == ".aider.chat.history.md"
    assert named.path.name == "log.md"
    assert plain.session != named.session


@pytest.mark.parametrize("host", sorted(adapters()))
def test_a_home_without_hosts_has_no_sessions(host: str, home: Path, tree: Path) -> None:
    assert found(host, home, tree) == []
    for path in adapters()[host].watched(home, {}):
        assert not path.exists()


@pytest.mark.parametrize("host", sorted(adapters()))
def test_what_lies_in_the_folders_by_accident_is_no_session(host: str, home: Path, tree: Path) -> None:
    for folder in adapters()[host].watched(home, {}):
        if folder.is_absolute() and folder.suffix != ".jsonl":
            put(folder / "x.jsonl", b"\0\xff[[[\n" + b'{"cwd": 1, "payload": [], "data": "x", "context": null}\n')
            put(folder / "p/rollout-x.jsonl", b"null\n7\n")
            put(folder / "p/events.jsonl", b'{"type":"session.start","data":{"context":{"cwd":"relative"}}}\n')
            put(folder / "p/chats/session-x.json", b'{"sessionId"')
            (folder / "gone.jsonl").symlink_to(folder / "nowhere")
    assert found(host, home, tree) == []
