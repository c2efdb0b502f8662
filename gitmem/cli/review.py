"""`gitmem review`: candidates with all that a person needs to decide, and the verdicts on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final

import typer

from gitmem.app import verdicts
from gitmem.app.moves import require_reason
from gitmem.app.propose_verdict import for_the_forge, propose_merge, propose_verdict
from gitmem.app.review import Waiting, in_batches, left_to_the_forge, queue
from gitmem.app.workspace import Workspace, open_workspace
from gitmem.cli import flag_values
from gitmem.cli import remember as flags
from gitmem.cli.app_of import single
from gitmem.cli.asked import show_asked
from gitmem.cli.door import Door, counted
from gitmem.cli.moves import edit_in_editor, show_verdict
from gitmem.cli.review_page import batch_line, review_page
from gitmem.cli.review_session import sit
from gitmem.cli.unsettled import note_closed
from gitmem.errors import UsageError
from gitmem.model.nouns import Memory


def review(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            help="Ids of candidates; or accept, reject, edit, merge-into or supersede, then ids.",
            metavar="[VERDICT] ID...",
            show_default=False,
        ),
    ] = None,
    session: Annotated[str | None, typer.Option(help="Only what this session, host or channel brought.")] = None,
    since: Annotated[str | None, typer.Option(help="Only what was proposed at or after this date or time.")] = None,
    because: flags.Because = "",
) -> None:
    """Decide on what waits, one candidate at a time, each with its evidence looked at now and what stands against it.

    At a terminal it asks for keys; ? lists them. Elsewhere it shows, and --json gives the whole queue as data. With a
    verdict it does that one: accept ID..., reject ID..., edit ID, merge-into ID TARGET, supersede ID OLD.
    """
    door: Door = ctx.obj
    workspace = open_workspace(door.env)
    given = words or []
    if given and given[0] in _VERDICTS:
        require_verdict_alone(session, since)
        note_closed(door, workspace)
        _VERDICTS[given[0]](door, workspace, given[1:], because)
        return
    if because:
        raise UsageError("--because belongs to a verdict", hint='gitmem review reject 7k3q --because "…"')
    note_closed(door, workspace)
    items = queue(workspace, given, session=session, since=flag_values.instant(since, "--since"))
    if door.as_json:
        for item in items:
            door.data(item.data())
        door.data({"summary": {"waiting": len(items), "low_risk": sum(not item.alone for item in items)}})
        return
    if not items:
        door.note("nothing waits" + (" of that" if given or session or since else ""))
        return
    there, here = left_to_the_forge(workspace, items)
    sits = door.env.channel == "terminal" and door.env.stdin.isatty()
    _show(door, there if sits else items)
    if there:
        count = counted(len(there), "candidate")
        door.note(f"{count} to be merged, not decided here: the policy leaves review to the forge")
        door.note("next: gitmem propose --push")
    if here and sits:
        sit(door, workspace, here)
    elif here:
        door.note(f"{counted(len(here), 'candidate')}; a person decides at a terminal: gitmem review")


def _show(door: Door, items: Sequence[Waiting]) -> None:
    for batch, members in in_batches(items):
        door.say(batch_line(door, batch, len(members)))
        for item in members:
            door.say()
            for line in review_page(door, item):
                door.say(line)


def require_verdict_alone(session: str | None, since: str | None) -> None:
    """A verdict names what it is on; a filter beside it would be a guess."""
    if session is not None or since is not None:
        raise UsageError("a verdict takes ids, not --session or --since", hint="gitmem review --session S --json")


def _accept(door: Door, workspace: Workspace, ids: Sequence[str], because: str) -> None:
    if ids and for_the_forge(workspace, "accept", ids):
        show_asked(door, propose_verdict(workspace, "accept", ids, because))
        return
    for memory in verdicts.accept(workspace, _some(ids, "accept 7k3q"), because):
        show_verdict(door, workspace, memory, "accepted")


def _reject(door: Door, workspace: Workspace, ids: Sequence[str], because: str) -> None:
    if ids and for_the_forge(workspace, "reject", ids):
        show_asked(door, propose_verdict(workspace, "reject", ids, because))
        return
    for memory in verdicts.reject(workspace, _some(ids, 'reject 7k3q --because "…"'), because):
        show_verdict(door, workspace, memory, "rejected; it cannot be learned again")


def _edit(door: Door, workspace: Workspace, ids: Sequence[str], because: str) -> None:
    (identifier,) = _exactly(ids, 1, 'edit 7k3q --because "…"')
    require_reason(because, f"gitmem review edit {identifier}")
    show_verdict(door, workspace, edit_in_editor(door, workspace, identifier, lambda: because), "edited")


def _merge_into(door: Door, workspace: Workspace, ids: Sequence[str], because: str) -> None:
    candidate, target = _exactly(ids, 2, 'merge-into 7k3q 2m8r --because "…"')
    if for_the_forge(workspace, "merge-into", [candidate]):
        show_asked(door, propose_merge(workspace, candidate, target, because))
        door.note("the candidate waits on; once that is merged it closes itself")
        return
    show_verdict(door, workspace, verdicts.merge_into(workspace, candidate, target, because), "has what it adds now")


def _supersede(door: Door, workspace: Workspace, ids: Sequence[str], because: str) -> None:
    candidate, old = _exactly(ids, 2, 'supersede 7k3q 2m8r --because "…"')
    if for_the_forge(workspace, "supersede", [candidate]):
        memory = verdicts.take_the_place(workspace, candidate, old, because)
        show_verdict(door, workspace, memory, f"is to take the place of {old}")
        door.note(f"next: gitmem propose {memory.id} --push")
        return
    accepted: list[Memory] = verdicts.accept(workspace, [candidate], because, superseding=old)
    for memory in accepted:
        show_verdict(door, workspace, memory, f"accepted in the place of {old}")


def _some(ids: Sequence[str], example: str) -> Sequence[str]:
    if not ids:
        raise UsageError("this verdict takes ids", hint=f"gitmem review {example}")
    return ids


def _exactly(ids: Sequence[str], count: int, example: str) -> Sequence[str]:
    if len(ids) != count:
        raise UsageError(f"this verdict takes {counted(count, 'id')}", hint=f"gitmem review {example}")
    return ids


_VERDICTS: Final[dict[str, Callable[[Door, Workspace, Sequence[str], str], None]]] = {
    "accept": _accept,
    "reject": _reject,
    "edit": _edit,
    "merge-into": _merge_into,
    "supersede": _supersede,
}
APPLICATIONS: dict[str, Any] = {"review": single(review, "gitmem review --session claude-code --since 2026-03-01")}
