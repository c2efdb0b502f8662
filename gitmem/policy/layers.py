"""A line of a transcript read in several ways, each with the way back to the bytes of the line.

Read as it stands; with its JSON escapes undone, again for JSON inside JSON; without terminal colours and
invisible characters; percent-decoded once; base64 decoded once.
"""

from __future__ import annotations

import binascii
import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Final

from gitmem.model.pattern import pattern_of_bytes
from gitmem.model.text import is_forbidden
from gitmem.policy.patterns import compiled

_DEPTH: Final = 5  # times that JSON is written inside JSON: a tool that printed what another had printed
_COLOUR: Final = rb"\[[0-9;?]{0,20}[A-Za-z]"
# What a backslash begins: a colour, a wrapped line, a surrogate pair, a code point, a JSON escape.
_ESCAPE: Final = (
    rb"\\(?:(?:u001[bB]|x1[bB]|e|033)" + _COLOUR + rb"|\r?\n\s*"
    rb"|u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[\"'`/\\bfnrt])"
)
# Bytes that show as nothing: controls, and in UTF-8 the soft hyphen, joiners, zero widths, marks of direction,
# variation selectors, the byte order mark and tags.
_UNSEEN: Final = (
    rb"\x1b" + _COLOUR + rb"|[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f\xad]|\xcd\x8f|\xe1\xa0[\x8b-\x8f]"
    rb"|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa0-\xaf]|\xef\xb8[\x80-\x8f]|\xef\xbb\xbf|\xf3\xa0[\x80-\x87][\x80-\xbf]"
)
_UNSEEN_CHARS: Final = (
    r"[\x00-\x08\x0b-\x1f\x7f-\x{9f}\x{ad}\x{34f}\x{180b}-\x{180f}\x{200b}-\x{200f}\x{2028}-\x{202e}\x{2060}-\x{206f}"
    r"\x{fe00}-\x{fe0f}\x{feff}\x{e0000}-\x{e01ff}]"
)
_CONTROLS: Final = bytes((*range(0x09), 0x0B, 0x0C, *range(0x0D, 0x20), 0x7F))
_ESCAPES: Final = pattern_of_bytes(_ESCAPE)
_ESCAPES_OR_UNSEEN: Final = pattern_of_bytes(_ESCAPE + rb"|" + _UNSEEN)
# Escapes beyond those of two characters.
_LONG_ESCAPES: Final = pattern_of_bytes(rb"\\[uxe0\r\n]")
_PERCENT: Final = pattern_of_bytes(rb"%[0-9A-Fa-f]{2}")
_MEANINGS: Final = {
    rb"\n": b"\n", rb"\t": b"\t", rb"\r": b"", rb"\b": b"", rb"\f": b"",
    rb"\\": b"\\", rb"\"": b'"', rb"\/": b"/", rb"\'": b"'", rb"\`": b"`",
}  # fmt: skip

_BASE64: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_ALPHABET: Final = "A-Za-z0-9+/_-"


def _carrier() -> str:
    """Base64 whose first twelve bytes are ASCII: their high bits are zero, and the first of three is no control.

    Nearly no name or path begins like that. The lines of a value that was wrapped are taken together.
    """
    letters = (*enumerate(_BASE64), (62, "-"), (63, "_"))
    first = "".join(char for number, char in letters if number in (2, 3) or 8 <= number < 32)
    second = "".join(char for number, char in letters if not number & 8)
    third = "".join(char for number, char in letters if not number & 2)
    group = "".join(
        f"[{part.replace('-', '')}{'-' * ('-' in part)}]" for part in (first, second, third, _BASE64 + "_-")
    )
    return rf"(?:^|[^{_ALPHABET}])((?:{group}){{4}}[{_ALPHABET}]*(?:\r?\n[{_ALPHABET}]{{16,}})*={{0,2}})"


_CARRIER: Final = _carrier()
_BREAKS: Final = pattern_of_bytes(rb"[\r\n]")


