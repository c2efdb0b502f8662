"""What a pattern of `applies_to` covers (docs/format.md, section 6.1). Linear for every pattern, however hostile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, TypeVar

_ANY_FOLDERS: Final = "**"
_WILD: Final = "*?["
_T = TypeVar("_T")

Test = Callable[[str], bool]  # of one character


def covers(pattern: str, path: str) -> bool:
    """Whether `pattern` is about the file or folder at `path`, which is given from the top of the repository.

    Without a wildcard it is that file, or all that lies in that folder. With one the whole path has to match, part
    for part; a pattern that is one part may match at any depth.
    """
    plain = _tidy(pattern)
    if plain in ("", path) or path.startswith(f"{plain}/"):
        return True
    if not any(char in plain for char in _WILD):
        return False
    parts = plain.split("/")
    if len(parts) == 1 and not pattern.startswith("/"):
        parts = [_ANY_FOLDERS, *parts]
    if pattern.endswith("/"):
        parts.append(_ANY_FOLDERS)
    return _path_matches(parts, path.split("/"))


def _tidy(pattern: str) -> str:
    """Without "." parts and empty ones; "" is the whole tree."""
    return "/".join(part for part in pattern.split("/") if part not in ("", "."))


def _path_matches(parts: Sequence[str], names: Sequence[str]) -> bool:
    """`**` stands for any number of folders; at the end for anything inside."""
    if parts[-1] == _ANY_FOLDERS:
        parts = [*parts, "*"]

    def fits(part: str, name: str) -> bool:
        return _star_matches(_tests(part), name, lambda test, char: test is None or test(char), None)

    return _star_matches(parts, names, fits, _ANY_FOLDERS)


def _star_matches(pattern: Sequence[_T], items: Sequence[str], fits: Callable[[_T, str], bool], star: _T) -> bool:
    """Whether `items` match, where `star` stands for any number of them. Only the last star is ever gone back to,
    which is enough: the ones before it took the least that they can."""
    at = star_at = resume = 0
    starred = False
    position = 0
    while position < len(items):
        if at < len(pattern) and pattern[at] == star:
            starred, star_at, resume = True, at, position
            at += 1
        elif at < len(pattern) and fits(pattern[at], items[position]):
            at += 1
            position += 1
        elif starred:
            resume += 1
            at, position = star_at + 1, resume
        else:
            return False
    return all(one == star for one in pattern[at:])


@lru_cache(maxsize=1024)
def _tests(part: str) -> tuple[Test | None, ...]:
    """One test a character; None is `*`."""
    found: list[Test | None] = []
    position = 0
    while position < len(part):
        char = part[position]
        close = part.find("]", position + 2) if char == "[" else -1
        if char == "*":
            found.append(None)
        elif char == "?":
            found.append(lambda _: True)
        elif close > 0:
            found.append(_one_of(part[position + 1 : close]))
            position = close
        else:
            found.append(char.__eq__)
        position += 1
    return tuple(found)


def _one_of(inside: str) -> Test:
    """`[abc]`, `[a-z]`; `[!…]` and `[^…]` for any other character."""
    negated = inside[0] in "!^" and len(inside) > 1
    inside = inside[negated:]
    ranges: list[tuple[str, str]] = []
    position = 0
    while position < len(inside):
        end = inside[position + 2] if inside[position + 1 : position + 2] == "-" and position + 2 < len(inside) else ""
        ranges.append((inside[position], end or inside[position]))
        position += 3 if end else 1
    return lambda char: any(low <= char <= high for low, high in ranges) != negated
