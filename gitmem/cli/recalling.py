"""What `gitmem recall` does once its command line is read. Knows nothing of Typer, pydantic or pygit2: a hook calls
it at every prompt."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from gitmem.cli.flag_values import instant, known, number
from gitmem.cli.quick import Flags
from gitmem.model.vocabulary import AUDIENCES, KINDS, ORIGIN_RANK, VISIBLE

if TYPE_CHECKING:
    from gitmem.app.recalling import Answer, Item
    from gitmem.cli.door import Door

FORMATS: Final = ("text", "prompt")
LIMIT: Final = 10
PROMPT_BUDGET: Final = 2000  # tokens of a block for a model when --budget does not say
_LARGEST: Final = 10_000

FLAGS: Final = Flags(
    positional="words",
    several=True,
    one={
        "--path": "path", "-p": "path", "--key": "key", "--since": "since", "--until": "until",
        "--valid-at": "valid_at", "--as-of": "as_of", "--limit": "limit", "-n": "limit", "--budget": "budget",
        "--format": "form", "--with-previous": "previous",
    },
    many={
        "--kind": "kinds", "-k": "kinds", "--tag": "tags", "-t": "tags", "--origin": "origins",
        "--status": "statuses", "-s": "statuses",
        "--audience": "audiences", "--question": "questions", "-q": "questions",
    },
    yes={"--phrase": "phrase", "--history": "history", "--full": "full"},
)  # fmt: skip


def run(
    door: Door,
    *,
    words: list[str] | None = None,
    questions: list[str] | None = None,
    phrase: bool = False,
    kinds: list[str] | None = None,
    statuses: list[str] | None = None,
    tags: list[str] | None = None,
    path: str | None = None,
    key: str | None = None,
    origins: list[str] | None = None,
    since: str | None = None,
    until: str | None = None,
    valid_at: str | None = None,
    as_of: str | None = None,
    history: bool = False,
    previous: str | None = None,
    audiences: list[str] | None = None,
    limit: str | int | None = None,
    budget: str | int | None = None,
    form: str = "text",
    full: bool = False,
) -> None:
    from gitmem.app.ground import answered
    from gitmem.app.read_filters import Filters
    from gitmem.app.recalling import Asked, archived, recall

    known(FORMATS, [form], "--format")
    filters = Filters(
        kinds=known(KINDS, kinds, "--kind"),
        statuses=known(VISIBLE, statuses, "--status", "withheld states: gitmem list --status"),
        tags=tuple(tags or ()),
        path=path,
        key=key,
        origins=known(ORIGIN_RANK, origins, "--origin"),
        since=instant(since, "--since"),
        until=instant(until, "--until"),
        valid_at=instant(valid_at, "--valid-at"),
        audiences=known(AUDIENCES, audiences, "--audience"),
        limit=LIMIT if limit is None else number(limit, "--limit", 1, _LARGEST),
    )
    room = None if budget is None else number(budget, "--budget", 0, 1_000_000)
    asked = Asked(
        questions=(*([" ".join(words)] if words else []), *(questions or ())),
        filters=filters, phrase=phrase, previous=previous, as_of=as_of, history=history,
        weak=limit is not None,
    )  # fmt: skip
    to_person = form == "text" and not door.as_json and door.env.channel == "terminal"
    answer, away = answered(door.env, lambda here: (recall(here, asked), archived(here, asked) if to_person else ()))
    if door.as_json:
        _data(door, answer, room, full)
    elif form == "prompt":
        _prompt(door, answer, asked.questions, PROMPT_BUDGET if room is None else room, full)
    else:
        _text(door, answer, asked.questions, room, full)
    for hit in away:
        door.say(f"archived: {door.style(hit.memory.title)}")
        door.say(door.style(f'  → gitmem restore {hit.id[:8]} --because "…" brings it back', "dim"))
    for warning in answer.warnings:
        door.note(door.style(f"note: {warning}", "yellow"))


def _text(door: Door, answer: Answer, questions: tuple[str, ...], budget: int | None, full: bool) -> None:
    from gitmem.app.blocks import fitted, lines, plain, pointer_line

    now = door.env.now()

    def whole(item: Item) -> str:
        return "\n".join([*lines(item, now, plain, full=full), ""])

    fit = fitted(answer.items, budget, whole, lambda item: pointer_line(item, plain) + "\n")
    several = len(questions) > 1
    for item in fit.items:
        for line in lines(item, now, door.style, full=full):
            door.say(line)
        if several:
            door.say("    " + door.style("answers " + ", ".join(f"question {n + 1}" for n in item.questions), "dim"))
    if fit.pointers:
        door.say(door.style("also (gitmem show ID):", "dim"))
        for item in fit.pointers:
            door.say(pointer_line(item, door.style))
    for place, question in enumerate(questions):
        if place in answer.abstained:
            for line in abstained(answer, place, question if several else ""):
                door.say(door.style(line))
    if not answer.items and not answer.abstained:
        door.say("nothing known holds these words as they stand")
        door.note("→ leave out the quotes or --phrase: then any of the words counts")
    left = answer.total - len(answer.items)
    if fit.omitted:
        door.note(f"{len(fit.omitted)} left out for want of room: --budget {budget} is full")
    if left > 0:
        door.note(f"{left} more match some of the words: --limit {min(answer.total, _LARGEST)}")
    if answer.moment.position is not None:
        from gitmem.model.times import format_instant

        door.note(f"as it was on record at {format_instant(answer.moment.at)}, commit {answer.moment.commit[:12]}")


def abstained(answer: Answer, number: int, question: str) -> list[str]:
    """Why one question has no answer, for a person."""
    one = answer.abstained[number]
    many = "1 memory" if one.searched == 1 else f"{one.searched:,} memories"
    about = f" ({question[:60]})" if question else ""
    said = [
        f"nothing known about that{about}: {many} of {', '.join(answer.projects)} searched at "
        f"{answer.moment.commit[:12] or 'no commit'}, none answers these words"
    ]
    if one.nearest:
        said.append(f"  the nearest holds {one.nearest:.0%} of what was asked; an answer holds {one.threshold:.0%}")
    if one.withheld:
        told = ", ".join(f"{count} {status}" for status, count in sorted(one.withheld.items()))
        said.append(f"  withheld: {told} (gitmem list --status STATUS shows them)")
    said.append('  → other words, or gitmem why "…" for what came nearest')
    return said


def _prompt(door: Door, answer: Answer, questions: tuple[str, ...], budget: int, full: bool) -> None:
    from gitmem.app.blocks import prompt

    block = prompt(
        answer.items, now=door.env.now(), boundary=door.env.random(8).hex(), commit=answer.moment.commit,
        budget=budget, full=full, title=questions[0], notes=answer.warnings if answer.items else (),
    )  # fmt: skip
    door.out(block)
    if answer.items and not block:
        door.note(f"{len(answer.items)} left out for want of room: nothing fits into --budget {budget}")


def _data(door: Door, answer: Answer, budget: int | None, full: bool) -> None:
    """One JSON line a memory with every field, then the pointers, then what the answer is about."""
    import json

    from gitmem.app.blocks import answer_summary, fitted

    now = door.env.now()
    fit = fitted(
        answer.items, budget,
        lambda item: json.dumps(hit_data(item, now), default=str), lambda item: json.dumps(pointer_data(item)),
    )  # fmt: skip
    for item in fit.items:
        door.data(hit_data(item, now))
    for item in fit.pointers:
        door.data({"pointer": pointer_data(item)})
    door.data({"summary": answer_summary(answer, fit, budget)})


def hit_data(item: Item, now: datetime) -> dict[str, Any]:
    """A hit for `--json`: the memory's fields as in its file, then what is known about it as a hit."""
    from gitmem.app.blocks import age
    from gitmem.model.citations import citation
    from gitmem.model.layout import PLACES
    from gitmem.model.records import to_data

    return {
        **to_data(item.memory),
        "ref": PLACES[item.hit.ref],
        "score": item.hit.score,
        "matched": list(item.hit.matched),
        "age": age(item.hit.recorded, now),
        "review": item.hit.review,
        "citations": [citation(ref) for ref in item.memory.evidence],
        "drifts": list(item.drifts),
        "earlier": item.earlier,
        "questions": list(item.questions),
        "beside": [
            {"how": near.how, "id": near.hit.id, "kind": near.hit.memory.kind, "title": near.hit.memory.title}
            for near in item.beside
        ],
    }


def pointer_data(item: Item) -> dict[str, str]:
    return {"id": item.memory.id, "kind": item.memory.kind, "title": item.memory.title}
