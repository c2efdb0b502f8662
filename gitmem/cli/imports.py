"""`gitmem import`: bring in existing notes as candidates."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from gitmem.cli.app_of import single
from gitmem.cli.door import Door, columns
from gitmem.errors import UsageError

if TYPE_CHECKING:
    from gitmem.app.imports import Imported, Left
    from gitmem.app.workspace import Workspace

_SHOWN = 5  # refused notes that are shown; --json gives all


def import_(
    ctx: typer.Context,
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            help="Committed files or folders, or JSON lines (id, title, body, date, commit).", metavar="PATH"
        ),
    ] = None,
    only_list: Annotated[bool, typer.Option("--list", help="Show what would be read, with counts.")] = False,
    accept: Annotated[bool, typer.Option("--accept", help="Let the notes in at once; a person's to do.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what the gate says; write nothing.")] = False,
    because: Annotated[str, typer.Option("--because", help="Why.")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="With --accept: do not ask at a terminal.")] = False,
) -> None:
    """Bring in notes that are already here: CLAUDE.md, AGENTS.md, rules of editors, decision records, changelogs.

    Each note becomes a candidate that cites its own lines at HEAD. What is known already, or what the gate refuses,
    is left out and counted; the rest is one commit. Running it again adds nothing, and withdraws the candidates whose
    notes were changed. What --accept would let in, those that wait since an import before included, is shown
    first at a terminal, and asked about: no imported note is of low risk.
    """
    from gitmem.app.workspace import open_workspace

    door: Door = ctx.obj
    named = paths or []
    bulk = any(path.lower().endswith(".jsonl") for path in named)
    workspace = open_workspace(door.env, long_lived=bulk)
    if only_list:
        _list(door, workspace, named)
        return
    from gitmem.app.imports import import_notes

    if yes and not accept:
        raise UsageError("--yes is for --accept", hint="gitmem import --accept --yes")
    if accept and not (yes or dry_run or door.as_json) and door.env.stdin.isatty():
        looked = import_notes(workspace, named, accept=True, dry_run=True, reason=because)
        if looked.admitted and not _wanted(door, looked):
            door.say("nothing was imported; gitmem import lets them wait, to be decided one at a time: gitmem review")
            return
    bars = _Bars(door)
    try:
        done = import_notes(workspace, named, accept=accept, dry_run=dry_run, reason=because, progress=bars)
    finally:
        bars.close()
    if door.as_json:
        _data(door, done, dry_run=dry_run)
    else:
        _say(door, done, accept=accept, dry_run=dry_run)


def _wanted(door: Door, looked: Imported) -> bool:
    """Show what would be let in, and ask."""
    for line in columns([("kind", "place", "title"), *looked.first]):
        door.say(line)
    if looked.admitted > len(looked.first):
        door.say(f"and {looked.admitted - len(looked.first):,} more: gitmem import --list counts them by source")
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(looked.kinds.items()))
    door.say(f"{looked.admitted:,} to be let in ({kinds}); 0 of low risk: what was imported was said elsewhere")
    door.out("Let all of them in at once? [y/N] ")
    door.flush()
    return door.env.stdin.readline().strip().lower() in ("y", "yes")


class _Bars:
    """One progress bar for each phase, one after another."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self._phase = ""
        self._bar = door.progress("")

    def __call__(self, phase: str, done: int, total: int) -> None:
        if phase != self._phase:
            self._bar.close()
            self._phase, self._bar = phase, self._door.progress(phase)
        self._bar(done, total)

    def close(self) -> None:
        self._bar.close()


def _list(door: Door, workspace: Workspace, paths: list[str]) -> None:
    from gitmem.app.imports import list_sources

    rows = list_sources(workspace, paths)
    if door.as_json:
        for row in rows:
            door.data({"source": row.source, "notes": row.notes, "kinds": dict(row.kinds), "skipped": row.skipped})
        return
    if not rows:
        _nothing(door)
        return
    table = [("notes", "skipped", "source", "kinds")]
    for row in rows:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(row.kinds.items()))
        table.append((str(row.notes), str(row.skipped), row.source, kinds))
    for line in columns(table):
        door.say(line)
    door.note("gitmem import brings them in as candidates")


