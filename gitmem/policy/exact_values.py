"""The values of secret files, to be hidden wherever they turn up: the only way to find those that no rule can know."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from gitmem.model.pattern import pattern
from gitmem.policy.secret_checks import is_placeholder

FILE_LIMIT: Final = 64 * 1024  # bytes of one secret file that are read
VALUE_LIMIT: Final = 500  # values in all
_SHORTEST: Final = 6
_LONGEST: Final = 4096
_UNNAMED_SHORTEST: Final = 20  # of a value whose name does not say that it is secret
_KEY_LINE: Final = 40
_SECRET_NAME: Final = pattern(
    r"(?i)pass|pwd|secret|token|key|cred|auth|salt|dsn|private|signature|signing|webhook|cookie|session|hmac|jwt|pin$"
)
_ASSIGNMENT: Final = pattern(
    r"""\s*(?:export\s+|set\s+|-\s+)?["']?([A-Za-z_/@.][\w./:@-]*?)["']?\s*[=:]\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|(.*?))\s*,?\s*"""
)
_COMMENT: Final = pattern(r"(?:^|\s)[#;].*")
_NETRC: Final = pattern(r"(?:^|\s)(?:password|account)\s+(\S+)")
_IN_URL: Final = pattern(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@]*:([^\s/@]+)@")
_PLAIN: Final = pattern(
    r"(?i)(?:true|false|null|none|yes|no|on|off|localhost|development|production|staging|test)|[\w.+-]+@[\w.-]+\.\w+"
    r"|(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?|[a-z0-9-]+(?:\.[a-z0-9-]+)+(?::\d+)?|~?\.{0,2}/\S*|[a-z]:\\\S*|v?\d+(?:\.\d+)+"
    r"|[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
)
_URL: Final = pattern(r"[A-Za-z][A-Za-z0-9+.-]*://\S*")
_PEM_LINE: Final = pattern(r"[A-Za-z0-9+/=]+")


def exact_values(files: Iterable[bytes], listed: bytes = b"") -> tuple[str, ...]:
    """The values worth hiding of secret files (.env, JSON, TOML, YAML, INI, netrc or PEM, told by their look), and
    every line of the user's list as it is.

    A value has to be too odd to stand in a text by chance: at least 6 characters of two classes where its name says
    that it is secret, 20 of three otherwise; placeholders, paths, hosts and versions are left out. Longest first.
    """
    found: dict[str, None] = {}
    for line in listed.decode("utf-8", "replace").splitlines():
        value = line.strip()
        if 4 <= len(value) <= _LONGEST:
            found[value] = None
    for data in files:
        for name, value in _pairs(data[:FILE_LIMIT].decode("utf-8", "replace")):
            for part in _hidden_parts(name, value):
                found[part] = None
    return tuple(sorted(found, key=lambda value: (-len(value), value))[:VALUE_LIMIT])


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    """(name, value) of all that looks like a setting."""
    if "PRIVATE KEY" in text:
        yield from (
            ("private key", line) for line in text.split() if len(line) >= _KEY_LINE and _PEM_LINE.fullmatch(line)
        )
    if text.lstrip()[:1] in ("{", "["):
        try:
            yield from _leaves(json.loads(text))
            return
        except (ValueError, RecursionError):
            pass  # JSON with comments, or an INI file that begins with a section
    for line in text.splitlines():
        bare = _COMMENT.sub("", line) if '"' not in line and "'" not in line else line
        match = _ASSIGNMENT.fullmatch(bare)
        if match is None:
            yield from (("password", word) for word in _NETRC.findall(bare))
        elif match[2] is not None:
            yield match[1], match[2].replace('\\"', '"').replace("\\$", "$").replace("\\\\", "\\")
        else:
            yield match[1], match[3] if match[3] is not None else match[4]


def _leaves(data: Any) -> Iterator[tuple[str, str]]:
    """The strings of JSON, each with the key that it stands under; any depth."""
    waiting: list[tuple[str, Any]] = [("", data)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, str):
            yield name, value
            # A key inside a JSON string is written with \n.
            if "PRIVATE KEY" in value:
                yield from (("private key", line) for line in value.split() if len(line) >= _KEY_LINE)
        elif isinstance(value, dict):
            waiting += value.items()
        elif isinstance(value, list):
            waiting += [(name, item) for item in value]


def _hidden_parts(name: str, value: str) -> Iterator[str]:
    value = value.strip()
    if _URL.fullmatch(value):
        yield from (part for part in _IN_URL.findall(value) if _is_odd(part, _SHORTEST, 2))
        return
    named = _SECRET_NAME.search(name) is not None
    if _is_odd(value, _SHORTEST, 2) if named else _is_odd(value, _UNNAMED_SHORTEST, 3) and " " not in value:
        yield value


def _is_odd(value: str, shortest: int, classes: int) -> bool:
    kinds = (
        any(char.islower() for char in value),
        any(char.isupper() for char in value),
        any(char.isdigit() for char in value),
        any(not char.isalnum() and not char.isspace() and char not in "-_./" for char in value),
    )
    return (
        shortest <= len(value) <= _LONGEST
        and sum(kinds) >= classes
        and not (value.istitle() and value.isalpha())
        and len(set(value)) >= 5
        and not is_placeholder(value)
        and _PLAIN.fullmatch(value) is None
    )
