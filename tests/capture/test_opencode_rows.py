"""OpenCode's database as lines that only grow, read beside a running OpenCode."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gitmem.capture import opencode
from gitmem.capture.adapter import Origin
from gitmem.capture.records import records

FIRST = """
CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, directory text, title text, version text,
                      time_created integer, time_updated integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, time_updated integer,
                   data text);
"""
SECOND = """
CREATE TABLE session_v2 (id text PRIMARY KEY, project_id text, parent_id text, fork_session_id text, directory text,
                         title text, cost real, time_created integer, time_updated integer);
CREATE TABLE session_message (id text PRIMARY KEY, session_id text, type text, seq integer, time_created integer,
                              time_updated integer, data text);
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "shop").mkdir()
    return tmp_path / "shop"


@pytest.fixture
def host(tmp_path: Path, tree: Path) -> Iterator[sqlite3.Connection]:
    """OpenCode at work: a connection that writes with a write-ahead log and stays open."""
    path = tmp_path / "home/.local/share/opencode/opencode.db"
    path.parent.mkdir(parents=True)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = wal")
    connection.executescript(FIRST + SECOND)
    session(connection, "ses_1", tree)
    yield connection
    connection.close()


def session(host: sqlite3.Connection, name: str, folder: Path, parent: str | None = None) -> None:
    host.execute("INSERT INTO session VALUES (?, 'p', ?, ?, 'title', '1.0', 1, 1)", (name, parent, str(folder)))


def message(host: sqlite3.Connection, number: int, data: dict[str, Any], *parts: dict[str, Any]) -> None:
    name = f"msg_{number}"
    host.execute(
        "INSERT OR REPLACE INTO message VALUES (?, 'ses_1', ?, ?, ?)", (name, number, number, json.dumps(data))
    )
    for count, part in enumerate(parts):
        row = (f"prt_{number}_{count}", name, number, number, json.dumps(part))
        host.execute("INSERT OR REPLACE INTO part VALUES (?, ?, 'ses_1', ?, ?, ?)", row)


def origins(tmp_path: Path, tree: Path) -> list[Origin]:
    return list(opencode.origins(tmp_path / "home", {}, [tree]))


def content(origin: Origin) -> bytes:
    with opencode.open(origin) as stream:
        return stream.read()


def said(origin: Origin) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in opencode.turns(records([content(origin)], "jsonl"))]


USER = {"role": "user", "time": {"created": 1}}
DONE = {"role": "assistant", "modelID": "m", "time": {"created": 2, "completed": 3}}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def test_a_session_is_read_beside_a_running_opencode(tmp_path: Path, tree: Path, host: sqlite3.Connection) -> None:
    message(host, 1, USER, text("Use 20 sockets, né."))
    message(host, 2, DONE, text("On it."))
    (origin,) = origins(tmp_path, tree)
    assert (origin.session, origin.parent) == ("ses_1", None)
    assert said(origin) == [("human", "Use 20 sockets, né."), ("assistant", "On it.")]
    assert content(origin) == content(origin)
    # The row that is read is not locked: the host goes on writing while the stream is open.
    with opencode.open(origin) as stream:
        stream.read(10)
        message(host, 3, USER, text("and tests"))
        assert b"and tests" not in stream.read()
    assert b"and tests" in content(origin)


def test_the_lines_of_a_session_that_goes_on_only_grow(tmp_path: Path, tree: Path, host: sqlite3.Connection) -> None:
    message(host, 1, USER, text("one"))
    (first,) = origins(tmp_path, tree)
    before = content(first)
    running = {"role": "assistant", "time": {"created": 2}}
    message(host, 2, running, {"type": "tool", "callID": "k", "tool": "bash", "state": {"status": "running"}})
    host.execute("UPDATE session SET title = 'other', time_updated = 9")
    message(host, 1, {**USER, "summary": {"diffs": [1]}}, text("one"))
    (second,) = origins(tmp_path, tree)
    assert second.version != first.version
    assert content(second) == before
    message(
        host, 2, DONE, {"type": "tool", "callID": "k", "tool": "bash", "state": {"status": "completed", "output": "x"}}
    )
    done = content(second)
    assert done.startswith(before)
    assert len(done) > len(before)


