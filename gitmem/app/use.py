"""How memories are used in this clone: shown, opened, cited, their command run and passed; and what was credited.

Shown is not use. One small file in the private folder, bounded, never pushed, and losable: without it nothing is ranked
or told in another way. It never changes what a memory is, where it lies, or whether it answers.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from math import sqrt
from pathlib import Path
from typing import Any, Final, Literal

from gitmem.app.learn_settings import learns
from gitmem.app.state import private_folder, write_private
from gitmem.errors import GitmemError
from gitmem.model.frozen import dataclass, field, replace

FILE: Final = "use.json"
LARGEST: Final = 512 * 1024  # bytes of a file that is read
MOST_MEMORIES: Final = 500  # the least used go first, those with credit last
RECENT: Final = 6  # times of use that are kept of one memory; those before are counted
MOST_CREDITS: Final = 8  # of one memory
# Uses of one memory within so many seconds are one: a loop, or a page that is looked at twice, is no practice.
MASSED: Final = 3600
FADES_AFTER: Final = 8  # briefs in which an inference was told since its last use
_DAY: Final = 86400.0

How = Literal["opened", "cited", "ran", "useful"]
HOWS: Final[tuple[How, ...]] = ("opened", "cited", "ran", "useful")


@dataclass(frozen=True)
class Used:
    """times: Unix seconds of the last uses, the oldest first. count: of all uses. first: of the first one.

    hows: how often it was used in each way. told: briefs that told of it since it was last used. credits: one for each
    session in which the project's checks passed with it in context, and `person` where a person called it useful.
    """

    times: tuple[int, ...] = ()
    count: int = 0
    first: int = 0
    hows: Mapping[str, int] = field(default_factory=dict)
    told: int = 0
    credits: tuple[str, ...] = ()

    def activation(self, now: int) -> float:
        """The sum of t^-0.5 over its uses, t in days (whole hours, one at the least): e to ACT-R's base-level
        activation with d = 0.5 (Anderson and Lebiere 1998). Of the uses before those that are kept, the mean over
        their time stands in (Petrov 2006)."""
        recent = [_age(now, time) for time in self.times]
        total = sum(1 / sqrt(age) for age in recent)
        before = self.count - len(self.times)
        if before > 0 and recent:
            oldest, youngest = _age(now, self.first), recent[0]
            mean = 2 / (sqrt(oldest) + sqrt(youngest))  # the integral of t^-0.5 between both, by its length
            total += before * mean
        return total

    @property
    def has_faded(self) -> bool:
        """Whether briefs leave it out, if it is an inference."""
        return self.told >= FADES_AFTER and not self.credits

    def strength(self, now: int) -> float:
        """0 for what was never used, below 1: how likely it is to be needed, by ACT-R's logistic with threshold 0 and
        noise 1."""
        active = self.activation(now)
        return round(active / (1 + active), 6)


def _age(now: int, time: int) -> float:
    return max((now - time) // MASSED, 1) * MASSED / _DAY


def load(private: Path) -> dict[str, Used]:
    """What is kept, by memory; nothing where there is no file, or one that cannot be read as such."""
    return {name: used for name, row in _rows(private).items() if (used := _read(row))}


def _rows(private: Path) -> dict[str, Any]:
    """What the file says, of which each row is still to be read."""
    try:
        with (private / FILE).open("rb") as file:
            data = json.loads(file.read(LARGEST + 1)[:LARGEST])
    except (OSError, ValueError, RecursionError):
        return {}
    rows = data.get("memories") if isinstance(data, dict) else None
    return rows if isinstance(rows, dict) else {}


def _read(row: Any) -> Used | None:
    """None for what nobody here wrote."""
    if not isinstance(row, dict):
        return None
    times, hows, credits = row.get("at", []), row.get("how", {}), row.get("credit", [])
    numbers = [*times, *hows.values()] if isinstance(times, list) and isinstance(hows, dict) else [None]
    numbers += [row.get("n", 0), row.get("first", 0), row.get("told", 0)]
    if any(type(number) is not int or number < 0 for number in numbers) or not isinstance(credits, list):
        return None
    sessions = tuple(name for name in credits if isinstance(name, str))
    return Used(
        tuple(sorted(times))[-RECENT:], row.get("n", 0), row.get("first", 0), hows, row.get("told", 0), sessions
    )


def is_on(environ: Mapping[str, str]) -> bool:
    """Whether use is counted and counts. A settings file that says nothing clear is told of by the verbs that learn."""
    with suppress(GitmemError):
        return learns(environ, "use")
    return False


@contextmanager
def _changing(private: Path, environ: Mapping[str, str]) -> Iterator[dict[str, Used]]:
    """The rows, alone, kept at the end. Where nothing may be written, or use is switched off, nothing is kept."""
    rows: dict[str, Used] = {}
    if not is_on(environ):
        yield rows
        return
    try:
        private_folder(private)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(private / ".use.lock", flags, 0o600)
    except (OSError, GitmemError):
        yield rows
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        rows.update(load(private))
        before = dict(rows)
        yield rows
        if rows != before:
            with suppress(GitmemError):
                write_private(private / FILE, _written(rows))
    finally:
        os.close(descriptor)


def _written(rows: Mapping[str, Used]) -> bytes:
    kept = sorted(rows.items(), key=lambda row: (not row[1].credits, -_last(row[1]), row[0]))[:MOST_MEMORIES]
    data = {
        name: {"n": used.count, "first": used.first, "at": list(used.times), "how": dict(used.hows),
               "told": used.told, "credit": list(used.credits)}
        for name, used in sorted(kept)
    }  # fmt: skip
    return json.dumps({"memories": data}, separators=(",", ":")).encode() + b"\n"


def _last(used: Used) -> int:
    return used.times[-1] if used.times else 0


def note(private: Path, environ: Mapping[str, str], how: How, ids: Iterable[str], at: datetime) -> None:
    """These were used, at a time that may lie before others that are kept."""
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        return
    with _changing(private, environ) as rows:
        for identifier in wanted:
            rows[identifier] = _once_more(rows.get(identifier, Used()), how, int(at.timestamp()))


def is_noted(private: Path, identifier: str, at: datetime) -> bool:
    """Whether a use at this time is kept already: as itself, or by one close to it."""
    used = load(private).get(identifier, Used())
    return _once_more(used, "useful", int(at.timestamp())) == used


def _once_more(used: Used, how: How, time: int) -> Used:
    """Told of it no more than once, however often a session is read again."""
    is_known = any(abs(time - other) < MASSED for other in used.times)
    if is_known or (len(used.times) == RECENT and time < used.times[0]):
        return used
    hows = {**used.hows, how: used.hows.get(how, 0) + 1}
    return replace(
        used, times=tuple(sorted((*used.times, time)))[-RECENT:], count=used.count + 1,
        first=min(used.first or time, time), hows=hows, told=0,
    )  # fmt: skip


def note_told(private: Path, environ: Mapping[str, str], ids: Iterable[str]) -> None:
    """A brief told of these, which is no use."""
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        return
    with _changing(private, environ) as rows:
        for identifier in wanted:
            used = rows.get(identifier, Used())
            rows[identifier] = replace(used, told=used.told + 1)


def credit(private: Path, environ: Mapping[str, str], ids: Iterable[str], of: str) -> list[str]:
    """Credit these, once for each `of` (a session, or `person`); which of them are news."""
    from hashlib import sha256

    tag = of if of == PERSON else sha256(of.encode("utf-8", "replace")).hexdigest()[:16]
    fresh = []
    with _changing(private, environ) as rows:
        for identifier in dict.fromkeys(ids):
            used = rows.get(identifier, Used())
            if tag not in used.credits and len(used.credits) < MOST_CREDITS:
                rows[identifier] = replace(used, credits=(*used.credits, tag))
                fresh.append(identifier)
    return fresh


PERSON: Final = "person"


def sessions_crediting(used: Used | None) -> int:
    """How many sessions' checks passed with it in context."""
    return sum(tag != PERSON for tag in used.credits) if used else 0


class Strengths(Mapping[str, float]):
    """Of each memory that was used, how likely it is to be needed, above 0 and below 1. Worked out when it is asked:
    of many that are kept a question finds few."""

    def __init__(self, rows: Mapping[str, Any], now: int) -> None:
        self._rows = rows
        self._now = now

    def __getitem__(self, name: str) -> float:
        used = _read(self._rows[name])
        if used is None or not used.times:
            raise KeyError(name)
        return used.strength(self._now)

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def strengths(private: Path, environ: Mapping[str, str], now: datetime) -> Mapping[str, float]:
    """Empty where nothing was counted, and when it is switched off."""
    rows = _rows(private)
    return Strengths(rows, int(now.timestamp())) if rows and is_on(environ) else {}


def faded(private: Path, environ: Mapping[str, str]) -> frozenset[str]:
    """Memories that were told in many briefs and neither used since nor ever credited."""
    rows = _rows(private)
    if not rows or not is_on(environ):
        return frozenset()
    often = {name: _read(row) for name, row in rows.items() if isinstance(row, dict) and row.get("told")}
    return frozenset(name for name, used in often.items() if used is not None and used.has_faded)
