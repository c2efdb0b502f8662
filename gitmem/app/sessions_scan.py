"""The search in sessions that reads every turn: what the index has to agree with, and what answers without one."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from math import fsum
from typing import TYPE_CHECKING

from gitmem.app import sessions_search
from gitmem.app.sessions_search import (
    Answer,
    Asked,
    Hit,
    Looked,
    Row,
    answered,
    coverage,
    is_asked,
    least_weight,
    ranked,
    touches,
    weights_of,
)
from gitmem.app.transcripts import Transcripts
from gitmem.app.workspace import Workspace
from gitmem.errors import CorruptRecord, NotFound
from gitmem.model.tokens import tokens
from gitmem.recall.document import microseconds
from gitmem.recall.turns_index import UNTIMED
from gitmem.store.sessions import StoredSession, session_at, session_places

if TYPE_CHECKING:
    from gitmem.capture.turns import Turn


def from_sessions(workspace: Workspace, asked: Asked, wanted: list[str]) -> Answer:
    """The answer, by reading all that was captured."""
    scan = _Scan(workspace, asked, wanted)
    scan.run()
    words = dict(scan.words)
    weights = weights_of(words, scan.rows)
    least = least_weight(weights)
    found = [row for row in scan.found if fsum(weights.get(word, 0.0) for word in row.counts) >= least]
    best = _foremost(found, weights) if len(found) > sessions_search.MOST_RANKED else found
    picked = ranked(asked, best, weights, scan.speakers)
    hits = [
        Hit(scan.stored[row.session], scan.stored[row.session].manifest.generations[-1].number, row.turn, score)
        for row, score in picked.turns
    ]
    return answered(picked, hits, len(found), coverage(workspace, scan.looked()))


def _foremost(found: list[Row], weights: dict[str, float]) -> list[Row]:
    """The turns that are ranked, in the order in which they were."""

    def place(pair: tuple[int, Row]) -> tuple[bool, int]:
        at = pair[1].turn.at
        return not weights.keys() <= pair[1].counts.keys(), -(microseconds(at) if at else UNTIMED)

    kept = sorted(enumerate(found), key=place)[: sessions_search.MOST_RANKED]
    return [row for _, row in sorted(kept, key=lambda pair: pair[0])]


class _Scan:
    def __init__(self, workspace: Workspace, asked: Asked, wanted: list[str]) -> None:
        self._workspace = workspace
        self._asked = asked
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
        self.stored: dict[str, StoredSession] = {}
        self.speakers: set[str] = set()
        self.found: list[Row] = []

    def run(self) -> None:
        read, backend = Transcripts(self._workspace), self._workspace.backend
        for place in session_places(backend):
            try:
                stored = session_at(backend, place)
            except (CorruptRecord, NotFound) as error:
                self._damaged.append(error.message)
                continue
            last = stored.manifest.last if stored else None
            if stored is None or last is None:
                continue
            if not is_asked(self._asked, stored.manifest.host, stored.manifest.session):
                continue
            self.stored[place.folder] = stored
            self._sessions[stored.manifest.host] += 1
            found: list[Row] = []
            position = 0
            speakers = set()
            touched = self._asked.path is None
            for number, turn in enumerate(read.turns(stored, last)):
                touched = touched or touches(turn, str(self._asked.path))
                if self._counts(stored, turn):
                    speakers.add(turn.speaker)
                    if hit := self._looked_at(turn):
                        found.append(Row(place.folder, number, position, turn, *hit))
                    position += 1
            if touched:
                self.speakers |= speakers
                self.found += found

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

    def looked(self) -> Looked:
        return Looked(
            dict(self._sessions), dict(self._turns), dict(self._skipped), dict(self.words), self._first, self._last,
            self._untimed, tuple(self._damaged),
        )  # fmt: skip
