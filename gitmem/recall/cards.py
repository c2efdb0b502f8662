"""The cards of the index: for each version of a memory the tokens that ranking counts and the bytes that answer.

They lie in one append-only file beside the tantivy files, each with its own checksum, because tantivy checks none:
a flipped byte in its own document store makes it ask for a length that nothing has, and the process aborts. A
card is found by a number in a fast field, so that ranking a hundred candidates reads no document store.
"""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import IO, Final

from gitmem.model.frozen import dataclass
from gitmem.recall.faults import unwritable_is_busy
from gitmem.recall.open_file import OpenFile

_LENGTH_BITS: Final = 24  # of a place: the length of the card; the rest is its offset
_HEAD: Final = 8  # bytes: the CRC-32 of what follows, the length of the ranked part
LARGEST: Final = 2**_LENGTH_BITS - 1
# What most records hold, the commonest last: zlib takes it as said before, which halves a short record. A part of the
# form of the cards: another one is another schema.
_COMMON: Final = b"""\
fail fix test add remov error commit file when because should default version timeout retry config request response
problem solution failed_tactic decision convention preference procedure change concept episode plan reminder
superseded superseded_by supersedes candidate archived disputed wrong maybe_stale relates_to derived_from contradicts
    role: contradicts  - type: test    case:     outcome: passed  - type: memory  - type: human
  - type: url    url: https://
  - type: transcript    session: claude-code/    record: span: generation: 1
      start: end: speaker: tool
aliases:
alternatives:
  - title:     why: steps:
  - text:     done: false
claims:
groundings:
cue: links:
  - type: solves
    to: tried_for
origin: inferred observed imported human
evidence:
  - type: commit
    commit: patch: sha256: quote: "
  - type: file
    path: src/ tests/ docs/ .py .ts .md
    lines: blob: 0123456789abcdef
    commit: sha256: quote: |-
    role: supports
# yaml-language-server: $schema=../../../schemas/memory.schema.json
format: 1
id: kind: fact
title: body: |-
  body: ""
status: active
scope:
  project: audience: team
applies_to: []
key: null
tags: []
valid:
  from: null
  until: null
origin: human
links: []
evidence:
  - type: """


@dataclass(frozen=True)
class Card:
    """One version.

    names: what it is found by exactly: id, key, tags, paths, case folded. words: its tokens, separated by spaces.
    record: its canonical bytes; empty for a tombstone.
    """

    ref: str
    id: str
    since: int
    blob: str
    names: tuple[str, ...]
    words: str
    record: bytes


@dataclass(frozen=True)
class Ranked:
    """The part of a card that ranking reads. words: as `Card.words`, with a space at each end."""

    ref: str
    id: str
    since: int
    blob: str
    names: tuple[str, ...]
    words: str


def ends_at(place: int) -> int:
    """The byte behind the card at a place."""
    return (place >> _LENGTH_BITS) + (place & LARGEST)


def first_place(offset: int) -> int:
    """The least place of a card that begins at or behind a byte."""
    return offset << _LENGTH_BITS


class Cards:
    """The first `size` bytes of a file of cards, read."""

    def __init__(self, path: Path, size: int) -> None:
        """Raises OSError or ValueError when it is not there or shorter."""
        self._file: Final = OpenFile(path, size)

    def ranked(self, place: int) -> Ranked:
        """Raises ValueError when the bytes there are not those that were written."""
        card, size = self._card(place)
        title, names, words = zlib.decompress(card[_HEAD : _HEAD + size]).decode().split("\n")
        ref, identifier, since, blob = title.split("/")
        return Ranked(ref, identifier, int(since), blob, tuple(names.split("\t")), words)

    def record(self, place: int) -> bytes:
        """The canonical bytes of the memory. Raises ValueError as `ranked`."""
        card, size = self._card(place)
        return zlib.decompressobj(zdict=_COMMON).decompress(card[_HEAD + size :])

    def _card(self, place: int) -> tuple[bytes, int]:
        card = self._file.read(place >> _LENGTH_BITS, place & LARGEST)
        if len(card) < _HEAD or zlib.crc32(card[4:]) != int.from_bytes(card[:4], "little"):
            raise ValueError(f"{self._file.name} does not match its checksum")
        return card, int.from_bytes(card[4:_HEAD], "little")


def pack(card: Card) -> bytes:
    """The bytes of a card. Raises ValueError for more than 16 MB."""
    title = f"{card.ref}/{card.id}/{card.since}/{card.blob}"
    ranked = zlib.compress("\n".join([title, "\t".join(card.names), f" {card.words} "]).encode(), 1)
    shrunk = zlib.compressobj(6, zdict=_COMMON)
    rest = len(ranked).to_bytes(4, "little") + ranked + shrunk.compress(card.record) + shrunk.flush()
    if len(rest) + 4 > LARGEST:
        raise ValueError(f"the memory {card.id} is too large to be indexed")
    return zlib.crc32(rest).to_bytes(4, "little") + rest


class CardWriter:
    """Appends cards to a file, from `start` bytes on: what a writer that died left behind that is overwritten."""

    def __init__(self, path: Path, start: int) -> None:
        """Raises IndexBusy, as everything here, when the disk does not take it."""
        with unwritable_is_busy():
            self._file: IO[bytes] = path.open("r+b" if path.exists() else "w+b")
            self.end = self._file.seek(start)

    def add(self, packed: bytes) -> int:
        """Append a card as `pack` made it; its place, for `Cards`."""
        place = self.end << _LENGTH_BITS | len(packed)
        with unwritable_is_busy():
            self._file.write(packed)
        self.end += len(packed)
        return place

    def close(self) -> None:
        """Write what is left and keep it: the index that names it is written next."""
        with unwritable_is_busy():
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()

    def __enter__(self) -> CardWriter:
        return self

    def __exit__(self, *_: object) -> None:
        with unwritable_is_busy():
            self._file.close()
