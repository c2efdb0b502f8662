"""`gitmem recall`, `list`, `show` and `key`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from gitmem.app import reading
from gitmem.app.ground import answered
from gitmem.app.outbox import refusals
from gitmem.app.read_filters import Filters
from gitmem.app.workspace import open_workspace
from gitmem.cli import flag_values, recalling
from gitmem.cli.app_of import Id, asked, single
from gitmem.cli.door import Door
from gitmem.cli.shown import memory_data, memory_line, page
from gitmem.model.citations import citation
from gitmem.model.layout import HOMES, INBOX
from gitmem.model.text import one_line
from gitmem.model.times import format_instant
from gitmem.model.vocabulary import AUDIENCES, KINDS, ORIGIN_RANK, VISIBLE

Kinds = Annotated[list[str] | None, typer.Option("--kind", "-k", help="Only this kind; may be repeated.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", "-t", help="Only with this tag.")]
Path = Annotated[str | None, typer.Option("--path", "-p", help="Only about this file or folder.")]
Key = Annotated[str | None, typer.Option(help="Only with this key.")]
Origins = Annotated[list[str] | None, typer.Option("--origin", help="Only of this origin.")]
Since = Annotated[str | None, typer.Option(help="Recorded at or after this date or time.")]
Until = Annotated[str | None, typer.Option(help="Recorded before this date or time.")]
ValidAt = Annotated[str | None, typer.Option("--valid-at", help="True at this date or time.")]
Audience = Annotated[
    list[str] | None, typer.Option("--audience", help="Only for the team, private or user; may be repeated.")
]
Limit = Annotated[int, typer.Option("--limit", "-n", help="At most so many.")]


def recall(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            help='What to look for. "Words in double quotes" stand as they are.', metavar="WORDS", show_default=False
        ),
    ] = None,
    questions: Annotated[
        list[str] | None, typer.Option("--question", "-q", help="A further question; may be repeated.")
    ] = None,
    phrase: Annotated[bool, typer.Option("--phrase", help="The words as they stand, next to each other.")] = False,
    kinds: Kinds = None,
    statuses: Annotated[
        list[str] | None, typer.Option("--status", "-s", help="Only active, maybe_stale or stale ones.")
    ] = None,
    tags: Tags = None,
    path: Path = None,
    key: Key = None,
    origins: Origins = None,
    since: Since = None,
    until: Until = None,
    valid_at: ValidAt = None,
    audiences: Audience = None,
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of", help="As it was on record on this date, or at this revision or tag of the memory or the code."
        ),
    ] = None,
    history: Annotated[bool, typer.Option("--history", help="Earlier values too, marked as such.")] = False,
    previous: Annotated[
        str | None, typer.Option("--with-previous", help="The request before this one, for a short follow-up.")
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", "-n", help="At most so many; without it 10, and none far weaker than the best."),
    ] = None,
    budget: Annotated[
        int | None, typer.Option(help="At most so many tokens; what does not fit is named, then counted.")
    ] = None,
    form: Annotated[
        str, typer.Option("--format", help="text, or prompt: a framed block of data for a model.")
    ] = "text",
    full: Annotated[bool, typer.Option("--full", help="Whole bodies and every citation.")] = False,
) -> None:
    """What is known about these words and still holds, best first, each with its evidence, or why there is no answer.

    Superseded, rejected, disputed and expired memories are never shown here but with --history, marked.
    """
    recalling.run(
        ctx.obj, words=words, questions=questions, phrase=phrase, kinds=kinds, statuses=statuses, tags=tags, path=path,
        key=key, origins=origins, since=since, until=until, valid_at=valid_at, as_of=as_of, history=history,
        previous=previous, audiences=audiences, limit=limit, budget=budget, form=form, full=full,
    )  # fmt: skip


def _summary(door: Door, found: reading.Listed) -> None:
    """The last JSON line of an answer: how much there is, and what may be missing."""
    counts = {"shown": len(found.items), "total": found.total, "searched": found.searched}
    door.data({"summary": {**counts, "warnings": list(found.warnings)}})


def listing(
    ctx: typer.Context,
    kind: Kinds = None,
    status: Annotated[
        list[str] | None,
        typer.Option("--status", "-s", help="Only in this state, or all; withheld ones are shown only so."),
    ] = None,
    tag: Tags = None,
    path: Path = None,
    key: Key = None,
    scope: Annotated[str | None, typer.Option(help="The project; it must be this repository's.")] = None,
    origin: Origins = None,
    since: Since = None,
    until: Until = None,
    valid_at: ValidAt = None,
    audience: Audience = None,
    inbox: Annotated[bool, typer.Option("--inbox", help="Candidates that wait for a person.")] = False,
    refused: Annotated[bool, typer.Option("--refused", help="Writes that the gate refused here.")] = False,
    limit: Limit = 50,
) -> None:
    """Memories by their fields, newest first: what may be shown and is true now, or at --valid-at.

    Withheld states, and what is not true now, only when --status names a state.
    """
    door: Door = ctx.obj
    count = flag_values.number(limit, "--limit", 1, 10_000)
    if refused:
        _refused(door, list(refusals(open_workspace(door.env)))[:count])
        return
    filters = Filters(
        kinds=flag_values.known(KINDS, kind, "--kind"),
        statuses=tuple(status or ()),
        tags=tuple(tag or ()),
        path=path,
        key=key,
        scope=scope,
        origins=flag_values.known(ORIGIN_RANK, origin, "--origin"),
        since=flag_values.instant(since, "--since"),
        until=flag_values.instant(until, "--until"),
        valid_at=flag_values.instant(valid_at, "--valid-at"),
        inbox=inbox,
        audiences=flag_values.known(AUDIENCES, audience, "--audience"),
        limit=count,
    )
    if inbox:
        from gitmem.cli.unsettled import note_closed

        note_closed(door, open_workspace(door.env))
    found = answered(door.env, lambda here: reading.listing(here, filters))
    narrowed = any((kind, status, tag, path, key, origin, since, until, valid_at, audience))
    if inbox and not door.as_json:
        _in_batches(door, found, "nothing that waits matches these filters" if narrowed else "nothing waits")
        return
    if door.as_json:
        for item in found.items:
            door.data(memory_data(item.memory, item.ref))
        _summary(door, found)
        return
    for item in found.items:
        door.say(memory_line(door, item.memory))
    empty = "nothing to list" + ("" if status else "; candidates wait in: gitmem list --inbox")
    _remarks(door, found, "nothing matches these filters; without them: gitmem list" if narrowed else empty)


def _in_batches(door: Door, found: reading.Listed, nothing: str) -> None:
    """What waits, by the day and session that brought it."""
    from gitmem.app.review import batches_of
    from gitmem.cli.review_page import batch_line

    for batch, members in batches_of(open_workspace(door.env), found.items):
        door.say(batch_line(door, batch, len(members)))
        for item in members:
            door.say(memory_line(door, item.memory))
    _remarks(door, found, nothing)


def _remarks(door: Door, found: reading.Listed, nothing: str) -> None:
    if not found.items:
        door.note(nothing)
    elif found.total > len(found.items):
        door.note(f"{found.total - len(found.items)} more: --limit {min(found.total, 10_000)}")
    for warning in found.warnings:
        door.note(door.style(f"note: {warning}", "yellow"))


def _refused(door: Door, items: list[dict[str, Any]]) -> None:
    for item in items:
        if door.as_json:
            door.data(item)
            continue
        lines = str(item.get("draft") or "").split("\n")
        title = next((line[6:].strip().strip("\"'") for line in lines if line.startswith("title:")), "(text not kept)")
        at, asked = str(item.get("at"))[:19] + "Z", str(item.get("asked"))
        what = f"{asked} {item['memory'][:8]}" if item.get("memory") else asked
        door.say(f"{door.style(at, 'dim')}  {door.style(what, 'bold')}  {door.style(one_line(title, 80))}")
        for reason in item.get("reasons", []):
            message = one_line(str(reason.get("message")), 160)
            door.say(f"    {door.style(str(reason.get('code')), 'yellow')}: {door.style(message)}")
    if not items and not door.as_json:
        door.note("nothing was refused here")


def _level(found: reading.Shown) -> dict[str, Any] | None:
    return None if found.review is None else {"level": found.review.level, "label": found.review.label}


def show(
    ctx: typer.Context,
    identifier: Id,
    at: Annotated[
        str | None, typer.Option(help="As it was on this date, or at this revision or tag of the memory or the code.")
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="The file as it is stored.")] = False,
) -> None:
    """One memory in any state, with each piece of its evidence looked at again."""
    door: Door = ctx.obj
    workspace = open_workspace(door.env)
    found = reading.show(workspace, identifier, at=at)
    if door.as_json:
        evidence = [
            {"state": r.state, "detail": r.detail, "drift": drifted, "citation": citation(r.ref)}
            for r, drifted in zip(found.resolutions, found.drifts, strict=True)
        ]
        door.data({**memory_data(found.memory, found.ref), "resolutions": evidence, "review": _level(found)})
        return
    if raw:
        for line in found.raw.decode().rstrip("\n").split("\n"):
            door.say(door.style(line))
        return
    level = f"{found.review.level}, {found.review.label}" if found.review is not None else ""
    for line in page(door, found.memory, found.resolutions, found.drifts, level):
        door.say(line)
    if found.at is not None:
        door.note(f"as it was on record at {format_instant(found.at)}; the evidence is as it is now")
    short = found.memory.id[:8]
    if found.ref == INBOX:
        said = {
            "wrong": f'rejected: gitmem lift {short} --because "…" undoes it',
            "archived": "taken back by its proposer",
        }
        waits = f'in the inbox: gitmem accept {short}, or gitmem reject {short} --because "…"'
        from gitmem.app.belief import believed_view
        from gitmem.app.remember import let_in_by_the_forge

        if let_in_by_the_forge(believed_view(workspace), found.memory):
            waits = f'in the inbox: gitmem propose {short} --push, or gitmem retract {short} --because "…"'
        door.note(said.get(found.memory.status, waits))
    elif found.memory.status not in VISIBLE:
        door.note(f"withheld: no answer shows it; gitmem log {short} tells why")


def key(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="The key, such as python.version.", metavar="NAME")],
    valid_at: ValidAt = None,
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of", help="As it was on record on this date, or at this revision or tag of the memory or the code."
        ),
    ] = None,
) -> None:
    """Who holds a key: what was true at --valid-at, as it was on record at --as-of.

    Both are now when left out; --valid-at is the moment of --as-of when only that is given.
    """
    door: Door = ctx.obj
    when = flag_values.instant(valid_at, "--valid-at")
    held = asked(door, lambda here: reading.key_value(here, name, valid_at=when, as_of=as_of))
    for memory in held:
        if door.as_json:
            door.data(memory_data(memory, HOMES[memory.scope.audience]))
        else:
            door.say(memory_line(door, memory))
            if memory.body:
                door.say(f"    {door.style(one_line(memory.body, 160))}")


APPLICATIONS = {
    "recall": single(recall, 'gitmem recall "redis timeout"'),
    "list": single(listing, "gitmem list --kind decision --tag redis"),
    "show": single(show, "gitmem show 7k3q --at 2026-03-01"),
    "key": single(key, "gitmem key python.version --as-of v1.2"),
}
