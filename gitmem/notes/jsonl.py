"""Changes from a JSONL file: `id, title, body, date` and maybe `commit`, one object a line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from gitmem.model.nouns import Draft, Valid
from gitmem.model.text import escape, forbidden
from gitmem.model.times import parse_instant
from gitmem.model.vocabulary import BODY_LIMIT, TITLE_LIMIT
from gitmem.notes.items import Note, Skipped, cut, plain, without_emoji_style

_COMMIT: Final = re.compile(r"[0-9a-f]{7,64}", re.IGNORECASE)


def jsonl_notes(path: str, lines: Iterable[str]) -> Iterator[Note | Skipped]:
    """A change for each line, as the lines come; a blank line is none. Never raises on what a line holds.

    The evidence is the commit that `commit` or else `id` names. Of two changes with one title the later
    one's title gets its commit.
    """
    titles: dict[str, int] = {}
    commits: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip("\ufeff \t\r\n"):
            continue
        read = _change(line.removeprefix("\ufeff") if number == 1 else line)
        if isinstance(read, str):
            yield Skipped(path, str(number), read)
            continue
        title, body, commit, day = read
        if commit in commits:
            yield Skipped(path, str(number), f"same as line {commits[commit]}")
            continue
        commits[commit] = number
        if titles.setdefault(title, number) != number:
            title = f"{title} ({commit[:12]})"
        draft = Draft("change", title, body, valid=Valid(start=day), evidence=(f"commit:{commit}",))
        yield Note(draft, path, str(number))


def _change(line: str) -> tuple[str, str, str, str | None] | str:
    """(title, body, commit, date), or what is wrong with the line."""
    try:
        row: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        return f"not JSON: {escape(str(error))[:120]}"
    if not isinstance(row, dict):
        return "not a JSON object"
    title, body, day = row.get("title"), row.get("body") or "", row.get("date")
    if not isinstance(title, str) or not re.search(r"\w", title):
        return "no title"
    if not isinstance(body, str) or not isinstance(day, str | None):
        return "body and date must be text"
    ids = (value for value in (row.get("commit"), row.get("id")) if isinstance(value, str))
    commit = next((value.lower() for value in ids if _COMMIT.fullmatch(value)), None)
    if commit is None:
        return "neither `commit` nor `id` is a commit id, so there is no evidence"
    try:
        if day is not None:
            parse_instant(day)
    except (ValueError, OverflowError) as error:
        return escape(str(error))[:160]
    title, body = without_emoji_style(title), without_emoji_style(body)
    line_title = " ".join(title.split())
    if len(line_title) > TITLE_LIMIT - 20:  # 20: room for the commit that tells equal titles apart
        body = f"{line_title}\n\n{body}".strip()
        line_title = cut(plain(line_title), TITLE_LIMIT - 20)
    body = body.replace("\r\n", "\n").strip()
    if len(body) > BODY_LIMIT:
        return f"{len(body)} characters, more than {BODY_LIMIT}"
    hidden = next((char for _, char in forbidden(line_title + body)), None)
    if hidden is not None:
        return f"holds U+{ord(hidden):04X}, which no memory may hold"
    return line_title, body, commit, day
