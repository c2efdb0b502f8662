"""`gitmem sessions search`: the turns that hold most of what was asked, citable, or a plain no with what was searched.

The turns come from an index that is brought up to what is captured first (`sessions_index`), so what was captured a
moment ago is found; where that cannot be read or written, every turn of every session is read (`sessions_scan`). Both
give the same answer. The tokenizer is the one of recall.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from heapq import nlargest
from math import fsum, log
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from gitmem.app.capture import SWEPT, home_of
from gitmem.app.state import load
from gitmem.app.transcripts import adapter_of
from gitmem.app.workspace import Workspace
from gitmem.errors import UsageError
from gitmem.model.frozen import dataclass
from gitmem.model.layout import session_folder
from gitmem.model.times import format_instant
from gitmem.model.tokens import tokens
from gitmem.recall.turns import TurnInfo, rank_sessions, rank_turns
from gitmem.recall.words import QUESTION_WORDS
from gitmem.store.sessions import StoredSession

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
MOST_WORDS: Final = 10  # of a longer question the rarest count
OF_A_SESSION: Final = 3  # turns that are given of each when sessions are asked for
MOST_RANKED: Final = 2000  # turns that are ranked; of more those with every word, then the latest


@dataclass(frozen=True)
class Asked:
    """What to search. `roles` are speakers. `since` and `until` bound the time of a turn, `path` a file that the
    session touched, `session` its id or a prefix of it. `by` session: the best sessions are answered, `limit` of them,
    each with its best turns."""

    words: str
    roles: Sequence[str] = DEFAULT
    host: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    session: str | None = None
    path: str | None = None
    order: Literal["relevance", "time"] = "relevance"
    limit: int = 10
    by: Literal["turn", "session"] = "turn"


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
    """The best hits, how many turns there were, and the coverage.

    When sessions were asked for: `sessions`, (name, score, which is 1 for the best), in the order of their hits, and
    `others`, how many more were found.
    """

    hits: tuple[Hit, ...]
    total: int
    coverage: Coverage
    sessions: tuple[tuple[str, float], ...] = ()
    others: int = 0


def search(workspace: Workspace, asked: Asked) -> Answer:
    """Raises UsageError when there is no word to look for."""
    from gitmem.app.sessions_index import from_index
    from gitmem.app.sessions_scan import from_sessions
    from gitmem.recall.faults import IndexBusy, IndexDamaged

    wanted = wanted_words(asked)
    try:
        return from_index(workspace, asked, wanted)
    except (IndexBusy, IndexDamaged):
        return from_sessions(workspace, asked, wanted)


def wanted_words(asked: Asked) -> list[str]:
    """Raises UsageError when there is none."""
    said = dict.fromkeys(tokens(asked.words))
    wanted = [word for word in said if word not in QUESTION_WORDS] or list(said)
    if not wanted:
        raise UsageError("there is no word to search for", hint='gitmem sessions search "redis timeout"')
    return wanted


class Row(NamedTuple):
    """A turn with words of the question. session: its `session_folder`; number: its place among all turns of it;
    position: among those that were looked at; counts: how often each word stands there; length: in tokens."""

    session: str
    number: int
    position: int
    turn: Turn
    counts: Counter[str]
    length: int


def weights_of(words: dict[str, int], rows: int) -> dict[str, float]:
    """What the words of a question weigh, by how many of the `rows` turns have each: the rarer the more. Of many words
    the rarest."""
    rarest = sorted(words, key=lambda word: words[word])[:MOST_WORDS]
    rows = rows or 1
    return {word: log(1 + (rows - words[word] + 0.5) / (words[word] + 0.5)) for word in words if word in rarest}


def least_weight(weights: dict[str, float]) -> float:
    """What the words of a turn have to weigh."""
    return MOST * fsum(weights.values())


class Best(NamedTuple):
    """What is answered, the best first. sessions: (`session_folder`, score) when they were asked for; others: how many
    more were found."""

    turns: list[tuple[Row, float]]
    sessions: dict[str, float]
    others: int


def ranked(asked: Asked, found: list[Row], weights: dict[str, float], speakers: Iterable[str]) -> Best:
    """The best turns, or sessions, of those `found`, which are in the order of sessions and turns. `speakers`: of all
    that was looked at."""
    mean = sum(row.length for row in found) / len(found) if found else 1.0
    own, infos = {}, [TurnInfo(f"of {name}", f"of {name}", 0, name) for name in speakers]
    for row in found:
        name = f"{row.session}#{row.number}"
        own[name] = _score(row.counts, row.length, mean, weights)
        infos.append(TurnInfo(name, row.session, row.position, row.turn.speaker, row.turn.at))
    scores = dict(rank_turns(own, infos, asked.words))
    hits = [(row, scores[f"{row.session}#{row.number}"]) for row in found]
    if asked.by == "turn":
        by_time = asked.order == "time"
        hits.sort(key=lambda hit: -(_instant(hit[0].turn) if by_time else hit[1]))
        return Best(_each_once(hits)[: asked.limit], {}, 0)
    of: dict[str, list[tuple[Row, float]]] = {}
    for hit in hits:
        of.setdefault(hit[0].session, []).append(hit)
    sessions = rank_sessions(own, infos, asked.words)
    if asked.order == "time":
        latest = {name: max(_instant(row.turn) for row, _ in own_hits) for name, own_hits in of.items()}
        sessions.sort(key=lambda pair: -latest[pair[0]])
    kept = dict(sessions[: asked.limit])
    best = [hit for name in kept for hit in nlargest(OF_A_SESSION, of[name], key=lambda hit: hit[1])]
    return Best(best, kept, len(sessions) - len(kept))


def _each_once(hits: list[tuple[Row, float]]) -> list[tuple[Row, float]]:
    """Without the copies of a record: hosts write what was said before again, in a session that goes on in another."""
    first: dict[tuple[str, str], tuple[Row, float]] = {}
    for hit in hits:
        first.setdefault((hit[0].turn.record, hit[0].turn.text), hit)
    return list(first.values())


def _score(counts: Counter[str], length: int, mean: float, weights: dict[str, float]) -> float:
    norm = _K1 * (1 - _B + _B * length / mean)
    return fsum(weights[word] * n * (_K1 + 1) / (n + norm) for word, n in counts.items() if word in weights)


def _instant(turn: Turn) -> float:
    return turn.at.timestamp() if turn.at else 0.0


def answered(best: Best, hits: Sequence[Hit], total: int, coverage: Coverage) -> Answer:
    """`hits`: of `best.turns`, those that can be read still."""
    names = {
        session_folder(hit.stored.manifest.host, hit.stored.manifest.session): hit.stored.manifest.name for hit in hits
    }
    sessions = tuple((names[folder], score) for folder, score in best.sessions.items() if folder in names)
    return Answer(tuple(hits), total, coverage, sessions, best.others)


@dataclass(frozen=True)
class Looked:
    """What was looked at and what of it counted, as `Coverage` says it."""

    sessions: dict[str, int]
    turns: dict[str, int]
    skipped: dict[str, int]
    words: dict[str, int]
    first: datetime | None
    last: datetime | None
    untimed: int
    damaged: tuple[str, ...]


def coverage(workspace: Workspace, looked: Looked) -> Coverage:
    from gitmem.capture.registry import adapters

    swept = load(workspace.location.private, SWEPT)
    hosts = swept.get("hosts", {}) if isinstance(swept.get("hosts"), dict) else {}
    faults = {name: str(row["error"]) for name, row in hosts.items() if isinstance(row, dict) and row.get("error")}
    return Coverage(
        sessions=looked.sessions,
        turns=looked.turns,
        skipped=looked.skipped,
        words=looked.words,
        first=format_instant(looked.first) if looked.first else "",
        last=format_instant(looked.last) if looked.last else "",
        untimed=looked.untimed,
        swept=str(swept.get("at", "")),
        folders=_folders(workspace, looked.sessions),
        unwatched=tuple(
            name for name in adapters() if not hosts.get(name, {}).get("sessions") and name not in looked.sessions
        ),
        faults=faults,
        damaged=looked.damaged,
    )


def _folders(workspace: Workspace, hosts: Iterable[str]) -> dict[str, tuple[str, ...]]:
    home, environ = home_of(workspace), workspace.env.environ
    found = {}
    for host in hosts:
        adapter = adapter_of(host)
        if adapter is not None:
            found[host] = tuple(str(path) for path in adapter.watched(home, environ))
    return found


def is_asked(asked: Asked, host: str, session: str) -> bool:
    named = asked.session is None or session.startswith(asked.session)
    return (asked.host in (None, host)) and (named or f"{host}/{session}".startswith(str(asked.session)))


def touches(turn: Turn, path: str) -> bool:
    """Whether a tool call names the file, or one below the folder, `path`."""
    return touched(turn.paths, path)


def touched(paths: Iterable[str], path: str) -> bool:
    wanted = path.strip("/")
    return any(_below(str(Path(found)), wanted) for found in paths)


def _below(found: str, wanted: str) -> bool:
    return found == wanted or f"/{wanted}/" in f"/{found}/"
