"""Regular expressions that are compiled when they are first used.

Python compiles a pattern in 0.1 to 10 ms and keeps nothing between processes. Most patterns of the gate are for
texts that a single write does not hold (docs/performance.md, "Start-up").
"""

from __future__ import annotations

import re
from typing import Any, cast


class _Pattern:
    """Becomes a compiled pattern with the first attribute that is asked of it."""

    def __init__(self, source: str | bytes, flags: int) -> None:
        self._source = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        compiled = re.compile(self._source, self._flags)
        for method in ("search", "match", "fullmatch", "finditer", "findall", "sub", "split"):
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)


def pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, later. A mistake in `source` shows at the first use."""
    return cast("re.Pattern[str]", _Pattern(source, flags))


def pattern_of_bytes(source: bytes, flags: int = 0) -> re.Pattern[bytes]:
    """As `pattern`, for bytes."""
    return cast("re.Pattern[bytes]", _Pattern(source, flags))
