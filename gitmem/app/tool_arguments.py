"""What a tool of `gitmem mcp` takes, and what it does not. Whoever calls may be anybody: every argument is checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gitmem.errors import UsageError
from gitmem.model.frozen import dataclass
from gitmem.model.text import is_clean, one_line
from gitmem.model.vocabulary import ITEM_LIMIT

Given = Mapping[str, Any]
_NAME: Final = 60  # characters of a name that is told back


@dataclass(frozen=True)
class Take:
    """One argument. type: string, integer or array (of strings). most: characters, the largest number, or items."""

    type: str
    about: str
    most: int
    required: bool = False
    words: tuple[str, ...] = ()

    def schema(self) -> dict[str, Any]:
        own: dict[str, Any] = {"type": self.type, "description": self.about} if self.about else {"type": self.type}
        if self.type == "array":
            return {**own, "items": {"type": "string"}}
        return {**own, **({"enum": list(self.words)} if self.words else {})}


def schema(takes: Mapping[str, Take]) -> dict[str, Any]:
    """The JSON Schema of arguments."""
    needed = [name for name, take in takes.items() if take.required]
    properties = {name: take.schema() for name, take in takes.items()}
    return {
        "type": "object", "properties": properties, "additionalProperties": False,
        **({"required": needed} if needed else {}),
    }  # fmt: skip


def checked(takes: Mapping[str, Take], given: Any) -> Given:
    """The arguments as the tool takes them. Raises UsageError for any other."""
    data = {} if given is None else given
    if not isinstance(data, dict):
        raise UsageError("the arguments are no object")
    for name in data:
        if name not in takes:
            known = ", ".join(takes) or "none"
            raise UsageError(f"there is no argument {one_line(str(name), _NAME)!r}", hint=f"this tool takes: {known}")
    for name, take in takes.items():
        if name not in data:
            if take.required:
                raise UsageError(f"{name} is missing", hint=take.about)
            continue
        _check(name, take, data[name])
    return data


def _check(name: str, take: Take, value: Any) -> None:
    if take.type == "integer":
        if type(value) is not int or not 0 <= value <= take.most:
            raise UsageError(f"{name} is no number from 0 to {take.most:,}")
        return
    items = value if take.type == "array" else [value]
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise UsageError(f"{name} is no {'list of strings' if take.type == 'array' else 'string'}", hint=take.about)
    if take.type == "array" and len(items) > ITEM_LIMIT:
        raise UsageError(f"{name} has more than {ITEM_LIMIT} items")
    for item in items:
        if len(item) > take.most:
            raise UsageError(f"{name} is longer than {take.most:,} characters")
        if not is_clean(item):
            raise UsageError(f"{name} holds a character that cannot be seen", hint="leave control characters out")
    if take.words and value not in take.words:
        given = f"there is no {name} {one_line(value, _NAME)!r}"
        raise UsageError(given, hint=f"{name} is one of {', '.join(take.words)}")
