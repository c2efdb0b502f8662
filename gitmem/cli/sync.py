"""`gitmem sync` and `gitmem trust`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from gitmem.app import trust as app_trust
from gitmem.app.belief import inert_view
from gitmem.app.workspace import open_workspace
from gitmem.cli import syncing
from gitmem.cli.app_of import single
from gitmem.cli.door import Door, columns, counted
from gitmem.errors import UsageError

_SHOWN = 10  # authors that are listed


def sync(
    ctx: typer.Context,
    remotes: Annotated[
        list[str] | None,
        typer.Argument(help="Configured remotes (default: origin, or the only one).", metavar="[REMOTE]..."),
    ] = None,
    pull: Annotated[bool, typer.Option("--pull", help="Take in only; push nothing.")] = False,
    push: Annotated[bool, typer.Option("--push", help="Push only; take nothing in.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Fetch and verify, and say what would be done.")] = False,
    accept_rewrite: Annotated[
        bool, typer.Option("--accept-rewrite", help="Take a remote as it is although it went back (a person only).")
    ] = False,
) -> None:
    """Bring this clone's memory and its remotes' together: fetch, verify, merge, push.

    What is fetched is judged before anything of it is in the repository. Pushes only move forward; one that
    somebody was faster than begins again. A remote that fails stops no other; the exit code is the first one's.
    """
    syncing.run(ctx.obj, remotes=remotes or (), pull=pull, push=push, dry_run=dry_run, accept_rewrite=accept_rewrite)


def trust(
    ctx: typer.Context,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    revoke: Annotated[bool, typer.Option("--revoke", help="Make the memory of this clone inert again.")] = False,
) -> None:
    """Look at memory that came from elsewhere, and let it be shown. For a person at a terminal.

    A branch that was cloned or adopted is inert: recall, brief, context, list, show, hooks and tools show nothing of
    it. The answer is kept in your own state folder, for this clone at this place.
    """
    door: Door = ctx.obj
    if yes and revoke:
        raise UsageError("--yes and --revoke contradict each other", hint="gitmem trust --revoke")
    workspace = open_workspace(door.env)
    if revoke:
        app_trust.require_person(door.env)
        was = app_trust.revoke(workspace)
        if door.as_json:
            door.data({"trusted": False, "revoked": was})
        else:
            door.say("the memory of this clone is inert now" if was else "the memory of this clone was not trusted")
        return
    view = inert_view(workspace)
    found = app_trust.about(view)
    trusted = found.trusted is not None and found.trusted.project == found.project
    if not door.as_json:
        _say_about(door, found)
    if not trusted:
        if yes or not door.as_json:
            app_trust.require_person(door.env)
        if yes or (not door.as_json and _asked(door)):
            app_trust.grant(view, "asked")
            trusted = True
    if door.as_json:
        door.data(_about_data(found, trusted))
    elif trusted:
        since = f" since {found.trusted.at}" if found.trusted else ""
        door.say(door.style(f"trusted{since}: recall, brief and the others show it", "green"))
    else:
        door.say("not trusted: nothing of it is shown")


def _asked(door: Door) -> bool:
    door.env.stdout.write("Trust this memory? It will be shown to you and your agents. [y/N] ")
    door.flush()
    return door.env.stdin.readline().strip().lower() in ("y", "yes")


def _say_about(door: Door, found: app_trust.About) -> None:
    def several(counts: Mapping[str, int]) -> str:
        shown = [f"{count:,} {name}" for name, count in list(counts.items())[:_SHOWN]]
        return ", ".join([*shown, *([f"and {len(counts) - _SHOWN} more"] if len(counts) > _SHOWN else [])]) or "none"

    rows = [
        ("repository", found.repository),
        ("project", ", ".join([found.project, *(f"also {name}" for name in found.aliases)])),
        ("root", found.root),
        ("tip", f"{found.tip} ({counted(found.commits, 'commit')}, all verified)"),
        ("policy", f"review {found.review}, gitmem.yaml {found.policy}"),
        ("memories", f"{found.memories:,}: {several(found.kinds)}"),
        ("origins", several(found.origins)),
        ("states", several(found.statuses)),
        ("written by", f"{several(found.authors)} (as commits say; anyone can write any name)"),
        ("signers", ", ".join(found.signers) or "nobody: every review is level 0"),
    ]
    if found.quarantined:
        rows.append(("left out", f"{counted(found.quarantined, 'record')} failed verification; see gitmem doctor"))
    rows += [("remote", f"{name} {address}") for name, address in found.remotes.items()]
    for path, same in found.elsewhere:
        known = "what you trusted there is part of this history" if same else "with another history than this"
        rows.append(("elsewhere", f"you trust this project in {path}, {known}"))
    for line in columns(rows):
        door.say(line)


def _about_data(found: app_trust.About, trusted: bool) -> Mapping[str, Any]:
    return {
        "trusted": trusted,
        "repository": found.repository,
        "project": found.project,
        "aliases": list(found.aliases),
        "signers": list(found.signers),
        "root": found.root,
        "tip": found.tip,
        "commits": found.commits,
        "policy": found.policy,
        "review": found.review,
        "memories": found.memories,
        "kinds": dict(found.kinds),
        "origins": dict(found.origins),
        "statuses": dict(found.statuses),
        "authors": dict(found.authors),
        "remotes": dict(found.remotes),
        "left_out": found.quarantined,
        "elsewhere": [{"path": path, "same_history": same} for path, same in found.elsewhere],
        "since": found.trusted.at if found.trusted else None,
    }


APPLICATIONS = {
    "sync": single(sync, "gitmem sync"),
    "trust": single(trust, "gitmem trust"),
}
