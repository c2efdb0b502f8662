"""What is asked and what is answered."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from typing import Final, Literal

from gitmem.model.frozen import dataclass, field
from gitmem.model.nouns import Memory
from gitmem.model.records import memory_from_bytes
from gitmem.recall.document import OPEN_END

EVERY_VERSION: Final = -1
ACCEPTED: Final = ("main", "private", "user")  # where a memory lies that was let in


@dataclass(frozen=True)
class Query:
    """A search. Empty `texts` ask for everything that passes, newest first.

    phrase: each text has to occur word for word; phrases: so have these, beside the texts. kinds, statuses, refs,
    origins: any of them; empty does not ask (`refs` is what was let in unless said otherwise; at an earlier position
    it is the branch alone, which alone has a past here). tags: all of
    them. path: memories about that file or folder, about what lies in it, or about a folder that holds it; called: and
    about exactly these. about: those about exactly one of these.
    since, until: recorded in [since, until). after: versions that came later than
    this position. position: as the branch stood there (`gitmem.recall.positions`); None is now,
    EVERY_VERSION is at any time. previous: the request before this one, whose words weigh less. places: paths that
    matter here, with how much, 0 to 1; what is about them is raised. only: this memory and no other.
    upto: of every version, those that stood at this position or before.
    used: memories that are used here, with how likely each is needed, 0 to 1; they are raised.
    aside: words of the texts that say where and not what: they count for the order, not for how sure an answer is.
    meaning: where there is a model. Without it, words alone are searched.
    """

    texts: tuple[str, ...] = ()
    phrase: bool = False
    phrases: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    key: str | None = None
    path: str | None = None
    called: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    refs: tuple[str, ...] = ACCEPTED
    origins: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    position: int | None = None
    after: int | None = None
    previous: str | None = None
    places: Mapping[str, float] = field(default_factory=dict)
    only: str | None = None
    upto: int | None = None
    aside: tuple[str, ...] = ()
    used: Mapping[str, float] = field(default_factory=dict)
    meaning: bool = True
    limit: int = 10
    offset: int = 0
    order: Literal["relevance", "newest"] = "relevance"


@dataclass(frozen=True)
class Hit:
    """One version of a memory that answers.

    score: about 0 to 2, comparable within one answer only. matched: the terms found. record: the canonical bytes of
    the version (empty for a tombstone). since, until: the positions at which it stood. recorded, changed: Unix
    microseconds of the memory's first event and of the one that made this version. lanes: what the score is made of.
    confidence: the part of what was asked that it holds, 0 to 1. review: the level of its review.
    """

    ref: str
    id: str
    score: float = 0.0
    matched: tuple[str, ...] = ()
    record: bytes = b""
    since: int = 0
    until: int = OPEN_END
    recorded: int = 0
    changed: int = 0
    lanes: Mapping[str, float] = field(default_factory=dict)
    confidence: float = 0.0
    review: int = 0

    @cached_property
    def memory(self) -> Memory:
        """The memory as it is on the card: what was verified before it was indexed."""
        return memory_from_bytes(self.record, path=self.id, trusted=True)

    @property
    def current(self) -> bool:
        """True when no later version has taken its place."""
        return self.until == OPEN_END


@dataclass(frozen=True)
class Term:
    """A word of a question as it was asked: how much it weighs there, and in how many versions it occurs."""

    text: str
    weight: float
    versions: int


@dataclass(frozen=True)
class Found:
    """An answer. total: memories that match (for words: those ranked). searched: memories that were looked at,
    after the filter; 0 says that nothing was searched, which is not the same as nothing known.

    confidence: the largest part of what was asked that one of the hits holds, 0 to 1; rare words count for more.
    """

    hits: tuple[Hit, ...]
    total: int
    searched: int
    confidence: float = 0.0
