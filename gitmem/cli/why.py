"""`gitmem why` and `related`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from gitmem.app.blocks import SHORT, TITLE_LINE
from gitmem.app.read_filters import Filters
from gitmem.app.recalling import Asked
from gitmem.app.related import related as app_related
from gitmem.app.why import Ranked, Why
from gitmem.app.why import why as app_why
from gitmem.cli import flag_values
from gitmem.cli.app_of import Id, single
from gitmem.cli.app_of import asked as asked_of
from gitmem.cli.door import Door
from gitmem.cli.reading import Key, Kinds, Limit, Origins, Path, Since, Tags, Until, ValidAt
from gitmem.model.text import one_line
from gitmem.model.vocabulary import KINDS, ORIGIN_RANK, VISIBLE


def why(
    ctx: typer.Context,
    question: Annotated[str, typer.Argument(help="The question, as it was asked of recall.", metavar="QUESTION")],
    expected: Annotated[
        str | None, typer.Argument(help="A memory that should be in the answer.", metavar="[ID]", show_default=False)
    ] = None,
    phrase: Annotated[bool, typer.Option("--phrase", help="The words in this order.")] = False,
    kinds: Kinds = None,
    statuses: Annotated[
        list[str] | None, typer.Option("--status", "-s", help="active, maybe_stale or stale; may be repeated.")
    ] = None,
    tags: Tags = None,
    path: Path = None,
    key: Key = None,
    origins: Origins = None,
    since: Since = None,
    until: Until = None,
    valid_at: ValidAt = None,
    as_of: Annotated[str | None, typer.Option("--as-of", help="As it was on record then; see recall.")] = None,
    history: Annotated[bool, typer.Option("--history", help="Earlier values too.")] = False,
    previous: Annotated[str | None, typer.Option("--with-previous", help="The request before this one.")] = None,
    limit: Limit = 10,
) -> None:
    """What recall made of a question: words, filters, the order and what each score is made of.

    With an ID also why that memory is not in the answer.
    """
    door: Door = ctx.obj
    filters = Filters(
        kinds=flag_values.known(KINDS, kinds, "--kind"),
        statuses=flag_values.known(VISIBLE, statuses, "--status", "withheld states: gitmem list --status"),
        tags=tuple(tags or ()),
        path=path,
        key=key,
        origins=flag_values.known(ORIGIN_RANK, origins, "--origin"),
        since=flag_values.instant(since, "--since"),
        until=flag_values.instant(until, "--until"),
        valid_at=flag_values.instant(valid_at, "--valid-at"),
        limit=flag_values.number(limit, "--limit", 1, 10_000),
    )
    asked = Asked((question,), filters, phrase=phrase, previous=previous, as_of=as_of, history=history)
    found = asked_of(door, lambda ground: app_why(ground, asked, expected))
    if door.as_json:
        door.data(_data(found))
    else:
        _text(door, found)


def _text(door: Door, found: Why) -> None:
    door.say(door.style("words", "bold") + "  (weight, versions that hold it)")
    for term in found.terms:
        unknown = door.style("  nowhere", "yellow") if not term.versions else ""
        door.say(f"  {door.style(term.text)}  {term.weight:g}, {term.versions:,}{unknown}")
    door.say(door.style("filters", "bold"))
    for line in found.filters:
        door.say(f"  {door.style(line)}")
    sure = "an answer" if found.found.confidence >= found.threshold else door.style("no answer", "yellow")
    door.say(
        f"{door.style('confidence', 'bold')}  the best hit holds {found.found.confidence:.0%} of what was asked, "
        f"{found.threshold:.0%} is needed: {sure}"
    )
    door.say(f"{door.style('order', 'bold')}  {len(found.ranked)} of {found.found.total:,} ranked")
    for one in found.ranked:
        _ranked(door, one)
    if found.expected is not None:
        memory = found.expected.memory
        door.say(f"{door.style(memory.id[:SHORT], 'bold')}  {door.style(one_line(memory.title, TITLE_LINE))}")
        if not found.expected.reasons and found.expected.ranked is not None:
            door.say(f"  is in the answer, as number {found.expected.ranked.rank}")
        for reason in found.expected.reasons:
            door.say(f"  not in the answer: {door.style(reason)}")
        if found.expected.ranked is not None:
            _ranked(door, found.expected.ranked)


def _ranked(door: Door, one: Ranked) -> None:
    parts = " + ".join(f"{name} {value:.3f}" for name, value in one.hit.lanes.items())
    times = " ".join(f"x {name} {value:g}" for name, value in one.factors if value != 1.0)
    title = door.style(one_line(one.hit.memory.title, 60))
    said = f"  {one.rank:>3}. {door.style(one.hit.id[:SHORT], 'bold')}  {one.hit.score:.3f} = {parts} {times}"
    door.say(said.rstrip())
    door.say(f"       {title}  {door.style('holds: ' + ' '.join(one.hit.matched), 'dim')}")


def _data(found: Why) -> dict[str, Any]:
    expected = found.expected
    told = expected and {
        "id": expected.memory.id,
        "reasons": list(expected.reasons),
        "ranked": _ranked_data(expected.ranked) if expected.ranked else None,
    }
    return {
        "words": [{"word": t.text, "weight": t.weight, "versions": t.versions} for t in found.terms],
        "filters": list(found.filters),
        "confidence": found.found.confidence,
        "threshold": found.threshold,
        "total": found.found.total,
        "searched": found.found.searched,
        "commit": found.moment.commit,
        "ranked": [_ranked_data(one) for one in found.ranked],
        "expected": told,
    }


def _ranked_data(one: Ranked) -> dict[str, Any]:
    return {
        "rank": one.rank,
        "id": one.hit.id,
        "title": one.hit.memory.title,
        "score": one.hit.score,
        "lanes": dict(one.hit.lanes),
        "factors": dict(one.factors),
        "matched": list(one.hit.matched),
    }


def related(ctx: typer.Context, identifier: Id) -> None:
    """What belongs to a memory: links both ways, the same key or files, what says something like it."""
    door: Door = ctx.obj
    found = asked_of(door, lambda ground: app_related(ground, identifier))
    for one in found.beside:
        memory = one.hit.memory
        if door.as_json:
            told = {"how": one.how, "id": memory.id, "kind": memory.kind, "title": memory.title}
            door.data({**told, "status": memory.status})
        else:
            kind, title = door.style(memory.kind.ljust(13), "dim"), door.style(one_line(memory.title, TITLE_LINE))
            how = door.style(f"({one.how})", "dim")
            door.say(f"{door.style(memory.id[:SHORT], 'bold')}  {kind}  {title}  {how}")
    if not found.beside and not door.as_json:
        door.note("nothing is related to it that may be shown")


APPLICATIONS = {
    "why": single(why, 'gitmem why "redis timeout" 7k3q'),
    "related": single(related, "gitmem related 7k3q"),
}
