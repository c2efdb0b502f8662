"""`file:PATH::NAME` and `file:PATH::NAME=LITERAL`: the lines that define a name."""

from __future__ import annotations

from typing import Final

from gitmem.errors import Ambiguous, NotFound, UsageError
from gitmem.evidence.definitions import Code, Definition, parsed
from gitmem.evidence.languages import LANGUAGES
from gitmem.model.text import escape, one_line
from gitmem.model.vocabulary import SYMBOL_LIMIT

_QUOTES: Final = str.maketrans("'`", '""')
_SHOWN: Final = 5


def definition_lines(path: str, data: bytes, asked: str) -> tuple[str, str]:
    """The whole name of what `asked` names in a file, as it is stored, and the lines that define it.

    `asked`: `acquire`, `Pool.acquire` (or `Pool::acquire`), or `TIMEOUT=300`, which has to be so. Raises UsageError
    where no parser is, NotFound with what is near, Ambiguous with the lines of each.
    """
    code = parsed(path, data)
    if code is None:
        known = " ".join(f".{end}" for end in LANGUAGES)
        raise UsageError(
            f"definitions are not found in {escape(path)}", hint=f"cite its lines: file:{path}:12-15; known are {known}"
        )
    name, equals, literal = (part.strip() for part in asked.partition("="))
    found = code.named(name.replace("::", "."))
    if not found:
        raise NotFound(f"{path} defines no {escape(one_line(name, 80))!r}", hint=_near(path, code, name))
    if len(found) > 1:
        lines = "\n".join(f"  {escape(one.name)}, lines {one.first}-{one.last}" for one in found[:10])
        hint = f"give more of the name, or the lines: file:{path}:{found[0].first}-{found[0].last}"
        raise Ambiguous(f"{path} defines {escape(name)!r} {len(found)} times:\n{lines}", hint=hint)
    (one,) = found
    symbol = f"{one.name}={_checked(path, code, one, literal)}" if equals else one.name
    if len(symbol) > SYMBOL_LIMIT:
        raise UsageError(
            f"a symbol of {len(symbol)} characters is too long",
            hint=f"cite its lines: file:{path}:{one.first}-{one.last}",
        )
    return symbol, f"{one.first}-{one.last}" if one.first < one.last else str(one.first)


def _checked(path: str, code: Code, one: Definition, literal: str) -> str:
    """The value of a variable as the file spells it. Raises UsageError when it is another than was said."""
    value = code.literal(one)
    if " ".join(literal.split()).translate(_QUOTES) != value.translate(_QUOTES):
        there = f"{one_line(value, 80)}" if value else "nothing"
        raise UsageError(
            f"{path} sets {escape(one.name)} to {escape(there)}, not to {escape(one_line(literal, 80))}",
            hint=f"file:{path}::{one.name}={one_line(value, 80)}" if value else f"file:{path}::{one.name}",
        )
    return value


def _near(path: str, code: Code, name: str) -> str:
    from difflib import get_close_matches

    names = {one.name for one in code.definitions}
    last = {one.rpartition(".")[2]: one for one in names}
    near = get_close_matches(name, names, n=1) or [last[end] for end in get_close_matches(name, last, n=1)]
    if near:
        return f"did you mean file:{path}::{near[0]}?"
    shown = sorted(names)[:_SHOWN]
    return f"it defines {', '.join(shown)}{' …' if len(names) > _SHOWN else ''}" if shown else "cite its lines"
