"""What the turns of a conversation add to each other: a hit lifts its neighbours and its session.

Pure: the scores of single turns come in, by whatever search made them, and an order goes out. Every weight was chosen
on the dev part of LoCoMo and is reported on the rest (docs/retrieval.md, `python benchmarks/recall/locomo.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from gitmem.model.frozen import dataclass
from gitmem.model.tokens import tokens
from gitmem.recall.dates import agrees, named_dates

# Of the better score of the turns before and after: the answer often stands beside the words of the question.
# dev turn hit@5/MRR: 72.8/58.5 without, 75.2/60.2 at 0.3, 76.0/60.7 at 0.5, 76.6/60.2 at 0.7.
NEIGHBOUR: Final = 0.5
# Of the score of the turn's session. dev turn hit@5/hit@10: 74.7/80.4 without, 75.2/83.1, 76.0/83.1, 76.6/83.4 at 0.3,
# 0.5, 0.7; at 1.0 the session hides the turn (hit@10 83.4, but nDCG falls again).
SESSION: Final = 0.5
# When the query names one speaker, for what that one said. dev turn MRR: 53.5 without, 59.9 at 0.35, 60.7 at 0.5,
# 61.0 at 0.6.
SPEAKER: Final = 0.5
# When the query names a date, for what was said then. dev turn MRR 60.4 -> 60.7, session hit@5 93.9 -> 94.3 where the
# month is also a word of the text; few questions name one.
DATE: Final = 0.3
# A session is worth the squares of the scores of its best turns. dev session MRR/recall@10: 82.9/94.4 by the best one,
# 85.4/95.3 by three, 84.6/95.7 by five, 83.3/95.4 by all, which favours long sessions; without the square 80.2/94.4.
BEST_TURNS: Final = 5
_POWER: Final = 2


@dataclass(frozen=True)
class TurnInfo:
    """One turn. session: what it is part of. position: its place there; turns with places one apart are neighbours.
    at: when it was said, None when that is not known."""

    id: str
    session: str
    position: int
    speaker: str
    at: datetime | None = None


def rank_turns(scores: Mapping[str, float], turns: Sequence[TurnInfo], query: str) -> list[tuple[str, float]]:
    """(turn, score), best first. `scores`: of the turns that a search for `query` found, by id, in any unit.

    A turn counts when it or a neighbour has a score; it is worth its own (of the top one), and parts of the better
    neighbour, of its session, and for being by the speaker or of the date that the query names. Equal scores: in the
    order of `turns`.
    """
    own = _of_the_top(scores, turns)
    lifted = dict(_with_neighbours(own, turns))
    sessions = _sessions(own, turns)
    speaker = named_speaker(query, {turn.speaker for turn in turns})
    dates = tuple(named_dates(query))
    ranked = []
    for turn in turns:
        if turn.id in lifted:
            score = lifted[turn.id] + SESSION * sessions[turn.session]
            score += SPEAKER if turn.speaker == speaker else 0.0
            score += DATE if any(agrees(turn.at, date) for date in dates) else 0.0
            ranked.append((turn.id, round(score, 6)))
    return sorted(ranked, key=lambda pair: -pair[1])


def rank_sessions(scores: Mapping[str, float], turns: Sequence[TurnInfo], query: str) -> list[tuple[str, float]]:
    """(session, score), best first, of those with a turn that has a score: by its best turns, and by the date that the
    query names. Equal scores: in the order of `turns`."""
    found = _sessions(_of_the_top(scores, turns), turns)
    dates = tuple(named_dates(query))
    dated = {turn.session for turn in turns if any(agrees(turn.at, date) for date in dates)}
    ranked = [(session, round(s + (DATE if session in dated else 0.0), 6)) for session, s in found.items()]
    return sorted(ranked, key=lambda pair: -pair[1])


def named_speaker(query: str, speakers: Collection[str]) -> str | None:
    """The one of `speakers` that `query` names; None when it names none, or several."""
    asked = set(tokens(query))
    named = [speaker for speaker in speakers if (name := set(tokens(speaker))) and name <= asked]
    return named[0] if len(named) == 1 else None


def _of_the_top(scores: Mapping[str, float], turns: Sequence[TurnInfo]) -> dict[str, float]:
    known = {turn.id: score for turn in turns if (score := scores.get(turn.id, 0.0)) > 0.0}
    top = max(known.values(), default=1.0)
    return {name: score / top for name, score in known.items()}


def _with_neighbours(own: Mapping[str, float], turns: Sequence[TurnInfo]) -> Iterator[tuple[str, float]]:
    places = {(turn.session, turn.position): own.get(turn.id, 0.0) for turn in turns}
    for turn in turns:
        beside = max(places.get((turn.session, turn.position + step), 0.0) for step in (-1, 1))
        score = own.get(turn.id, 0.0) + NEIGHBOUR * beside
        if score:
            yield turn.id, score


def _sessions(own: Mapping[str, float], turns: Sequence[TurnInfo]) -> dict[str, float]:
    """The score of each session with a hit, as a part of the best."""
    by_session: dict[str, list[float]] = {}
    for turn in turns:
        if turn.id in own:
            by_session.setdefault(turn.session, []).append(own[turn.id] ** _POWER)
    sums = {session: sum(sorted(values, reverse=True)[:BEST_TURNS]) for session, values in by_session.items()}
    top = max(sums.values(), default=1.0)
    return {session: value / top for session, value in sums.items()}
