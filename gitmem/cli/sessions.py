"""`gitmem sessions`: what the agents said here, as it was captured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gitmem.app import sessions as app_sessions
from gitmem.app import sessions_search as app_search
from gitmem.app.sessions_search import SPEAKERS
from gitmem.app.transcripts import Transcripts
from gitmem.app.workspace import open_workspace
from gitmem.cli.app_of import MOST, blank
from gitmem.cli.door import Door, columns, counted
from gitmem.cli.excerpt import excerpt
from gitmem.cli.flag_values import instant
from gitmem.errors import UsageError
from gitmem.model.text import escape, one_line
from gitmem.model.times import format_instant

if TYPE_CHECKING:
    from gitmem.app.sessions import Turn

_ORIGINS = {"there": "", "gone": "deleted by the host", "elsewhere": "captured elsewhere"}
_LISTED = 50  # sessions of a list
_SHORTEST = 8  # characters of a record's id that are shown at least

Session = Annotated[
    str, typer.Argument(help="[HOST/] and the session's id, or the first characters of it.", metavar="SESSION")
]
Host = Annotated[str | None, typer.Option(help="Only of this host.")]
Roles = Annotated[
    list[str] | None, typer.Option("--role", "-r", help=f"Only this speaker; may be repeated: {', '.join(SPEAKERS)}.")
]


def listing(
    ctx: typer.Context,
    host: Host = None,
    subagents: Annotated[bool, typer.Option("--subagents", help="Also sessions that another one started.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=MOST, help="At most so many.")] = _LISTED,
) -> None:
    """The captured sessions, the latest first: turns, when, bytes, and whether the host still has them."""
    door: Door = ctx.obj
    found, damaged = app_sessions.rows(open_workspace(door.env), host, children=subagents)
    for fault in damaged:
        door.note(f"{door.style('damaged', 'red')}: {door.style(fault)}")
    table = []
    for row in found[:limit]:
        manifest = row.stored.manifest
        if door.as_json:
            door.data(_row_data(row))
            continue
        when = f"{(row.first or manifest.captured)[:10]} – {(row.last or manifest.captured)[:16].replace('T', ' ')}"
        notes = [
            "" if row.stored.fetched else _ORIGINS[row.origin],
            f"{len(manifest.generations)} generations" if len(manifest.generations) > 1 else "",
            f"{counted(row.removed, 'secret')} removed" if row.removed else "",
            "archived" if row.stored.archived else "",
            f"fetched from {row.stored.fetched}" if row.stored.fetched else "",
        ]
        table.append(
            (manifest.name, counted(row.turns, "turn"), when, f"{row.bytes:,} bytes", ", ".join(filter(None, notes)))
        )
    for line in columns(table):
        door.say(line.rstrip())
    if not found and not door.as_json:
        door.note("no session is captured here; gitmem capture looks for them")
    elif len(found) > limit and not door.as_json:
        door.note(f"{len(found) - limit} more: --limit {len(found)}")


def _row_data(row: app_sessions.Row) -> dict[str, Any]:
    manifest = row.stored.manifest
    return {
        "host": manifest.host,
        "session": manifest.session,
        "parent": manifest.parent,
        "turns": row.turns,
        "first": row.first or None,
        "last": row.last or None,
        "bytes": row.bytes,
        "generations": len(manifest.generations),
        "removed": row.removed,
        "captured": manifest.captured,
        "origin": row.origin,
        "archived": row.stored.archived,
        "fetched": row.stored.fetched or None,
        "ref": row.stored.ref,
    }


def show(
    ctx: typer.Context,
    session: Session,
    role: Roles = None,
    record: Annotated[str | None, typer.Option(help="Only this record or tool call, or those that begin so.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Whole texts, not a line of each.")] = False,
    proof: Annotated[
        bool, typer.Option("--proof", help="With each turn the command that prints its SHA-256 without gitmem.")
    ] = False,
    generation: Annotated[
        int | None, typer.Option(min=1, max=MOST, help="An earlier state of a file that the host rewrote.")
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", "-n", min=1, max=MOST, help="At most so many turns.")] = None,
) -> None:
    """The turns of one session, each with the id by which it is cited: transcript:SESSION#ID."""
    door: Door = ctx.obj
    workspace = open_workspace(door.env)
    stored = app_sessions.session(workspace, session)
    _check_roles(role)
    torn: list[tuple[int, int]] = []
    shown = list(app_sessions.turns(workspace, stored, generation, role or (), record, damaged=torn))
    chosen = stored.manifest.last if generation is None else stored.manifest.generation(generation)
    assert chosen  # noqa: S101 - `turns` has raised otherwise
    short = {} if door.as_json else _shortest({turn.record for turn in shown})
    for turn in shown[:limit]:
        hashed = stored.proof(chosen, turn.start, turn.end) if proof else ""
        if door.as_json:
            data = _turn_data(turn, full=True)
            door.data({**data, "generation": chosen.number, **({"proof": hashed} if proof else {})})
            continue
        at = format_instant(turn.at)[:19].replace("T", " ") if turn.at else ""
        what = turn.speaker + (f" {turn.tool}" if turn.tool else "") + (f" {turn.outcome}" if turn.outcome else "")
        head = f"{door.style('#' + short[turn.record], 'cyan')}  {door.style(at, 'dim')}  {door.style(what, 'bold')}"
        if full:
            door.say(head)
            door.say("\n".join(f"    {line}" for line in escape(turn.text, keep_newlines=True).split("\n")))
        else:
            door.say(f"{head}  {door.style(one_line(turn.text, 120))}")
        if hashed:
            door.say(f"    {door.style(hashed, 'dim')}")
    if door.as_json:
        if torn:
            door.data({"summary": {"damaged": torn}})
        return
    if torn:
        places = ", ".join(f"{start}-{end}" for start, end in torn[:3]) + (", …" if len(torn) > 3 else "")
        door.note(f"{counted(len(torn), 'record')} cannot be read, or not all of it; kept as it is, bytes {places}")
    where = app_sessions.where_is_origin(Transcripts(workspace), stored)
    gone = "; the host has deleted its file" if where == "gone" else ""
    more = f", {len(shown) - limit} more" if limit is not None and len(shown) > limit else ""
    fetched = f"; fetched from {stored.fetched}, and nobody's word here" if stored.fetched else ""
    captured = f"captured {stored.manifest.captured}{gone}{fetched}"
    door.note(door.style(f"{stored.manifest.name}: {counted(len(shown), 'turn')}{more}, {captured}"))


