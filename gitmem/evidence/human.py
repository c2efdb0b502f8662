"""`human:"words"`: a person's own words. They are human only when a terminal, observed as such, brought them."""

from __future__ import annotations

from typing import Final

from gitmem.errors import UsageError
from gitmem.evidence.sources import Sources, is_utf8
from gitmem.model.judgement import Resolution
from gitmem.model.nouns import HumanRef
from gitmem.model.records import digest
from gitmem.model.vocabulary import QUOTE_LIMIT, Role

EXAMPLE: Final = 'human:"we deploy on Tuesdays only"'


def expand(rest: str, role: Role, sources: Sources) -> HumanRef:
    """Quotation marks around the words are optional and no part of them."""
    quoted = len(rest) >= 2 and rest[0] == rest[-1] == '"'
    words = (rest[1:-1] if quoted else rest).strip()
    if not words or not is_utf8(words):
        raise UsageError("a human reference needs the words that the person said", hint=f"for example {EXAMPLE}")
    if len(words) > QUOTE_LIMIT:
        raise UsageError(
            f"the words have {len(words)} characters; {QUOTE_LIMIT} is the most", hint="quote the sentence that matters"
        )
    return HumanRef(words, digest(words.encode()), role)


def resolve(ref: HumanRef, sources: Sources) -> Resolution:
    """The words are their own source, so the digest binds them and the channel says whose they are."""
    if not is_utf8(ref.quote) or digest(ref.quote.encode()) != ref.sha256:
        return Resolution(ref, "changed", "the words do not hash to the record")
    human = sources.channel == "terminal"
    detail = "" if human else f"said through {sources.channel}, so not known to be a person's"
    return Resolution(ref, "verified", detail, ref.quote, bool(ref.quote), human)
