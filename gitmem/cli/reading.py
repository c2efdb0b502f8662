"""`gitmem recall`, `list`, `show` and `key`."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import typer

from gitmem.app import reading
from gitmem.app.outbox import refusals
from gitmem.app.workspace import open_workspace
from gitmem.cli.app_of import Id, single
from gitmem.cli.door import Door
from gitmem.cli.shown import citation, cited, memory_data, memory_line, page
from gitmem.errors import UsageError
from gitmem.model.layout import MAIN
from gitmem.model.text import one_line
from gitmem.model.times import format_instant, parse_instant
from gitmem.model.vocabulary import KINDS, ORIGIN_RANK, VISIBLE

Kinds = Annotated[list[str] | None, typer.Option("--kind", "-k", help="Only this kind; may be repeated.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", "-t", help="Only with this tag.")]
Path = Annotated[str | None, typer.Option("--path", "-p", help="Only about this file or folder.")]
Key = Annotated[str | None, typer.Option(help="Only with this key.")]
Origins = Annotated[list[str] | None, typer.Option("--origin", help="Only of this origin.")]
Since = Annotated[str | None, typer.Option(help="Recorded at or after this date or time.")]
Until = Annotated[str | None, typer.Option(help="Recorded before this date or time.")]
ValidAt = Annotated[str | None, typer.Option("--valid-at", help="True at this date or time.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=1, max=10_000, help="At most so many.")]


def instant(text: str | None, flag: str) -> datetime | None:
    """A date or time of a flag."""
    if text is None:
        return None
    try:
        return parse_instant(text)
    except ValueError as error:
        raise UsageError(f"{flag}: {error}", hint=f"{flag} 2026-03-02 means 00:00 UTC of that day") from None


def _known(values: list[str] | None, words: Any, flag: str) -> tuple[str, ...]:
    for value in values or ():
        if value not in words:
            raise UsageError(f"{flag}: there is no {value!r}", hint=f"one of {', '.join(words)}")
    return tuple(values or ())


def recall(
    ctx: typer.Context,
    words: Annotated[
        list[str], typer.Argument(help='What to look for. "Words in double quotes" stand as they are.', metavar="WORDS")
    ],
    phrase: Annotated[bool, typer.Option("--phrase", help="The words as they stand, next to each other.")] = False,
    kind: Kinds = None,
    tag: Tags = None,
    path: Path = None,
    key: Key = None,
    origin: Origins = None,
    since: Since = None,
    until: Until = None,
    valid_at: ValidAt = None,
    limit: Limit = 10,
) -> None:
    """What is known about these words and still holds, best first, each with its evidence.

    Superseded, rejected, disputed and expired memories are never shown here.
    """
    door: Door = ctx.obj
    filters = reading.Filters(
        kinds=_known(kind, KINDS, "--kind"),
        tags=tuple(tag or ()),
        path=path,
        key=key,
        origins=_known(origin, ORIGIN_RANK, "--origin"),
        since=instant(since, "--since"),
        until=instant(until, "--until"),
        valid_at=instant(valid_at, "--valid-at"),
        limit=limit,
    )
    found = reading.recall(open_workspace(door.env), [" ".join(words)], filters, phrase=phrase)
    if door.as_json:
        for item, score, drifts in zip(found.items, found.scores, found.drifts, strict=True):
            door.data({**memory_data(item.memory, item.ref), "score": round(score, 4), "drifts": list(drifts)})
        _summary(door, found)
    else:
        for item, drifts in zip(found.items, found.drifts, strict=True):
            door.say(memory_line(door, item.memory))
            if item.memory.body:
                door.say(f"    {door.style(one_line(item.memory.body, 160))}")
            for ref, drifted in list(zip(item.memory.evidence, drifts, strict=True))[:2]:
                door.say(f"    {cited(door, ref, drifted)}")
        if not found.items:
            many = "1 memory" if found.searched == 1 else f"{found.searched:,} memories"
            door.say(f"nothing known about that: {many} searched, none answers these words")
        elif found.total > len(found.items):
            door.note(f"{found.total - len(found.items)} more: --limit {min(found.total, 10_000)}")
    for warning in found.warnings:
        door.note(door.style(f"note: {warning}", "yellow"))


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
    inbox: Annotated[bool, typer.Option("--inbox", help="Candidates that wait for a person.")] = False,
    refused: Annotated[bool, typer.Option("--refused", help="Writes that the gate refused here.")] = False,
    limit: Limit = 50,
) -> None:
    """Memories by their fields, newest first; withheld states only when --status names them."""
    door: Door = ctx.obj
    workspace = open_workspace(door.env)
    if refused:
        _refused(door, list(refusals(workspace))[:limit])
        return
    filters = reading.Filters(
        kinds=_known(kind, KINDS, "--kind"),
        statuses=tuple(status or ()),
        tags=tuple(tag or ()),
        path=path,
        key=key,
        scope=scope,
        origins=_known(origin, ORIGIN_RANK, "--origin"),
        since=instant(since, "--since"),
        until=instant(until, "--until"),
        valid_at=instant(valid_at, "--valid-at"),
        inbox=inbox,
        limit=limit,
    )
    found = reading.listing(workspace, filters)
    if door.as_json:
        for item in found.items:
            door.data(memory_data(item.memory, item.ref))
        _summary(door, found)
        return
    for item in found.items:
        door.say(memory_line(door, item.memory))
    if not found.items:
        door.note("nothing to list" + ("" if inbox or status else "; candidates wait in: gitmem list --inbox"))
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
    found = reading.show(open_workspace(door.env), identifier, at=at)
    if door.as_json:
        evidence = [
            {"state": r.state, "detail": r.detail, "drift": drifted, "citation": citation(r.ref)}
            for r, drifted in zip(found.resolutions, found.drifts, strict=True)
        ]
        door.data({**memory_data(found.memory, found.ref), "resolutions": evidence})
        return
    if raw:
        for line in found.raw.decode().rstrip("\n").split("\n"):
            door.say(door.style(line))
        return
    for line in page(door, found.memory, found.resolutions, found.drifts):
        door.say(line)
    if found.at is not None:
        door.note(f"as it was on record at {format_instant(found.at)}; the evidence is as it is now")
    short = found.memory.id[:8]
    if found.ref != MAIN:
        said = {
            "wrong": f'rejected: gitmem lift {short} --because "…" undoes it',
            "archived": "taken back by its proposer",
        }
        waits = f'in the inbox: gitmem accept {short}, or gitmem reject {short} --because "…"'
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
    held = reading.key_value(open_workspace(door.env), name, valid_at=instant(valid_at, "--valid-at"), as_of=as_of)
    for memory in held:
        if door.as_json:
            door.data(memory_data(memory, MAIN))
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
