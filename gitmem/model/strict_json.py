"""JSON that every program reads alike."""

from __future__ import annotations

import json
from typing import Any

from gitmem.model.text import one_line


class UnclearError(ValueError):
    """JSON that programs read differently: a key that stands twice in one object, or a number that JSON has not."""


def strict_json(text: str) -> Any:
    """The value of a JSON text. Raises UnclearError, another ValueError for what is no JSON, and RecursionError."""
    return json.loads(text, object_pairs_hook=_pairs, parse_constant=_no_constant)


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) != len(pairs):
        twice = next(key for number, (key, _) in enumerate(pairs) if key in dict(pairs[:number]))
        raise UnclearError(f"the key {one_line(twice, 40)!r} stands twice")
    return data


def _no_constant(word: str) -> Any:
    raise UnclearError(f"{word} is not a number")