def test_an_answer_that_never_ended_does_not_hold_the_rest_back(
    tmp_path: Path, tree: Path, host: sqlite3.Connection
) -> None:
    message(host, 1, USER, text("one"))
    message(host, 2, {"role": "assistant", "time": {"created": 2}}, text("half"))
    (origin,) = origins(tmp_path, tree)
    assert said(origin) == [("human", "one")]
    message(host, 3, USER, text("two"))
    assert said(origin) == [("human", "one"), ("assistant", "half"), ("human", "two")]


def test_children_other_folders_and_sessions_of_version_2(tmp_path: Path, tree: Path, host: sqlite3.Connection) -> None:
    session(host, "ses_2", tree, "ses_1")
    session(host, "ses_3", tmp_path / "shop-2")
    host.execute("INSERT INTO session_v2 VALUES ('ses_4', 'p', NULL, NULL, ?, 't', 0.5, 1, 1)", (str(tree),))
    # 2.x leaves the rows of 1.x where they are.
    host.execute("INSERT INTO session_v2 VALUES ('ses_1', 'p', NULL, NULL, ?, 't', 0.5, 1, 1)", (str(tree),))
    rows = [("a", "user", 1, {"text": "one"}), ("b", "assistant", 2, {"finish": "stop", "content": [text("two")]})]
    for name, kind, seq, data in reversed(rows):
        host.execute(
            "INSERT INTO session_message VALUES (?, 'ses_4', ?, ?, 1, 1, ?)", (name, kind, seq, json.dumps(data))
        )
    found = {origin.session: origin for origin in origins(tmp_path, tree)}
    assert {name: origin.parent for name, origin in found.items()} == {"ses_1": None, "ses_2": "ses_1", "ses_4": None}
    assert said(found["ses_4"]) == [("human", "one"), ("assistant", "two")]
    assert b'"session_v2"' in content(found["ses_1"])


def test_nothing_is_written_and_a_folder_without_leave_to_write_is_read(tmp_path: Path, tree: Path) -> None:
    folder = tmp_path / "home/.local/share/opencode"
    folder.mkdir(parents=True)
    host = sqlite3.connect(folder / "opencode-beta.db", isolation_level=None)
    host.execute("PRAGMA journal_mode = wal")
    host.executescript(FIRST)
    session(host, "ses_1", tree)
    message(host, 1, USER, text("one"))
    host.close()
    database = folder / "opencode-beta.db"
    before = database.read_bytes()
    (origin,) = origins(tmp_path, tree)
    assert said(origin) == [("human", "one")]
    assert database.read_bytes() == before
    assert list(opencode.origins(tmp_path, {"XDG_DATA_HOME": str(tmp_path / "home/.local/share")}, [tree])) == [origin]


def test_a_damaged_database_is_an_error_that_names_it(tmp_path: Path, tree: Path) -> None:
    path = tmp_path / "home/.local/share/opencode/opencode.db"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"not a database" * 100)
    with pytest.raises(OSError, match=r"opencode\.db"):
        origins(tmp_path, tree)


def test_a_session_that_is_gone_is_an_error(tmp_path: Path, tree: Path, host: sqlite3.Connection) -> None:
    (origin,) = origins(tmp_path, tree)
    host.execute("DELETE FROM session")
    with pytest.raises(OSError, match="ses_1"):
        content(origin)


def test_a_row_that_holds_no_json_or_half_a_character(tmp_path: Path, tree: Path, host: sqlite3.Connection) -> None:
    message(host, 1, USER, text("\ud800 one"))
    host.execute("INSERT INTO part VALUES ('prt_9', 'msg_1', 'ses_1', 1, 1, 'no json')")
    (origin,) = origins(tmp_path, tree)
    assert said(origin) == [("human", "\ufffd one")]
    assert content(origin).decode()


def test_a_long_session_is_streamed_in_small_reads(tmp_path: Path, tree: Path, host: sqlite3.Connection) -> None:
    for number in range(200):
        message(host, number, USER, text("x" * 3000))
    (origin,) = origins(tmp_path, tree)
    whole = content(origin)
    with opencode.open(origin) as stream:
        assert b"".join(iter(lambda: stream.read(777), b"")) == whole
