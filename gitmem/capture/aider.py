"""Aider: `.aider.chat.history.md` in the work tree, all chats in one file, no ids, local time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Final

from gitmem.capture.adapter import Origin, open_file
from gitmem.capture.turns import Record, Turn, finished

host: Final = "aider"
rules: Final = 1
suffix: Final = "md"
open = open_file

_NAME: Final = ".aider.chat.history.md"
_VARIABLE: Final = "AIDER_CHAT_HISTORY_FILE"
_HEADER, _ASKED, _QUOTED = "# aider chat started at ", "####", ">"
_REPLY_ENDS: Final = "> Tokens: "


def origins(home: Path, environ: Mapping[str, str], work_trees: Sequence[Path]) -> Iterator[Origin]:
    """One file a work tree; its session is named after the path, for want of an id."""
    for tree in work_trees:
        path = tree / environ.get(_VARIABLE, _NAME)
        if path.is_file():
            digest = sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()
            yield Origin(host, f"chat-history-{digest[:12]}", path)


def watched(home: Path, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """The name in each work tree, as it cannot be told here which trees there are."""
    return (Path(environ.get(_VARIABLE, _NAME)),)


def turns(records: Iterable[Record]) -> Iterator[Turn]:
    return finished(_turns(records), once=False)


def _turns(records: Iterable[Record]) -> Iterator[Turn]:
    """`#### ` is a person's line, unless it is a heading in the model's reply, which only the order of blocks tells.

    Aider ends a reply with a `> Tokens:` line, and a typed line with two spaces.
    """
    replying = False
    before = _HEADER
    for record in records:
        text = record.data if isinstance(record.data, str) else ""
        say = partial(Turn, f"@{record.digest}", record.start, record.end)
        if text.startswith(_HEADER):
            replying = False
            yield say(speaker="harness", text=text)
        elif text.startswith(_ASKED):
            lines = text.splitlines()
            spaced = all(line.endswith("  ") for line in lines) and before in (_QUOTED, _ASKED, _HEADER)
            if spaced or not replying:
                replying = True
                words = "\n".join(line.removeprefix(_ASKED).removeprefix(" ").rstrip() for line in lines)
                yield say(speaker="human", text=words)
            else:
                yield say(speaker="assistant" if before == "" else "unknown", text=text)
        elif text.startswith(_QUOTED):
            replying = replying and not any(line.startswith(_REPLY_ENDS) for line in text.splitlines())
            yield say(speaker="tool", text="\n".join(line.removeprefix(_QUOTED).strip() for line in text.splitlines()))
        else:
            yield say(speaker="assistant", text=text)
        before = next((mark for mark in (_HEADER, _ASKED, _QUOTED) if text.startswith(mark)), "")
