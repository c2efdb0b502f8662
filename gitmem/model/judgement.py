"""What the rooms say to each other about one change: resolutions, facts, reasons, decisions, filters."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from gitmem.model.frozen import dataclass, field
from gitmem.model.nouns import EvidenceRef, Memory, Tombstone
from gitmem.model.times import holds_at
from gitmem.model.vocabulary import Channel, Op, Origin


@dataclass(frozen=True)
class Resolution:
    """What looking at the cited bytes gave.

    verified: the bytes are there and hash to the record. changed: other bytes are there. missing: nothing
    is there and should be. unobservable: the bytes cannot be reached from this clone (they may exist).
    `text` is the cited text where it was reached, for the quote rule and for showing; `quoted` says whether
    the quote occurs in it (None: no quote, or not reached). `human` is True when the words are a person's own.
    """

    ref: EvidenceRef
    state: Literal["verified", "changed", "missing", "unobservable"]
    detail: str = ""
    text: str = ""
    quoted: bool | None = None
    human: bool = False


@dataclass(frozen=True)
class Neighbour:
    """A record that says nearly the same. `where`: of `layout.PLACES`, "tombstone", or "batch" for the same write.

    `matched`: the field of the new record that says it. `reason`: why it was rejected, where that is known.
    """

    id: str
    kind: str
    title: str
    body: str
    status: str
    where: Literal["main", "private", "user", "inbox", "tombstone", "batch"]
    similarity: float
    matched: Literal["title", "body", "aliases", "cue", "steps", "claims", "groundings"] = "title"
    reason: str = ""


@dataclass(frozen=True)
class Change:
    """One mutation to be judged: `before` is None for a new record; `after` is the record as it would be."""

    op: Op
    after: Memory
    before: Memory | None = None
    reason: str = ""


@dataclass(frozen=True)
class Facts:
    """All that the outside world said about one change. Gathered before the gate runs; no I/O after.

    now: the instant frozen at the door. channel: observed, never claimed. resolutions: one per entry of
    `change.after.evidence`, in order. neighbours: near-duplicates in every state. tombstone: the exact claim's
    tombstone. key_holder: another live memory with the same key and scope. linked: the memories at the other
    end of links and memory evidence, by id (an id that is not there does not exist). names: further texts that
    would be stored with the change (commit message, paths), checked for secrets. exact_secrets: values known
    to be secret here. private_store: the record would land where only its writer reads. waiting: those of `linked`
    that only this clone's inbox holds, where the record would land outside of this clone. plain: this very record, when
    `policy.text_rules.is_plain` said so before. asked: for a move that is left to the forge, the channel by which it
    was asked for.
    """

    now: datetime
    channel: Channel
    resolutions: tuple[Resolution, ...] = ()
    neighbours: tuple[Neighbour, ...] = ()
    tombstone: Tombstone | None = None
    key_holder: Memory | None = None
    linked: Mapping[str, Memory] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    exact_secrets: tuple[str, ...] = ()
    private_store: bool = False
    waiting: frozenset[str] = frozenset()
    plain: Memory | None = None
    asked: Channel | None = None

    @property
    def said_by(self) -> Channel:
        """By which channel came what the record says and who wants it: a forge only lets it in."""
        return self.channel if self.asked is None else self.asked


@dataclass(frozen=True)
class Reason:
    """Why a change is refused or held. `code` is stable; `where` names the field or reference."""

    code: str
    message: str
    hint: str
    where: str = ""


@dataclass(frozen=True)
class Decision:
    """admit: as asked. hold: kept as a candidate that nobody is shown. refuse: nothing is written.

    `reasons` explains hold or refuse, complete and in stable order; `origin` is what the gate derived.
    """

    verdict: Literal["admit", "hold", "refuse"]
    reasons: tuple[Reason, ...]
    origin: Origin


@dataclass(frozen=True)
class Viewer:
    """Who reads. An empty `projects` sees nothing. `own`: the projects of the user's own store, whose records are for
    the audience "user" wherever that user is, and no others are."""

    projects: frozenset[str]
    audiences: frozenset[str] = frozenset({"team"})
    own: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Filter:
    """What a reader may see, as data: made only by `policy.visible`, applied in memory and by the search index.

    `valid_at` None does not ask when it was true.
    """

    projects: frozenset[str]
    audiences: frozenset[str]
    statuses: frozenset[str]
    valid_at: datetime | None
    own: frozenset[str] = frozenset()

    def admits(self, memory: Memory) -> bool:
        return (
            memory.scope.project in (self.own if memory.scope.audience == "user" else self.projects)
            and memory.scope.audience in self.audiences
            and memory.status in self.statuses
            and (self.valid_at is None or holds_at(memory.valid.start, memory.valid.until, self.valid_at))
        )
