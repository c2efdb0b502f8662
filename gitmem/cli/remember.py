"""The command lines of `gitmem remember` and `gitmem check`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gitmem.cli.app_of import single
from gitmem.cli.door import Door
from gitmem.cli.remembering import drafts_of_file, run
from gitmem.errors import Refused
from gitmem.model.vocabulary import KINDS

Title = Annotated[str | None, typer.Argument(help="One line that says it all.", metavar="TITLE", show_default=False)]
Kind = Annotated[str | None, typer.Option("--kind", "-k", help=", ".join(KINDS))]
Body = Annotated[str, typer.Option("--body", "-b", help="The details; several lines are fine.")]
Evidence = Annotated[
    list[str] | None,
    typer.Option(
        "--evidence", "-e",
        help="file:PATH[:LINES], commit:REV, test:REPORT#case, memory:ID, human:\"words\", url:ADDRESS (never alone).",
    ),
]  # fmt: skip
Tags = Annotated[list[str] | None, typer.Option("--tag", "-t", help="A tag; may be repeated.")]
Paths = Annotated[list[str] | None, typer.Option("--path", "-p", help="A glob of paths that it applies to.")]
Key = Annotated[str | None, typer.Option(help="A name with one live value, such as python.version.")]
Aliases = Annotated[list[str] | None, typer.Option("--alias", help="How somebody would search for this.")]
From = Annotated[str | None, typer.Option("--valid-from", help="True since: a date or time.")]
Until = Annotated[
    str | None, typer.Option("--valid-until", help="The first day, or moment, at which it is not true any more.")
]
Solves = Annotated[list[str] | None, typer.Option(help="The problem that a solution solves.")]
Tried = Annotated[list[str] | None, typer.Option("--tried-for", help="The problem that a failed tactic was for.")]
Derived = Annotated[list[str] | None, typer.Option("--derived-from", help="A memory that this follows from.")]
Relates = Annotated[list[str] | None, typer.Option("--relates-to", help="A related memory.")]
Distinct = Annotated[
    list[str] | None, typer.Option("--distinct-from", help="A near-duplicate that this is not; needs --because.")
]
RuledOut = Annotated[list[str] | None, typer.Option("--ruled-out", help='What a decision ruled out: "title: why".')]
Cue = Annotated[str | None, typer.Option(help="When a reminder should appear.")]
Steps = Annotated[list[str] | None, typer.Option("--step", help="A step of a plan.")]
Claims = Annotated[list[str] | None, typer.Option("--claim", help="A claim of a concept.")]
Groundings = Annotated[list[str] | None, typer.Option("--grounding", help="What grounds a concept.")]
File = Annotated[Path | None, typer.Option("--file", "-f", help="Drafts in YAML or JSON; - is standard input.")]
Private = Annotated[
    bool, typer.Option("--private", help="For you alone, in this project: never pushed, read beside the team's.")
]
User = Annotated[bool, typer.Option("--user", help="For you alone, in all of your projects.")]
Because = Annotated[str, typer.Option("--because", help="Why; the log keeps it.")]


def remember(
    ctx: typer.Context,
    title: Title = None,
    kind: Kind = None,
    body: Body = "",
    evidence: Evidence = None,
    tag: Tags = None,
    path: Paths = None,
    key: Key = None,
    alias: Aliases = None,
    valid_from: From = None,
    valid_until: Until = None,
    solves: Solves = None,
    tried_for: Tried = None,
    derived_from: Derived = None,
    relates_to: Relates = None,
    distinct_from: Distinct = None,
    ruled_out: RuledOut = None,
    cue: Cue = None,
    step: Steps = None,
    claim: Claims = None,
    grounding: Groundings = None,
    because: Because = "",
    private: Private = False,
    user: User = False,
    file: File = None,
    edit: Annotated[bool, typer.Option("--edit", help="Write the draft in $EDITOR.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the decision and the YAML; write nothing.")] = False,
) -> None:
    """Put memory in, with its evidence.

    A person at a terminal writes to gitmem/main, or with --private or --user to a store of their own; everybody else
    proposes a candidate to the inbox. What lacks
    evidence, repeats what is known or was rejected before is refused with every reason, and nothing is written.
    """
    run(
        ctx.obj, file=file, edit=edit, dry_run=dry_run, private=private, user=user, kind=kind, title=title,
        body=body, evidence=evidence, tags=tag,
        paths=path, key=key, aliases=alias, valid_from=valid_from, valid_until=valid_until, solves=solves,
        tried_for=tried_for, derived_from=derived_from, relates_to=relates_to, distinct_from=distinct_from,
        ruled_out=ruled_out, cue=cue, steps=step, claims=claim, groundings=grounding, because=because,
    )  # fmt: skip


def check(
    ctx: typer.Context,
    files: Annotated[
        list[Path], typer.Argument(help="Files with drafts in YAML or JSON; - is standard input.", metavar="FILE")
    ],
) -> None:
    """Ask the gate about drafts: every reason is shown, nothing is written."""
    from gitmem.app.remember import check_drafts
    from gitmem.app.workspace import open_workspace

    door: Door = ctx.obj
    workspace = open_workspace(door.env)
    refused: list[object] = []
    for path in files:
        for number, (title, decision) in enumerate(check_drafts(workspace, drafts_of_file(door, path)), 1):
            if door.as_json:
                from gitmem.cli.shown import reason_data

                door.data(
                    {
                        "file": str(path),
                        "draft": number,
                        "title": title,
                        "verdict": decision.verdict,
                        "origin": decision.origin,
                        "reasons": [reason_data(reason) for reason in decision.reasons],
                    }
                )
            else:
                style = {"admit": "green", "hold": "yellow"}.get(decision.verdict, "red")
                door.say(
                    f"{door.style(decision.verdict, style)}  {door.style(f'{path}#{number}')}  {door.style(title)}"
                )
                for reason in decision.reasons:
                    where = f" ({reason.where})" if reason.where else ""
                    door.say(f"  {door.style(reason.code, 'yellow')}{door.style(where)}: {door.style(reason.message)}")
                    if reason.hint:
                        door.say(f"    → {door.style(reason.hint)}")
            if decision.verdict == "refuse":
                refused.append(decision)
    if refused:
        many = "1 draft" if len(refused) == 1 else f"{len(refused)} drafts"
        raise Refused(f"{many} would be refused", hint="mend what is said above, then check again")


APPLICATIONS = {
    "remember": single(
        remember, 'gitmem remember -k fact "The pool closes idle sockets after 300 s" -e file:src/pool.py:40-58'
    ),
    "check": single(check, "gitmem check draft.yaml"),
}
