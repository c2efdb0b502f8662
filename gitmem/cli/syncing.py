"""What `gitmem sync` does once its command line is read. Knows nothing of Typer, which takes longer than the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from gitmem.cli.quick import Flags
from gitmem.errors import UsageError, error_data

if TYPE_CHECKING:
    from gitmem.app.sync import Synced
    from gitmem.cli.door import Door

FLAGS: Final = Flags(
    positional="remotes",
    one={},
    many={},
    yes={
        "--pull": "pull",
        "--push": "push",
        "--dry-run": "dry_run",
        "--accept-rewrite": "accept_rewrite",
    },
    several=True,
)


def run(
    door: Door,
    *,
    remotes: Sequence[str] = (),
    pull: bool = False,
    push: bool = False,
    dry_run: bool = False,
    accept_rewrite: bool = False,
) -> None:
    """Sync with each remote and say what became of it. Raises the error of the first that failed."""
    from gitmem.app.sync import Wish
    from gitmem.app.sync import sync as app_sync
    from gitmem.app.workspace import open_workspace

    if pull and push:
        raise UsageError("--pull and --push together are what gitmem sync does", hint="gitmem sync")
    bar = door.progress("verifying")

    def stage(text: str) -> None:
        bar.close()
        if door.env.stderr.isatty():
            door.note(door.style(f"{text} …", "dim"))

    wish = Wish(pull=not push, push=not pull, dry_run=dry_run, accept_rewrite=accept_rewrite)
    workspace = open_workspace(door.env)
    done = app_sync(workspace, remotes, wish, progress=bar, stage=stage)
    bar.close()
    for one in done:
        if door.as_json:
            door.data(_synced_data(one))
        elif one.error is None or one.joined != "nothing":
            _say_synced(door, one)
    failed = [one.error for one in done if one.error is not None]
    for error in failed[1:]:
        door.error(error)
    if failed:
        raise failed[0]
    if not door.as_json and any(one.joined == "adopted" or one.joined == "merged" for one in done) and not dry_run:
        from gitmem.app import trust
        from gitmem.app.belief import inert_view

        view = inert_view(workspace)
        if not trust.stands(door.env, workspace.location.common_dir, view.require_config().projects):
            door.say("nothing of it is shown before somebody has looked at it: gitmem trust")


def _say_synced(door: Door, one: Synced) -> None:
    from gitmem.cli.door import counted

    would = "would have " if one.dry_run else ""
    told = []
    if one.joined == "adopted":
        told.append(f"{would}adopted gitmem/main ({counted(one.pulled, 'commit')})")
    elif one.joined != "nothing":
        told.append(f"{would}{'merged' if one.joined == 'merged' else 'pulled'} {counted(one.pulled, 'commit')}")
    if one.pushed:
        told.append(f"{would}pushed {counted(one.pushed, 'commit')}")
    said = ", ".join(told) or "nothing to do"
    at = f", at {(one.after or '')[:12]}" if one.after else ""
    door.say(f"{door.style(one.remote, 'bold')}: {door.style(said, 'green')}{at}")
    if one.left_out:
        many = counted(len(one.left_out), "record")
        door.say(door.style(f"  {many} failed verification and will not be believed; see gitmem doctor", "yellow"))
    for ids, what in (
        (one.conflicts, "changed on both sides: gitmem conflicts"),
        (one.disputes, "contradict each other and are withheld: gitmem conflicts"),
    ):
        if ids:
            door.say(door.style(f"  {', '.join(ids[:10])}{' …' if len(ids) > 10 else ''} {what}", "yellow"))


def _synced_data(one: Synced) -> Mapping[str, Any]:
    return {
        "remote": one.remote,
        "state": one.state,
        "joined": one.joined,
        "before": one.before,
        "after": one.after,
        "tip": one.tip,
        "pulled": one.pulled,
        "pushed": one.pushed,
        "left_out": list(one.left_out),
        "conflicts": list(one.conflicts),
        "disputes": list(one.disputes),
        "dry_run": one.dry_run,
        "error": None if one.error is None else error_data(one.error),
    }
