"""`gitmem scan-secrets`."""

from __future__ import annotations

import typer

from gitmem.app.scan_secrets import scan_secrets as app_scan
from gitmem.app.workspace import open_workspace
from gitmem.cli.app_of import single
from gitmem.cli.door import Door, counted
from gitmem.errors import CorruptRecord, Refused


def scan_secrets(ctx: typer.Context) -> None:
    """Look for secrets in every object and file of gitmem, by the rules of capture.

    All that gitmem's refs and their reflogs lead to, names and messages too, every file in its private folder and
    in your state folder. Rule and place are told, never the value. Exit 0 when there is none, 3 when there is one,
    7 when something could not be read. docs/performance.md says what no rule finds.
    """
    door: Door = ctx.obj
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


APPLICATIONS = {"scan-secrets": single(scan_secrets, "gitmem scan-secrets --json")}
