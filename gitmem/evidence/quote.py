"""Quotes: choosing one that tells, and checking one word for word."""

from __future__ import annotations

from typing import Final

from gitmem.model.text import forbidden

QUOTE_LENGTH: Final = 160  # characters of a quote that gitmem chooses by itself
_LETTERS: Final = 4  # letters and digits below which a line says nothing
_BYTES_READ: Final = 4 * QUOTE_LENGTH + 64
_LINES_READ: Final = 5000
_SHOWN: Final = 1024 * 1024


def telling_line(data: bytes) -> str | None:
    """The most telling line of `data` as a quote of at most 160 characters; None if none may be quoted.

    Most telling is the line with the most letters and digits, so a brace or a rule of dashes never wins. Of a
    long text the first 5,000 lines are looked at. The quote occurs in `data` word for word.
    """
    best, most = None, 0
    for line in data.split(b"\n", _LINES_READ)[:_LINES_READ]:
        quote = cut(line)
        weight = sum(map(str.isalnum, quote)) if quote else 0
        if weight > most:
            best, most = quote, weight
    return best


def cut(line: bytes) -> str | None:
    """`line` without white space around it, cut to 160 characters; None when it may not be stored.

    Not to be stored are lines of less than 4 letters and digits, bytes that are no UTF-8, and characters that no
    memory may hold. A byte order mark at the start is left out.
    """
    # Bytes that are no UTF-8 become lone surrogates, which are forbidden like other invisible characters.
    text = line.strip()[:_BYTES_READ].decode(errors="surrogateescape")
    quote = text.removeprefix("\ufeff").strip()[:QUOTE_LENGTH].rstrip()
    return quote if sum(map(str.isalnum, quote)) >= _LETTERS and not any(forbidden(quote)) else None


def occurs(quote: str | None, cited: bytes) -> bool | None:
    """Whether `quote` stands in `cited` word for word; None without a quote. Nothing is normalised."""
    if quote is None:
        return None
    try:
        return bool(quote) and quote.encode() in cited
    except UnicodeEncodeError:
        return False


def shown(cited: bytes) -> str:
    """The first MiB of `cited` as text for a reader; bytes that are no UTF-8 show as the replacement character."""
    return cited[:_SHOWN].decode(errors="replace")
