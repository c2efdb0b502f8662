"""The one door to RE2: linear time on any input, and silent. Loaded when the first pattern is needed."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

_MEMORY: Final = 32 << 20  # bytes that one pattern may use; beyond it RE2 is slower, not wrong


@cache
def compiled(pattern: str) -> Any:
    """`pattern` as an RE2 regular expression."""
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    return re2.compile(pattern, options)


def is_loaded() -> bool:
    """True once a pattern was needed."""
    return compiled.cache_info().currsize > 0


def readable(text: str) -> str:
    """`text` as RE2 can read it: UTF-8 has no lone surrogates, so "?" stands for each."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
