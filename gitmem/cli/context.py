"""What `gitmem context` does once its command line is read. Knows nothing of Typer, pydantic or pygit2: a hook calls
it before every edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gitmem.cli.quick import Flags

if TYPE_CHECKING:
    from gitmem.app.context import Context
    from gitmem.app.recalling import Item
    from gitmem.cli.door import Door

LIMIT: Final = 10
PROMPT_BUDGET: Final = 400  # tokens of a block for a model when --budget does not say

FLAGS: Final = Flags(
    positional="paths",
    several=True,
    one={"--limit": "limit", "-n": "limit", "--budget": "budget", "--format": "form"},
    many={},
    yes={"--full": "full"},
)


def run(
    door: Door,
    *,
    paths: list[str] | None = None,
    limit: str | int = LIMIT,
    budget: str | int | None = None,
    form: str = "text",
    full: bool = False,
) -> None:
    """Show what still holds for these files."""
    from gitmem.app.context import context
    from gitmem.app.ground import answered
    from gitmem.cli.flag_values import known, number
    from gitmem.cli.recalling import FORMATS

    known(FORMATS, [form], "--format")
    most = number(limit, "--limit", 1, 10_000)
    room = None if budget is None else number(budget, "--budget", 0, 1_000_000)
    found = answered(door.env, lambda here: context(here, paths or [], most))
    if door.as_json:
        _data(door, found, room, full)
    elif form == "prompt":
        _prompt(door, found, PROMPT_BUDGET if room is None else room, full)
    else:
        _text(door, found, room, full)
    for warning in found.answer.warnings:
        door.note(door.style(f"note: {warning}", "yellow"))


def _text(door: Door, found: Context, budget: int | None, full: bool) -> None:
    from gitmem.app.blocks import fitted, lines, plain, pointer_line

    answer, now = found.answer, door.env.now()

    def whole(item: Item) -> str:
        return "\n".join([*lines(item, now, plain, full=full), ""])

    fit = fitted(answer.items, budget, whole, lambda item: pointer_line(item, plain) + "\n")
    for item in fit.items:
        for line in lines(item, now, door.style, full=full):
            door.say(line)
    if fit.pointers:
        door.say(door.style("also (gitmem show ID):", "dim"))
        for item in fit.pointers:
            door.say(pointer_line(item, door.style))
    if not answer.items:
        many = "1 memory" if answer.searched == 1 else f"{answer.searched:,} memories"
        door.say(f"nothing is known about {_named(door, found)}: {many} of {', '.join(answer.projects)} searched")
    if fit.omitted:
        door.note(f"{len(fit.omitted)} left out for want of room: --budget {budget} is full")
    if answer.total > len(answer.items):
        door.note(f"{answer.total - len(answer.items)} more: --limit {min(answer.total, 10_000)}")


def _named(door: Door, found: Context) -> str:
    first, *rest = found.paths
    named = "this repository as a whole" if first == "." else door.style(first)
    return f"{named} and {len(rest)} more" if rest else named


def _prompt(door: Door, found: Context, budget: int, full: bool) -> None:
    from gitmem.app.blocks import prompt

    answer = found.answer
    door.out(
        prompt(
            answer.items, now=door.env.now(), boundary=door.env.random(8).hex(), commit=answer.moment.commit,
            budget=budget, full=full, title=", ".join(found.paths),
        )
    )  # fmt: skip


def _data(door: Door, found: Context, budget: int | None, full: bool) -> None:
    """One JSON line a memory with how it concerns the files, then the pointers, then what the answer is about."""
    import json

    from gitmem.app.blocks import answer_summary, fitted
    from gitmem.cli.recalling import pointer_data
    from gitmem.model.text import escape

    answer, now = found.answer, door.env.now()

    def told(item: Item) -> dict[str, Any]:
        return placed_data(item, now)

    fit = fitted(
        answer.items, budget,
        lambda item: json.dumps(told(item), default=str), lambda item: json.dumps(pointer_data(item)),
    )  # fmt: skip
    for item in fit.items:
        door.data(told(item))
    for item in fit.pointers:
        door.data({"pointer": pointer_data(item)})
    paths = [escape(path) for path in found.paths]  # a name need not be UTF-8, a line of JSON is
    door.data({"summary": {"paths": paths, **answer_summary(answer, fit, budget)}})


def placed_data(item: Item, now: Any) -> dict[str, Any]:
    """A memory for `--json`, with how it concerns what was asked about."""
    from gitmem.cli.recalling import hit_data

    return {**hit_data(item, now), "place": item.place}
