"""The rules of `secret_rules` over bytes, with one pattern in front that nearly all lines of a transcript fail.

The screen is the union of the rules with their upper bounds taken away: it matches wherever one of them does, and
its automaton is small enough to read more than 100 MB in a second.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any, Final

from gitmem.policy.patterns import compiled
from gitmem.policy.secret_checks import CHECKS
from gitmem.policy.secret_rules import ANY_NAME, EDGE, LABEL_EDGE, RULES, URL_SCHEME, Rule
from gitmem.policy.secrets import Secret, candidates

_REPEATED: Final = re.compile(r"\{(\d+)(?:,(\d+))?\}\??")
_LEAST: Final = 4  # repetitions of a class that the screen counts
# Bytes that a match may begin before the part of it that the screen finds, and end behind it: a label has 60
# characters in front, a web token three parts of 900.
_BEFORE: Final = 256
_AFTER: Final = 4096
# A private key has no longest length, and its rules no place in the screen.
_PRIVATE_KEY: Final = "private-key"
_KEY_WORDS: Final = b"PRIVATE KEY"
_KEY_RULES: Final = tuple(rule for rule in RULES if rule.name == _PRIVATE_KEY)


@cache
def relaxed(rule_pattern: str) -> str:
    """A pattern that matches every text in which `rule_pattern` is found, and more.

    What may stand in front is left out, repetitions have no upper bound and a small lower one: each makes
    the language larger.
    """
    flag = "(?i)" if rule_pattern.startswith("(?i)") else ""
    body = rule_pattern.removeprefix(flag)
    for in_front in (LABEL_EDGE, EDGE, ANY_NAME):
        body = body.removeprefix(in_front)
    if body.startswith(URL_SCHEME):
        body = "://" + body.removeprefix(URL_SCHEME)
    return flag + _REPEATED.sub(lambda m: "*" if m[1] == "0" else f"{{{min(int(m[1]), _LEAST)},}}", body)


@lru_cache(maxsize=1)
def _screen() -> Any:
    return compiled("|".join(f"(?:{relaxed(rule.pattern)})" for rule in RULES if rule.name != _PRIVATE_KEY))


@lru_cache(maxsize=4)
def _exactly(exact: tuple[str, ...]) -> Any:
    """The values as one pattern, the longest first."""
    spelled = ("".join(_literal(char) for char in value) for value in sorted(exact, key=lambda v: (-len(v), v)))
    return compiled("|".join(spelled))


def _literal(char: str) -> str:
    return char if char.isalnum() or not char.isascii() else f"\\x{{{ord(char):x}}}"


def scan(data: bytes, exact: Sequence[str] = ()) -> Iterator[Secret]:
    """The secrets in `data` as it stands, by bytes; they may overlap."""
    values = tuple(value for value in exact if value)
    if values:
        for match in _exactly(values).finditer(data):
            yield Secret("exact", *match.span())
    for start, text in _windows(data):
        for rule in candidates(text.decode("utf-8", "replace")):
            if rule.name != _PRIVATE_KEY and compiled(relaxed(rule.pattern)).search(text) is not None:
                for begin, end in _matches(rule, text):
                    yield Secret(rule.name, start + begin, start + end)
    if _KEY_WORDS in data:
        for rule in _KEY_RULES:
            for begin, end in _matches(rule, data):
                yield Secret(rule.name, begin, end)


def _windows(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The parts of `data` in which a rule may match, each with its place; they do not overlap.

    No rule matches at the cut: the screen would have matched there, and the part would begin before it.
    """
    begin = end = 0
    for match in _screen().finditer(data):
        if match.start() - _BEFORE > end:
            if end:
                yield begin, data[begin:end]
            begin = match.start() - _BEFORE
        end = match.end() + _AFTER
    if end:
        yield begin, data[begin:end]


def _matches(rule: Rule, text: bytes) -> Iterator[tuple[int, int]]:
    """The span of every value. What stands behind a value may be what has to stand in front of the next."""
    pattern, check = compiled(rule.pattern), CHECKS[rule.check]
    position = 0
    while (match := pattern.search(text, position)) is not None:
        if check(match[1].decode("utf-8", "replace"), match[0].decode("utf-8", "replace")):
            yield match.span(1)
        position = max(match.end(1), match.start() + 1)


def may_match(data: bytes, exact: Sequence[str] = ()) -> bool:
    """False only when `scan` finds nothing in `data` nor in any part of it."""
    values = tuple(value for value in exact if value)
    return _KEY_WORDS in data or _screen().search(data) is not None or bool(values and _exactly(values).search(data))
