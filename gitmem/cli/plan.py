"""`gitmem plan`: the open plans, and marking their steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from gitmem.app import plans
from gitmem.app.workspace import open_workspace
from gitmem.cli.app_of import MOST, asked, blank
from gitmem.cli.asked import show_asked
from gitmem.cli.door import Door
from gitmem.errors import NotFound

if TYPE_CHECKING:
    from gitmem.model.nouns import Memory

Plan = Annotated[
    str | None, typer.Argument(help="The plan's id, or its first characters; without it the newest.", metavar="ID")
]
Because = Annotated[str, typer.Option("--because", help="Why.")]


def show(ctx: typer.Context, plan: Plan = None) -> None:
    """The open plan that "continue" goes on with, step by step; the other open plans by their titles."""
    door: Door = ctx.obj
    found = asked(door, plans.listed)
    chosen = [one for one in found if one.plan.id.startswith(plan)] if plan else found[:1]
    if plan and not chosen:
        raise NotFound(f"no open plan begins with {plan!r}", hint="gitmem plan, or gitmem list --kind plan")
    if door.as_json:
        for one in chosen if plan else found:
            door.data(_data(one.plan, one.standing))
        return
    if not found:
        door.note('there is no open plan; gitmem remember -k plan "…" --step "…" --step "…" makes one')
        return
    for one in chosen:
        private = "" if one.plan.scope.audience == "team" else f"({one.plan.scope.audience}) "
        door.say(
            f"{door.style(one.plan.id, 'bold')}  {private}{door.style(one.plan.title)}  {door.style(one.standing)}"
        )
        for number, step in enumerate(one.plan.steps, 1):
            door.say(f"  {number:>2} [{'x' if step.done else ' '}] {door.style(step.text)}")
    for one in [] if plan else found[1:]:
        door.say(door.style(f"also open: {one.plan.id}  {one.plan.title}  ({one.standing})", "dim"))


def done(
    ctx: typer.Context,
    step: Annotated[int, typer.Argument(help="The number of the step.", metavar="STEP", min=1, max=MOST)],
    plan: Plan = None,
    because: Because = "",
) -> None:
    """Mark a step of a plan as done."""
    from gitmem.app.moves import edit
    from gitmem.app.propose_move import left_to_the_forge, propose_edit

    door: Door = ctx.obj
    workspace, meant, why = open_workspace(door.env), _meant(door, plan), because or f"step {step} is done"
    if left_to_the_forge(workspace, "edit", meant):
        show_asked(door, propose_edit(workspace, meant, plans.marked(step), why))
        return
    changed = edit(workspace, meant, plans.marked(step), why).memory
    if door.as_json:
        door.data(_data(changed, plans.standing(changed)))
        return
    door.say(f"{door.style(changed.id, 'bold')}  {door.style(plans.standing(changed))}")


def drop(ctx: typer.Context, plan: Plan = None, because: Because = "it is dropped") -> None:
    """Put a plan away that nobody goes on with."""
    from gitmem.app.moves import move
    from gitmem.app.propose_move import left_to_the_forge, propose_move

    door: Door = ctx.obj
    workspace, meant = open_workspace(door.env), _meant(door, plan)
    if left_to_the_forge(workspace, "archive", meant):
        show_asked(door, propose_move(workspace, "archive", meant, because))
        return
    dropped = move(workspace, "archive", meant, because).memory
    if door.as_json:
        door.data(_data(dropped, "dropped"))
        return
    door.say(f"{door.style(dropped.id, 'bold')}  dropped; back with: gitmem restore {dropped.id} --because “…”")


def _meant(door: Door, plan: str | None) -> str:
    if plan is not None:
        return plan
    found = asked(door, plans.listed)
    if not found:
        raise NotFound("there is no open plan", hint="gitmem list --kind plan shows all that are not put away")
    return found[0].plan.id


def _data(plan: Memory, standing: str) -> dict[str, Any]:
    return {
        "id": plan.id,
        "title": plan.title,
        "audience": plan.scope.audience,
        "status": plan.status,
        "standing": standing,
        "steps": [{"text": step.text, "done": step.done} for step in plan.steps],
    }


def _group() -> typer.Typer:
    app = blank()
    app.command(epilog="Example: gitmem plan show")(show)
    app.command(epilog="Example: gitmem plan done 2")(done)
    app.command(epilog='Example: gitmem plan drop --because "done by hand"')(drop)
    app.callback(invoke_without_command=True, epilog="Example: gitmem plan done 2")(_bare)
    return app


def _bare(ctx: typer.Context) -> None:
    """Open plans: shown, a step marked as done, put away."""
    if ctx.invoked_subcommand is None:
        show(ctx)


APPLICATIONS = {"plan": _group}
