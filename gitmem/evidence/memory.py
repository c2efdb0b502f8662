"""`memory:ID`: another memory. What it leans on, not proof by itself; the gate decides what it is worth."""

from __future__ import annotations

from typing import Final

from gitmem.errors import NotFound
from gitmem.evidence.quote import cut, occurs
from gitmem.evidence.sources import Sources
from gitmem.model.ids import id_prefix, is_memory_id
from gitmem.model.judgement import Resolution
from gitmem.model.nouns import Memory, MemoryRef
from gitmem.model.records import digest, memory_bytes
from gitmem.model.vocabulary import Role

EXAMPLE: Final = "memory:7k3q9dxwm2ab"


def expand(rest: str, role: Role, sources: Sources) -> MemoryRef:
    """Cites the memory as it stands now. The quote is its title."""
    prefix = id_prefix(rest)
    memory = sources.memories(prefix)
    if memory is None:
        raise NotFound(f"no memory begins with {rest.strip()!r}", hint="gitmem list shows the ids")
    return MemoryRef(memory.id, digest(memory_bytes(memory)), cut(memory.title.encode()), role)


def resolve(ref: MemoryRef, sources: Sources) -> Resolution:
    """An edited memory is still the memory cited, and the detail says so; the quote must stand in it today."""
    memory = sources.memories(ref.id) if is_memory_id(ref.id) else None
    if memory is None:
        return Resolution(ref, "missing", "there is no such memory")
    words = "\n".join(_words(memory))
    edited = digest(memory_bytes(memory)) != ref.sha256
    return Resolution(
        ref, "verified", "edited since it was cited" if edited else "", words, occurs(ref.quote, words.encode())
    )


def _words(memory: Memory) -> list[str]:
    """The texts of a memory as they were written: in its file YAML may have quoted or folded them."""
    return [
        memory.title,
        memory.body,
        *memory.aliases,
        *(text for one in memory.alternatives for text in (one.title, one.why)),
        *([memory.cue] if memory.cue else []),
        *(step.text for step in memory.steps),
        *memory.claims,
        *memory.groundings,
    ]
