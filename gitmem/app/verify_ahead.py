"""What verification can find of a new record by itself, one batch ahead of the judging."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gitmem.errors import CorruptRecord
from gitmem.model.nouns import Event, Memory
from gitmem.model.records import digest, event_from_bytes, memory_bytes, memory_from_bytes
from gitmem.policy.near import words
from gitmem.policy.text_rules import is_plain


class Files(NamedTuple):
    """The bytes of one new record and of its new events, with their paths."""

    path: str
    record: bytes
    events: tuple[tuple[str, bytes], ...]


class Looked(NamedTuple):
    """A record and where it lies, the digest of its canonical bytes, whether its texts are plain, its words.

    `events` are its new events by path. What cannot be read is left out: whoever judges reads it again, and says what
    is wrong.
    """

    path: str
    memory: Memory
    digest: str
    plain: bool
    words: frozenset[str]
    events: dict[str, Event]


def look(batch: Sequence[Files]) -> list[Looked | None]:
    """One look for each record; None for one that cannot be read."""
    return [_look(files) for files in batch]


def _look(files: Files) -> Looked | None:
    try:
        memory = memory_from_bytes(files.record, path=files.path)
    except CorruptRecord:
        return None
    events = {}
    for path, raw in files.events:
        try:
            events[path] = event_from_bytes(raw, path=path)
        except CorruptRecord:
            continue
    said = words(f"{memory.title}\n{memory.body}")
    return Looked(files.path, memory, digest(memory_bytes(memory)), is_plain(memory), said, events)
