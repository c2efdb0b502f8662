"""The manifest of a captured session: what of it is stored, in which chunks, and what was taken out.

It is foreign data as soon as a session was fetched, so it is checked field by field when it is read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from gitmem.errors import CorruptRecord
from gitmem.model.frozen import dataclass, field
from gitmem.model.ids import is_digest
from gitmem.model.times import parse_instant

_FORMAT: Final = 1
_TEXT_LIMIT: Final = 400


@dataclass(frozen=True)
class Chunk:
    """Bytes [start, end) of a generation as one file; `sha256` is over these bytes."""

    start: int
    end: int
    sha256: str


@dataclass(frozen=True)
class Apart:
    """Bytes that were taken out of lines and lie beside them: SHA-256 and length of what was decoded, its type."""

    sha256: str
    bytes: int
    type: str


@dataclass(frozen=True)
class Generation:
    """One state of the host's file, from its first byte; a rewritten file begins the next one.

    `origin` is how many bytes of the host's file are in it, `lines` how many line ends. `removed`: for a rule,
    the lines (from 1) on which it took out a secret. Times are instants of ISO 8601 in UTC.
    """

    number: int
    begun: str
    captured: str
    origin: int = 0
    lines: int = 0
    chunks: tuple[Chunk, ...] = ()
    removed: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    apart: tuple[Apart, ...] = ()

    @property
    def bytes(self) -> int:
        """The stored bytes."""
        return self.chunks[-1].end if self.chunks else 0


@dataclass(frozen=True)
class Manifest:
    """A session: `session` as the host spells it, `parent` the session that started it, `suffix` of its chunks."""

    host: str
    session: str
    suffix: str
    generations: tuple[Generation, ...] = ()
    parent: str | None = None
    format: int = _FORMAT

    @property
    def name(self) -> str:
        """How it is cited: `<host>/<session>`."""
        return f"{self.host}/{self.session}"

    @property
    def last(self) -> Generation | None:
        return self.generations[-1] if self.generations else None

    @property
    def captured(self) -> str:
        """When bytes were last added; empty when there are none."""
        return self.generations[-1].captured if self.generations else ""

    def generation(self, number: int) -> Generation | None:
        return next((item for item in self.generations if item.number == number), None)


def manifest_bytes(manifest: Manifest) -> bytes:
    """One entry a line, so that appending changes a line or two."""
    data = {
        "format": manifest.format,
        "host": manifest.host,
        "session": manifest.session,
        "parent": manifest.parent,
        "suffix": manifest.suffix,
    }
    lines = [f'"{key}": {json.dumps(value)}' for key, value in data.items()]
    generations = ",\n".join(_generation_text(item) for item in manifest.generations)
    lines.append(f'"generations": [{generations}]')
    return ("{" + ",\n".join(lines) + "}\n").encode()


def _generation_text(item: Generation) -> str:
    head = {"number": item.number, "begun": item.begun, "captured": item.captured}
    head |= {"origin": item.origin, "lines": item.lines}
    lines = [f'"{key}": {json.dumps(value)}' for key, value in head.items()]
    chunks = ",\n".join(json.dumps({"start": c.start, "end": c.end, "sha256": c.sha256}) for c in item.chunks)
    lines.append(f'"chunks": [\n{chunks}]')
    removed = ",\n".join(f"{json.dumps(rule)}: {json.dumps(list(at))}" for rule, at in sorted(item.removed.items()))
    lines.append(f'"removed": {{{removed}}}')
    apart = ",\n".join(json.dumps({"sha256": a.sha256, "bytes": a.bytes, "type": a.type}) for a in item.apart)
    lines.append(f'"apart": [{apart}]')
    return "{" + ",\n".join(lines) + "}"


def manifest_from_bytes(raw: bytes, *, where: str) -> Manifest:
    """Raises CorruptRecord naming `where` and the first thing that is not as the format says."""
    try:
        data = json.loads(raw)
        if data["format"] != _FORMAT:
            raise ValueError(f"format {data['format']!r} is not one that this version reads")
        found = Manifest(
            host=_text(data["host"]),
            session=_text(data["session"]),
            suffix=_text(data["suffix"]),
            parent=None if data["parent"] is None else _text(data["parent"]),
            generations=tuple(_generation(item) for item in data["generations"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CorruptRecord(f"{where} is no manifest of a session: {error}", hint="gitmem sessions verify") from None
    return found


def _generation(data: Any) -> Generation:
    chunks = tuple(Chunk(_count(c["start"]), _count(c["end"]), _digest(c["sha256"])) for c in data["chunks"])
    at = 0
    for chunk in chunks:
        if chunk.start != at or chunk.end <= at:
            raise ValueError(f"chunk {chunk.start}-{chunk.end} does not begin where the one before it ends")
        at = chunk.end
    return Generation(
        number=_count(data["number"]),
        begun=_instant(data["begun"]),
        captured=_instant(data["captured"]),
        origin=_count(data["origin"]),
        lines=_count(data["lines"]),
        chunks=chunks,
        removed={_text(rule): tuple(_count(line) for line in lines) for rule, lines in data["removed"].items()},
        apart=tuple(Apart(_digest(a["sha256"]), _count(a["bytes"]), _text(a["type"])) for a in data["apart"]),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= _TEXT_LIMIT:
        raise ValueError(f"a text of 1 to {_TEXT_LIMIT} characters was expected")
    return value


def _instant(value: Any) -> str:
    parse_instant(_text(value))
    return str(value)


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{str(value)[:40]!r} is no count")
    return value


def _digest(value: Any) -> str:
    if not isinstance(value, str) or not is_digest(value):
        raise ValueError(f"{str(value)[:40]!r} is no SHA-256")
    return value
