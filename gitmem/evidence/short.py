"""The short forms in which people and agents name evidence, such as `file:src/pool.py@v1.2:40-58`.

A short form is `[ROLE=]TYPE:REST`. What REST means belongs to the type; this module is pure.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple, cast

from gitmem.errors import UsageError
from gitmem.model.pattern import pattern
from gitmem.model.vocabulary import ROLES, Role

_MAX_SPLITS: Final = 16  # how many `@` or `#` of one short form are tried as the separator
_LINES = pattern(r"(?P<path>.+):(?P<lines>[0-9]{1,9}(?:-[0-9]{1,9})?)", re.DOTALL)
_FORGE_LINES = pattern(
    r"(?P<path>.+)(?:#|:)L(?P<first>[0-9]{1,9})(?:C[0-9]{1,9})?(?:-L?(?P<last>[0-9]{1,9})(?:C[0-9]{1,9})?)?", re.DOTALL
)
_LIKE_LINES = pattern(r":[Ll]?[0-9][0-9Ll,.:+-]*$")
_LIKE_FILE = pattern(r"[\w./-]{1,200}\.\w{1,12}(?:[:#]L?[0-9]{1,9}(?:-L?[0-9]{1,9})?)?")
_WORD = pattern(r"[A-Za-z_]+")
REVISION_LIMIT: Final = 250  # characters


class Short(NamedTuple):
    """A short form taken apart, the type not yet known to exist."""

    role: Role
    type: str
    rest: str


class Place(NamedTuple):
    """One way to read `PATH[@REV][:LINES]` or `PATH[@REV]::SYMBOL`."""

    path: str
    revision: str | None
    lines: str | None
    symbol: str | None = None


def parse(text: str) -> Short:
    """Takes `[ROLE=]TYPE:REST` apart. Raises UsageError showing the right form."""
    head, colon, rest = text.partition(":")
    role, equals, kind = head.rpartition("=")
    if not equals:
        role = "supports"
    elif role not in ROLES:
        raise UsageError(
            f"{role!r} is no role of evidence: {', '.join(ROLES)}", hint="for example contradicts=file:src/pool.py:12"
        )
    if not colon or not _WORD.fullmatch(kind):
        file = _LIKE_FILE.fullmatch(text)
        meant = f"for a file: file:{text}" if file else "for example file:src/pool.py:40-58 or commit:HEAD"
        raise UsageError(f"{text!r} does not say what kind of evidence it is", hint=f"write TYPE:WHAT, {meant}")
    return Short(cast(Role, role), kind, rest)


def places(rest: str) -> list[Place]:
    """Every way to read `PATH[@REV][:LINES]` and `PATH[@REV]::SYMBOL`, the most literal first.

    A path may hold `:` and `@`, and a revision may too (`HEAD@{1}`), so the first reading whose file exists is
    the meaning: `a:12` is that file if there is one, else line 12 of `a`. Lines may be as forges copy them, `a#L1-L3`.
    """
    found = [Place(rest, None, None)]
    if forge := _FORGE_LINES.fullmatch(rest):
        first, last = forge["first"], forge["last"]
        rest = f"{forge['path']}:{first}" + (f"-{last}" if last and last != first else "")
    matched = _LINES.fullmatch(rest)
    body, lines = (matched["path"], matched["lines"]) if matched else (rest, None)
    if matched:
        found.append(Place(body, None, lines))
    found += [Place(path, revision, lines) for path, revision in splits(body, "@")]
    for body, symbol in splits(rest, "::")[::-1]:  # a symbol may hold `::`, a path hardly does
        found += [Place(body, None, None, symbol)]
        found += [Place(path, revision, None, symbol) for path, revision in splits(body, "@")]
    return found


def splits(text: str, separator: str) -> list[tuple[str, str]]:
    """Every cut of `text` in two non-empty parts at `separator`, the rightmost first, at most 16."""
    cuts: list[tuple[str, str]] = []
    end = len(text)
    while len(cuts) < _MAX_SPLITS and (end := text.rfind(separator, 0, end)) > 0:
        if text[end + len(separator) :]:
            cuts.append((text[:end], text[end + len(separator) :]))
    return cuts


def looks_like_lines(rest: str) -> str | None:
    """The path before something that was meant as lines but is not (`:L40`, `:40,58`), else None."""
    matched = _LIKE_LINES.search(rest)
    return rest[: matched.start()] if matched and matched.start() else None


def line_range(lines: str) -> tuple[int, int] | None:
    """`12` as (12, 12), `40-58` as (40, 58); None when it is no such range, counted from 1."""
    if not re.fullmatch(r"[0-9]{1,9}(?:-[0-9]{1,9})?", lines):
        return None
    first, _, last = lines.partition("-")
    start, end = int(first), int(last or first)
    return (start, end) if 1 <= start <= end else None


def is_revision(text: str) -> bool:
    """True when `text` may be handed to git as the name of a commit: no option, no range, no path, printable."""
    return (
        0 < len(text) <= REVISION_LIMIT
        and text.isprintable()
        and not text.startswith(("-", "^"))
        and ".." not in text
        and ":" not in text
    )
