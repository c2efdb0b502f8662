"""Text of others in Markdown of ours: none of it is markup, a link, a mention or a command."""

from __future__ import annotations

from typing import Final

from gitmem.model.text import escape, one_line

_MARKUP: Final = "\\`*_{}[]()<>#+!|@~&:"


def cell(text: str, *, code: bool = False, width: int = 300) -> str:
    """Text in a table cell or a line that a hostile author cannot break out of."""
    safe = one_line(text, width)
    if code:
        return f"`{safe.replace('`', '').replace('|', '')}`" if safe else ""
    return "".join(f"&#{ord(char)};" if char in _MARKUP else char for char in safe)


def quoted(text: str, *, lines: int = 12, width: int = 200) -> list[str]:
    """Text as a block quote, line by line, cut to `lines`."""
    rows = escape(text, keep_newlines=True).rstrip("\n").split("\n")
    shown = [f"> {cell(row, width=width)}".rstrip() + "  " for row in rows[:lines]]
    return shown + ([f"> … {len(rows) - lines} more lines"] if len(rows) > lines else [])
