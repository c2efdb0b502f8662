"""The values of secret files, to be hidden wherever they turn up: the only way to find those that no rule can know."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any, Final

FILE_LIMIT: Final = 64 * 1024  # bytes of one secret file that are read
VALUE_LIMIT: Final = 500  # values in all
_SHORTEST: Final = 6
_LONGEST: Final = 4096
_UNNAMED_SHORTEST: Final = 20  # of a value whose name does not say that it is secret
_KEY_LINE: Final = 40
# No regular expressions: this runs at every write where there is a secret file, and compiling them takes longer.
_SECRET_NAMES: Final = (
    "pass", "pwd", "secret", "token", "key", "cred", "auth", "salt", "dsn", "private", "signature", "signing",
    "webhook", "cookie", "session", "hmac", "jwt",
)  # fmt: skip
_WORDS: Final = frozenset({
    "localhost", "development", "production", "staging", "true", "false", "password", "passw0rd", "secret", "postgres",
    "admin", "root", "test", "token", "user", "username", "changeme", "change-me",
})  # fmt: skip
_PLACEHOLDERS: Final = (
    "example", "placeholder", "changeme", "change-me", "change_me", "your-", "your_", "xxxx", "****", "...", "…",
)  # fmt: skip
_HEX: Final = frozenset("0123456789abcdefABCDEF")
_BASE64: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")


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
            ("private key", line) for line in text.split() if len(line) >= _KEY_LINE and _BASE64.issuperset(line)
        )
    if text.lstrip()[:1] in ("{", "["):
        try:
            yield from _leaves(json.loads(text))
            return
        except (ValueError, RecursionError):
            pass  # JSON with comments, or an INI file that begins with a section
    for line in text.splitlines():
        line = line.strip()
        if line[:1] in ("#", ";"):
            continue
        words = line.split()
        yield from (("password", word) for label, word in pairwise(words) if label == "password")
        name, value = _setting(line)
        if name and value:
            yield name, value


def _setting(line: str) -> tuple[str, str]:
    """(name, value) of `name = value`, `name: value` and their like; ("", "") for another line."""
    for before in ("export ", "set ", "- "):
        line = line.removeprefix(before)
    if line.startswith("//"):  # npm: //registry.example.org/:_authToken=…
        line = line.partition(":_")[2]
    ends = [end for end in (line.find("="), line.find(":")) if end > 0]
    if not ends:
        return "", ""
    name, value = line[: min(ends)].strip().strip("\"'"), line[min(ends) + 1 :].strip().removesuffix(",").rstrip()
    quote = value[:1]
    if quote == "'":
        return name, value[1:].partition("'")[0]
    if quote == '"':
        return name, _unquoted(value)
    for comment in (" #", "\t#", " ;"):
        value = value.partition(comment)[0]
    return name, value.rstrip()


def _unquoted(value: str) -> str:
    """What a string in double quotes says, up to its end."""
    inside = value[1:].replace("\\\\", "\0").replace('\\"', "\1").partition('"')[0]
    return inside.replace("\1", '"').replace("\\$", "$").replace("\0", "\\")


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
    _, is_url, rest = value.partition("://")
    if is_url and " " not in value:
        user, at, _ = rest.partition("/")[0].rpartition("@")
        password = user.partition(":")[2] if at else ""
        if _is_odd(password, _SHORTEST, 2):
            yield password
        return
    folded = name.casefold()
    named = any(word in folded for word in _SECRET_NAMES)
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
        and len(set(value)) >= 5
        and not (value.istitle() and value.isalpha())
        and not _is_ordinary(value)
    )


def _is_ordinary(value: str) -> bool:
    """A placeholder, a path, an address of mail or of a host, a version or a UUID."""
    folded = value.casefold()
    if folded.rstrip("0123456789!") in _WORDS or value[0] in "$<{([%*" or any(mark in folded for mark in _PLACEHOLDERS):
        return True
    if value.startswith(("/", "./", "../", "~/")) or value[1:3] == ":\\":
        return True
    if len(value) == 36 and value.count("-") == 4 and _HEX.issuperset(value.replace("-", "")):
        return True
    host = value.rpartition("@")[2].rpartition(":")[0] or value.rpartition("@")[2]
    parts = host.split(".")
    return len(parts) > 1 and all(p and p == p.casefold() and p.replace("-", "").isalnum() for p in parts)
