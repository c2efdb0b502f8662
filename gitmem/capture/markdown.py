"""A chat history in Markdown as blocks: lines of one kind without a blank line between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def blocks(lines: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """(offset, bytes) of each block, without the line end of its last line. A later line may lengthen the last one."""
    start = 0
    held = bytearray()
    kind = b""
    for offset, line in lines:
        own = _kind(line)
        if held and own != kind:
            yield start, bytes(held).rstrip(b"\r\n")
            held.clear()
        if own and not held:
            start = offset
        if own:
            held += line
        kind = own
    if held:
        yield start, bytes(held).rstrip(b"\r\n")


def _kind(line: bytes) -> bytes:
    """What a line is by its first characters; empty for a blank line, which ends a block."""
    if not line.strip():
        return b""
    for mark in (b"# aider chat started at ", b"####", b">"):
        if line.startswith(mark):
            return mark
    return b"text"
