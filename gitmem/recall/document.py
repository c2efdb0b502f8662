"""What the index holds of one version of a memory."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from typing import Any, Final

from gitmem.model.frozen import dataclass
from gitmem.model.layout import TOMBSTONE_LABELS
from gitmem.model.nouns import FileRef, Memory, MemoryRef, TestRef
from gitmem.model.records import memory_bytes
from gitmem.model.times import parse_instant
from gitmem.model.tokens import tokens, tokens_version
from gitmem.model.vocabulary import ORIGIN_RANK, STATUSES
from gitmem.recall.cards import Card, pack

SCHEMA_VERSION: Final = 5
OPEN_START: Final = -(2**62)  # microseconds, or a position, that stands for an open end
OPEN_END: Final = 2**62
STATE_UID: Final = "state"  # the one document that is no memory: it has no ref, and its `state` says what is indexed
NOW: Final = "now"  # the term of versions that nothing has replaced
GRAM: Final = 4
_TIE_BITS: Final = 21
_BREAK: Final = " | "  # no token, so that no phrase runs from the title into the body
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)

RAW_FIELDS: Final = (
    "uid", "id", "ref", "current", "kind", "status", "project", "audience", "origin", "key", "tag", "path", "under",
    "link", "blob",
)  # fmt: skip
NUMBER_FIELDS: Final = (
    "since", "until", "recorded", "changed", "newest", "valid_from", "valid_until", "card", "length", "letters",
    "state_rank", "origin_rank", "review",
)  # fmt: skip


@dataclass(frozen=True)
class Document:
    """One version of a memory to be indexed.

    ref: where it lies, of `layout.PLACES` or `layout.TOMBSTONE_LABELS`. recorded, changed: aware UTC times of the
    memory's first event and of the one that made this version. blob: the git object id of the file. It stood on the
    branch at the positions [since, until) of its first-parent history (`gitmem.recall.positions`); what lies elsewhere
    has no past. raw: the bytes of the file, where they are at hand. review: the level of its review.
    """

    ref: str
    memory: Memory
    recorded: datetime
    changed: datetime
    blob: str
    since: int = 0
    until: int = OPEN_END
    raw: bytes = b""
    review: int = 0


def schema_name() -> str:
    """The folder of this schema: another one is another index, so two versions of gitmem do not fight."""
    return f"{SCHEMA_VERSION}-{tokens_version()}"


def make_schema() -> Any:
    """The tantivy schema. `text` keeps positions, for phrases; nothing else does. Only `state` is stored: what a
    memory says is on its card, where a flipped byte is noticed."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("state", stored=True, tokenizer_name="raw", index_option="basic")
    for name in RAW_FIELDS:
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in NUMBER_FIELDS:
        builder.add_integer_field(name, indexed=False, fast=True)
    builder.add_text_field("text", tokenizer_name="whitespace", index_option="position")
    builder.add_text_field("grams", tokenizer_name="whitespace", index_option="basic")
    return builder.build()


def uid(ref: str, identifier: str, since: int = 0) -> str:
    return f"{ref}/{identifier}/{since}"


