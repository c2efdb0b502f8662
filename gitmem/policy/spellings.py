"""A value in each way that text keeps it: as it is, escaped for JSON or a URL, in hexadecimal, in base64."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Final
from urllib.parse import quote

SHORTEST: Final = 4  # bytes; what is shorter stands in every text by chance
_SHORTEST_LINE: Final = 8  # bytes of a line of a value that has several


def spellings(value: str) -> dict[bytes, str]:
    """What to look for, with the name of its encoding; two encodings that give the same bytes are one.

    Of a value of several lines also each of its longer lines, for a file may indent them. Base64 at all three places
    that a value can begin in a group of three bytes, without the characters that its neighbours decide, so a value of
    a few bytes is looked for by what is left: never less than four characters.
    """
    found: dict[bytes, str] = {}
    for text in dict.fromkeys([value, *(line.strip() for line in value.splitlines())]):
        raw = text.encode()
        if len(raw) < (SHORTEST if text == value else _SHORTEST_LINE):
            continue
        _add(found, raw, "plain")
        for ascii_only in (True, False):
            escaped = json.dumps(text, ensure_ascii=ascii_only)[1:-1]
            for one in (escaped, escaped.replace("/", "\\/"), json.dumps(escaped)[1:-1]):
                _add(found, one.encode(), "JSON")
        for safe in ("", "/"):
            _add(found, quote(text, safe=safe).encode(), "percent")
        _add(found, raw.hex().encode(), "hexadecimal")
        _add(found, raw.hex().upper().encode(), "hexadecimal")
        for before in range(3):
            coded = b64encode(b"\0" * before + raw)
            first, last = (0, 2, 3)[before], (before + len(raw)) * 8 // 6
            _add(found, coded[first:last], "base64")
            _add(found, coded[first:last].translate(bytes.maketrans(b"+/", b"-_")), "base64")
    return found


def _add(found: dict[bytes, str], needle: bytes, encoding: str) -> None:
    if len(needle) >= SHORTEST:
        found.setdefault(needle, encoding)
