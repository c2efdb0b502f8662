"""`gitmem directives`."""

from __future__ import annotations

from typing import Annotated

import typer

from gitmem.app import directives as app_directives
from gitmem.app.belief import believed_view
from gitmem.app.directive_rules import languages, own_rules, said_in
from gitmem.app.learn_settings import learn_file, learns
from gitmem.app.workspace import open_workspace
from gitmem.cli.app_of import blank
from gitmem.cli.door import Door
from gitmem.cli.learned import say_proposals
from gitmem.model.nouns import Memory, TranscriptRef
from gitmem.model.text import escape, one_line


def listing(ctx: typer.Context) -> None:
    """What was learned from your own words and stands: private, each with the line that it quotes."""
    door: Door = ctx.obj
    view = believed_view(open_workspace(door.env))
    view.require_config()
    found = app_directives.learned_here(view)
    for memory in found:
        if door.as_json:
            door.data(_data(memory))
            continue
        door.say(f"{memory.id}  {door.style(memory.kind.ljust(10))}  {door.style(one_line(memory.title, 90))}")
        for quote, where in _said(memory):
            door.say(f"{'':<14}{door.style(f'“{one_line(quote, 90)}” {where}', 'dim')}")
    if door.as_json:
        return
    say_proposals(door, app_directives.proposals(view))
    if not learns(door.env.environ, "directives"):
        door.note(f"nothing more is learned: {learn_file(door.env.environ)} says so")
    elif not found:
        door.note('nothing was learned yet; gitmem directives test "always use pnpm" shows what would be')


def test(
    ctx: typer.Context,
    line: Annotated[str, typer.Argument(help="What a person might say; it may have several lines.", metavar="LINE")],
) -> int:
    """What would be learned from these words. Nothing is written; exit code 1 when it is nothing."""
    door: Door = ctx.obj
    found = said_in(door.env.environ, line)
    for item in found:
        if door.as_json:
            door.data(
                {
                    "kind": item.kind,
                    "title": item.title,
                    "polarity": item.polarity,
                    "team": item.team,
                    "line": item.line,
                    "characters": [item.start, item.end],
                    "bytes": [item.start_byte, item.end_byte],
                    "rule": item.rule,
                }
            )
            continue
        about = f"{item.kind}, {'the whole team' if item.team else 'you'}, {item.polarity}, rule {item.rule}"
        door.say(door.style(one_line(item.title, 120)))
        door.say(door.style(f"  {about}", "dim"))
        door.say(door.style(f"  “{one_line(item.line, 160)}”, bytes {item.start_byte}-{item.end_byte}", "dim"))
    if not found and not door.as_json:
        own = own_rules(door.env.environ)
        door.note(
            f"nothing: languages {', '.join(rule.code for rule in languages(door.env.environ))}; more by file in {own}"
        )
    return 0 if found else 1


def _said(memory: Memory) -> list[tuple[str, str]]:
    return [
        (ref.quote, f"transcript:{ref.session}#{ref.record}")
        for ref in memory.evidence
        if isinstance(ref, TranscriptRef) and ref.quote
    ]


def _data(memory: Memory) -> dict[str, object]:
    return {
        "id": memory.id,
        "kind": memory.kind,
        "title": memory.title,
        "status": memory.status,
        "said": memory.valid.start,
        "team": app_directives.TEAM_TAG in memory.tags,
        "lines": [{"quote": escape(quote), "evidence": where} for quote, where in _said(memory)],
        "supersedes": list(memory.linked("supersedes")),
    }


def _group() -> typer.Typer:
    app = blank()
    app.command("list", epilog="Example: gitmem directives list")(listing)
    app.command(epilog='Example: gitmem directives test "from now on use pnpm"')(test)
    app.callback(
        invoke_without_command=True,
        help="What was learned from what you told your agents to do from now on.",
        epilog="Example: gitmem directives list",
    )(_bare)
    return app


def _bare(ctx: typer.Context) -> None:
    """What was learned, when nothing else is asked for."""
    if ctx.invoked_subcommand is None:
        listing(ctx)


APPLICATIONS = {"directives": _group}
