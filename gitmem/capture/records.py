"""Bytes to records, streaming: a line is a record, whatever it holds.

Lines end at the byte 0x0A alone: a text reader would also break at U+2028 and tear records apart. Every step is
linear in the bytes and holds one line at a time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import chain
from typing import Any, Final, NamedTuple

from gitmem.capture.markdown import blocks
from gitmem.capture.shorten import shortened
from gitmem.capture.turns import Record
from gitmem.model.pattern import pattern

LONGEST: Final = 64 * 1024 * 1024  # bytes of a line that is still read; a longer one is a record without a value
MOST_VALUES: Final = 1_000_000  # commas of a line that is still decoded: each value costs some 100 bytes of memory
_BLANK: Final = b" \t\r\n"
_GAP: Final = pattern(r"[ \t\r\n]*")
_BOM: Final = b"\xef\xbb\xbf"
_DECODER: Final = json.JSONDecoder(strict=False)  # terminal output holds raw control characters
_DIGEST: Final = 12


class _Line(NamedTuple):
    start: int
    end: int
    data: bytes | None  # with the line end; None for a line over `LONGEST`
    whole: bool  # it has a line end


def records(stream: Iterable[bytes], suffix: str) -> Iterator[Record]:
    """The records of a transcript, from chunks of any size. `suffix` is `jsonl` or `md`.

    An unterminated last line is a record only if it is whole JSON. Objects glued together on one line are records
    each. A file that is one indented JSON document is one record.
    """
    lines = _lines(stream)
    if suffix == "md":
        for start, block in blocks((line.start, line.data) for line in lines if line.whole and line.data is not None):
            text = block.decode("utf-8", "replace")
            yield Record(start, start + len(block), text, _digest(block), not _is_utf8(block))
        return
    head = []
    for line in lines:
        head.append(line)
        if line.data is None or line.data.strip(_BLANK):
            break
    head.extend(second for second in [next(lines, None)] if second is not None)
    if _opens_document(b"".join(line.data or b"" for line in head)):
        yield from _document(chain(head, lines))
        head = []
    for line in chain(head, lines):
        if line.data is None:
            yield Record(line.start, line.end, None, damaged=True)
        elif line.whole or _is_whole(line.data):
            yield from _of_line(line.start, line.data)


def complete(data: bytes) -> int:
    """The length of the prefix of `data` that can be captured now; a torn last line waits for the rest of it."""
    if _opens_document(data[: 1 << 16]):
        return len(data) if _is_whole(data) else 0
    end = data.rfind(b"\n") + 1
    return len(data) if end < len(data) and _is_whole(data[end:]) else end


def _lines(stream: Iterable[bytes]) -> Iterator[_Line]:
    start = 0
    held = bytearray()
    skipped = 0  # bytes of a line that is too long, already dropped
    for piece in stream:
        at = 0
        while at < len(piece):
            newline = piece.find(b"\n", at)
            stop = len(piece) if newline < 0 else newline + 1
            if skipped or len(held) + stop - at > LONGEST:
                skipped += len(held) + stop - at
                held.clear()
            else:
                held += piece[at:stop]
            at = stop
            if newline >= 0:
                end = start + (skipped or len(held))
                data = None if skipped else bytes(held)
                held.clear()
                skipped = 0
                yield _Line(start, end, data, True)
                del data
                start = end
    if held:
        yield _Line(start, start + len(held), bytes(held), False)


def _of_line(start: int, line: bytes) -> Iterator[Record]:
    """The records of one line: JSON values, and what is left when the rest of it is none."""
    lead = len(line) - len(line.lstrip(_BLANK if start else _BLANK + _BOM))
    body = line[lead:].rstrip(_BLANK)
    start += lead
    padding = len(body) - len(body.lstrip(b"\0"))  # a file system that crashed fills with NUL
    if padding:
        yield Record(start, start + padding, None, _digest(body[:padding]), True)
        body = body[padding:]
        start += padding
    if not body:
        return
    short = shortened(body)
    damaged = not _is_utf8(short.data)
    for first, end, value in _values(short.data, damaged):
        first, end = short.origin(first), short.origin(end)
        part = body[first:end]
        yield Record(
            start + first, start + end, value, _digest(part), value is None or (damaged and not _is_utf8(part))
        )


def _values(data: bytes, damaged: bool) -> Iterator[tuple[int, int, Any]]:
    """(byte offset, end, value) of each JSON value of a line; value None for a rest that is none."""
    if data.count(b",") > MOST_VALUES:
        yield 0, len(data), None
        return
    text = data.decode("utf-8", "surrogateescape")
    narrow = len(text) == len(data)
    at = place = 0
    while at < len(text):
        value, end = _decoded(text, at)
        if end < 0 or (end < len(text) and not isinstance(value, dict | list)):
            yield place, len(data), None
            return
        size = end - at if narrow else len(text[at:end].encode("utf-8", "surrogateescape"))
        yield place, place + size, _replaced(data[place : place + size]) if damaged else value
        gap = _GAP.match(text, end)
        at = gap.end() if gap else end
        place += size + at - end


def _decoded(text: str, at: int) -> tuple[Any, int]:
    """(value, end) of the JSON value at `at`; (None, -1) when there is none."""
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):  # ValueError also for an integer of more than 4,300 digits
        return None, -1
    return value, end


def _replaced(data: bytes) -> Any:
    """The JSON value of `data` with U+FFFD for what is no UTF-8; None when it cannot be read."""
    return _decoded(data.decode("utf-8", "replace"), 0)[0]


def _is_whole(line: bytes) -> bool:
    """True when an unterminated line is complete: objects or arrays, nothing else, since `12` may become `123`."""
    body = line.strip(_BLANK).removeprefix(_BOM)
    if not body.endswith((b"}", b"]")):
        return False
    return all(isinstance(value, dict | list) for _, _, value in _values(shortened(body).data, False))


def _opens_document(head: bytes) -> bool:
    """True for the first lines of a file that is one indented JSON document, as old Gemini CLI and exports write."""
    lines = head.removeprefix(_BOM).lstrip(_BLANK).split(b"\n", 2)
    return len(lines) > 1 and lines[0].rstrip() in (b"{", b"[") and lines[1][:1] in (b" ", b"\t", b"}", b"]")


def _document(lines: Iterator[_Line]) -> Iterator[Record]:
    """The one record of a document that ends with a bracket at the start of a line; none while it is torn."""
    first = next(lines)
    held = bytearray(first.data or b"")
    for line in lines:
        if line.data is None or len(held) + len(line.data) > LONGEST:
            yield Record(first.start, max([line.end, *(later.end for later in lines)]), None, damaged=True)
            return
        held += line.data
        if line.data[:1] in (b"}", b"]"):
            break
    data = bytes(held)
    if _is_whole(data):
        yield from _of_line(first.start, data)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _digest(data: bytes) -> str:
    return sha256(data).hexdigest()[:_DIGEST]
