"""Cursor: `projects/<folder>/agent-transcripts`. No ids, times, folders or tool results: prompts and prose only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from typing import Any, Final

from gitmem.capture.adapter import Origin, open_file
from gitmem.capture.discovery import files, head, is_inside, names
from gitmem.capture.fields import listing, mapping, paths, string, text_of, texts, written
from gitmem.capture.records import records as records_of
from gitmem.capture.turns import Record, Turn, finished
from gitmem.model.pattern import pattern

host: Final = "cursor"
rules: Final = 1
suffix: Final = "jsonl"
open = open_file

_FOLDER: Final = pattern(r"[^A-Za-z0-9]+")
_CUT: Final = 43  # characters kept of a long folder name, before a dash and a hash
_HEAD: Final = 256 * 1024
_REDACTED: Final = "[REDACTED]"  # where reasoning was
_OPEN, _CLOSE = "<user_query>", "</user_query>"
_TIME: Final = pattern(
    r"<timestamp>\w+, (\w{3})\w* (\d{1,2}), (\d{4}), (\d{1,2}):(\d{2}) ([AP])M"
    r" \(UTC(?:([+-])(\d{1,2})(?::?(\d{2}))?)?\)"
)
_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def origins(home: Path, environ: Mapping[str, str], work_trees: Sequence[Path]) -> Iterator[Origin]:
    """Sessions of folders whose name may stand for a work tree, unless their tool calls name files of others only."""
    for projects in watched(home, environ):
        for folder in names(projects):
            exact, possible = _stands_for(folder, work_trees)
            for path in files(projects / folder / "agent-transcripts", ".jsonl", 3) if possible else ():
                named = _named(path)
                if any(is_inside(path, work_trees) for path in named) if named else exact:
                    child = path.parent.name == "subagents"
                    yield Origin(host, path.stem, path, path.parent.parent.name if child else None)


def watched(home: Path, environ: Mapping[str, str]) -> tuple[Path, ...]:
    return (home / ".cursor" / "projects",)


def _stands_for(folder: str, work_trees: Sequence[Path]) -> tuple[bool, bool]:
    """(it is the name of a work tree, it may be that of one or of a folder in one)."""
    folder = _FOLDER.sub("-", folder)
    known = {_FOLDER.sub("-", str(path)).strip("-") for tree in work_trees for path in (tree, tree.resolve())}
    possible = any(
        folder.startswith(f"{name}-") or (len(name) > _CUT and folder.startswith(name[:_CUT])) for name in known
    )
    return folder in known, possible or folder in known


def _named(path: Path) -> list[str]:
    """Absolute paths in the tool calls of a transcript's head, outside Cursor's own folders."""
    found = []
    for record in records_of([head(path, _HEAD)], suffix):
        for block in _blocks(mapping(record.data)):
            given = block.get("input")
            values = list(given.values()) if isinstance(given, dict) else list(paths(given, None))
            found += [
                value for value in values if isinstance(value, str) and value.startswith("/") and "\n" not in value
            ]
    return [value for value in found if "/.cursor/" not in value]


def _blocks(row: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    return map(mapping, listing(mapping(row.get("message")).get("content")))


def turns(records: Iterable[Record]) -> Iterator[Turn]:
    """Identical rows are real repetitions, and share an id."""
    return finished(_turns(records), once=False)


def _turns(records: Iterable[Record]) -> Iterator[Turn]:
    for record in records:
        row = mapping(record.data)
        say = partial(Turn, f"@{record.digest}", record.start, record.end)
        match row.get("role"):
            case "user":
                for text in texts(mapping(row.get("message")).get("content")):
                    yield from _user(say, text)
            case "assistant":
                for block in _blocks(row):
                    if block.get("type") == "text":
                        yield say(speaker="assistant", text=text_of(block).replace(_REDACTED, "").strip())
                    elif block.get("type") == "tool_use":
                        # A name with a line break and arguments in it occurs.
                        tool = next(iter((string(block.get("name")) or "").split()), None)
                        given = block.get("input")
                        yield say(speaker="assistant", text=written(given), tool=tool, paths=paths(given, tool))
            case "system":
                yield say(speaker="harness", text=text_of(mapping(row.get("message")).get("content")))
            case None:
                if row.get("type") == "turn_ended":
                    yield say(speaker="harness", text=text_of(row.get("error")))
            case _:
                yield say(speaker="unknown", text=text_of(mapping(row.get("message")).get("content")))


def _user(say: Any, text: str) -> Iterator[Turn]:
    """A person's words begin on a new line after the tag; what Cursor submits by itself, right behind it.

    The words end at the last closing tag, since a person may write one.
    """
    opened, close = text.find(_OPEN), text.rfind(_CLOSE)
    if opened < 0 or close < opened:
        yield say(speaker="unknown", text=text)
        return
    at = _instant(text[:opened])
    words = text[opened + len(_OPEN) : close]
    yield say(speaker="harness", text=text[:opened], at=at)
    yield say(speaker="human" if words.startswith(("\n", "\r\n")) else "harness", text=words.strip(), at=at)
    yield say(speaker="harness", text=text[close + len(_CLOSE) :], at=at)


def _instant(preamble: str) -> datetime | None:
    """`Monday, May 4, 2026, 12:39 AM (UTC+5:30)`, to the minute; without an offset there is no instant."""
    found = _TIME.search(preamble)
    if not found or found[1] not in _MONTHS:
        return None
    hours, minutes = int(found[8] or 0), int(found[9] or 0)
    offset = timedelta(hours=hours, minutes=minutes) * (-1 if found[7] == "-" else 1)
    try:
        local = datetime(
            int(found[3]), _MONTHS.index(found[1]) + 1, int(found[2]), int(found[4]) % 12 + 12 * (found[6] == "P"),
            int(found[5]), tzinfo=timezone(offset),
        )  # fmt: skip
        return local.astimezone(timezone.utc)
    except (ValueError, OverflowError):
        return None
