"""What makes two claims the same claim, whoever wrote them and under whatever id.

The digest is the key of a tombstone, so it must not change between versions of gitmem: a change of
`normalise_claim` is a change of the format.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Final

from gitmem.errors import UsageError
from gitmem.model.text import is_forbidden
from gitmem.model.vocabulary import KIND_CLASS, KINDS

# Letters of one script that are drawn like a Latin letter, after case folding and decomposition. Only shapes
# that readers mistake in running text; a sound-alike is not a look-alike.
_CYRILLIC: Final = ("авеһіјкмнорсԛтѕухԁԝѵґ", "abehijkmhopcqtsyxdwvr")
_GREEK: Final = ("αβγεηικνορτυχωϳ", "abyenikvoptuxwj")
# Pairs kept apart from the runs above because they are marks, not letters.
_MARKS: Final = ("’‘ʼʹ′“”„«»‐‑‒–—―−", "''''" + "'" + '"' * 5 + "-" * 7)
_LATIN: Final = ("ıɑɡⅼ", "iagl")

CONFUSABLES: Final[Mapping[int, str]] = {
    ord(looks): latin for pairs in (_CYRILLIC, _GREEK, _MARKS, _LATIN) for looks, latin in zip(*pairs, strict=True)
}
_TRAILING: Final = " .,;:!?…。、！？；："
# Forbidden in text, but drawn by some readers, and which code points they are depends on the Unicode version.
_NOT_INVISIBLE: Final = frozenset({"Cn", "Co"})


def normalise_claim(text: str) -> str:
    """The letters of a claim without the ways to write them differently.

    NFKC, invisible characters removed, case folded, look-alike letters of Cyrillic and Greek and the many
    quotes and dashes as their ASCII kin, white space collapsed, punctuation at the end dropped.
    `normalise_claim(normalise_claim(x)) == normalise_claim(x)`.
    """
    if text.isascii() and text.replace("\n", " ").replace("\t", " ").isprintable():
        return _squeeze(text.lower())
    previous = None
    # Folding one letter may let it compose with the accent behind it, so until nothing changes: twice, in practice.
    while text != previous:
        previous = text
        text = _fold(text)
    return text


def claim_digest(project: str, kind: str, title: str, body: str) -> str:
    """SHA-256, in lower-case hexadecimal, of (project, class of the kind, normalised title, normalised body).

    Each part is encoded as its length in bytes, a colon and its UTF-8, so no two lists of parts share an
    encoding. Raises UsageError for a kind that has no class.
    """
    if kind not in KIND_CLASS:
        raise UsageError(f"{kind!r} is not a kind of memory", hint=f"use one of {', '.join(KINDS)}")
    import hashlib  # a read needs none, and it loads a large library

    digest = hashlib.sha256()
    for part in (project, KIND_CLASS[kind], normalise_claim(title), normalise_claim(body)):
        raw = part.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(raw))
        digest.update(raw)
    return digest.hexdigest()


def _fold(text: str) -> str:
    text = unicodedata.normalize("NFKC", text)
    text = "".join(char for char in text if char.isspace() or not _is_invisible(char))
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return _squeeze(unicodedata.normalize("NFKC", decomposed.translate(CONFUSABLES)))


def _is_invisible(char: str) -> bool:
    return is_forbidden(char) and unicodedata.category(char) not in _NOT_INVISIBLE


def _squeeze(text: str) -> str:
    return " ".join(text.split()).rstrip(_TRAILING)
