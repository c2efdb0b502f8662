"""The nouns of the format. All frozen; `extra` keeps the fields that this version does not know.

They are plain dataclasses so that a verb which only builds one starts fast; `gitmem.model.read` checks
foreign data against these same definitions with pydantic, and the JSON Schema is generated from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Literal

from gitmem.model.frozen import dataclass, field
from gitmem.model.vocabulary import FORMAT, Audience, Channel, EvidenceType, Kind, LinkType, Op, Origin, Role

Extra = Mapping[str, Any]


@dataclass(frozen=True)
class Scope:
    """Who may read: the project and the audience. Enforced, never a hint."""

    project: str
    audience: Audience = "team"
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True)
class Valid:
    """When it was true in the world: [from, until), ISO dates or times; None is open."""

    start: str | None = None
    until: str | None = None
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True)
class Link:
    """A typed edge to another memory. `why` is needed by `differs_from`."""

    type: LinkType
    to: str
    why: str | None = None
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True)
class Alternative:
    """What a decision ruled out, and why."""

    title: str
    why: str
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """One step of a plan."""

    text: str
    done: bool = False
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True)
class Span:
    """Bytes [start, end) of one generation of a captured transcript."""

    generation: int
    start: int
    end: int
    extra: Extra = field(default_factory=dict)


# One class per type of evidence. `sha256` is over the exact cited bytes; `quote`, when there is one,
# occurs in them word for word.


@dataclass(frozen=True)
class TranscriptRef:
    """What was said or shown in a captured session; `record` is the host's id of the line, `speaker` who it was."""

    type: ClassVar[EvidenceType] = "transcript"
    session: str
    record: str
    span: Span
    sha256: str
    speaker: str
    quote: str | None = None
    role: Role = "supports"
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True)
class FileRef:
    """`lines` is "12" or "40-58", 1-based and inclusive; None cites the whole file.

    `symbol` names what these lines define, as in "Pool.acquire" or "TIMEOUT=300": by it they are found again. It
    proves nothing.
    """

    type: ClassVar[EvidenceType] = "file"
    path: str
    blob: str
    commit: str
    sha256: str
    lines: str | None = None
    quote: str | None = None
    role: Role = "supports"
    symbol: str | None = None
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True)
class CommitRef:
    """`sha256` is over the raw commit object; `patch` is git's stable patch id, the second key after a rewrite."""

    type: ClassVar[EvidenceType] = "commit"
    commit: str
    sha256: str
    patch: str | None = None
    quote: str | None = None
    role: Role = "supports"
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True)
class TestRef:
    """A case of a stored JUnit or TAP report; `sha256` is over the whole report.

    `blob` and `commit` are there when the report is committed; otherwise only its writer can resolve it.
    """

    __test__: ClassVar[bool] = False
    type: ClassVar[EvidenceType] = "test"
    path: str
    case: str
    outcome: Literal["passed", "failed", "skipped"]
    sha256: str
    blob: str | None = None
    commit: str | None = None
    quote: str | None = None
    role: Role = "supports"
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True)
class MemoryRef:
    """Another memory; `sha256` is over its canonical bytes when it was cited."""

    type: ClassVar[EvidenceType] = "memory"
    id: str
    sha256: str
    quote: str | None = None
    role: Role = "supports"
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True)
class HumanRef:
    """A person's own words, said at a terminal; `sha256` is over `quote` in UTF-8."""

    type: ClassVar[EvidenceType] = "human"
    quote: str
    sha256: str
    role: Role = "supports"
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True)
class UrlRef:
    """An address outside; never fetched, never enough alone. `sha256` is over the address in UTF-8."""

    type: ClassVar[EvidenceType] = "url"
    url: str
    sha256: str
    quote: str | None = None
    role: Role = "supports"
    extra: Extra = field(default_factory=dict)


EvidenceRef = TranscriptRef | FileRef | CommitRef | TestRef | MemoryRef | HumanRef | UrlRef
EVIDENCE_CLASSES: Final[Mapping[str, Any]] = {
    cls.type: cls for cls in (TranscriptRef, FileRef, CommitRef, TestRef, MemoryRef, HumanRef, UrlRef)
}


