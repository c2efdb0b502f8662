"""From the bytes of an origin to the lines that may be stored: whole lines, binaries apart, secrets gone."""

from __future__ import annotations

import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b, sha256
from itertools import zip_longest
from typing import BinaryIO, Final

from gitmem.model.frozen import dataclass
from gitmem.model.sessions import Apart

LINE_LIMIT: Final = 32 * 1024 * 1024  # bytes; a longer line is taken in pieces
_BLOCK: Final = 1024 * 1024
_SEAM: Final = 1024 * 1024  # bytes at the end of a piece within which a place to cut is looked for
_MARKER: Final = re.compile(rb"\[gitmem:(?:removed [^\]\s]{1,100}|apart [0-9a-f]{64})\]")
_APART: Final = re.compile(rb"\[gitmem:apart ([0-9a-f]{64})\]")
# What the base64 of an image or a document begins with, and so much of it that a blob of its own pays.
_BASE64: Final = re.compile(
    rb"(?<![A-Za-z0-9+/])(?:iVBORw0KGgo|/9j/|R0lGOD|UklGR|JVBERi0)[A-Za-z0-9+/]{4000,}={0,2}(?![A-Za-z0-9+/=])"
)
_BASE64_LEAST: Final = 4000
_TYPES: Final = {
    b"\x89PNG\r\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif", b"RIFF": "image/webp",
    b"%PDF-": "application/pdf",
}  # fmt: skip

# What takes the secrets out of a line, which comes without its line feed; and the rules that found some.
Redact = Callable[[bytes], tuple[bytes, tuple[str, ...]]]


@dataclass(frozen=True)
class Line:
    """One line as it may be stored. `origin` is its length in the origin; `apart` what was taken out of it."""

    stored: bytes
    origin: int
    rules: tuple[str, ...] = ()
    apart: tuple[tuple[Apart, bytes], ...] = ()


class Prefix:
    """Reads an origin from its start and keeps the keyed digest of what was taken so far."""

    def __init__(self, stream: BinaryIO, key: bytes) -> None:
        self._stream = stream
        self._digest = blake2b(key=key, digest_size=32)

    @property
    def digest(self) -> str:
        return self._digest.hexdigest()

    def skip(self, length: int) -> bool:
        """Take the first `length` bytes; False when there are not so many."""
        while length:
            block = self._stream.read(min(length, _BLOCK))
            if not block:
                return False
            self._digest.update(block)
            length -= len(block)
        return True

    def taken(self, length: int) -> Iterator[bytes]:
        """The first `length` bytes line by line, as `skip`; fewer when there are not so many."""
        while length and (line := self._stream.readline(length)):
            self._digest.update(line)
            length -= len(line)
            yield line

    def lines(self, complete: Callable[[bytes], int], *, from_start: bool) -> Iterator[bytes]:
        """The lines that are whole, with their ends; `digest` covers what was given.

        `complete` says how much of what is at hand may be taken: a torn end waits, and so does a file that is one
        indented document (`from_start`: it would begin here), which is given as one line.
        """
        rest = b""
        if from_start:
            rest = self._stream.readline(LINE_LIMIT) + self._stream.readline(LINE_LIMIT)
            if rest.count(b"\n") == 2 and not complete(rest):
                rest += self._stream.read(LINE_LIMIT - len(rest))
                if complete(rest) == len(rest):
                    self._digest.update(rest)
                    yield rest
                return
        while line := self._next(rest):
            rest = b""
            if not line.endswith(b"\n"):
                if len(line) >= LINE_LIMIT:
                    cut = _seam(line)
                    line, rest = line[:cut], line[cut:]
                else:
                    line = line[: complete(line)]
                    if not line:
                        return
            elif line.count(b"\n") > 1:
                end = line.index(b"\n") + 1
                line, rest = line[:end], line[end:]
            self._digest.update(line)
            yield line

    def _next(self, rest: bytes) -> bytes:
        return rest if rest.endswith(b"\n") else rest + self._stream.readline(LINE_LIMIT - len(rest))


def _seam(line: bytes) -> int:
    """Where to cut a line that is too long: not within a word, so that no secret is cut in two."""
    start = len(line) - _SEAM
    return max((line.rfind(mark, start) + 1 for mark in (b" ", b",", b'"')), default=0) or len(line)


def storable(line: bytes, redact: Redact) -> Line:
    """`line` with its images and documents apart and its secrets gone."""
    apart: list[tuple[Apart, bytes]] = []
    found: list[str] = []

    def out(match: re.Match[bytes]) -> bytes:
        text = match[0]
        try:
            data = b64decode(text, validate=True)
        except ValueError:
            return text
        kind = next((name for magic, name in _TYPES.items() if data.startswith(magic)), "")
        if not kind or b64encode(data) != text:
            return text
        rules = redact(data)[1]
        if rules:  # in a comment of the image, say
            found.extend(rules)
            return b"[gitmem:removed %s]" % rules[0].encode()
        digest = sha256(data).hexdigest()
        apart.append((Apart(digest, len(data), kind), data))
        return b"[gitmem:apart %s]" % digest.encode()

    body = line.removesuffix(b"\n")
    stored, rules = redact(_BASE64.sub(out, body) if len(line) > _BASE64_LEAST else body)
    return Line(stored + line[len(body) :], len(line), (*found, *rules), tuple(apart))


def put_back(line: bytes, apart: Callable[[str], bytes | None]) -> bytes:
    """`line` with what was taken apart of it in its place again; `apart` gives None for what never was."""

    def inside(match: re.Match[bytes]) -> bytes:
        data = apart(match[1].decode())
        return match[0] if data is None else b64encode(data)

    return _APART.sub(inside, line)


def comes_from(stored: Iterable[bytes], origin: Iterable[bytes]) -> bool:
    """Whether stored bytes, in pieces of any size, are what was made of these lines, under whatever rules."""
    return all(_could_be(was, line) for was, line in zip_longest(_split(stored), origin, fillvalue=b""))


def _split(pieces: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        yield from (line + b"\n" for line in whole)
    if rest:
        yield rest


def _could_be(stored: bytes, line: bytes) -> bool:
    """Equal but for what stands in place of markers."""
    if stored == line:
        return True
    pieces = _MARKER.split(stored)
    if len(pieces) < 2 or not line.startswith(pieces[0]):
        return False
    at = len(pieces[0])
    for piece in pieces[1:-1]:
        at = line.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return line.endswith(pieces[-1]) and len(line) - len(pieces[-1]) >= at
