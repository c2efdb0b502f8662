"""`gitmem install` and `gitmem uninstall`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from gitmem.app import agents, agents_md, capture_timer
from gitmem.app.capture import Sweep, capture
from gitmem.app.doorbell import doorbell_path
from gitmem.app.env import Env
from gitmem.app.hooks import program
from gitmem.app.host_files import Change, take_out, write
from gitmem.app.host_settings import HOSTS, here
from gitmem.app.trust import require_installer
from gitmem.app.workspace import open_workspace
from gitmem.cli.app_of import single
from gitmem.cli.door import Door, counted
from gitmem.errors import GitmemError, NotARepository, UsageError

Hosts = Annotated[
    list[str] | None,
    typer.Argument(
        help="claude-code, codex, cursor, gemini-cli, copilot-cli, antigravity, opencode or pi. Without any: all that "
        "are here, but the last three only when named.",
        metavar="HOST",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask. For a person at a terminal, and for CI.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would change and write nothing.")]


def install(
    ctx: typer.Context,
    hosts: Hosts = None,
    user: Annotated[bool, typer.Option("--user", help="For all repositories of this user (the default).")] = False,
    project: Annotated[bool, typer.Option("--project", help="For this repository only.")] = False,
    no_inject: Annotated[
        bool, typer.Option("--no-inject", help="Only capture; agents are told nothing unasked, and hooks for it go.")
    ] = False,
    agents_md_: Annotated[
        bool, typer.Option("--agents-md", help="A marked block in AGENTS.md here; no host, unless one is named.")
    ] = False,
    timer: Annotated[
        bool, typer.Option("--timer", help="A timer that captures this repository; no host, unless one is named.")
    ] = False,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> int:
    """Have agent hosts ring when a turn ends, so that their sessions are captured as they happen, and ask what the
    agent should know when a session starts, at each prompt and before an edit.

    Shows what changes and asks first, and ends with one capture where gitmem is used. Hooks and settings that are
    there stay as they are, byte for byte. In a repository that gitmem was never used in, the hook does nothing. A
    timer is enabled only with --yes; else the commands for that are shown.
    """
    door: Door = ctx.obj
    if user and project:
        raise UsageError("--user and --project exclude each other", hint="gitmem install --help")
    where = _here(door.env, needed=True) if project or agents_md_ else None
    ringing = bool(hosts) or not (agents_md_ or timer)
    in_hosts = (
        agents.plan_install(door.env, hosts or (), where if project else None, inject=not no_inject) if ringing else []
    )
    block = agents_md.plan_block(door.env, where) if agents_md_ and where else []
    units = capture_timer.plan_timer(door.env, program(sys.argv[:1]), _repository(door.env)) if timer else []
    changes = [*in_hosts, *block, *units]
    _show(door, changes, dry_run=dry_run)
    if dry_run or (changes and not _agreed(door, yes, "install")):
        return 0 if dry_run else 1
    if not changes:
        require_installer(door.env, "gitmem install")
    renewed = agents.install(door.env, in_hosts, program(sys.argv[:1])) if ringing else False
    _written(door.env, [*block, *units])
    enabled = timer and yes and _enable(door)
    bell = doorbell_path(door.env.environ)
    sweep = _proof(door.env)
    if door.as_json:
        enable = {"enable": capture_timer.enabling(door.env), "enabled": enabled} if timer else {}
        door.data({"doorbell": str(bell), "written": renewed, "captured": sweep and _captured(sweep), **enable})
        return 0
    if renewed:
        door.say(f"written: {door.style(str(bell))}")
    for change in changes:
        door.say(f"installed: {change.host} in {door.style(str(change.path))}")
    for change in in_hosts:
        for remark in agents.remarks(door.env, change.host, change.path):
            door.note(door.style(remark))
        if project:
            door.note("it names a path of this machine: do not commit it")
    for name in () if hosts or not ringing else (name for name in here(door.env) if agents.asked_for(name, where)):
        only = "" if HOSTS[name].user else " --project"
        door.note(f"{name} is here, and is installed when it is named: gitmem install {name}{only}")
    for change in block:
        if where and (remark := agents_md.remark(where, change.path)):
            door.note(door.style(remark))
    if not changes and not renewed:
        door.say("nothing to change")
    if timer and not enabled:
        for line in capture_timer.enabling(door.env):
            door.say(f"to start it: {door.style(line)}")
    for line in capture_timer.disabling() if timer else ():
        door.say(f"to stop it: {door.style(line)}")
    if sweep is None:
        door.note("captured is where gitmem is used: gitmem init, or gitmem capture, in a repository")
    elif not sweep.busy:
        door.say(f"captured here now: {counted(_captured(sweep), 'session')}, {sweep.unchanged:,} unchanged")
    return 1 if sweep is not None and sweep.failed else 0


def uninstall(
    ctx: typer.Context,
    hosts: Hosts = None,
    agents_md_: Annotated[bool, typer.Option("--agents-md", help="Only the block in AGENTS.md.")] = False,
    timer: Annotated[bool, typer.Option("--timer", help="Only the timer, for all repositories.")] = False,
    dry_run: DryRun = False,
    yes: Yes = False,
) -> int:
    """Take out what `gitmem install` put in, everywhere: in hosts, the block in AGENTS.md, the timer. What was captured
    stays.

    A file that nobody changed since is byte for byte what it was before; from one that was changed, only what is
    gitmem's goes.
    """
    door: Door = ctx.obj
    where = _here(door.env, needed=False)
    everything = not (hosts or agents_md_ or timer)
    ringing = everything or bool(hosts)
    in_hosts = agents.plan_uninstall(door.env, hosts or (), where) if ringing else []
    block = agents_md.plan_block_out(door.env, where) if everything or agents_md_ else []
    units = capture_timer.plan_timer_out(door.env) if everything or timer else []
    changes = [*in_hosts, *block, *units]
    _show(door, changes, dry_run=dry_run)
    if dry_run or (changes and not _agreed(door, yes, "uninstall")):
        return 0 if dry_run else 1
    if not changes:
        require_installer(door.env, "gitmem uninstall")
    said = capture_timer.stop(door.env) if units else ""
    kinds = [name for name, on in ((agents_md.NAME, agents_md_), (capture_timer.NAME, timer)) if everything or on]
    _written(door.env, [*block, *units], out=kinds)
    gone = agents.uninstall(door.env, hosts or (), in_hosts) if ringing else False
    if door.as_json:
        door.data({"doorbell": str(doorbell_path(door.env.environ)), "removed": gone})
        return 0
    for change in changes:
        door.say(f"taken out: {change.host} from {door.style(str(change.path))}")
    if said is None:
        door.note(f"if it was started: {capture_timer.disabling()[0]}")
    elif said:
        door.note(door.style(said))
    if not changes:
        door.say("nothing to take out")
    return 0


def _written(env: Env, changes: Sequence[Change], out: Sequence[str] | None = None) -> None:
    """Write what is no host's; `out`: take it out, and forget these receipts."""
    try:
        if out is None:
            write(env, changes)
        else:
            take_out(env, changes, out)
    except OSError as error:
        raise GitmemError(f"cannot write {error.filename}: {error.strerror}", hint="run this again") from None


