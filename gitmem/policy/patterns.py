"""The one door to RE2: linear time on any input, and silent. Loaded when the first pattern is needed."""

from __future__ import annotations

from typing import Any, Final

_MEMORY: Final = 32 << 20  # bytes that one pattern may use; beyond it RE2 is slower, not wrong
_COMPILED: Final[dict[str, Any]] = {}


def compiled(pattern: str) -> Any:
    """`pattern` as an RE2 regular expression."""
    found = _COMPILED.get(pattern)
    if found is None:
        found = _COMPILED[pattern] = _compile(pattern)
    return found


def _compile(pattern: str) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    return re2.compile(pattern, options)


def is_loaded() -> bool:
    """True once any pattern was needed."""
    return bool(_COMPILED)


def search(pattern: str, text: str) -> bool:
    """True when `pattern` is found in `text`, or in one of its lines by itself; "^" and "$" are ends of lines."""
    return compiled(f"(?m){pattern}").search(readable(text)) is not None


def readable(text: str) -> str:
    """`text` as RE2 can read it: UTF-8 has no lone surrogates, so "?" stands for each."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
