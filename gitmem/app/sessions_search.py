"""`gitmem sessions search`: the turns that hold most of what was asked, citable, or a plain no with what was searched.

Every turn of every session is read: there is no index, so what was captured a moment ago is found. The tokenizer is
the one of recall.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from heapq import nlargest
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from gitmem.app.capture import SWEPT, home_of
from gitmem.app.state import load
from gitmem.app.transcripts import Transcripts, adapter_of
from gitmem.app.workspace import Workspace
from gitmem.errors import UsageError
from gitmem.model.frozen import dataclass
from gitmem.model.times import format_instant
from gitmem.model.tokens import tokens
from gitmem.recall.turns import TurnInfo, rank_turns
from gitmem.recall.words import QUESTION_WORDS
from gitmem.store.sessions import StoredSession, stored_sessions

if TYPE_CHECKING:
    from gitmem.capture.turns import Turn

SPEAKERS: Final = ("human", "assistant", "tool", "harness", "subagent", "ours", "unknown")
DEFAULT: Final = ("human", "assistant", "tool", "unknown")
# BM25 with its usual constants (Robertson and Zaragoza 2009); lengths in tokens.
_K1: Final = 1.2
_B: Final = 0.75
# Of what was asked, as each word counts by how rare it is, a turn has to hold so much. A word that stands nowhere is
# the rarest: asked with one other, it leaves no answer.
MOST: Final = 0.5


@dataclass(frozen=True)
class Asked:
    """What to search. `roles` are speakers. `since` and `until` bound the time of a turn, `path` a file that the
    session touched, `session` its id or a prefix of it."""

    words: str
    roles: Sequence[str] = DEFAULT
    host: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    session: str | None = None
    path: str | None = None
    order: Literal["relevance", "time"] = "relevance"
    limit: int = 10


@dataclass(frozen=True)
class Hit:
    """A turn with most of what was asked, and where it stands."""

    stored: StoredSession
    generation: int
    turn: Turn
    score: float


@dataclass(frozen=True)
class Coverage:
    """What was looked at. `sessions` and `turns` by host; `skipped` turns by speaker that were left out; `words`: in
    how many turns each word stands; `unwatched`: hosts of which nothing is known here; `swept`: when was last captured;
    `damaged`: sessions that could not be read.
    """

    sessions: dict[str, int]
    turns: dict[str, int]
    skipped: dict[str, int]
    words: dict[str, int]
    first: str
    last: str
    untimed: int
    swept: str
    folders: dict[str, tuple[str, ...]]
    unwatched: tuple[str, ...]
    faults: dict[str, str]
    damaged: tuple[str, ...]


@dataclass(frozen=True)
class Answer:
    """The best hits, how many there were, and the coverage."""

    hits: tuple[Hit, ...]
    total: int
    coverage: Coverage


def search(workspace: Workspace, asked: Asked) -> Answer:
    """Raises UsageError when there is no word to look for."""
    said = dict.fromkeys(tokens(asked.words))
    wanted = [word for word in said if word not in QUESTION_WORDS] or list(said)
    if not wanted:
        raise UsageError("there is no word to search for", hint='gitmem sessions search "redis timeout"')
    scan = _Scan(workspace, asked, wanted)
    found = list(scan.run())
    rows = scan.rows or 1
    weight = {word: log(1 + (rows - n + 0.5) / (n + 0.5)) for word, n in scan.words.items()}
    total = sum(weight.values())
    found = [row for row in found if sum(weight[word] for word in row.counts) >= MOST * total]
    mean = sum(row.length for row in found) / len(found) if found else 1.0
    own = {row.name: _score(row.counts, row.length, mean, weight) for row in found}
    ranked = dict(rank_turns(own, scan.infos, asked.words))
    hits = [Hit(row.stored, row.generation, row.turn, ranked[row.name]) for row in found]
    by_time = asked.order == "time"
    best = nlargest(asked.limit, hits, key=lambda hit: _instant(hit.turn) if by_time else hit.score)
    return Answer(tuple(best), len(hits), scan.coverage())


class _Row(NamedTuple):
    """A turn with words of the question: how often each stands there, and how long it is. name: as in `TurnInfo`."""

    name: str
    stored: StoredSession
    generation: int
    turn: Turn
    counts: Counter[str]
    length: int


def _score(counts: Counter[str], length: int, mean: float, weight: dict[str, float]) -> float:
    norm = _K1 * (1 - _B + _B * length / mean)
    return sum(weight[word] * n * (_K1 + 1) / (n + norm) for word, n in counts.items())


def _instant(turn: Turn) -> float:
    return turn.at.timestamp() if turn.at else 0.0


class _Scan:
    def __init__(self, workspace: Workspace, asked: Asked, wanted: list[str]) -> None:
        self._workspace = workspace
        self._asked = asked
        self._wanted = wanted
        self._set = frozenset(wanted)
        self._sessions: Counter[str] = Counter()
        self._turns: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()
        self.words: Counter[str] = Counter(dict.fromkeys(wanted, 0))
        self.rows = 0
        self._first: datetime | None = None
        self._last: datetime | None = None
        self._untimed = 0
        self._damaged: list[str] = []
        self.infos: list[TurnInfo] = []  # of every turn that was looked at, for what neighbours add to each other

    def run(self) -> Iterator[_Row]:
        read = Transcripts(self._workspace)
        for stored in stored_sessions(self._workspace.backend, self._damaged, fetched=True):
            last = stored.manifest.last
            if last is None or not self._is_asked(stored):
                continue
            self._sessions[stored.manifest.host] += 1
            found: list[_Row] = []
            infos: list[TurnInfo] = []
            name = stored.manifest.name
            touched = self._asked.path is None
            for turn in read.turns(stored, last):
                touched = touched or touches(turn, str(self._asked.path))
                if self._counts(stored, turn):
                    here = f"{name}#{len(infos)}"
                    infos.append(TurnInfo(here, name, len(infos), turn.speaker, turn.at))
                    if hit := self._looked_at(turn):
                        found.append(_Row(here, stored, last.number, turn, *hit))
            if touched:
                self.infos += infos
                yield from found

    def _is_asked(self, stored: StoredSession) -> bool:
        asked, manifest = self._asked, stored.manifest
        named = asked.session is None or manifest.session.startswith(asked.session)
        return (asked.host in (None, manifest.host)) and (named or manifest.name.startswith(str(asked.session)))

    def _counts(self, stored: StoredSession, turn: Turn) -> bool:
        asked = self._asked
        if turn.speaker not in asked.roles:
            self._skipped[turn.speaker] += 1
            return False
        if asked.since or asked.until:
            if turn.at is None:
                self._untimed += 1
                return False
            if (asked.since and turn.at < asked.since) or (asked.until and turn.at >= asked.until):
                return False
        self._turns[stored.manifest.host] += 1
        self.rows += 1
        if turn.at is not None:
            self._first = min(self._first or turn.at, turn.at)
            self._last = max(self._last or turn.at, turn.at)
        return True

    def _looked_at(self, turn: Turn) -> tuple[Counter[str], int] | None:
        """How often each word stands in the turn, and its length; None when none of them does."""
        said = tokens(turn.text)
        counts = Counter(word for word in said if word in self._set)
        self.words.update(counts.keys())
        return (counts, len(said)) if counts else None

    def coverage(self) -> Coverage:
        from gitmem.capture.registry import adapters

        swept = load(self._workspace.location.private, SWEPT)
        hosts = swept.get("hosts", {}) if isinstance(swept.get("hosts"), dict) else {}
        faults = {name: str(row["error"]) for name, row in hosts.items() if isinstance(row, dict) and row.get("error")}
        return Coverage(
            sessions=dict(self._sessions),
            turns=dict(self._turns),
            skipped=dict(self._skipped),
            words=dict(self.words),
            first=format_instant(self._first) if self._first else "",
            last=format_instant(self._last) if self._last else "",
            untimed=self._untimed,
            swept=str(swept.get("at", "")),
            folders=self._folders(),
            unwatched=tuple(name for name in adapters() if not hosts.get(name, {}).get("sessions")),
            faults=faults,
            damaged=tuple(self._damaged),
        )

    def _folders(self) -> dict[str, tuple[str, ...]]:
        home, environ = home_of(self._workspace), self._workspace.env.environ
        found = {}
        for host in self._sessions:
            adapter = adapter_of(host)
            if adapter is not None:
                found[host] = tuple(str(path) for path in adapter.watched(home, environ))
        return found


def touches(turn: Turn, path: str) -> bool:
    """Whether a tool call names the file, or one below the folder, `path`."""
    wanted = path.strip("/")
    return any(_below(str(Path(found)), wanted) for found in turn.paths)


def _below(found: str, wanted: str) -> bool:
    return found == wanted or f"/{wanted}/" in f"/{found}/"
