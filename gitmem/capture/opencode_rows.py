"""OpenCode's database as lines: the rows of one session, in order, read only and in one read transaction.

The lines of a session that goes on only grow: columns and keys that the host writes anew after each turn are left
out, and rows wait until the host is done with them. Where the host edits what was done (compaction, revert) the
lines differ.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, cast
from urllib.parse import quote

from gitmem.capture.fields import mapping

if TYPE_CHECKING:
    import sqlite3

_WAIT: Final = 5.0  # seconds for a writer to finish
_SESSION_COLUMNS: Final = (
    "id", "project_id", "parent_id", "fork_session_id", "slug", "directory", "version", "time_created",
)  # fmt: skip
_FORMS: Final = (
    ("session_v2", ("session_message",)),
    ("session", ("message", "part")),
)  # 2.x first: it leaves 1.x rows stale


@contextmanager
def database(path: Path) -> Iterator[sqlite3.Connection]:
    """The database, read only, in one read transaction. OSError when it cannot be opened or read.

    With a write-ahead log the log's companion file is needed; where it can neither be used nor made, the database is
    read as it lies, unless the log holds something.
    """
    import sqlite3

    try:
        connection = _connect(path)
        try:
            yield connection
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise OSError(f"{path}: {error}") from error


def _connect(path: Path) -> sqlite3.Connection:
    import sqlite3

    log = path.with_name(path.name + "-wal")
    try:
        return _begun(path, "mode=ro")
    except sqlite3.OperationalError:
        if not path.is_file() or (log.is_file() and log.stat().st_size):
            raise
        return _begun(path, "mode=ro&immutable=1")


def _begun(path: Path, how: str) -> sqlite3.Connection:
    import sqlite3

    connection = sqlite3.connect(f"file:{quote(str(path))}?{how}", uri=True, timeout=_WAIT, isolation_level=None)
    try:
        connection.row_factory = sqlite3.Row
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        connection.execute("PRAGMA query_only = 1")
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def sessions(connection: sqlite3.Connection) -> Iterator[tuple[Mapping[str, Any], str]]:
    """(row, version) of each session; the version changes when a row of it did."""
    seen: set[str] = set()
    for table, parts in _FORMS:
        if not _columns(connection, table):
            continue
        for row in connection.execute(f"SELECT * FROM {table} ORDER BY id").fetchall():  # noqa: S608 (our own names)
            if row["id"] not in seen:
                seen.add(row["id"])
                yield dict(row), ":".join([str(dict(row).get("time_updated")), *_states(connection, parts, row["id"])])


def _states(connection: sqlite3.Connection, tables: tuple[str, ...], session: str) -> Iterator[str]:
    for table in tables:
        columns = _columns(connection, table)
        if "session_id" in columns:
            latest = "max(time_updated)" if "time_updated" in columns else "0"
            query = f"SELECT count(*), {latest} FROM {table} WHERE session_id = ?"  # noqa: S608
            yield "-".join(map(str, connection.execute(query, (session,)).fetchone()))


def opened(path: Path, session: str) -> BinaryIO:
    """The lines of one session as a stream; it holds the read transaction until it is closed or at its end."""
    return cast("BinaryIO", io.BufferedReader(_Lines(lines(path, session)), 1 << 16))


def lines(path: Path, session: str) -> Iterator[bytes]:
    """The session, then its messages in order, each before its parts."""
    with database(path) as connection:
        for table, parts in _FORMS:
            if not _columns(connection, table):
                continue
            row = connection.execute(f"SELECT * FROM {table} WHERE id = ?", (session,)).fetchone()  # noqa: S608
            if row is None:
                continue
            yield _line(table, {name: row[name] for name in _SESSION_COLUMNS if name in row.keys()})  # noqa: SIM118
            yield from _messages(connection, parts[0], parts[1:], session)
            return
    raise FileNotFoundError(f"{path}: no session {session}")


def _messages(connection: sqlite3.Connection, table: str, parts: tuple[str, ...], session: str) -> Iterator[bytes]:
    columns = _columns(connection, table)
    order = "seq, id" if "seq" in columns else "time_created, id" if "time_created" in columns else "id"
    query = f"SELECT * FROM {table} WHERE session_id = ? ORDER BY {order}"  # noqa: S608
    settled = _settled(connection, query, session)
    for number, row in enumerate(connection.execute(query, (session,))):
        if number >= settled:
            return
        data = _data(row["data"])
        if isinstance(mapping(data).get("summary"), dict):
            data = {
                key: value for key, value in data.items() if key != "summary"
            }  # diffs, written anew after each turn
        yield _line(table, {**_stable(row), "data": data})
        for part in parts:
            below = f"SELECT * FROM {part} WHERE message_id = ? ORDER BY id"  # noqa: S608
            for own in connection.execute(below, (row["id"],)):
                yield _line(part, {**_stable(own), "data": _data(own["data"])})


def _settled(connection: sqlite3.Connection, query: str, session: str) -> int:
    """How many messages the host is done with: an answer is under way until it says so or a person goes on."""
    count = 0
    for number, row in enumerate(connection.execute(query, (session,)), 1):
        data = mapping(_data(row["data"]))
        role = data.get("role") or (row["type"] if "type" in row.keys() else None)  # noqa: SIM118
        ended = mapping(data.get("time")).get("completed") or data.get("error") or data.get("finish")
        if role == "user" or (count == number - 1 and (role != "assistant" or ended)):
            count = number
    return count


def _stable(row: sqlite3.Row) -> dict[str, Any]:
    names = ("id", "message_id", "session_id", "type", "seq", "time_created")
    return {name: row[name] for name in names if name in row.keys()}  # noqa: SIM118


def _columns(connection: sqlite3.Connection, table: str) -> set[str]:
    return {str(row["name"]) for row in connection.execute(f"PRAGMA table_info({table})")}


def _data(value: Any) -> Any:
    try:
        return json.loads(value)
    except (TypeError, ValueError, RecursionError):
        return value if isinstance(value, str) else None


def _line(table: str, row: Mapping[str, Any]) -> bytes:
    row = {"table": table, **row}
    try:
        return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(row, separators=(",", ":")).encode() + b"\n"


class _Lines(io.RawIOBase):
    """A stream over lines that are made while they are read."""

    def __init__(self, source: Iterator[bytes]) -> None:
        self._source = source
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        target = memoryview(buffer)
        while not self._rest:
            line = next(self._source, None)
            if line is None:
                return 0
            self._rest = memoryview(line)
        size = min(len(target), len(self._rest))
        target[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size

    def close(self) -> None:
        if hasattr(self._source, "close"):
            self._source.close()
        super().close()
