"""What the index holds of one memory. No text is stored: a hit is answered from git, and a redaction leaves no copy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta, timezone
from typing import Any, Final

from gitmem.model.frozen import dataclass
from gitmem.model.nouns import FileRef, Memory, TestRef
from gitmem.model.times import parse_instant
from gitmem.model.tokens import tokens, tokens_version

SCHEMA_VERSION: Final = 1
OPEN_START: Final = -(2**62)  # microseconds that stand for an open end of `valid`
OPEN_END: Final = 2**62
TIPS_UID: Final = "tips"  # the one document that is no memory: it has no ref, and its `card` holds the tips
GRAM: Final = 4
_BREAK: Final = " | "  # no token, so that no phrase runs from the title into the body
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=timezone.utc)

RAW_FIELDS: Final = (
    "id", "ref", "kind", "project", "audience", "origin", "key", "tag", "path", "under",
)  # fmt: skip
TIME_FIELDS: Final = ("valid_from", "valid_until", "recorded", "changed")


@dataclass(frozen=True)
class Document:
    """One memory to be indexed.

    ref: "main" or "inbox", where it lies. recorded, changed: aware UTC times of its first and last event.
    blob: the git object id of the file.
    """

    ref: str
    memory: Memory
    recorded: datetime
    changed: datetime
    blob: str


def schema_name() -> str:
    """The folder of this schema: another one is another index, so two versions of gitmem do not fight."""
    return f"{SCHEMA_VERSION}-{tokens_version()}"


def make_schema() -> Any:
    """The tantivy schema. `text` keeps positions, for phrases; nothing else does."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("uid", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("status", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("card", stored=True, tokenizer_name="raw", index_option="basic")
    for name in RAW_FIELDS:
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in TIME_FIELDS:
        builder.add_integer_field(name, indexed=False, fast=True)
    builder.add_text_field("text", tokenizer_name="whitespace", index_option="position")
    builder.add_text_field("grams", tokenizer_name="whitespace", index_option="basic")
    return builder.build()


def uid(ref: str, identifier: str) -> str:
    return f"{ref}/{identifier}"


def fields(document: Document) -> dict[str, Any]:
    """The values of the tantivy document."""
    memory = document.memory
    parts = [tokens(text) for text in texts_of(memory, document.recorded)]
    paths = sorted(paths_of(memory))
    values: dict[str, Any] = {
        "uid": uid(document.ref, memory.id),
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
        "valid_from": OPEN_START if memory.valid.start is None else microseconds(parse_instant(memory.valid.start)),
        "valid_until": OPEN_END if memory.valid.until is None else microseconds(parse_instant(memory.valid.until)),
        "recorded": microseconds(document.recorded),
        "changed": microseconds(document.changed),
        "text": _BREAK.join(" ".join(words) for words in parts),
        "grams": " ".join(grams(dict.fromkeys(word for words in parts for word in words))),
    }
    if memory.key is not None:
        values["key"] = memory.key
    return values


def texts_of(memory: Memory, recorded: datetime) -> list[str]:
    """All that a memory says and the month of its recording, for questions that name one (LoCoMo turn hit@5 +1.5).

    The title twice: githist dev MRR 67.1 -> 68.0; a field of its own loses (hit@1 59.5 -> 47.9).
    """
    parts: list[str] = [memory.title, memory.title, memory.body, *memory.aliases, memory.cue or ""]
    parts += [f"{alternative.title}\n{alternative.why}" for alternative in memory.alternatives]
    parts += [step.text for step in memory.steps]
    parts += [*memory.claims, *memory.groundings, *memory.tags, memory.key or "", *sorted(paths_of(memory))]
    parts.append(recorded.astimezone(timezone.utc).strftime("%Y %B"))
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


def grams(words: Iterable[str]) -> Iterator[str]:
    """The 4-grams of each plain word with its ends marked; they forgive a typo where a stem does not.

    Marked ends: githist dev MRR 67.0 -> 67.6 against bare grams.
    """
    for word in words:
        if len(word) >= GRAM - 1 and word.isalpha():
            marked = f"<{word}>"
            yield from (marked[i : i + GRAM] for i in range(len(marked) - GRAM + 1))


def microseconds(moment: datetime) -> int:
    """Unix microseconds, exact, so that the index and `Filter.admits` agree at every instant."""
    return (moment - _EPOCH) // timedelta(microseconds=1)
