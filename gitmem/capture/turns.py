"""What a transcript is made of: records (bytes) and turns (who said or did what)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal

from gitmem.model.frozen import dataclass
from gitmem.model.pattern import pattern

if TYPE_CHECKING:
    from datetime import datetime

Speaker = Literal["human", "assistant", "tool", "harness", "subagent", "ours", "unknown"]
Outcome = Literal["ok", "failed"]

# The element that gitmem wraps around everything it hands to a host. A block starts with a line `<gitmem-memory`
# and ends with `</gitmem-memory`. It must never change: transcripts written years ago hold it.
OURS: Final = "gitmem-memory"
# `&lt;` because Gemini CLI escapes angle brackets in what a hook hands it.
_OPEN: Final = pattern(rf"(?P<line>^[ \t]*)?(?:<|&lt;){OURS}(?![\w-])", 8)
_CLOSE: Final = pattern(rf"(?:<|&lt;)/{OURS}[ \t]*(?:>|&gt;)?")


@dataclass(frozen=True)
class Record:
    """One unit of a transcript: one JSON value, or one Markdown block.

    `start` and `end` are byte offsets in the stream; line ends and white space around the value are outside.
    `data` is the decoded value (strings over 256 KiB of a line over 2 MiB are cut), text for Markdown, or None when the
    bytes are no JSON. `digest` is the start (12 hex) of the sha256 of the bytes. `damaged` marks bytes that a strict
    reader would refuse: no JSON, or invalid UTF-8, which is replaced in `data`.
    """

    start: int
    end: int
    data: Any
    digest: str = ""
    damaged: bool = False


@dataclass(frozen=True)
class Turn:
    """One thing said or done. `record` is the host's id of the record, or `@` and the record's digest if it has none.

    Several turns share a record (the blocks of one message). `outcome` stands on the result of a tool call, not on
    the call; None means the host does not say, or a person declined the call.
    """

    record: str
    start: int
    end: int
    speaker: Speaker
    text: str
    call: str | None = None
    tool: str | None = None
    outcome: Outcome | None = None
    at: datetime | None = None
    cwd: str | None = None
    branch: str | None = None
    model: str | None = None
    paths: tuple[str, ...] = ()


def finished(turns: Iterable[Turn], *, once: bool = True) -> Iterator[Turn]:
    """The turns as they are handed out: text that can be encoded, our own blocks told apart, empty ones left out.

    `once` leaves out a turn that says the same under the same record id again, as a host does that replays or
    checkpoints its history; hosts without ids repeat themselves for real and pass False.
    """
    seen: set[int] = set()
    for turn in turns:
        for part in _apart(turn):
            if not part.text.strip() and part.call is None and part.tool is None:
                continue
            if once:
                key = hash((part.record, part.speaker, part.call, part.outcome, part.text))
                if key in seen:
                    continue
                seen.add(key)
            yield part


def of_child(turns: Iterable[Turn]) -> Iterator[Turn]:
    """The turns of a session that another session started: whoever spoke there, it was no person."""
    for turn in turns:
        yield replace(turn, speaker="subagent") if turn.speaker in ("human", "assistant", "unknown") else turn


def _apart(turn: Turn) -> Iterator[Turn]:
    """`turn` with the blocks that gitmem injected as turns of their own."""
    text = _encodable(turn.text)
    if OURS not in text:
        yield turn if text is turn.text else replace(turn, text=text)
        return
    at = 0
    for speaker, start, end in _blocks(text):
        if text[at:start].strip():
            yield replace(turn, text=text[at:start])
        if start < end:
            yield replace(turn, speaker=speaker, text=text[start:end])
        at = end
    if text[at:].strip():
        yield replace(turn, text=text[at:])


def _blocks(text: str) -> Iterator[tuple[Speaker, int, int]]:
    """Our blocks in `text`. One that a line starts and nothing closes goes to the end; in a line, it is no block."""
    at = 0
    last_close = max(text.rfind(f"</{OURS}"), text.rfind(f"&lt;/{OURS}"))
    while found := _OPEN.search(text, at):
        closed = _CLOSE.search(text, found.end()) if found.end() <= last_close else None
        if closed is not None:
            yield "ours", found.start(), closed.end()
            at = closed.end()
        elif found["line"] is not None:
            yield "ours", found.start(), len(text)
            return
        else:
            at = found.end()


def _encodable(text: str) -> str:
    """`text` with U+FFFD for each lone surrogate, which JSON can spell and UTF-8 cannot."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