def _shortest(names: set[str]) -> dict[str, str]:
    """Each id as the shortest beginning of it, of 8 characters or more, that no other id has."""
    ordered = sorted(names)
    found = {}
    for number, name in enumerate(ordered):
        near = ordered[max(number - 1, 0) : number] + ordered[number + 1 : number + 2]
        shared = max((_shared(name, other) for other in near), default=0)
        found[name] = name[: max(shared + 1, _SHORTEST)]
    return found


def _shared(one: str, other: str) -> int:
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _turn_data(turn: Turn, *, full: bool) -> dict[str, Any]:
    return {
        "record": turn.record,
        "start": turn.start,
        "end": turn.end,
        "speaker": turn.speaker,
        "text": turn.text if full else one_line(turn.text, 500),
        "call": turn.call,
        "tool": turn.tool,
        "outcome": turn.outcome,
        "at": format_instant(turn.at) if turn.at else None,
        "cwd": turn.cwd,
        "branch": turn.branch,
        "model": turn.model,
        "paths": list(turn.paths),
    }


def _check_roles(roles: list[str] | None) -> None:
    for role in roles or ():
        if role not in SPEAKERS:
            raise UsageError(f"--role: there is no {role!r}", hint=f"one of {', '.join(SPEAKERS)}")


def verify(
    ctx: typer.Context,
    session: Annotated[str | None, typer.Argument(help="One session; without it all.", metavar="SESSION")] = None,
) -> int:
    """Re-hash every stored byte. Exit code 3 when something is not what it should be."""
    door: Door = ctx.obj
    faults = number = size = 0
    for checked in app_sessions.verify(open_workspace(door.env), session):
        number += 1
        size += checked.bytes
        faults += len(checked.faults)
        if door.as_json:
            door.data(
                {"session": checked.name, "chunks": checked.chunks, "bytes": checked.bytes, "faults": checked.faults}
            )
        else:
            for fault in checked.faults:
                door.say(f"{door.style('fault', 'red')}  {door.style(checked.name)}: {door.style(fault)}")
    if not door.as_json:
        door.say(f"{counted(number, 'session')}, {size:,} bytes re-hashed, {counted(faults, 'fault')}")
    return 3 if faults else 0


