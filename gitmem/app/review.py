"""`gitmem review`: everything about each candidate that a person needs to decide, looked at now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, Final

from gitmem.app.belief import believed_view
from gitmem.app.facts import index_lookup
from gitmem.app.reading import drifts_of
from gitmem.app.remember import let_in_by_the_forge, proposal_of
from gitmem.app.tiers import look
from gitmem.app.verdicts import deciding, waiting
from gitmem.app.workspace import Found, View, Workspace
from gitmem.errors import GitmemError, NotFound, Refused
from gitmem.evidence.short import line_range
from gitmem.model.citations import citation
from gitmem.model.claims import claim_digest
from gitmem.model.frozen import dataclass
from gitmem.model.judgement import Neighbour, Reason, Resolution
from gitmem.model.nouns import FileRef, Memory, Proposal, TranscriptRef
from gitmem.model.records import to_data
from gitmem.model.times import parse_instant
from gitmem.model.vocabulary import KIND_CLASS, WAITING
from gitmem.policy.near import NEAR
from gitmem.policy.review import ReviewLevel, review_level

CONTEXT: Final = 2  # lines shown before and after cited lines
_LINES: Final = 40  # cited lines that are shown
_WIDTH: Final = 400  # characters of a line that are shown


@dataclass(frozen=True)
class Cited:
    """One reference as it resolves now. `lines`: (number, text, cited) of a file; empty where nothing is reached.

    `drift`: "", "changed at HEAD" or "gone at HEAD".
    """

    resolution: Resolution
    drift: str
    lines: tuple[tuple[int, str, bool], ...] = ()


@dataclass(frozen=True)
class Rejected:
    """A claim like this one that was found wrong, when and why."""

    neighbour: Neighbour
    at: str
    reason: str


@dataclass(frozen=True)
class Waiting:
    """One candidate with all that a person needs to know. `reasons`: what the gate says against accepting it today.

    `alone`: why it is to be decided by itself; empty for an addition of low risk. `level`: what a verdict is worth.
    """

    memory: Memory
    ref: str
    proposal: Proposal | None
    session: str
    age: float  # seconds since it was proposed
    cited: tuple[Cited, ...]
    neighbours: tuple[Neighbour, ...]
    rejected: tuple[Rejected, ...]
    key_holder: Memory | None
    replaces: tuple[Memory, ...]
    reasons: tuple[Reason, ...]
    alone: tuple[str, ...]
    level: ReviewLevel

    @property
    def batch(self) -> tuple[str, str]:
        """The day (UTC) and the session that it came in; what no session tells goes by its channel."""
        return _batch(self.proposal, self.session)

    def data(self) -> dict[str, Any]:
        """The whole of it for `--json`."""
        proposal = self.proposal
        actor = proposal.actor if proposal else None
        return {
            "id": self.memory.id,
            "memory": {**to_data(self.memory), "ref": self.ref},
            "proposed": {
                "at": proposal.at if proposal else None,
                "channel": actor.channel if actor else None,
                "host": actor.host if actor else None,
                "principal": actor.principal if actor else None,
                "reason": proposal.reason if proposal else None,
            },
            "session": self.session,
            "day": self.batch[0],
            "age_seconds": int(self.age),
            "evidence": [
                {
                    "citation": citation(cited.resolution.ref),
                    "role": cited.resolution.ref.role,
                    "state": cited.resolution.state,
                    "detail": cited.resolution.detail,
                    "drift": cited.drift,
                    "quote": cited.resolution.ref.quote,
                    "text": cited.resolution.text,
                    "lines": [{"number": n, "text": text, "cited": own} for n, text, own in cited.lines],
                }
                for cited in self.cited
            ],
            "neighbours": [_neighbour_data(near) for near in self.neighbours],
            "rejected": [{**_neighbour_data(r.neighbour), "at": r.at, "reason": r.reason} for r in self.rejected],
            "key_holder": _named(self.key_holder) if self.key_holder else None,
            "replaces": [_named(memory) for memory in self.replaces],
            "contradicts": list(self.memory.linked("contradicts")),
            "gate": [{"code": r.code, "message": r.message, "hint": r.hint, "where": r.where} for r in self.reasons],
            "alone": list(self.alone),
            "tier": "alone" if self.alone else "low",
            "review": {"level": self.level.level, "label": self.level.label},
        }


def _batch(proposal: Proposal | None, session: str) -> tuple[str, str]:
    return (proposal.at[:10] if proposal else "", session)


def likeness(near: Neighbour) -> str:
    """In what a record is like the one it is shown beside."""
    return "says nearly the same" if near.similarity >= NEAR else "has the same title"


def _neighbour_data(near: Neighbour) -> dict[str, Any]:
    return {
        "id": near.id,
        "kind": near.kind,
        "title": near.title,
        "status": near.status,
        "where": near.where,
        "similarity": round(near.similarity, 3),
    }


def _named(memory: Memory) -> dict[str, Any]:
    return {"id": memory.id, "kind": memory.kind, "title": memory.title, "status": memory.status}


def queue(
    workspace: Workspace, prefixes: Sequence[str] = (), *, session: str | None = None, since: datetime | None = None
) -> list[Waiting]:
    """What waits, by day and session, oldest first; `prefixes` name some of it.

    Raises NotFound when an id names no candidate.
    """
    view = believed_view(workspace)
    view.require_config()
    found = [_candidate(view, prefix) for prefix in dict.fromkeys(prefixes)] if prefixes else waiting(view)
    chosen = []
    for item in found:
        proposal = proposal_of(view, item.memory.id, item.ref)
        came = session_of(item.memory, proposal)
        if session is not None and not came.startswith(session) and session not in came.split("/"):
            continue
        if since is not None and proposal is not None and parse_instant(proposal.at) < since:
            continue
        chosen.append((item, proposal, came))
    chosen.sort(key=lambda row: (*_batch(row[1], row[2]), row[1].at if row[1] else "", row[0].memory.id))
    known = index_lookup(view) if chosen else None
    return [_looked_at(view, item, proposal, came, known) for item, proposal, came in chosen]


def left_to_the_forge(workspace: Workspace, items: Sequence[Waiting]) -> tuple[list[Waiting], list[Waiting]]:
    """Those that whoever merges on the forge decides on, and the others."""
    view = believed_view(workspace)
    there = [item for item in items if let_in_by_the_forge(view, item.memory)]
    return there, [item for item in items if item not in there]


def one(workspace: Workspace, identifier: str) -> Waiting | None:
    """A candidate as it is now, or None when it waits no more."""
    try:
        return queue(workspace, [identifier])[0]
    except NotFound:
        return None


def session_of(memory: Memory, proposal: Proposal | None) -> str:
    """The session that a candidate came from, else the host or channel that brought it."""
    cited = next((ref.session for ref in memory.evidence if isinstance(ref, TranscriptRef)), None)
    actor = proposal.actor if proposal else None
    if actor is None:
        return cited or "unknown"
    return actor.session or cited or actor.host or actor.channel


def _candidate(view: View, prefix: str) -> Found:
    found = view.find(prefix)
    if found.memory.status not in WAITING:
        hint = f"gitmem log {found.memory.id} tells what became of it"
        raise NotFound(f"{found.memory.id} is {found.memory.status}: it waits for nobody", hint=hint)
    return found


def _looked_at(view: View, item: Found, proposal: Proposal | None, came: str, known: Any) -> Waiting:
    memory = item.memory
    try:
        looked = look(view, known, item)
    except Refused as error:
        return _unreadable(view, item, came, error)
    first = looked.judged
    env = view.workspace.env
    at = parse_instant(proposal.at) if proposal else env.now()
    near = first.facts.neighbours
    drifted = drifts_of(view.workspace, view, memory)
    return Waiting(
        memory=memory,
        ref=item.ref,
        proposal=proposal,
        session=came,
        age=max((env.now() - at).total_seconds(), 0.0),
        cited=tuple(_cited(view, r, became) for r, became in zip(first.facts.resolutions, drifted, strict=True)),
        neighbours=tuple(n for n in near if not _is_rejected(n)),
        rejected=tuple(_rejected(view, near)),
        key_holder=first.facts.key_holder,
        replaces=tuple(m for m in map(view.memory, memory.linked("supersedes")) if m is not None),
        reasons=looked.reasons,
        alone=looked.alone,
        level=review_level(deciding(view), proposal.actor if proposal else None),
    )


def _unreadable(view: View, item: Found, came: str, error: Refused) -> Waiting:
    """A candidate that no event tells of: it is shown, and can only be turned down."""
    return Waiting(
        item.memory, item.ref, None, came, 0.0, (), (), (), None, (), tuple(error.reasons), ("no event tells of it",),
        review_level(deciding(view), None),
    )  # fmt: skip


def _is_rejected(near: Neighbour) -> bool:
    return near.status == "wrong" or near.where == "tombstone"


def _rejected(view: View, neighbours: Sequence[Neighbour]) -> Iterator[Rejected]:
    """Each rejected look-alike once, with what its tombstone says."""
    config = view.require_config()
    seen = set()
    for near in neighbours:
        if not _is_rejected(near) or near.id in seen:
            continue
        seen.add(near.id)
        kind = near.kind if near.kind in KIND_CLASS else _kind_of_class(near.kind)
        tomb = view.tombstone(claim_digest(config.project, kind, near.title, near.body))
        last = next((entry for entry in reversed(tomb.history) if entry.op == "reject"), None) if tomb else None
        yield Rejected(near, last.at if last else "", last.reason if last else "")


def _kind_of_class(name: str) -> str:
    return next((kind for kind, kind_class in KIND_CLASS.items() if kind_class == name), "fact")


def _cited(view: View, resolution: Resolution, drifted: str) -> Cited:
    ref = resolution.ref
    lines: tuple[tuple[int, str, bool], ...] = ()
    if isinstance(ref, FileRef) and resolution.text:
        lines = _with_context(view, ref)
    return Cited(resolution, drifted, lines)


def _with_context(view: View, ref: FileRef) -> tuple[tuple[int, str, bool], ...]:
    """The cited lines of a file with what stands around them, as the cited blob has them."""
    chosen = line_range(ref.lines) if ref.lines is not None else None
    if chosen is None:
        return ()
    try:
        data = view.workspace.backend.read(ref.blob)[1]
    except GitmemError:
        return ()
    first, last = chosen[0], min(chosen[1], chosen[0] + _LINES)
    text = data.decode("utf-8", "replace").split("\n")
    start, end = max(first - CONTEXT, 1), min(last + CONTEXT, len(text))
    return tuple((n, text[n - 1][:_WIDTH], first <= n <= last) for n in range(start, end + 1))


def batches_of(workspace: Workspace, items: Sequence[Found]) -> list[tuple[tuple[str, str], list[Found]]]:
    """Candidates by the day and session that brought them, newest first, also of those that one write brought."""
    view = believed_view(workspace)
    made: dict[tuple[str, str], list[Found]] = {}

    def brought(item: Found) -> str:
        names = view.place(item.ref).event_names(item.memory.id)
        return names[0].rpartition("/")[2] if names else ""  # ids of events ascend, also within one write

    for item in sorted(items, key=brought, reverse=True):
        proposal = proposal_of(view, item.memory.id, item.ref)
        made.setdefault(_batch(proposal, session_of(item.memory, proposal)), []).append(item)
    return list(made.items())


def in_batches(items: Sequence[Waiting]) -> list[tuple[tuple[str, str], list[Waiting]]]:
    """The queue by day and session, in its own order."""
    made: dict[tuple[str, str], list[Waiting]] = {}
    for item in items:
        made.setdefault(item.batch, []).append(item)
    return list(made.items())
