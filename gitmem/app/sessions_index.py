"""The search in sessions by its index: brought up to what is captured, then asked. Nothing of it is the only place of
anything: what is in doubt is dropped and made again.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from gitmem.app import sessions_search
from gitmem.app.sessions_search import (
    SPEAKERS,
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


_LETTERS: Final = dict(zip(SPEAKERS, "abcdefg", strict=True))  # as the index keeps who spoke


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
    rows, spoken = [], []
    paths: dict[str, None] = {}
    times: dict[str, tuple[int, int]] = {}
    for number, turn in enumerate(Transcripts(workspace).turns(stored, last)):
        at = microseconds(turn.at) if turn.at else UNTIMED
        rows.append(turns_index.Row(place.folder, number, turn.speaker, at, _card(turn), turn.text))
        paths.update(dict.fromkeys(turn.paths))
        letter = _LETTERS[turn.speaker]
        spoken.append(letter)
        if at != UNTIMED:
            first, latest = times.get(letter, (at, at))
            times[letter] = min(first, at), max(latest, at)
    told = replace(session, generation=last.number, paths=tuple(paths), spoken="".join(spoken), times=times)
    return told, rows


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
        tuple(dict.fromkeys(asked.roles)),
        tuple(name for name in SPEAKERS if name not in asked.roles),
        asked.host,
        None if asked.session is None else tuple(one.folder for one in meant),
        None if asked.since is None else microseconds(asked.since),
        None if asked.until is None else microseconds(asked.until),
    )
    words = {word: index.count(counted, word) for word in wanted}
    looked = _looked_at_times(index, counted, meant, words) if counted.by_time else _looked(counted, meant, words)
    looked = replace(looked, damaged=tuple(one.fault for one in known if one.fault))
    weights = weights_of(words, sum(looked.turns.values()))
    near, nearby = counted, meant
    if asked.path is not None:
        nearby = [one for one in meant if touched(one.paths, asked.path)]
        near = replace(counted, folders=tuple(one.folder for one in nearby))
    order = {place.folder: number for number, place in enumerate(places)}
    rows, total = index.found(near, weights, least_weight(weights), order, sessions_search.MOST_RANKED)
    rows.sort(key=lambda row: (order[row.folder], row.number))
    speakers = [name for name in counted.speakers if _speaks(index, near, nearby, name)]
    best = ranked(asked, list(_rows(index, near, rows, frozenset(words))), weights, speakers)
    at = {place.folder: place for place in places}
    hits = []
    for row, score in best.turns:
        stored = session_at(workspace.backend, at[row.session])
        if stored is not None:
            hits.append(Hit(stored, index.sessions[row.session].generation, row.turn, score))
    return answered(best, hits, total, coverage(workspace, looked))


def _looked(counted: Narrowed, meant: list[Indexed], words: dict[str, int]) -> Looked:
    """By what the index says of each session."""
    letters = [_LETTERS[name] for name in counted.speakers]
    turns: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    for one in meant:
        turns[one.host] += sum(map(one.spoken.count, letters))
        skipped.update({name: one.spoken.count(_LETTERS[name]) for name in counted.others})
    times = [one.times[letter] for one in meant for letter in letters if letter in one.times]
    return Looked(
        dict(Counter(one.host for one in meant)), dict(+turns), dict(+skipped), words,
        from_microseconds(min(first for first, _ in times)) if times else None,
        from_microseconds(max(last for _, last in times)) if times else None,
        0, (),
    )  # fmt: skip


def _looked_at_times(index: TurnsIndex, counted: Narrowed, meant: list[Indexed], words: dict[str, int]) -> Looked:
    sessions = Counter(one.host for one in meant)
    turns = {host: n for host in sessions if (n := index.count(replace(counted, host=host)))}
    whenever = replace(counted, low=None, high=None)
    skipped = {name: n for name in counted.others if (n := index.count(_only(whenever, name)))}
    ends = index.ends(counted) if turns else None
    return Looked(
        dict(sessions), turns, skipped, words,
        from_microseconds(ends[0]) if ends else None, from_microseconds(ends[1]) if ends else None,
        index.untimed(whenever), (),
    )  # fmt: skip


def _speaks(index: TurnsIndex, near: Narrowed, nearby: list[Indexed], name: str) -> bool:
    if near.by_time:
        return index.count(_only(near, name)) > 0
    return any(_LETTERS[name] in one.spoken for one in nearby)


def _only(which: Narrowed, name: str) -> Narrowed:
    return replace(which, speakers=(name,), others=tuple(other for other in SPEAKERS if other != name))


def _rows(index: TurnsIndex, counted: Narrowed, found: list[turns_index.Row], words: frozenset[str]) -> Iterator[Row]:
    several = Counter(row.folder for row in found)
    numbers: dict[str, list[int]] = {}
    for row in found:
        if several[row.folder] == 1:
            position = 0
        elif counted.by_time:
            if row.folder not in numbers:
                numbers[row.folder] = index.numbers(counted, row.folder)
            position = bisect_left(numbers[row.folder], row.number)
        else:
            before = index.sessions[row.folder].spoken[: row.number]
            position = sum(before.count(_LETTERS[name]) for name in counted.speakers)
        turn = _turn(row)
        said = tokens(turn.text)
        yield Row(row.folder, row.number, position, turn, Counter(w for w in said if w in words), len(said))