def _nothing(door: Door) -> None:
    door.say("no notes that gitmem knows are committed here")
    door.note("gitmem import PATH reads any committed Markdown file, or JSON lines")


def _say(door: Door, done: Imported, *, accept: bool, dry_run: bool) -> None:
    if not done.read:
        _nothing(door)
        return
    where = "gitmem/main" if accept else "the inbox"
    what = "would be admitted to" if dry_run else "admitted to"
    style = "green" if done.admitted else "yellow"
    counts = [f"{done.already} already there", f"{len(done.refused)} refused", f"{len(done.skipped)} skipped"]
    door.say(f"{done.read} read: {door.style(f'{done.admitted} {what} {where}', style)}, {', '.join(counts)}")
    if done.waited:
        door.say(f"  {done.waited} of them waited in the inbox")
    if done.withdrawn:
        verb = "would be withdrawn" if dry_run else "withdrawn"
        door.say(f"  {done.withdrawn} {verb} from the inbox: their notes were changed, and say it no more")
    for why, count in done.remarks.most_common():
        door.say(f"  {count} came as fact: {why}")
    if done.held and accept:
        door.say(f"  {done.held} of them wait in the inbox: their evidence cannot be reached from here")
    for code, count in done.codes.most_common():
        door.say(f"  {door.style(code, 'yellow')}  {count}")
    for left in done.refused[:_SHOWN]:
        door.note(f"  {_place(door, left.source, left.lines)}  {door.style(left.title)}")
        for reason in left.reasons:
            door.note(f"    {door.style(reason.code, 'yellow')}: {door.style(reason.message)}")
            door.note(f"      → {door.style(reason.hint)}")
    if len(done.refused) > _SHOWN:
        door.note(f"  and {len(done.refused) - _SHOWN} more: gitmem import --json gives all")
    for why, count in Counter(item.why for item in done.skipped).most_common(_SHOWN):
        door.say(f"  skipped: {count} {door.style(why)}")
    for item in done.skipped[:_SHOWN]:
        door.note(f"  {_place(door, item.source, item.lines)}  {door.style(item.why)}")
    if len(done.skipped) > _SHOWN:
        door.note(f"  and {len(done.skipped) - _SHOWN} more skipped: gitmem import --json gives all")
    _next(door, done, accept=accept, dry_run=dry_run)


def _next(door: Door, done: Imported, *, accept: bool, dry_run: bool) -> None:
    """How what waits is let in, or where what was let in is seen."""
    if dry_run:
        return
    waits = done.held + done.waiting if accept else done.admitted + done.waiting
    if accept and done.admitted > done.held:
        door.note("next: gitmem list")
    if not waits:
        return
    door.note(f"{waits} of these notes wait in the inbox; a person decides: gitmem review, one at a time")
    if not accept:
        door.note("  or all of them at once, shown first: gitmem import --accept, with the same paths")


def _place(door: Door, source: str, lines: str) -> str:
    return door.style(f"{source}:{lines}" if lines else source, "dim")


def _data(door: Door, done: Imported, *, dry_run: bool) -> None:
    for left in done.refused:
        door.data({"refused": _left(left)})
    for item in done.skipped:
        door.data({"skipped": {"source": item.source, "lines": item.lines, "why": item.why}})
    door.data(
        {
            "summary": {
                "read": done.read,
                "admitted": done.admitted,
                "held": done.held,
                "waited": done.waited,
                "waiting": done.waiting,
                "withdrawn": done.withdrawn,
                "already_there": done.already,
                "refused": len(done.refused),
                "skipped": len(done.skipped),
                "codes": dict(done.codes),
                "skipped_why": dict(Counter(item.why for item in done.skipped)),
                "remarks": dict(done.remarks),
                "written": bool(done.commits) and not dry_run,
                "commits": done.commits,
            }
        }
    )


def _left(left: Left) -> dict[str, object]:
    from gitmem.cli.shown import reason_data

    reasons = [reason_data(reason) for reason in left.reasons]
    return {"source": left.source, "lines": left.lines, "title": left.title, "reasons": reasons}


APPLICATIONS = {"import": single(import_, "gitmem import CLAUDE.md docs/adr")}
