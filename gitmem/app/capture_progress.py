"""How far each session was captured: this clone's own state, never stored in git and never shared.

All of it can be lost. Then every session is compared with its origin once, and nothing is captured twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

from gitmem.app.state import load, private_folder, write_private
from gitmem.model.frozen import dataclass

_NAME: Final = "capture"
_KEY_BYTES: Final = 32
Stamp = list[int | str]


@dataclass(frozen=True)
class Known:
    """What is known of one session's origin.

    `stamp`: what `stamp_of` gave before it was last read to its end; empty when it has to be read again. `marks`: the
    keyed digests of what was captured, by `mark_of`; two while a write may be under way. `plain`: the captured bytes
    are the file's own, so that the file can be given back. `degraded`: the day on which no further generation was
    begun. `remembered`: what the redactor knows about the lines to come. `trees`: what this clone itself stored of the
    session; anything else that its ref holds was put there by somebody else.
    """

    path: str
    stamp: Stamp
    marks: dict[str, str]
    plain: bool = True
    degraded: str = ""
    remembered: tuple[str, ...] = ()
    trees: tuple[str, ...] = ()


class Progress:
    """The state of all sessions of one clone, loaded once, saved whole."""

    def __init__(self, folder: Path, random: Callable[[int], bytes]) -> None:
        self._folder = folder
        data = load(folder, _NAME)
        self._sessions: dict[str, Any] = data.get("sessions", {}) if isinstance(data.get("sessions"), dict) else {}
        self._changed = False
        self.key = _key(data.get("key")) or random(_KEY_BYTES)

    def known(self, name: str) -> Known | None:
        row: Any = self._sessions.get(name)
        try:
            return Known(
                str(row["path"]), list(row["stamp"]), dict(row["marks"]), row["plain"], row["degraded"],
                tuple(row["remembered"]), tuple(row.get("trees", ())),
            )  # fmt: skip
        except (TypeError, KeyError, ValueError):
            return None

    def is_unchanged(self, name: str, path: str, stamp: Stamp, today: str) -> bool:
        """Whether nothing is to be done. What was put off is due on another day."""
        row = self._sessions.get(name)
        return (
            isinstance(row, dict)
            and row.get("stamp") == stamp
            and row.get("path") == path
            and row.get("degraded") in ("", today)
            and "trees" in row
        )

    def marks(self) -> dict[str, str]:
        """How far each session was captured, as a word that changes when it is captured further."""
        rows = ((name, row.get("marks")) for name, row in self._sessions.items() if isinstance(row, dict))
        return {name: " ".join(sorted(marks)) for name, marks in rows if isinstance(marks, dict)}

    def counts(self) -> tuple[int, int]:
        """How many sessions are known, and how many of them were put off."""
        rows = [row for row in self._sessions.values() if isinstance(row, dict)]
        return len(rows), sum(bool(row.get("degraded")) for row in rows)

    def note(self, name: str, known: Known) -> None:
        self._changed = True
        self._sessions[name] = {
            "path": known.path, "stamp": known.stamp, "marks": known.marks, "plain": known.plain,
            "degraded": known.degraded, "remembered": list(known.remembered), "trees": list(known.trees),
        }  # fmt: skip

    def forget(self, names: Iterable[str]) -> None:
        for name in names:
            self._changed = self._sessions.pop(name, None) is not None or self._changed

    def save(self) -> None:
        if not self._changed:
            return
        data = {"key": self.key.hex(), "sessions": self._sessions}
        path = private_folder(self._folder) / f"{_NAME}.json"
        write_private(path, json.dumps(data, separators=(",", ":")).encode())
        self._changed = False


def mark_of(generation: int, origin: int) -> str:
    """The name in `Known.marks` of what was captured in a generation, which is `origin` bytes of the host's file."""
    return f"{generation}:{origin}"


def mark_of_given_back(generation: int, origin: int, length: int) -> str:
    """The same when a file of `length` bytes was given back for them: markers stand in it for secrets."""
    return f"{mark_of(generation, origin)}={length}"


def stamp_of(path: Path, version: str | None) -> Stamp:
    """What changes when an origin does: the version that the host gives it, else length, time and inode of its file.

    Raises OSError.
    """
    if version is not None:
        return [version]
    found = path.stat()
    return [found.st_size, found.st_mtime_ns, found.st_ino]


def _key(text: object) -> bytes | None:
    try:
        key = bytes.fromhex(text) if isinstance(text, str) else b""
    except ValueError:
        return None
    return key if len(key) == _KEY_BYTES else None