def _enable(door: Door) -> bool:
    """Start the timer; whether that was done. Only the program of this platform does it."""
    said = capture_timer.run_all(door.env, capture_timer.enabling(door.env))
    if said is None:
        return False
    if said:
        door.note(door.style(f"the timer was not started: {said}"))
        return False
    if not door.as_json:
        door.say("the timer is started")
    return True


def _proof(env: Env) -> Sweep | None:
    """A capture, to see that what was installed can work; None outside of a repository that gitmem is used in."""
    try:
        workspace = open_workspace(env)
    except NotARepository:
        return None
    return capture(workspace) if workspace.location.private.is_dir() else None


def _captured(sweep: Sweep) -> int:
    return sum(item.bytes > 0 for item in sweep.sessions)


def _here(env: Env, *, needed: bool) -> Path | None:
    try:
        found = open_workspace(env).location.work_tree
    except NotARepository:
        if needed:
            raise
        return None
    if found is None and needed:
        raise UsageError("a bare repository has no work tree to write to", hint="gitmem install --user")
    return found


def _repository(env: Env) -> Path:
    """The repository itself, also from a linked work tree: a capture there covers all of them."""
    location = open_workspace(env).location
    return location.common_dir.parent if location.common_dir.name == ".git" else location.common_dir


def _show(door: Door, changes: Sequence[Change], *, dry_run: bool) -> None:
    for change in changes:
        if door.as_json:
            state = "new" if change.before is None else "removed" if change.after is None else "changed"
            door.data({"host": change.host, "path": str(change.path), "state": state, "diff": change.diff()})
            continue
        for line in change.diff():
            colours = {"+": ["green"], "-": ["red"]}.get(line[:1], [])
            door.say(door.style(line, *colours))
    if dry_run and not door.as_json:
        door.say(f"{counted(len(changes), 'file')} would change")


def _agreed(door: Door, yes: bool, verb: str) -> bool:
    require_installer(door.env, f"gitmem {verb}")
    if yes:
        return True
    if door.env.channel != "terminal" or door.as_json:
        raise UsageError("nobody is there to be asked; nothing was written", hint=f"gitmem {verb} --yes")
    door.out("Write this? [y/N] ")
    door.flush()
    agreed = door.env.stdin.readline().strip().lower() in ("y", "yes")
    if not agreed:
        door.say("nothing was written")
    return agreed


def hook_agent(
    ctx: typer.Context,
    words: Annotated[list[str] | None, typer.Argument(help="Host and event.", metavar="HOST EVENT")] = None,
) -> None:
    """What the hooks of agent hosts call, with their JSON on standard input."""
    from gitmem.cli.hook_agent import run

    run(ctx.obj, words=words or ())


APPLICATIONS = {
    "install": single(install, "gitmem install claude-code"),
    "uninstall": single(uninstall, "gitmem uninstall"),
    "hook-agent": single(hook_agent, "gitmem hook-agent claude-code UserPromptSubmit"),
}
