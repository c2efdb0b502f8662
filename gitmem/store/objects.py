"""Git's objects as bytes: ids, trees, commits. Pure (git-scm.com/docs/gitformat-*)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from gitmem.errors import CorruptRecord
from gitmem.model.frozen import dataclass

FILE: Final = "100644"
TREE: Final = "40000"
KINDS: Final = ("commit", "tree", "blob", "tag")  # in the order of git's numbers, from 1
HEX_LENGTH: Final = {"sha1": 40, "sha256": 64}
_HEX = frozenset("0123456789abcdef")


class Entry(NamedTuple):
    """One name in a tree. `mode` is as git stores it: no leading zero."""

    name: str
    mode: str
    oid: str

    @property
    def is_tree(self) -> bool:
        return self.mode == TREE


@dataclass(frozen=True)
class Identity:
    """A name and an address as they stand in a commit."""

    name: str
    email: str


@dataclass(frozen=True)
class CommitInfo:
    """A parsed commit. `author` and `committer` are the raw header values, `headers` all of them in order."""

    tree: str
    parents: tuple[str, ...]
    author: str
    committer: str
    message: str
    headers: tuple[tuple[str, str], ...]


def _hash(object_format: str, data: bytes) -> str:
    import hashlib  # a read needs none, and it loads a large library

    if object_format == "sha256":
        return hashlib.sha256(data).hexdigest()
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()


def object_id(kind: str, data: bytes, object_format: str) -> str:
    """The id git gives these bytes: the hash over `<kind> <length>\\0<data>`."""
    return _hash(object_format, b"%s %d\0%s" % (kind.encode(), len(data), data))


def is_object_id(text: str, object_format: str) -> bool:
    return len(text) == HEX_LENGTH[object_format] and _HEX.issuperset(text)


def empty_tree(object_format: str) -> str:
    return object_id("tree", b"", object_format)


def zero_id(object_format: str) -> str:
    return "0" * HEX_LENGTH[object_format]


def parse_tree(data: bytes, object_format: str) -> list[Entry]:
    """The entries of a raw tree, in stored order. Names that are not UTF-8 keep their bytes as surrogates.

    Raises CorruptRecord when the bytes are no tree.
    """
    width = HEX_LENGTH[object_format] // 2
    entries = []
    at, end = 0, len(data)
    while at < end:
        space = data.find(b" ", at, at + 8)
        null = data.find(b"\0", space + 1)
        if space < 0 or null < 0 or null + 1 + width > end:
            raise CorruptRecord(f"a tree of {end} bytes breaks off or is no tree at byte {at}")
        mode = data[at:space].decode("ascii", "replace")
        name = data[space + 1 : null].decode("utf-8", "surrogateescape")
        entries.append(Entry(name, mode, data[null + 1 : null + 1 + width].hex()))
        at = null + 1 + width
    return entries


def tree_bytes(entries: Iterable[Entry]) -> bytes:
    """The raw tree; entries in git's order (a folder sorts as if its name ended with a slash)."""
    rows = [(entry.name.encode("utf-8", "surrogateescape"), entry) for entry in entries]
    rows.sort(key=lambda row: row[0] + b"/" if row[1].is_tree else row[0])
    return b"".join(b"%s %s\0%s" % (entry.mode.encode(), name, bytes.fromhex(entry.oid)) for name, entry in rows)


def parse_commit(data: bytes) -> CommitInfo:
    """Raises CorruptRecord when tree, author or committer is missing."""
    head, _, message = data.partition(b"\n\n")
    headers: list[tuple[str, str]] = []
    for line in head.decode("utf-8", "surrogateescape").split("\n"):
        if line.startswith(" ") and headers:
            headers[-1] = (headers[-1][0], f"{headers[-1][1]}\n{line[1:]}")
        else:
            key, _, value = line.partition(" ")
            headers.append((key, value))
    first = dict(reversed(headers))
    if not {"tree", "author", "committer"} <= first.keys():
        raise CorruptRecord(f"a commit of {len(data)} bytes has no tree, author or committer")
    return CommitInfo(
        tree=first["tree"],
        parents=tuple(value for key, value in headers if key == "parent"),
        author=first["author"],
        committer=first["committer"],
        message=message.decode("utf-8", "replace"),
        headers=tuple(headers),
    )


def commit_bytes(
    tree: str, parents: Sequence[str], author: Identity, committer: Identity, when: datetime, message: str
) -> bytes:
    """An unsigned commit. `when` is aware; it is stored in whole seconds of UTC."""
    seconds = int(when.timestamp())
    lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
    lines.append(f"author {_signature(author)} {seconds} +0000")
    lines.append(f"committer {_signature(committer)} {seconds} +0000")
    return ("\n".join(lines) + "\n\n" + message.rstrip("\n") + "\n").encode("utf-8", "replace")


def _signature(identity: Identity) -> str:
    # git drops these characters too: they would end the field (git's ident.c, `crud`).
    name, email = ("".join(c for c in text if c not in "<>" and c >= " ") for text in (identity.name, identity.email))
    return f"{name.strip(' .,:;') or 'unknown'} <{email.strip()}>"