class Layer:
    """One reading: `data`, and where its bytes came from in the reading before.

    It is the reading `before` with each match of `places` replaced by its `meaning`. The way back is worked out
    when it is asked for: for most lines there is nothing to ask.
    """

    __slots__ = ("_at", "_before", "_gave", "_meaning", "_out", "_places", "_took", "data")

    def __init__(
        self,
        data: bytes,
        before: Layer | None = None,
        places: re.Pattern[bytes] | None = None,
        meaning: Callable[[bytes], bytes] = bytes,
    ) -> None:
        self.data = data
        self._before, self._places, self._meaning = before, places, meaning
        # The n-th replaced place begins at _out[n] here and at _at[n] there; it took _took[n] bytes and gave _gave[n].
        self._out, self._at, self._took, self._gave = array("q"), array("q"), array("q"), array("b")

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where the bytes [start, end) of this reading stand in the line; a place that was replaced is whole."""
        if self._before is None:
            return start, end
        if not self._out:
            self._find_places(self._before.data)
        return self._before.span(self._edges(start)[0], self._edges(end - 1)[1])

    def _edges(self, position: int) -> tuple[int, int]:
        """The bytes of the reading before that byte `position` of this one was made of."""
        # Places that gave nothing share their beginning with what follows; the last of them counts.
        number = bisect_right(self._out, position) - 1
        if number < 0:
            return position, position + 1
        after = self._at[number] + self._took[number]
        behind = position - self._out[number] - self._gave[number]
        return (self._at[number], after) if behind < 0 else (after + behind, after + behind + 1)

    def _find_places(self, before: bytes) -> None:
        shorter = 0  # bytes that this reading is shorter so far
        for match in self._places.finditer(before) if self._places else ():
            start, end = match.span()
            gave = len(self._meaning(match[0]))
            self._out.append(start - shorter)
            self._at.append(start)
            self._took.append(end - start)
            self._gave.append(gave)
            shorter += end - start - gave


def readings(line: bytes) -> Iterator[Layer]:
    """Every reading of `line` but base64, the line itself first."""
    layer = Layer(line)
    yield layer
    for _ in range(_DEPTH):
        before = layer.data
        if _holds_unseen(before):
            undone = _ESCAPES_OR_UNSEEN.sub(lambda match: _meaning(match[0]), before)
            layer = Layer(undone, layer, _ESCAPES_OR_UNSEEN, _meaning)
        elif b"\\" in before:
            layer = Layer(_without_escapes(before), layer, _ESCAPES, _meaning)
        if layer.data == before:
            break
        yield layer
    if b"%" in line and _PERCENT.search(line):
        yield Layer(_PERCENT.sub(lambda match: _byte(match[0]), line), Layer(line), _PERCENT, _byte)


def _holds_unseen(data: bytes) -> bool:
    if data.isascii():
        return len(data.translate(None, _CONTROLS)) < len(data)
    return compiled(_UNSEEN_CHARS).search(data) is not None


def _without_escapes(data: bytes) -> bytes:
    """`data` with every match of _ESCAPES replaced by its meaning, many times faster when all are of two characters."""
    if _LONG_ESCAPES.search(data):
        return _ESCAPES.sub(lambda match: _meaning(match[0]), data)
    # There are no controls in it, so that one can stand for a backslash that was escaped.
    data = data.replace(rb"\\", b"\0")
    for escape, meaning in _MEANINGS.items():
        if meaning != b"\\":
            data = data.replace(escape, meaning)
    return data.replace(b"\0", b"\\")


def carried(layer: Layer) -> Iterator[tuple[bytes, int, int]]:
    """Each text that base64 hides in `layer`, with the span of its carrier in the line.

    Lines that follow each other are read as one value that was wrapped, and each by itself.
    """
    for match in compiled(_CARRIER).finditer(layer.data):
        (start, end), carrier = match.span(1), match[1]
        text = _decoded(carrier)
        if text:
            yield text, *layer.span(start, end)
        if b"\n" not in carrier:
            continue
        for line in carrier.split(b"\n"):
            text = _decoded(line)
            if text:
                yield text, *layer.span(start, start + len(line))
            start += len(line) + 1


def _decoded(carrier: bytes) -> bytes:
    body = _BREAKS.sub(b"", carrier).rstrip(b"=").replace(b"-", b"+").replace(b"_", b"/")
    try:
        decoded = binascii.a2b_base64(body + b"=" * (-len(body) % 4))
        text = decoded.decode()
    except ValueError:  # not base64, or not UTF-8
        return b""
    return decoded if text.isprintable() or all(char.isprintable() or char in "\r\n\t" for char in text) else b""


def _byte(escape: bytes) -> bytes:
    return bytes([int(escape[1:], 16)])


def _meaning(escape: bytes) -> bytes:
    known = _MEANINGS.get(escape)
    if known is not None:
        return known
    if escape[:2] != rb"\u" or b"[" in escape:
        return b""  # a colour, a wrapped line, an invisible character
    char = chr(int(escape[2:6], 16))
    if len(escape) > 6:
        high, low = int(escape[2:6], 16), int(escape[8:12], 16)
        char = chr(0x10000 + ((high - 0xD800) << 10) + low - 0xDC00)
    return b"" if is_forbidden(char) and char != "\n" else char.encode("utf-8", "replace")
