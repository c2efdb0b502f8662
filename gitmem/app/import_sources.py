"""What an import reads: notes of the files at HEAD, from git objects, and JSON lines as they come."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from gitmem.app.workspace import Workspace
from gitmem.errors import NotFound, UsageError
from gitmem.model.text import escape
from gitmem.notes.items import Note, Skipped
from gitmem.notes.jsonl import jsonl_notes
from gitmem.notes.parse import known_sources, parse
from gitmem.store.objects import Entry
from gitmem.store.snapshot import snapshot

NOTES_LIMIT: Final = 4 * 1024 * 1024  # bytes of one file of notes; a larger one is no notes
_LINE_LIMIT: Final = 1024 * 1024  # characters of one line of JSON
_MARKDOWN: Final = (".md", ".mdc", ".markdown")
_FILES: Final = ("100644", "100755")


@dataclass(frozen=True)
class Source:
    """One thing to read. `entry` is the file at HEAD; without one, `file` is JSON lines on this machine."""

    path: str
    entry: Entry | None = None
    file: Path | None = None

    @property
    def lines(self) -> bool:
        return self.path.lower().endswith(".jsonl")


def chosen_sources(workspace: Workspace, paths: Sequence[str]) -> list[Source]:
    """The sources that `paths` name, each once; without paths every known one at HEAD.

    Raises NotFound for a path that names nothing and UsageError for one that is not committed.
    """
    tracked = _tracked(workspace)
    if not paths:
        return [Source(path, tracked[path]) for path in known_sources(tracked)]
    found: dict[str, Source] = {}
    for path in paths:
        for source in _named(workspace, path, tracked):
            found.setdefault(source.path, source)
    return list(found.values())


def _tracked(workspace: Workspace) -> dict[str, Entry]:
    """Every file at HEAD whose name is text."""
    head = workspace.location.head
    if head is None:
        return {}
    return {path: entry for path, entry in snapshot(workspace.backend, head).walk() if _is_text(path)}


def _is_text(path: str) -> bool:
    return path.isprintable() and "\ufffd" not in path


def _named(workspace: Workspace, path: str, tracked: dict[str, Entry]) -> Iterable[Source]:
    inside, place = _place(workspace, path)
    if path.lower().endswith(".jsonl") and place.is_file():
        return [Source(inside or str(place), None, place)]
    for name in dict.fromkeys((inside, path.rstrip("/"))):
        if name is None:
            continue
        if name in tracked:
            return [Source(name, tracked[name])]
        below = [other for other in tracked if not name or other.startswith(f"{name}/")]
        if below:
            known = set(known_sources(below))
            return [Source(p, tracked[p]) for p in below if p in known or p.lower().endswith(_MARKDOWN)]
    if inside is None:
        raise UsageError(
            f"{escape(path)} lies outside this repository; evidence must be a file that is committed here",
            hint="copy it into the repository and commit it, or name a .jsonl file",
        )
    if place.exists():
        raise UsageError(
            f"{escape(path)} is not committed; only what is at HEAD can be cited",
            hint="git add it and commit, then gitmem import again",
        )
    raise NotFound(f"there is no {escape(path)} at HEAD", hint="gitmem import --list shows what can be read")


def _place(workspace: Workspace, path: str) -> tuple[str | None, Path]:
    """`path` from the top of the repository (None when outside; "" is the top), and on this machine."""
    top = workspace.location.work_tree
    place = Path(os.path.normpath(workspace.env.cwd / path))
    if top is None:
        return path.rstrip("/"), place
    for folder in (place, Path(os.path.realpath(place.parent)) / place.name):
        if folder.is_relative_to(top):
            inside = folder.relative_to(top).as_posix()
            return "" if inside == "." else inside, place
    return None, place


def read(workspace: Workspace, source: Source) -> Iterator[Note | Skipped]:
    """The notes of one source and what was left out, as they come. Never raises on what the source holds."""
    if source.file is not None:
        try:
            with source.file.open(encoding="utf-8", errors="surrogateescape", newline="\n") as file:
                yield from jsonl_notes(source.path, _lines(file))
        except OSError as error:
            raise UsageError(f"{escape(source.path)} cannot be read: {error.strerror}") from None
        return
    assert source.entry is not None  # noqa: S101  a source is one or the other
    if source.entry.mode not in _FILES:
        yield Skipped(source.path, "", "a symbolic link or a submodule, not a file")
        return
    limit = NOTES_LIMIT * 16 if source.lines else NOTES_LIMIT
    if workspace.backend.size(source.entry.oid) > limit:
        yield Skipped(source.path, "", f"more than {limit:,} bytes")
        return
    data = workspace.backend.read(source.entry.oid)[1]
    try:
        text = data.decode()
    except UnicodeDecodeError:
        yield Skipped(source.path, "", "not UTF-8 text")
        return
    if source.lines:
        yield from jsonl_notes(source.path, text.split("\n"))
        return
    notes, skipped = parse(source.path, text)
    yield from notes
    yield from skipped


def count(workspace: Workspace, source: Source) -> int:
    """How many items `read` will give; of JSON lines how many lines there are, which may be a few more."""
    if not source.lines:
        return sum(1 for _ in read(workspace, source))
    if source.entry is not None:
        return workspace.backend.read(source.entry.oid)[1].count(b"\n") if source.entry.mode in _FILES else 1
    assert source.file is not None  # noqa: S101  a source is one or the other
    try:
        with source.file.open("rb") as file:
            return sum(block.count(b"\n") for block in iter(lambda: file.read(_LINE_LIMIT), b""))
    except OSError:
        return 0  # `read` tells why


def _lines(file: IO[str]) -> Iterator[str]:
    """Lines of a file; of one that is too long only the beginning, which is no JSON."""
    while line := file.readline(_LINE_LIMIT):
        yield line
        while len(line) == _LINE_LIMIT and not line.endswith("\n"):
            line = file.readline(_LINE_LIMIT)