def restore(
    ctx: typer.Context,
    session: Session,
    to: Annotated[Path | None, typer.Option(help="Write copies into this folder instead.", metavar="FOLDER")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be written.")] = False,
) -> None:
    """Give the host a session back that it lost, with those that it started: all of it or nothing.

    Each file is read again and compared after it was written. A file that is there is never written over. Secrets
    that were removed stay removed.
    """
    from gitmem.app.sessions_restore import restore as give_back

    door: Door = ctx.obj
    receipts = give_back(open_workspace(door.env), session, to=to, dry_run=dry_run)
    for item in receipts:
        if door.as_json:
            door.data(
                {
                    "session": item.name,
                    "path": str(item.path),
                    "bytes": item.bytes,
                    "sha256": item.sha256,
                    "removed": item.removed,
                    "captured": item.captured,
                    "written": not dry_run,
                }
            )
            continue
        door.say(
            f"{'would restore' if dry_run else 'restored'} {door.style(item.name)} to {door.style(str(item.path))}"
        )
        removed = f", {counted(item.removed, 'line')} with a removed secret" if item.removed else ""
        door.say(door.style(f"  {item.bytes:,} bytes, sha256 {item.sha256}, captured {item.captured}{removed}"))
    if not receipts and not door.as_json:
        door.say("nothing to restore: the host has every byte that was captured")


def search(
    ctx: typer.Context,
    words: Annotated[list[str], typer.Argument(help="Words; most of them stand in one turn.", metavar="WORDS")],
    host: Host = None,
    role: Roles = None,
    every: Annotated[
        bool, typer.Option("--all", help="Also harness text, subagents and what gitmem itself put in.")
    ] = False,
    since: Annotated[str | None, typer.Option(help="Said at or after this date or time.")] = None,
    until: Annotated[str | None, typer.Option(help="Said before this date or time.")] = None,
    session: Annotated[str | None, typer.Option(help="Only sessions whose id begins so.")] = None,
    path: Annotated[
        str | None, typer.Option("--path", "-p", help="Only sessions that touched this file or folder.")
    ] = None,
    order: Annotated[str, typer.Option(help="relevance or time (the latest first).")] = "relevance",
    by: Annotated[str, typer.Option(help="turn, or session: the best sessions with three turns each.")] = "turn",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="At most so many.")] = 10,
) -> None:
    """The turns in which most of the words stand, each as it is cited; or what was looked at and found without them."""
    door: Door = ctx.obj
    _check_roles(role)
    if order not in ("relevance", "time"):
        raise UsageError(f"--order takes relevance or time, not {order!r}", hint="gitmem sessions search --help")
    if by not in ("turn", "session"):
        raise UsageError(f"--by takes turn or session, not {by!r}", hint="gitmem sessions search --help")
    asked = app_search.Asked(
        words=" ".join(words),
        roles=tuple(role) if role else SPEAKERS if every else app_search.DEFAULT,
        host=host,
        since=instant(since, "--since"),
        until=instant(until, "--until"),
        session=session,
        path=path,
        order="time" if order == "time" else "relevance",
        limit=limit,
        by="session" if by == "session" else "turn",
    )
    answer = app_search.search(open_workspace(door.env), asked)
    of = dict(answer.sessions)
    told = ""
    for hit in answer.hits:
        name = hit.stored.manifest.name
        cite = f"transcript:{name}#{hit.turn.record}"
        if name in of and name != told and not door.as_json:
            door.say(f"{door.style(name, 'bold')}  {of[name]:.2f}")
        told = name
        if door.as_json:
            data: dict[str, object] = {
                "host": hit.stored.manifest.host,
                "session": hit.stored.manifest.session,
                "cite": cite,
            }
            data |= {"fetched": hit.stored.fetched} if hit.stored.fetched else {}
            data |= {"session_score": round(of[name], 3)} if name in of else {}
            door.data(
                {**data, "generation": hit.generation, "score": round(hit.score, 3), **_turn_data(hit.turn, full=False)}
            )
            continue
        at = format_instant(hit.turn.at)[:16].replace("T", " ") if hit.turn.at else ""
        what = hit.turn.speaker + (f" {hit.turn.tool}" if hit.turn.tool else "")
        door.say(
            f"{door.style(at, 'dim')}  {door.style(what, 'bold')}  {door.style(excerpt(hit.turn.text, asked.words))}"
        )
        fetched = f"  (fetched from {hit.stored.fetched})" if hit.stored.fetched else ""
        door.say(f"    {door.style('↳ ' + cite + fetched, 'dim')}")
    coverage = answer.coverage
    if door.as_json:
        own = {name: getattr(coverage, name) for name in coverage.__dataclass_fields__}
        more: dict[str, object] = {"sessions": len(of), "other_sessions": answer.others} if by == "session" else {}
        door.data({"summary": {"shown": len(answer.hits), "total": answer.total, **more, "coverage": own}})
        return
    _say_coverage(door, answer, asked)


