"""A reference as a person would type it."""

from __future__ import annotations

from gitmem.model.nouns import (
    CommitRef,
    EvidenceRef,
    FileRef,
    HumanRef,
    MemoryRef,
    TestRef,
    TranscriptRef,
    UrlRef,
)


def citation(ref: EvidenceRef) -> str:
    """Where a reference points, in the short form that it could be typed in."""
    if isinstance(ref, FileRef):
        place = f"::{ref.symbol}" if ref.symbol else f":{ref.lines}" if ref.lines else ""
        text = f"file:{ref.path}@{ref.commit[:10]}{place}"
    elif isinstance(ref, CommitRef):
        text = f"commit:{ref.commit[:10]}"
    elif isinstance(ref, TestRef):
        text = f"test:{ref.path}#{ref.case} ({ref.outcome})"
    elif isinstance(ref, MemoryRef):
        text = f"memory:{ref.id}"
    elif isinstance(ref, HumanRef):
        text = "human"
    elif isinstance(ref, UrlRef):
        text = f"url:{ref.url}"
    elif isinstance(ref, TranscriptRef):
        text = f"transcript:{ref.session}#{ref.record} ({ref.speaker})"
    return text if ref.role == "supports" else f"{ref.role}={text}"
