"""How well recall finds what was said in a long conversation: the turn, and the session (LoCoMo).

    python benchmarks/recall/locomo.py [FILE] [--split dev|rest|all] [--set NEIGHBOUR=0.4 ...] [--json OUT]

FILE is locomo10.json of LoCoMo (CC BY-NC 4.0: read where it lies, not shipped) or a part of it. Each question is asked
of its own conversation. `plain`: each turn is a memory. `turns`: the same search, ordered by gitmem.recall.turns.
`session_text`: each whole session is a memory. --set gives a weight of gitmem.recall.turns another value.

Turns are counted for categories 1 to 4 (a question of category 5 has no answer). Sessions are counted for all
questions, as MemPalace does: recall at k is the part of the sessions with evidence that are among the first k. Two
questions without evidence are left out.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from histories import SHARED
from metrics import Outcome, keep, outcome, part, summary, table
from systems import Text, documents

from gitmem.recall import turns as ranking
from gitmem.recall.query import Query
from gitmem.recall.search_index import SearchIndex
from gitmem.recall.turns import TurnInfo, rank_sessions, rank_turns

FOUND = 200  # turns that a search hands to the ranking of turns
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")  # a few are written D:11:26 or D30:05


@dataclass(frozen=True)
class Asked:
    name: str
    text: str
    evidence: frozenset[str]
    category: int

    @property
    def sessions(self) -> frozenset[str]:
        return frozenset(name.partition(":")[0] for name in self.evidence)


@dataclass(frozen=True)
class Conversation:
    turns: tuple[TurnInfo, ...]
    texts: tuple[Text, ...]
    questions: tuple[Asked, ...]


def conversation(row: Mapping[str, Any]) -> Conversation:
    turns, texts = [], []
    spoken = row["conversation"]
    for session in sorted((k for k in spoken if re.fullmatch(r"session_\d+", k)), key=lambda k: int(k[8:])):
        at = datetime.strptime(spoken[f"{session}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=timezone.utc)
        for place, turn in enumerate(spoken[session]):
            number, position = turn["dia_id"][1:].split(":")
            name = f"D{int(number)}:{int(position)}"
            turns.append(TurnInfo(name, f"D{int(number)}", place, turn["speaker"], at))
            picture = f"\n{turn['blip_caption']}" if turn.get("blip_caption") else ""
            texts.append(Text(name, "", f"{turn['speaker']}: {turn['text']}{picture}", at))
    questions = []
    for q in row["qa"]:
        evidence = frozenset(f"D{int(a)}:{int(b)}" for entry in q["evidence"] for a, b in _EVIDENCE.findall(entry))
        questions.append(Asked(q["qid"], q["question"], evidence, q["category"]))
    return Conversation(tuple(turns), tuple(texts), tuple(q for q in questions if q.evidence))


def whole_sessions(talk: Conversation) -> list[Text]:
    said: dict[str, list[Text]] = {}
    for turn, text in zip(talk.turns, talk.texts, strict=True):
        said.setdefault(turn.session, []).append(text)
    return [Text(name, "", "\n".join(t.body for t in texts), texts[0].date) for name, texts in said.items()]


def searched(texts: Sequence[Text], questions: Sequence[Asked]) -> list[dict[str, float]]:
    """For each question what gitmem finds, best first, with its scores."""
    with tempfile.TemporaryDirectory(prefix="gitmem-bench-") as folder:
        index = SearchIndex.open(Path(folder))
        index.update(documents(texts), [], {"main": "bench"})
        return [
            {hit.id: hit.score for hit in index.search(Query((question.text,), limit=FOUND), None).hits}
            for question in questions
        ]


def sessions_of(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(name.partition(":")[0] for name in names))


def recall_at(answer: Sequence[str], wanted: frozenset[str], k: int) -> float:
    return len(wanted & set(answer[:k])) / len(wanted)


def answers(talk: Conversation) -> dict[str, list[list[str]]]:
    """By system, for each question the turns or sessions in order."""
    turns = searched(talk.texts, talk.questions)
    whole = searched(whole_sessions(talk), talk.questions)
    asked = list(zip(turns, talk.questions, strict=True))
    return {
        "turn.plain": [list(found) for found in turns],
        "turn.turns": [[name for name, _ in rank_turns(found, talk.turns, q.text)] for found, q in asked],
        "session.plain": [sessions_of(list(found)) for found in turns],
        "session.session_text": [list(found) for found in whole],
        "session.turns": [[name for name, _ in rank_sessions(found, talk.turns, q.text)] for found, q in asked],
    }


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("file", type=Path, nargs="?", default=SHARED / "locomo/locomo-dev.json")
    options.add_argument("--split", choices=("dev", "rest", "all"), default="all")
    options.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE")
    options.add_argument("--json", type=Path)
    chosen = options.parse_args()
    for name, _, value in (setting.partition("=") for setting in chosen.set):
        setattr(ranking, name, type(getattr(ranking, name))(value))
    outcomes: dict[str, list[Outcome]] = {}
    recalls: dict[str, dict[int, list[float]]] = {}
    for talk in map(conversation, json.loads(chosen.file.read_text())):
        for system, ordered in answers(talk).items():
            for answer, question in zip(ordered, talk.questions, strict=True):
                if chosen.split not in ("all", part(question.name)):
                    continue
                by_turn = system.startswith("turn")
                if by_turn and question.category == 5:
                    continue
                wanted = question.evidence if by_turn else question.sessions
                outcomes.setdefault(system, []).append(outcome(answer, wanted))
                for k in (5, 10):
                    recalls.setdefault(system, {}).setdefault(k, []).append(recall_at(answer, wanted, k))
    numbers: dict[str, dict[str, dict[str, float]]] = {"turn": {}, "session": {}}
    for system, found in outcomes.items():
        unit, name = system.split(".")
        shares = {f"recall{k}": 100 * sum(values) / len(values) for k, values in recalls[system].items()}
        numbers[unit][name] = summary(found) | shares
    for unit, rows in numbers.items():
        print(f"\n{unit}, {chosen.split} questions\n")
        print(table(rows, ("hit1", "hit5", "hit10", "mrr", "ndcg", "recall5", "recall10")))
    if chosen.json:
        keep(chosen.json, {"split": chosen.split}, numbers)


if __name__ == "__main__":
    main()
