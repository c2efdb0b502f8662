"""`gitmem scan-secrets`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gitmem.app.copies import copies
from gitmem.app.scan_secrets import scan_secrets as app_scan
from gitmem.app.workspace import open_workspace
from gitmem.cli.app_of import single
from gitmem.cli.door import Door, counted
from gitmem.errors import CorruptRecord, Refused, UsageError

ValueFile = Annotated[
    str, typer.Option(metavar="FILE", help="look for what this file holds, and for nothing else; - is standard input")
]


def scan_secrets(ctx: typer.Context, value_file: ValueFile = "") -> None:
    """Look for secrets in every object and file of gitmem, by the rules of capture.

    All that gitmem's refs and their reflogs lead to, names and messages too, every file in its private folder and
    in your state folder. Rule and place are told, never the value. Exit 0 when there is none, 3 when there is one,
    7 when something could not be read. docs/performance.md says what no rule finds.

    --value-file looks for one value that you know, in every object of the repository, unreachable ones and your code
    too: as it is, and escaped for JSON or a URL, in hexadecimal and base64. docs/redaction.md says what to do then.
    """
    door: Door = ctx.obj
    if value_file:
        _copies(door, value_file)
        return
    bar = door.progress("scanning")
    scan = app_scan(open_workspace(door.env, long_lived=True), bar)
    bar.close()
    if door.as_json:
        for found in scan.found:
            door.data(found.data())
        looked = {"objects": scan.objects, "files": scan.files, "refs": scan.refs, "bytes": scan.size}
        door.data({"found": len(scan.found), "looked_at": looked, "unread": scan.unread})
    else:
        for found in scan.found:
            place = f"{found.place} {found.name}" + (f" ({found.path})" if found.path else "")
            where = f"{place}, line {found.line}" if found.line else f"{place}, its name"
            door.say(f"{door.style('secret', 'red')}  {door.style(found.rule.ljust(20), 'yellow')}{door.style(where)}")
        for why in scan.unread:
            door.say(f"{door.style('unread', 'yellow')}  {door.style(why)}")
        said = door.style(counted(len(scan.found), "secret"), "red") if scan.found else door.style("no secret", "green")
        looked_at = (counted(scan.objects, "object"), counted(scan.files, "file"), counted(scan.refs, "ref"))
        door.say(f"{said} in {', '.join(looked_at)} ({scan.size:,} bytes)")
    if scan.found:
        raise Refused(
            f"{counted(len(scan.found), 'place')} hold what looks like a secret",
            hint="change each value where it is used: it was written here",
        )
    if scan.unread:
        raise CorruptRecord(f"{counted(len(scan.unread), 'thing')} could not be read", hint="git fsck")


def _copies(door: Door, value_file: str) -> None:
    """The copies of one value. It came from a file, for what stands in a command lands in the shell's history."""
    try:
        value = door.env.stdin.read() if value_file == "-" else Path(value_file).expanduser().read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{value_file} cannot be read as UTF-8 text: {error.__class__.__name__}") from None
    result = copies(open_workspace(door.env, long_lived=True), value.strip("\r\n"))
    if door.as_json:
        for copy in result.found:
            door.data(copy.data())
        looked = {"objects": result.objects, "files": result.files}
        door.data({
            "found": len(result.found), "looked_at": looked, "unread": result.unread, "remotes": list(result.remotes),
        })  # fmt: skip
    else:
        for copy in result.found:
            where = f"{copy.place} {copy.name}" + (f" ({copy.path})" if copy.path else "")
            held = f", held by {copy.held}" if copy.held in ("refs", "reflogs") else ""
            door.say(f"{door.style(copy.encoding.ljust(12), 'red')}{door.style(where + (held or _apart(copy.held)))}")
        for why in result.unread:
            door.say(f"{door.style('unread', 'yellow')}  {door.style(why)}")
        looked_at = f"{counted(result.objects, 'object')}, {counted(result.files, 'file')}"
        door.say(f"{counted(len(result.found), 'place')} in {looked_at}; the canary was found by the same search")
    if result.found:
        names = ", ".join(result.remotes)
        there = f"; gitmem's branch was pushed to or fetched from {names}, which may have it too" if names else ""
        raise Refused(
            f"the value is here {counted(len(result.found), 'time')}{there}",
            hint="change it where it is used, first of all; docs/redaction.md says what else there is to do",
        )
    if result.unread:
        raise CorruptRecord(f"{counted(len(result.unread), 'thing')} could not be read", hint="git fsck")


def _apart(held: str) -> str:
    return ", held by no ref of gitmem" if held else ""


APPLICATIONS = {"scan-secrets": single(scan_secrets, "gitmem scan-secrets --json")}
