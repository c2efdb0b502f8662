"""Fields of a host's records, read with tolerance: a key that is missing or of another type is no value."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from typing import Any, Final

from gitmem.model.pattern import pattern
from gitmem.model.times import parse_instant

_PATH_KEYS: Final = frozenset(
    ["absolute_path", "absolutepath", "file", "file_path", "filename", "filepath", "notebook_path", "path",
     "target_file", "target_notebook", "targetfile"]
)  # fmt: skip
_PATHS_KEYS: Final = frozenset(["file_paths", "files", "paths"])
_FOLDER_TOOLS: Final = frozenset(["find", "glob", "grep", "list", "list_directory", "ls", "search", "grep_search"])
_PATCH: Final = "*** Begin Patch"
# At the start of a line, or behind a line end as a program spells it.
_PATCHED: Final = pattern(r"(?:^|\\n)\*\*\* (?:Add File|Update File|Delete File|Move to): ([^\n\\\"]{1,4096})", 8)
_MOST_PATHS: Final = 200
_LONGEST_PATH: Final = 4096


def mapping(value: Any) -> Mapping[str, Any]:
    """`value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def listing(value: Any) -> list[Any]:
    """`value` if it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def string(value: Any) -> str | None:
    """`value` if it is a text that is not empty."""
    return value if isinstance(value, str) and value else None


def instant(value: Any) -> datetime | None:
    """The instant that an ISO text, or a number of seconds or milliseconds since 1970, names."""
    try:
        if isinstance(value, str):
            return parse_instant(value)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if abs(value) > 1e11 else value, timezone.utc)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def texts(content: Any) -> Iterator[str]:
    """The texts of a message: of a bare string, of one block, or of a list of blocks."""
    for block in content if isinstance(content, list) else [content]:
        text = block if isinstance(block, str) else mapping(block).get("text")
        if isinstance(text, str):
            yield text


def text_of(content: Any) -> str:
    """What a person would read in `content`: its texts, else its JSON."""
    found = "\n".join(texts(content))
    return found if found or not content or isinstance(content, str) else written(content)


def written(value: Any) -> str:
    """`value` as text: a string as it is, an object as `key: value` lines, anything else as JSON."""
    if isinstance(value, str):
        return value
    if value is None or value == {} or value == []:
        return ""
    try:
        if isinstance(value, dict):
            return "\n".join(
                f"{key}: {part if isinstance(part, str) else json.dumps(part, ensure_ascii=False)}"
                for key, part in value.items()
            )
        return json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return ""


def paths(arguments: Any, tool: str | None) -> tuple[str, ...]:
    """The files that the arguments of a tool call name; folders that are searched are none."""
    found: dict[str, None] = {}
    folders = (tool or "").lower() in _FOLDER_TOOLS
    for key, value in arguments.items() if isinstance(arguments, dict) else [("", arguments)]:
        name = key.lower()
        parts = [part for part in (value if isinstance(value, list) else [value]) if isinstance(part, str)]
        if name in (_PATH_KEYS if isinstance(value, str) else _PATHS_KEYS) and not folders:
            found.update((part, None) for part in parts)
        for part in parts:
            if _PATCH in part:
                found.update((path.strip(), None) for path in _PATCHED.findall(part))
    usable = (path for path in found if path and "\n" not in path and len(path) <= _LONGEST_PATH)
    return tuple(path for path, _ in zip(usable, range(_MOST_PATHS), strict=False))
