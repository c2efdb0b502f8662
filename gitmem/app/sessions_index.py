"""The search in sessions by its index: brought up to what is captured, then asked. Nothing of it is the only place of
anything: what is in doubt is dropped and made again.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gitmem.app import sessions_search
from gitmem.app.sessions_search import (
    SPEAKERS,
    Answer,
    Asked,
    Hit,
    Looked,
    Row,
    coverage,
    is_asked,
    least_weight,
    ranked,
    touched,
    weights_of,
)
from gitmem.app.state import private_folder
from gitmem.app.transcripts import Transcripts, adapter_of
from gitmem.app.workspace import Workspace
from gitmem.errors import CorruptRecord, NotFound
from gitmem.model.frozen import replace
from gitmem.model.tokens import tokens
from gitmem.recall import turns_index
from gitmem.recall.document import from_microseconds, microseconds
from gitmem.recall.faults import IndexDamaged
from gitmem.recall.turns_index import UNTIMED, Indexed, Narrowed, TurnsIndex
from gitmem.store.sessions import Place, session_at, session_places

if TYPE_CHECKING:
    from gitmem.capture.turns import Turn
    from gitmem.store.sessions import StoredSession


def from_index(workspace: Workspace, asked: Asked, wanted: list[str]) -> Answer:
    """The answer, by the index. Raises IndexBusy when another process writes it or nobody can, IndexDamaged."""
    places = session_places(workspace.backend)
    try:
        return _answer(workspace, asked, wanted, places, caught_up(workspace, places))
    except IndexDamaged:
        _opened(workspace).drop()
        return _answer(workspace, asked, wanted, places, caught_up(workspace, places))


def caught_up(workspace: Workspace, places: list[Place]) -> TurnsIndex:
    """The index, with what was captured since. A session that changed is read once, the others are not."""
    index = _opened(workspace)
    known = index.sessions
    changed = [place for place in places if not _is_current(known.get(place.folder), place)]
    removed = known.keys() - {place.folder for place in places}
    if changed or removed:
        index.update(_read(workspace, changed), sorted(removed))
    return index


def _opened(workspace: Workspace) -> TurnsIndex:
    return TurnsIndex(private_folder(workspace.location.private) / "index")


def _is_current(known: Indexed | None, place: Place) -> bool:
    if known is None or known.fault or known.tip != place.oid:
        return False
    return known.rules == _rules(known.host)


def _rules(host: str) -> int:
    """The version of who spoke; 0 where nobody can tell."""
    adapter = adapter_of(host)
    return adapter.rules if adapter else 0


def _read(workspace: Workspace, changed: list[Place]) -> Iterator[tuple[Indexed, list[turns_index.Row]]]:
    for place in changed:
        try:
            stored = session_at(workspace.backend, place)
        except (CorruptRecord, NotFound) as error:
            yield Indexed(place.folder, place.oid, 0, fault=error.message), []
            continue
        if stored is not None:
            yield _made(workspace, place, stored)


def _made(workspace: Workspace, place: Place, stored: StoredSession) -> tuple[Indexed, list[turns_index.Row]]:
    manifest, last = stored.manifest, stored.manifest.last
    session = Indexed(place.folder, place.oid, _rules(manifest.host), manifest.host, manifest.session)
    if last is None:
        return session, []
    rows = []
    paths: dict[str, None] = {}
    for number, turn in enumerate(Transcripts(workspace).turns(stored, last)):
        at = microseconds(turn.at) if turn.at else UNTIMED
        rows.append(turns_index.Row(place.folder, number, turn.speaker, at, _card(turn), turn.text))
        paths.update(dict.fromkeys(turn.paths))
    return replace(session, generation=last.number, paths=tuple(paths)), rows


def _card(turn: Turn) -> bytes:
    """All of a turn but who spoke and when."""
    return json.dumps(
        [
            turn.record, turn.start, turn.end, turn.text, turn.call, turn.tool, turn.outcome, turn.cwd, turn.branch,
            turn.model, turn.paths,
        ]
    ).encode()  # fmt: skip


def _turn(row: turns_index.Row) -> Turn:
    from gitmem.capture.turns import Turn

    record, start, end, text, call, tool, outcome, cwd, branch, model, paths = json.loads(row.card)
    at = None if row.at == UNTIMED else from_microseconds(row.at)
    speaker: Any = row.speaker
    return Turn(record, start, end, speaker, text, call, tool, outcome, at, cwd, branch, model, tuple(paths))


def _answer(workspace: Workspace, asked: Asked, wanted: list[str], places: list[Place], index: TurnsIndex) -> Answer:
    known = [index.sessions[place.folder] for place in places if place.folder in index.sessions]
    meant = [one for one in known if one.generation and is_asked(asked, one.host, one.session)]
    counted = Narrowed(
        tuple(asked.roles),
        asked.host,
        None if asked.session is None else tuple(one.folder for one in meant),
        None if asked.since is None else microseconds(asked.since),
        None if asked.until is None else microseconds(asked.until),
    )
    sessions = Counter(one.host for one in meant)
    turns = {host: n for host in sessions if (n := index.count(replace(counted, host=host)))}
    words = {word: index.count(counted, word) for word in wanted}
    looked = _looked(index, counted, dict(sessions), turns, words)
    looked = replace(looked, damaged=tuple(one.fault for one in known if one.fault))
    weights = weights_of(words, sum(turns.values()))
    near = counted
    if asked.path is not None:
        near = replace(counted, folders=tuple(one.folder for one in meant if touched(one.paths, asked.path)))
    order = {place.folder: number for number, place in enumerate(places)}
    rows, total = index.found(near, weights, least_weight(weights), order, sessions_search.MOST_RANKED)
    rows.sort(key=lambda row: (order[row.folder], row.number))
    speakers = [name for name in asked.roles if index.count(replace(near, speakers=(name,)))]
    best = ranked(asked, list(_rows(index, near, rows, frozenset(words))), weights, speakers)
    at = {place.folder: place for place in places}
    hits = []
    for row, score in best:
        stored = session_at(workspace.backend, at[row.session])
        if stored is not None:
            hits.append(Hit(stored, index.sessions[row.session].generation, row.turn, score))
    return Answer(tuple(hits), total, coverage(workspace, looked))


def _looked(
    index: TurnsIndex, counted: Narrowed, sessions: dict[str, int], turns: dict[str, int], words: dict[str, int]
) -> Looked:
    whenever = replace(counted, low=None, high=None)
    skipped = {
        name: n
        for name in SPEAKERS
        if name not in counted.speakers and (n := index.count(replace(whenever, speakers=(name,))))
    }
    ends = index.ends(counted) if turns else None
    return Looked(
        sessions, turns, skipped, words,
        from_microseconds(ends[0]) if ends else None, from_microseconds(ends[1]) if ends else None,
        index.untimed(whenever) if counted.by_time else 0, (),
    )  # fmt: skip


def _rows(index: TurnsIndex, counted: Narrowed, found: list[turns_index.Row], words: frozenset[str]) -> Iterator[Row]:
    several = Counter(row.folder for row in found)
    numbers: dict[str, list[int]] = {}
    for row in found:
        if several[row.folder] > 1 and row.folder not in numbers:
            numbers[row.folder] = index.numbers(counted, row.folder)
        position = bisect_left(numbers.get(row.folder, []), row.number)
        turn = _turn(row)
        said = tokens(turn.text)
        yield Row(row.folder, row.number, position, turn, Counter(w for w in said if w in words), len(said))
