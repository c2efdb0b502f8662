"""Where a memory comes from, derived from the channel and the evidence; no caller names it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from gitmem.model.frozen import replace
from gitmem.model.judgement import Change, Facts, Resolution
from gitmem.model.nouns import Memory, MemoryRef, TranscriptRef
from gitmem.model.vocabulary import ORIGIN_RANK, Channel, Origin

_BY_CHANNEL: Final[Mapping[str, Origin]] = {"terminal": "human", "import": "imported"}
# What a session shows without anybody's opinion: what a tool answered. What an assistant says there is its inference.
_SEEN: Final = frozenset({"human", "tool"})
# The operations that say what the text is. A move between states leaves the origin where it was.
_SAYING: Final = frozenset({"create", "import", "edit", "lift"})


def derive_origin(channel: Channel, resolutions: Sequence[Resolution], linked: Mapping[str, Memory]) -> Origin:
    """The origin of a text said on `channel`, supported by `resolutions`, derived from the records `linked`.

    `linked` holds only what the text is derived from: see `lineage`. External is inherited before anything
    else is asked; an address without a person behind it is external; a person at a terminal is human; words
    that are all a person's own stay human whoever files them; what capture saw happen is observed, unless it rests on
    what a program said.
    """
    if any(memory.origin == "external" for memory in linked.values()):
        return "external"
    supports = [r for r in resolutions if r.ref.role == "supports"]
    human = any(r.human for r in supports)
    if channel != "terminal" and not human and any(r.ref.type == "url" for r in supports):
        return "external"
    if channel in _BY_CHANNEL:
        return _BY_CHANNEL[channel]
    verified = bool(supports) and all(r.state == "verified" for r in supports)
    if verified and all(r.human for r in supports):
        return "human"
    seen = all(r.ref.speaker in _SEEN for r in supports if isinstance(r.ref, TranscriptRef))
    return "observed" if channel == "capture" and verified and seen else "inferred"


def source_channel(op: str, channel: Channel) -> Channel:
    """The channel by which a text came: what an import brings was written elsewhere, whoever started it."""
    return "import" if op == "import" else channel


def lineage(memory: Memory, linked: Mapping[str, Memory]) -> dict[str, Memory]:
    """The records that `memory` is derived from: its `derived_from` links and the memories it cites."""
    sources = [*memory.linked("derived_from"), *(ref.id for ref in memory.evidence if isinstance(ref, MemoryRef))]
    return {source: linked[source] for source in sources if source in linked}


def origin_of(change: Change, facts: Facts) -> Origin:
    """The origin that the record has after `change`."""
    before, after = change.before, change.after
    sources = lineage(after, facts.linked)
    if change.op == "merge":  # said elsewhere; only its lineage can be looked at here
        return "external" if any(source.origin == "external" for source in sources.values()) else after.origin
    if before is not None and (change.op not in _SAYING or (change.op == "edit" and keeps_words(before, after))):
        return before.origin
    derived = derive_origin(source_channel(change.op, facts.said_by), facts.resolutions, sources)
    # An edit by anything but a person does not wash an external text.
    if before is not None and before.origin == "external" and facts.said_by != "terminal":
        return "external"
    return derived


def rank(origin: str) -> int:
    """How much an origin weighs; an unknown one weighs least."""
    return ORIGIN_RANK.get(origin, -1)


def keeps_words(before: Memory, after: Memory) -> bool:
    """True when `after` says what `before` says, on no less: by what it is found and how it stands may differ.

    Who files a text does not become the one who said it, and has not reviewed it."""
    return all(ref in after.evidence for ref in before.evidence) and before == replace(
        after, tags=before.tags, aliases=before.aliases, applies_to=before.applies_to, links=before.links,
        evidence=before.evidence, origin=before.origin, status=before.status,
    )  # fmt: skip


def adds_only(before: Memory, after: Memory) -> bool:
    """True when `after` says what `before` says and only has more evidence or links."""
    same = replace(after, evidence=before.evidence, links=before.links, origin=before.origin)
    return (
        same == before
        and all(ref in after.evidence for ref in before.evidence)
        and all(link in after.links for link in before.links)
    )