def newest(recorded: int, name: str) -> int:
    """What puts versions in the order of their recording, newest last, to a millisecond (until the year 2109); among
    those of one millisecond in an order that is theirs, wherever in the index they lie. name: the `uid`."""
    milliseconds = min(max(recorded // 1000, 0), 2**42 - 1)
    return milliseconds << _TIE_BITS | zlib.crc32(name.encode()) >> (32 - _TIE_BITS)


def card_of(document: Document, languages: tuple[str, ...] = ()) -> Card:
    """What is kept beside the index of this version: its tokens for ranking, its bytes for the answer."""
    parts = [" ".join(tokens(text, languages)) for text in texts_of(document.memory, document.recorded)]
    record = b"" if document.ref in TOMBSTONE_LABELS.values() else document.raw or memory_bytes(document.memory)
    names = names_of(document.memory)
    return Card(document.ref, document.memory.id, document.since, document.blob, names, _BREAK.join(parts), record)


@dataclass(frozen=True)
class Prepared:
    """A document as the index takes it: the packed card, and the values of the tantivy document but for its place."""

    uid: str
    card: bytes
    values: dict[str, Any]


def prepared(document: Document, languages: tuple[str, ...] = ()) -> Prepared:
    """All the work on one document that needs no index. Raises ValueError for one of more than 16 MB."""
    card = card_of(document, languages)
    values = fields(document, card)
    return Prepared(values["uid"], pack(card), values)


def names_of(memory: Memory) -> tuple[str, ...]:
    """What a memory is called exactly: its id, key, tags and paths, each on one line."""
    names = [memory.id, memory.key or "", *memory.tags, *sorted(paths_of(memory))]
    return tuple(dict.fromkeys(" ".join(name.casefold().split()) for name in names if name.strip()))


def links_of(memory: Memory) -> set[str]:
    """What a memory is linked to, each as `solves:<id>`; what it cites as `cites:<id>`."""
    cited = {f"cites:{ref.id}" for ref in memory.evidence if isinstance(ref, MemoryRef)}
    return cited | {f"{link.type}:{link.to}" for link in memory.links}


def fields(document: Document, card: Card) -> dict[str, Any]:
    """The values of the tantivy document, but for the place of the card."""
    memory = document.memory
    paths = sorted(paths_of(memory))
    values: dict[str, Any] = {
        "uid": uid(document.ref, memory.id, document.since),
        "id": memory.id,
        "ref": document.ref,
        "kind": memory.kind,
        "status": memory.status,
        "project": memory.scope.project,
        "audience": memory.scope.audience,
        "origin": memory.origin,
        "tag": [tag.casefold() for tag in memory.tags],
        "path": paths,
        "under": sorted({folder for path in paths for folder in folders_of(path)}),
        "link": sorted(links_of(memory)),
        "blob": document.blob,
        "since": document.since,
        "until": document.until,
        "valid_from": OPEN_START if memory.valid.start is None else microseconds(parse_instant(memory.valid.start)),
        "valid_until": OPEN_END if memory.valid.until is None else microseconds(parse_instant(memory.valid.until)),
        "recorded": microseconds(document.recorded),
        "changed": microseconds(document.changed),
        "newest": newest(microseconds(document.recorded), uid(document.ref, memory.id, document.since)),
        "length": card.words.count(" ") + 1,
        "letters": len(card.words) + 2,
        "state_rank": STATUSES.index(memory.status) if memory.status in STATUSES else len(STATUSES),
        "origin_rank": ORIGIN_RANK.get(memory.origin, 0),
        "review": document.review,
        "text": card.words,
        "grams": " ".join(filter(None, map(grams, dict.fromkeys(card.words.split())))),
    }
    if document.until == OPEN_END:
        values["current"] = NOW
    if memory.key is not None:
        values["key"] = memory.key
    return values


def texts_of(memory: Memory, recorded: datetime) -> list[str]:
    """All that a memory says and the month of its recording, for questions that name one (LoCoMo turn hit@5 +1.5).

    The title twice: githist dev MRR 67.1 -> 68.0; a field of its own loses (hit@1 59.5 -> 47.9).
    """
    return [*said_by(memory), recorded.astimezone(timezone.utc).strftime("%Y %B")]


def said_by(memory: Memory) -> list[str]:
    """All that a memory says, the title twice."""
    parts: list[str] = [memory.title, memory.title, memory.body, *memory.aliases, memory.cue or ""]
    parts += [f"{alternative.title}\n{alternative.why}" for alternative in memory.alternatives]
    parts += [step.text for step in memory.steps]
    parts += [*memory.claims, *memory.groundings, *memory.tags, memory.key or "", *sorted(paths_of(memory))]
    return [part for part in parts if part]


def paths_of(memory: Memory) -> set[str]:
    """The files and folders a memory is about: `applies_to` up to its first wildcard, and cited files."""
    cited = {ref.path for ref in memory.evidence if isinstance(ref, FileRef | TestRef)}
    return {plain_path(pattern) for pattern in memory.applies_to} | cited


def plain_path(pattern: str) -> str:
    """The folder or file that a glob surely lies in: `src/**/*.py` gives `src`; `**` gives `.`, the whole tree."""
    plain: list[str] = []
    for part in pattern.split("/"):
        if any(c in part for c in "*?["):
            break
        if part not in ("", "."):
            plain.append(part)
    return "/".join(plain) or "."


def folders_of(path: str) -> Iterator[str]:
    """`path` itself and every folder above it, the whole tree as `.` last."""
    while path and path != ".":
        yield path
        path = path.rpartition("/")[0]
    yield "."


@lru_cache(maxsize=65536)
def grams(word: str) -> str:
    """The terms of the 4-grams of a plain word with its ends marked; they forgive a typo where a stem does not.

    Marked ends: githist dev MRR 67.0 -> 67.6 against bare grams.
    """
    return " ".join(map(gram_term, pieces_of(word)))


def pieces_of(word: str) -> list[str]:
    """The 4-grams of a plain word with a space at its ends, as they stand in a text of words."""
    if len(word) < GRAM - 1 or not word.isalpha():
        return []
    marked = f" {word} "
    return [marked[i : i + GRAM] for i in range(len(marked) - GRAM + 1)]


def gram_term(piece: str) -> str:
    """A 4-gram as a term of the index, which holds no spaces."""
    return piece.replace(" ", "_")


def microseconds(moment: datetime) -> int:
    """Unix microseconds, exact, so that the index and `Filter.admits` agree at every instant."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def from_microseconds(number: int) -> datetime:
    return _EPOCH + timedelta(microseconds=number)