@dataclass(frozen=True)
class Draft:
    """What somebody wants remembered, not yet admitted.

    `evidence` holds full references and short forms such as "file:src/pool.py:40-58"; the evidence room
    turns the short ones into full ones. There is no id, status, origin or project: those are given.
    """

    kind: Kind
    title: str
    body: str = ""
    aliases: tuple[str, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    cue: str | None = None
    steps: tuple[Step, ...] = ()
    claims: tuple[str, ...] = ()
    groundings: tuple[str, ...] = ()
    audience: Audience = "team"
    applies_to: tuple[str, ...] = ()
    key: str | None = None
    tags: tuple[str, ...] = ()
    valid: Valid = field(default_factory=Valid)
    links: tuple[Link, ...] = ()
    evidence: tuple[EvidenceRef | str, ...] = ()
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True)
class Memory:
    """One admitted record: a file of the branch."""

    id: str
    kind: Kind
    title: str
    status: str
    scope: Scope
    origin: Origin
    body: str = ""
    aliases: tuple[str, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    cue: str | None = None
    steps: tuple[Step, ...] = ()
    claims: tuple[str, ...] = ()
    groundings: tuple[str, ...] = ()
    applies_to: tuple[str, ...] = ()
    key: str | None = None
    tags: tuple[str, ...] = ()
    valid: Valid = field(default_factory=Valid)
    links: tuple[Link, ...] = ()
    evidence: tuple[EvidenceRef, ...] = ()
    format: int = FORMAT
    extra: Extra = field(default_factory=dict)

    def linked(self, kind: LinkType) -> tuple[str, ...]:
        """The ids at the other end of the links of one type."""
        return tuple(link.to for link in self.links if link.type == kind)


@dataclass(frozen=True)
class Actor:
    """Who acted, as observed. No caller names an actor."""

    channel: Channel
    principal: str = "unproven"
    host: str | None = None
    session: str | None = None
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True)
class GateRecord:
    """What the gate said when the change was let in."""

    version: int
    verdict: Literal["admit", "hold"]
    evidence: tuple[str, ...] = ()
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True)
class Previous:
    """The same writer's previous event: where it lies and the SHA-256 of its file."""

    path: str
    sha256: str
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True)
class Proposal:
    """What an accepted candidate came from: when, by whom, by which operation, why, and the SHA-256 of the event."""

    at: str
    actor: Actor
    event: str
    op: Op = "create"
    reason: str | None = None
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True)
class Event:
    """One mutation. `before` and `after` are SHA-256 of the canonical bytes of the record. `prev` chains the
    events of one writer (one clone and ref), so the chains survive merges and squashes. `merged`: of a merge, what
    the side had that is not `before`."""

    id: str
    at: str
    op: Op
    memory: str | None
    status_from: str | None
    status_to: str | None
    before: str | None
    after: str | None
    reason: str
    actor: Actor
    gate: GateRecord
    writer: str
    prev: Previous | None = None
    proposed: Proposal | None = None
    merged: str | None = None
    format: int = FORMAT
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True)
class TombstoneEntry:
    """One rejection or lift of a claim."""

    op: Literal["reject", "lift"]
    at: str
    event: str
    memory: str
    reason: str
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True)
class Tombstone:
    """A rejected claim. It stands unless its last entry is a lift. `title` and `body` are empty once redacted."""

    digest: str
    project: str
    kind_class: str
    history: tuple[TombstoneEntry, ...]
    title: str = ""
    body: str = ""
    format: int = FORMAT
    extra: Extra = field(default_factory=dict)

    @property
    def standing(self) -> bool:
        return bool(self.history) and self.history[-1].op == "reject"


@dataclass(frozen=True)
class Signer:
    """Whose key it is. `key`: a public key as OpenSSH writes it. `role`: whether a person or a program has it."""

    principal: str
    key: str
    role: Literal["person", "agent"] = "person"
    extra: Extra = field(default_factory=dict)


@dataclass(frozen=True)
class Config:
    """`gitmem.yaml`: what this memory is about and the policy that judges its next change.

    `review`: "local" lets a person at a terminal write active memory; "forge" sends every write to review.
    `evidence`: for a kind, the types of which at least one must support it; no entry means any but a url.
    `unobservable`: what becomes of a reference whose bytes cannot be reached: "hold" or "refuse".
    `approvals`: so many people have to approve a request on the forge; what its check asks for and no reader does.
    `languages`: those in which questions are asked beside English and Spanish, of `vocabulary.LANGUAGES`; a word that
    a reader does not know changes nothing.
    `signers`: whose signatures count. As soon as one is a person, a change of `gitmem.yaml` has to be signed by one.
    """

    project: str
    aliases: tuple[str, ...] = ()
    review: Literal["local", "forge"] = "local"
    evidence: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unobservable: Literal["hold", "refuse"] = "hold"
    approvals: int | None = None
    languages: tuple[str, ...] = ()
    signers: tuple[Signer, ...] = ()
    format: int = FORMAT
    extra: Extra = field(default_factory=dict)

    @property
    def projects(self) -> frozenset[str]:
        """Every id under which this project's records may be filed."""
        return frozenset((self.project, *self.aliases))
