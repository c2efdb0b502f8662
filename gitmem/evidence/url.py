"""`url:https://...`: an address outside. It is never fetched, so it proves nothing but itself."""

from __future__ import annotations

from typing import Final

from gitmem.errors import UsageError
from gitmem.evidence.quote import occurs
from gitmem.evidence.sources import Sources, is_utf8
from gitmem.model.judgement import Resolution
from gitmem.model.nouns import UrlRef
from gitmem.model.records import digest
from gitmem.model.text import escape
from gitmem.model.vocabulary import Role

EXAMPLE: Final = "url:https://redis.io/docs/latest/develop/clients/"
_LENGTH: Final = 2000  # characters


def expand(rest: str, role: Role, sources: Sources) -> UrlRef:
    fault = _fault(rest)
    if fault:
        # The address is not repeated: what is wrong with it may be a password.
        raise UsageError(f"the address {fault}", hint=f"for example {EXAMPLE}")
    return UrlRef(rest, digest(rest.encode()), role=role)


def resolve(ref: UrlRef, sources: Sources) -> Resolution:
    """Nobody reads the page, so no quote from it can be confirmed: `quoted` is False for any."""
    fault = _fault(ref.url)
    if fault:
        return Resolution(ref, "missing", f"the address {fault}")
    quoted = occurs(ref.quote, ref.url.encode())
    if digest(ref.url.encode()) != ref.sha256:
        return Resolution(ref, "changed", "the address does not hash to the record", ref.url, quoted)
    return Resolution(ref, "verified", "not fetched", ref.url, quoted)


def _fault(url: str) -> str:
    """What keeps an address from being cited; empty when nothing does."""
    from urllib.parse import urlsplit

    if len(url) > _LENGTH:
        return f"is longer than {_LENGTH} characters"
    if not is_utf8(url) or any(char.isspace() for char in url) or escape(url) != url:
        return "holds white space or invisible characters"
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return "is not well formed"
    if parts.scheme not in ("http", "https"):
        return "does not begin with http:// or https://"
    if not host:
        return "names no host"
    return "carries credentials" if "@" in parts.netloc else ""
