"""Identifiers: memories, events, projects. All are pure functions of the randomness handed in."""

from __future__ import annotations

import re
from typing import NewType

from gitmem.errors import UsageError
from gitmem.model.pattern import pattern

MemoryId = NewType("MemoryId", str)
EventId = NewType("EventId", str)

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford base32, lower case
MEMORY_ID_LENGTH = 12
EVENT_ID_LENGTH = 26
PREFIX_MINIMUM = 4

_MEMORY_ID = pattern(f"[{ALPHABET}]{{{MEMORY_ID_LENGTH}}}")
_EVENT_ID = pattern(f"[0-7][{ALPHABET}]{{{EVENT_ID_LENGTH - 1}}}")
_PROJECT = pattern(r"[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?")
_DIGEST = pattern(r"[0-9a-f]{64}")


def _base32(number: int, length: int) -> str:
    return "".join([ALPHABET[(number >> shift) & 31] for shift in range(5 * length - 5, -1, -5)])


def memory_id(random: bytes) -> MemoryId:
    """60 random bits as 12 characters. `random` holds at least 8 bytes."""
    return MemoryId(_base32(int.from_bytes(random[:8], "big"), MEMORY_ID_LENGTH))


def event_id(milliseconds: int, random: bytes) -> EventId:
    """A ULID in lower case: 48 bits of Unix milliseconds, 80 random bits (github.com/ulid/spec)."""
    return EventId(_base32((milliseconds << 80) | int.from_bytes(random[:10], "big"), EVENT_ID_LENGTH))


def event_milliseconds(event: str) -> int:
    """The time that an event id carries, in Unix milliseconds."""
    number = 0
    for char in event[:10]:
        number = number * 32 + ALPHABET.index(char)
    return number


def is_memory_id(text: str) -> bool:
    return _MEMORY_ID.fullmatch(text) is not None


def is_event_id(text: str) -> bool:
    return _EVENT_ID.fullmatch(text) is not None


def is_digest(text: str) -> bool:
    """True for a lower-case hexadecimal SHA-256."""
    return _DIGEST.fullmatch(text) is not None


def is_project(text: str) -> bool:
    return _PROJECT.fullmatch(text) is not None


def id_prefix(text: str) -> str:
    """What a person typed as an id, in canonical letters (Crockford reads i and l as 1, o as 0).

    Raises UsageError when it is no prefix of 4 to 12 such characters.
    """
    prefix = text.strip().lower().translate(str.maketrans("ilo", "110"))
    if not PREFIX_MINIMUM <= len(prefix) <= MEMORY_ID_LENGTH or any(c not in ALPHABET for c in prefix):
        raise UsageError(
            f"{text!r} is not a memory id: give {PREFIX_MINIMUM} to {MEMORY_ID_LENGTH} of its characters",
            hint="gitmem list shows the ids",
        )
    return prefix


def project_id(name: str, random: bytes) -> str:
    """A readable id made once for a repository: its folder name and 6 random characters."""
    stem = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "project"
    return f"{stem}-{_base32(int.from_bytes(random[:4], 'big'), 6)}"
