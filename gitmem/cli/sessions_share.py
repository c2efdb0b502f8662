"""`gitmem sessions share`, `fetch` and `forget`: they go to others, come from them, and go, when somebody says so."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from gitmem.app import sessions_share as app_share
from gitmem.app.trust import require_person
from gitmem.app.workspace import open_workspace
from gitmem.cli.door import Door, counted
from gitmem.cli.flag_values import instant
from gitmem.errors import UsageError
from gitmem.model.times import format_instant


def share(
    ctx: typer.Context,
    sessions: Annotated[
        list[str] | None,
        typer.Argument(help="[HOST/] and a session's id, or its first characters.", metavar="[SESSION]..."),
    ] = None,
    to: Annotated[str, typer.Option("--to", help="The configured remote.", metavar="REMOTE")] = "",
    since: Annotated[str | None, typer.Option(help="All that were captured at or after this date or time.")] = None,
    subagents: Annotated[bool, typer.Option("--subagents", help="Also the sessions that these started.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be sent, and send nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Send the sessions that you name to a remote, where others can fetch them. For a person at a terminal.

    All that was said in them goes, with names of folders of your machine. Every object is looked through for secrets
    first; one that is found keeps all of it here. What was sent cannot be called back.
    """
    door: Door = ctx.obj
    if not to:
        raise UsageError("share to which remote?", hint="gitmem sessions share 8c2f6a10 --to origin")
    if not sessions and since is None:
        raise UsageError("share which sessions?", hint=f"gitmem sessions share 8c2f6a10 --to {to}, or --since DATE")
    if not dry_run:
        require_person(door.env, "sharing what was said", "gitmem sessions share")
    workspace = open_workspace(door.env)
    bound = instant(since, "--since")
    named = app_share.chosen(workspace, sessions or (), format_instant(bound) if bound else None, subagents=subagents)
    bar = door.progress("looking for secrets")
    plan = app_share.plan(workspace, named, to, bar)
    bar.close()
    for item in plan.items:
        if door.as_json:
            door.data(_item_data(item, plan, dry_run or not yes))
        else:
            _say_item(door, item)
    if dry_run:
        return
    if not plan.moving:
        app_share.send(workspace, plan)
        if not door.as_json:
            door.say(f"{plan.remote.name} has all of it already")
        return
    if not yes and not _agreed(door, plan):
        return
    app_share.send(workspace, plan)
    if not door.as_json:
        door.say(door.style(f"sent {counted(len(plan.moving), 'session')} to {plan.remote.name}", "green"))


def _agreed(door: Door, plan: app_share.Plan) -> bool:
    if door.as_json:
        raise UsageError("nobody is there to be asked; nothing was sent", hint="gitmem sessions share … --yes")
    many = counted(len(plan.moving), "session")
    door.out(f"Send {many} to {door.style(plan.remote.name)} ({door.style(plan.remote.shown)})? [y/N] ")
    door.flush()
    agreed = door.env.stdin.readline().strip().lower() in ("y", "yes")
    if not agreed:
        door.say("nothing was sent")
    return agreed


def _say_item(door: Door, item: app_share.Item) -> None:
    notes = [
        {"same": "is there already", "new": "new there", "grown": "has grown"}[item.state],
        f"{item.bytes:,} bytes",
        f"{counted(item.objects, 'object')} looked through" if item.objects else "",
        f"{counted(item.removed, 'line')} with a removed secret" if item.removed else "",
        f"without {counted(item.children, 'session')} that it started (--subagents)" if item.children else "",
    ]
    door.say(f"{door.style(item.stored.manifest.name, 'bold')}  {', '.join(filter(None, notes))}")


def _item_data(item: app_share.Item, plan: app_share.Plan, kept: bool) -> dict[str, Any]:
    manifest = item.stored.manifest
    return {
        "host": manifest.host,
        "session": manifest.session,
        "remote": plan.remote.name,
        "state": item.state,
        "commit": item.commit,
        "bytes": item.bytes,
        "objects": item.objects,
        "removed": item.removed,
        "children": item.children,
        "sent": not kept,
    }