def _say_coverage(door: Door, answer: Any, asked: Any) -> None:
    coverage = answer.coverage
    if not answer.hits:
        counts = ", ".join(f"{word} in {counted(n, 'turn')}" for word, n in coverage.words.items())
        door.say(f"no turn has most of these words: {door.style(counts)}")
    elif answer.sessions:
        if answer.others:
            door.note(f"{counted(answer.others, 'session')} more: --limit {len(answer.sessions) + answer.others}")
    elif answer.total > len(answer.hits):
        door.note(f"{answer.total - len(answer.hits):,} more: --limit {min(answer.total, 1000)}")
    hosts = ", ".join(
        f"{name} ({counted(number, 'session')}, {counted(coverage.turns.get(name, 0), 'turn')}"
        + "".join(f", {folder}" for folder in coverage.folders.get(name, ()))
        + ")"
        for name, number in coverage.sessions.items()
    )
    when = f", from {coverage.first[:10]} to {coverage.last[:10]}" if coverage.first else ""
    door.note(door.style(f"searched: {hosts or 'nothing'}{when}; last captured {coverage.swept or 'never'}"))
    skipped = {name: n for name, n in coverage.skipped.items() if name not in asked.roles and n}
    if skipped:
        door.note("left out: " + ", ".join(f"{counted(n, f'{name} turn')}" for name, n in skipped.items()) + " (--all)")
    if coverage.untimed:
        door.note(f"left out: {counted(coverage.untimed, 'turn')} without a time")
    if coverage.unwatched:
        door.note("nothing of: " + ", ".join(coverage.unwatched))
    for fault in coverage.damaged:
        door.note(f"{door.style('damaged', 'red')}: {door.style(fault)}")
    for name, fault in coverage.faults.items():
        door.note(f"{name}: {door.style(fault)}")


def _group() -> typer.Typer:
    from gitmem.cli import sessions_for, sessions_share

    app = blank()
    app.command("list", epilog="Example: gitmem sessions list")(listing)
    app.command(epilog="Example: gitmem sessions show 8c2f6a10 --role human")(show)
    app.command(epilog='Example: gitmem sessions search "redis timeout" --role tool    (or: --by session)')(search)
    app.command("for", epilog="Example: gitmem sessions for HEAD")(sessions_for.made)
    app.command(epilog="Example: gitmem sessions verify")(verify)
    app.command(epilog="Example: gitmem sessions restore 8c2f6a10")(restore)
    app.command(epilog="Example: gitmem sessions share 8c2f6a10 --to origin")(sessions_share.share)
    app.command(epilog="Example: gitmem sessions fetch origin")(sessions_share.fetch)
    app.command(epilog="Example: gitmem sessions forget --days 365 --dry-run")(sessions_share.forget)
    app.callback(invoke_without_command=True, epilog="Example: gitmem sessions list")(_bare)
    return app


def _bare(ctx: typer.Context) -> None:
    """What the agents said here, as it was captured."""
    if ctx.invoked_subcommand is None:
        listing(ctx, None, subagents=False, limit=_LISTED)


APPLICATIONS = {"sessions": _group}
