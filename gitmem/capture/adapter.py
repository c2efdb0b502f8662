"""The port of a host: where its transcripts lie and who speaks in them. Adapters are modules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Protocol

from gitmem.capture.turns import Record, Turn
from gitmem.model.frozen import dataclass


@dataclass(frozen=True)
class Origin:
    """One transcript on disk. `session` is the host's own id; `parent` the session that started this one.

    `version` changes when the transcript did, for hosts that keep many sessions in one file; without it the size and
    time of `path` tell. Everything said in a session with a parent is read through `turns.of_child`.
    """

    host: str
    session: str
    path: Path
    parent: str | None = None
    version: str | None = None


class Adapter(Protocol):
    """What this room knows about one host. `rules` is the version of the speaker rules, applied when bytes are read."""

    @property
    def host(self) -> str: ...

    @property
    def rules(self) -> int: ...

    @property
    def suffix(self) -> str:
        """Of stored chunks: `jsonl` or `md`."""

    def origins(self, home: Path, environ: Mapping[str, str], work_trees: Sequence[Path]) -> Iterator[Origin]:
        """The sessions whose working folder lies in a work tree. Reads the head of each file, never the whole."""

    def watched(self, home: Path, environ: Mapping[str, str]) -> tuple[Path, ...]:
        """The folders and files looked at, there or not: for coverage and health."""

    @property
    def open(self) -> Callable[[Origin], BinaryIO]:
        """The bytes to be captured. OSError when they cannot be read."""

    def turns(self, records: Iterable[Record]) -> Iterator[Turn]:
        """Who said what. Never raises on what a record holds; what it does not know is `unknown`, never `human`."""


def open_file(origin: Origin) -> BinaryIO:
    """The bytes of the file itself."""
    return origin.path.open("rb")
