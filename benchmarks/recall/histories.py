"""The githist set: commit messages of 13 projects as memories, changelog lines and issue titles as questions."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from metrics import part
from systems import Text

SHARED = Path(__file__).resolve().parents[3] / "shared/data/bench"
DEFAULT = SHARED / "githist"
NOISE = 1000  # characters behind a question
VARIANTS = ("plain", "typo", "noise", "noise_own", "noise_line")
_WORD = re.compile(r"[A-Za-z]{4,}")


@dataclass(frozen=True)
class Question:
    """text: what is asked. relevant: ids that answer it. bucket: low, mid or high overlap of words with them.
    kind: changelog or issue. part: dev or rest."""

    name: str
    text: str
    relevant: tuple[str, ...]
    bucket: str
    kind: str
    part: str


@dataclass(frozen=True)
class Project:
    name: str
    texts: tuple[Text, ...]
    questions: tuple[Question, ...]


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a JSONL file; a line that is no JSON is left out (one line of pytest's was cut)."""
    for line in path.read_text().splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            continue


def projects(folder: Path, split: str = "all") -> list[Project]:
    """Every project of `folder` with the questions of `split`: dev, rest or all."""
    found = []
    for path in sorted(folder.glob("*.memories.jsonl")):
        texts = tuple(Text(r["id"], r["title"], r["body"], datetime.fromisoformat(r["date"])) for r in rows(path))
        questions = [
            Question(r["qid"], r["query"], tuple(r["relevant"]), r["bucket"], r["kind"], part(r["qid"]))
            for r in rows(path.with_name(path.name.replace("memories", "queries")))
        ]
        wanted = tuple(q for q in questions if split in ("all", q.part))
        found.append(Project(path.name.removesuffix(".memories.jsonl"), texts, wanted))
    return found


def varied(all_of: Sequence[Project], variant: str) -> list[Project]:
    """The same projects with other questions; each is changed by a generator seeded with its name.

    typo: one letter of one word of four letters or more is dropped, doubled, replaced or swapped with the next.
    noise: on the lines behind the question follow 1,000 characters of memories of the other projects; noise_own: of
    memories of the same project, none of them an answer; noise_line: as noise, on the line of the question itself.
    """
    if variant == "plain":
        return list(all_of)
    everything = [(project.name, text) for project in all_of for text in project.texts]
    changed = []
    for project in all_of:
        questions = []
        for question in project.questions:
            chance = random.Random(f"{variant} {question.name}")
            if variant == "typo":
                text = with_typo(question.text, chance)
            else:
                own = variant == "noise_own"
                noise = _noise(everything, project.name if own else "", project.name, set(question.relevant), chance)
                text = (
                    f"{question.text} {' '.join(noise.split())}"
                    if variant == "noise_line"
                    else f"{question.text}\n{noise}"
                )
            questions.append(replace(question, text=text))
        changed.append(replace(project, questions=tuple(questions)))
    return changed


def with_typo(text: str, chance: random.Random) -> str:
    words = list(_WORD.finditer(text))
    if not words:
        return text
    word = chance.choice(words)
    at = chance.randrange(word.start(), word.end() - 1)
    how = chance.choice(("drop", "double", "replace", "swap"))
    letter, following = text[at], text[at + 1]
    put = {
        "drop": following,
        "double": letter * 2 + following,
        "replace": chance.choice([c for c in "abcdefghijklmnopqrstuvwxyz" if c != letter.lower()]) + following,
        "swap": following + letter,
    }[how]
    return text[:at] + put + text[at + 2 :]


def _noise(
    everything: Sequence[tuple[str, Text]], only: str, project: str, answers: set[str], chance: random.Random
) -> str:
    out = ""
    while len(out) < NOISE:
        name, text = chance.choice(everything)
        if (name == only if only else name != project) and text.id not in answers:
            out += text.whole.strip() + "\n"
    return out[:NOISE]
