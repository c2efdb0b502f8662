"""What `gitmem brief` does once its command line is read. Knows nothing of Typer, pydantic or pygit2: a hook calls
it when a session starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gitmem.cli.quick import Flags

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitmem.app.brief import Brief
    from gitmem.app.recalling import Item
    from gitmem.cli.door import Door

BUDGET: Final = 1200  # tokens when --budget does not say; as data there is no limit

FLAGS: Final = Flags(
    positional="",  # there is none
    one={"--budget": "budget", "--format": "form"},
    many={},
    yes={"--peek": "peek", "--full": "full"},
)


def run(
    door: Door, *, peek: bool = False, budget: str | int | None = None, form: str = "text", full: bool = False
) -> None:
    """Show what to know at the start of a session. Without `peek` the next brief tells what changed from here on."""
    from gitmem.app.brief import brief, remember_told
    from gitmem.app.ground import answered
    from gitmem.cli.flag_values import known, number
    from gitmem.cli.recalling import FORMATS

    known(FORMATS, [form], "--format")
    room = None if budget is None else number(budget, "--budget", 0, 1_000_000)
    found = answered(door.env, brief)
    if door.as_json:
        shown = _data(door, found, room)
    elif form == "prompt":
        shown = _prompt(door, found, BUDGET if room is None else room, full)
    else:
        shown = _text(door, found, BUDGET if room is None else room, full)
    for warning in found.warnings:
        door.note(door.style(f"note: {warning}", "yellow"))
    if not peek:
        door.flush()
        remember_told(found, shown, door.env.environ)


def _text(door: Door, found: Brief, budget: int, full: bool) -> Sequence[Item]:
    from gitmem.app.blocks import fitted, lines, plain, pointer_line

    now = door.env.now()

    def whole(item: Item) -> str:
        return "\n".join([*lines(item, now, plain, full=full), ""])

    fit = fitted([item for _, item in found.in_turn()], budget, whole, lambda item: pointer_line(item, plain) + "\n")
    shown, named = ({item.memory.id for item in items} for items in (fit.items, fit.pointers))
    for section in found.sections:
        here = [item for item in section.items if item.memory.id in shown]
        there = [item for item in section.items if item.memory.id in named]
        if not here and not there:
            continue
        told = len(here) + len(there)
        rest = "gitmem log" if section.title.startswith("new or changed") else "gitmem list"
        of = f" ({told} of {section.total}; the others: {rest})" if section.total > told else ""
        door.say(door.style(f"{section.title}{of}", "bold"))
        for item in here:
            for line in lines(item, now, door.style, full=full):
                door.say(line)
        for item in there:
            door.say(pointer_line(item, door.style))
    for note in found.notes():
        door.say(door.style(note, "cyan"))
    if fit.omitted:
        door.note(f"{len(fit.omitted)} left out for want of room: --budget {budget} is full")
    return fit.items


def _prompt(door: Door, found: Brief, budget: int, full: bool) -> Sequence[Item]:
    from gitmem.app.blocks import block

    made = block(
        [item for _, item in found.in_turn()], now=door.env.now(), boundary=door.env.random(8).hex(),
        commit=found.moment.commit, budget=budget, full=full, title="this repository", notes=found.notes(),
        turn=found.turn_of(),
    )  # fmt: skip
    door.out(made.text)
    return made.told


def _data(door: Door, found: Brief, budget: int | None) -> Sequence[Item]:
    """One JSON line a memory with its section, then the pointers, then the counts."""
    import json

    from gitmem.app.blocks import fitted
    from gitmem.cli.context import placed_data
    from gitmem.cli.recalling import pointer_data
    from gitmem.model.text import escape

    now = door.env.now()
    sections = {item.memory.id: name for name, item in found.in_turn()}

    def told(item: Item) -> dict[str, Any]:
        return {"section": sections[item.memory.id], **placed_data(item, now)}

    fit = fitted(
        [item for _, item in found.in_turn()], budget,
        lambda item: json.dumps(told(item), default=str), lambda item: json.dumps(pointer_data(item)),
    )  # fmt: skip
    for item in fit.items:
        door.data(told(item))
    for item in fit.pointers:
        door.data({"pointer": {"section": sections[item.memory.id], **pointer_data(item)}})
    summary = {
        "totals": {section.name: section.total for section in found.sections},
        "searched": found.searched,
        "waiting": found.waiting,
        "since": found.since,
        "withdrawn": dict(found.withdrawn),
        "worked_on": [escape(path) for path in found.places],
        "notes": found.notes(),
        "commit": found.moment.commit,
        "projects": list(found.projects),
        "tokens": fit.tokens,
        "budget": budget,
        "omitted": list(fit.omitted),
        "warnings": list(found.warnings),
    }
    door.data({"summary": summary})
    return fit.items
