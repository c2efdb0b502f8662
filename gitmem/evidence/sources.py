"""Where resolvers may look, and the bounds they look within."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from gitmem.errors import UsageError
from gitmem.model.frozen import dataclass
from gitmem.model.nouns import Memory
from gitmem.model.vocabulary import Channel
from gitmem.store.objects import is_object_id
from gitmem.store.port import Backend

if TYPE_CHECKING:
    from gitmem.model.sessions import Generation
    from gitmem.store.sessions import StoredSession

SIZE_LIMIT: Final = 32 * 1024 * 1024  # bytes; nothing larger is read
_PATH_LIMIT: Final = 4096


class TooLarge(UsageError):
    """Something cited is over the size that gitmem reads. Found from the header, before reading."""


class Said(Protocol):
    """One turn of a session: `start` and `end` are the bytes of its record in the generation."""

    @property
    def record(self) -> str: ...
    @property
    def call(self) -> str | None: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def speaker(self) -> str: ...
    @property
    def text(self) -> str: ...


class Transcripts(Protocol):
    """Who knows what the bytes of a session say: this room does not know the hosts' formats."""

    def turns(self, stored: StoredSession, generation: Generation) -> Iterable[Said]:
        """Who said what, by the rules of today, in order."""

    def captured_here(self, stored: StoredSession) -> bool:
        """Whether this clone itself captured the session. The words of a person in any other are anybody's."""

    def forgotten(self, name: str) -> str:
        """When and why this clone let the session go, which it had captured; empty when it did not."""

    def receipt(self, stored: StoredSession) -> str:
        """What is to be told when the host has not got the session any more; empty while it has."""


@dataclass(frozen=True)
class Sources:
    """All that a resolver may look at.

    head: the commit that the code is at (None before the first commit). memories: the live memory with an id,
    or with a unique prefix of one; None when there is none, Ambiguous when several match. channel: by which the
    words of a `human` reference came, observed and never claimed. transcripts: None where none can be read.
    """

    backend: Backend
    head: str | None
    work_tree: Path | None
    memories: Callable[[str], Memory | None]
    channel: Channel
    transcripts: Transcripts | None = None

    def is_oid(self, text: str) -> bool:
        """True for a full object id of this repository."""
        return is_object_id(text, self.backend.object_format)

    def read(self, oid: str) -> tuple[str, bytes]:
        """Kind and data of one object. Raises NotFound, CorruptRecord, TooLarge."""
        size = self.backend.size(oid)
        if size > SIZE_LIMIT:
            raise _too_large(f"object {oid[:12]}", size)
        return self.backend.read(oid)

    def read_work_tree(self, path: str) -> bytes | None:
        """The bytes of a regular file of the work tree; None when there is none at `path`.

        No symlink is followed at any level, so nothing outside the work tree is ever read. Raises TooLarge.
        """
        if self.work_tree is None or not is_plain_path(path):
            return None
        try:
            descriptor = _open_below(self.work_tree, path.split("/"))
        except (OSError, ValueError):  # absent, a link, a folder in between that is a file, not allowed to us
            return None
        with os.fdopen(descriptor, "rb") as file:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                return None
            if found.st_size > SIZE_LIMIT:
                raise _too_large(path, found.st_size)
            data = file.read(SIZE_LIMIT + 1)
        if len(data) > SIZE_LIMIT:
            raise _too_large(path, len(data))
        return data


def is_plain_path(path: str) -> bool:
    """True for a relative path of a file in a repository: UTF-8, no `..`, no empty part, nothing in `.git`."""
    if not 0 < len(path) <= _PATH_LIMIT or "\0" in path or not is_utf8(path):
        return False
    return all(part not in ("", ".", "..") and part.lower() != ".git" for part in path.split("/"))


def is_utf8(text: str) -> bool:
    """False when `text` holds half a surrogate pair, as file names that are no UTF-8 do."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _open_below(top: Path, parts: list[str]) -> int:
    folder = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    finally:
        os.close(folder)


def _too_large(what: str, size: int) -> TooLarge:
    return TooLarge(
        f"{what} has {size:,} bytes; nothing over {SIZE_LIMIT:,} is read as evidence",
        hint="cite a smaller file, or the commit: --evidence commit:HEAD",
    )