def forget(
    ctx: typer.Context,
    sessions: Annotated[
        list[str] | None,
        typer.Argument(
            help="[HOST/] and a session's id, or its first characters; without: what is beyond the limits.",
            metavar="[SESSION]...",
        ),
    ] = None,
    days: Annotated[
        int | None, typer.Option(min=1, max=36_500, help="Those without a new byte for so many days.")
    ] = None,
    size: Annotated[
        int | None,
        typer.Option("--bytes", min=1, max=1 << 62, help="The oldest, until so many bytes of transcript are left."),
    ] = None,
    cited: Annotated[bool, typer.Option("--cited", help="Also those that a memory has as evidence.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Let captured sessions go, here and for good. For a person at a terminal.

    Without SESSION and limits, those of your setting, which every capture keeps to: {"days": 365, "bytes": 2000000000}
    in ~/.config/gitmem/retention.json. What a memory cites stays, unless --cited; then its evidence cannot be looked at
    any more. A session that went is not captured again, unless its file is named to gitmem capture. The host's file
    and what was shared stay. git gives the room back when it next collects what nothing leads to (git gc).
    """
    from gitmem.app import sessions_forget
    from gitmem.app.retention import Retention, retention

    door: Door = ctx.obj
    if sessions and (days or size):
        raise UsageError("name sessions or limits, not both", hint="gitmem sessions forget --days 365")
    if not dry_run:
        require_person(door.env, "forgetting what was captured", "gitmem sessions forget")
    workspace = open_workspace(door.env)
    limits = Retention(days, size) if days or size else retention(door.env.environ)
    if not sessions and not limits.is_set:
        raise UsageError("forget which sessions?", hint="gitmem sessions forget 8c2f6a10, or --days 365")
    plan = sessions_forget.plan(workspace, sessions or (), limits, cited=cited)
    for one, state in [*((one, "going") for one in plan.going), *((one, "kept") for one in plan.kept)]:
        if door.as_json:
            own = {"session": one.stored.manifest.name, "bytes": one.bytes, "why": one.why, "cited": list(one.cited)}
            door.data({**own, "state": state, "forgotten": state == "going" and not dry_run and yes})
        else:
            by = f", cited by {', '.join(one.cited)}" if one.cited else ""
            what = "goes" if state == "going" else "stays"
            door.say(f"{what.ljust(6)} {door.style(one.stored.manifest.name)}  {one.bytes:,} bytes, {one.why}{by}")
    if not plan.going:
        if not door.as_json:
            door.say("nothing goes")
            if plan.kept:
                stay = counted(len(plan.kept), "session")
                door.note(f"staying, since memories cite them: {stay}; --cited lets them go too")
        return
    if dry_run:
        return
    if not yes:
        if door.as_json:
            raise UsageError("nobody is there to be asked; nothing went", hint="gitmem sessions forget … --yes")
        door.out(f"Forget {counted(len(plan.going), 'session')}? [y/N] ")
        door.flush()
        if door.env.stdin.readline().strip().lower() not in ("y", "yes"):
            door.say("nothing went")
            return
    done = sessions_forget.forget(workspace, plan.going)
    if not door.as_json:
        door.say(f"{counted(len(done), 'session')} forgotten, {sum(item.bytes for item in done):,} bytes")


def fetch(
    ctx: typer.Context,
    remote: Annotated[str, typer.Argument(help="The configured remote.", metavar="REMOTE")],
    sessions: Annotated[
        list[str] | None,
        typer.Argument(
            help="[HOST/] and a session's id, or its first characters; all without.", metavar="[SESSION]..."
        ),
    ] = None,
) -> int:
    """Fetch the sessions that others shared on a remote. They are read, searched and cited as what others say was said.

    Exit code 3 when something came that is no session, or does not hash; the others are taken.
    """
    from gitmem.app.sessions_fetch import fetch_sessions

    door: Door = ctx.obj
    done = fetch_sessions(open_workspace(door.env), remote, sessions or ())
    for item in done:
        if door.as_json:
            door.data({"session": item.name, "state": item.state, "detail": item.detail, "bytes": item.bytes})
            continue
        detail = {
            "new": f"fetched, {item.bytes:,} bytes",
            "updated": f"fetched again, {item.bytes:,} bytes",
            "same": "here already",
            "own": "shared by this clone",
            "refused": f"refused: {item.detail}",
        }[item.state]
        door.say(
            f"{door.style(item.name, 'bold')}  {door.style(detail, *(['red'] if item.state == 'refused' else []))}"
        )
    return 3 if any(item.state == "refused" for item in done) else 0
