"""`gitmem remember` and `gitmem check`: drafts from flags, files, standard input or the editor."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gitmem.cli.app_of import single
from gitmem.cli.door import Door
from gitmem.errors import Refused, UsageError
from gitmem.model.nouns import Alternative, Draft, Link, Step, Valid

if TYPE_CHECKING:
    from gitmem.app.remember import Remembered

Title = Annotated[str | None, typer.Argument(help="One line that says it all.", show_default=False)]
Kind = Annotated[str | None, typer.Option("--kind", "-k", help="problem, solution, failed_tactic, fact, decision, …")]
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
Until = Annotated[str | None, typer.Option("--valid-until", help="True until.")]
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
Because = Annotated[str, typer.Option("--because", help="Why.")]

TEMPLATE = """\
{comment}
# Lines with # are left out. Save and close to remember it; close unchanged to stop.
kind: fact
title: ""
body: ""
tags: []
applies_to: []
evidence:
  # file:PATH:LINES, commit:REV, test:REPORT#case, memory:ID, human:"words", url:ADDRESS (never alone)
  - ""
"""


def draft_of_flags(
    *,
    kind: str | None,
    title: str | None,
    body: str,
    evidence: list[str] | None,
    tags: list[str] | None,
    paths: list[str] | None,
    key: str | None,
    aliases: list[str] | None,
    valid_from: str | None,
    valid_until: str | None,
    solves: list[str] | None,
    tried_for: list[str] | None,
    derived_from: list[str] | None,
    relates_to: list[str] | None,
    distinct_from: list[str] | None,
    ruled_out: list[str] | None,
    cue: str | None,
    steps: list[str] | None,
    claims: list[str] | None,
    groundings: list[str] | None,
    because: str,
) -> Draft:
    """The draft that the flags describe. The gate judges the words; here only their form is read."""
    if title is None or kind is None:
        raise UsageError(
            "a memory needs a title and a --kind",
            hint='gitmem remember --kind fact "The pool closes idle sockets" --evidence file:src/pool.py:40-58',
        )
    links = [
        *(Link("solves", to) for to in solves or ()),
        *(Link("tried_for", to) for to in tried_for or ()),
        *(Link("derived_from", to) for to in derived_from or ()),
        *(Link("relates_to", to) for to in relates_to or ()),
        *(Link("differs_from", to, because) for to in distinct_from or ()),
    ]
    return Draft(
        kind=kind,  # type: ignore[arg-type]  # the gate refuses an unknown kind, with all other reasons
        title=title,
        body=body,
        evidence=tuple(evidence or ()),
        tags=tuple(tags or ()),
        applies_to=tuple(paths or ()),
        key=key,
        aliases=tuple(aliases or ()),
        valid=Valid(valid_from, valid_until),
        links=tuple(links),
        alternatives=tuple(_ruled_out(text) for text in ruled_out or ()),
        cue=cue,
        steps=tuple(Step(text) for text in steps or ()),
        claims=tuple(claims or ()),
        groundings=tuple(groundings or ()),
    )


def _ruled_out(text: str) -> Alternative:
    title, _, why = text.partition(": ")
    return Alternative(title.strip(), why.strip())


def drafts_of_file(door: Door, path: Path) -> list[Draft]:
    """The drafts of a file, or of standard input for `-`."""
    from gitmem.model.drafts import read_drafts

    if str(path) == "-":
        stream = getattr(door.env.stdin, "buffer", None)
        raw = stream.read() if stream is not None else door.env.stdin.read().encode()
        return read_drafts(raw, name="standard input")
    place = path if path.is_absolute() else door.env.cwd / path
    try:
        raw = place.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", hint="gitmem remember --file draft.yaml") from None
    return read_drafts(raw, name=str(path))


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
    file: File = None,
    edit: Annotated[bool, typer.Option("--edit", help="Write the draft in $EDITOR.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the decision and the YAML; write nothing.")] = False,
) -> None:
    """Put memory in, with its evidence.

    A person at a terminal writes to gitmem/main; everybody else proposes a candidate to the inbox. What lacks
    evidence, repeats what is known or was rejected before is refused with every reason, and nothing is written.
    """
    from gitmem.app.remember import remember as app_remember
    from gitmem.app.workspace import open_workspace

    door: Door = ctx.obj
    if file is None and title is None and not edit and not door.env.stdin.isatty() and kind is None:
        file = Path("-")
    if edit:
        drafts = _edited(door, file)
    elif file is not None:
        if title is not None:
            raise UsageError("--file already holds the drafts; leave the title out", hint="gitmem remember --help")
        drafts = drafts_of_file(door, file)
    else:
        drafts = [
            draft_of_flags(
                kind=kind, title=title, body=body, evidence=evidence, tags=tag, paths=path, key=key, aliases=alias,
                valid_from=valid_from, valid_until=valid_until, solves=solves, tried_for=tried_for,
                derived_from=derived_from, relates_to=relates_to, distinct_from=distinct_from, ruled_out=ruled_out,
                cue=cue, steps=step, claims=claim, groundings=grounding, because=because,
            )
        ]  # fmt: skip
    done = app_remember(open_workspace(door.env), drafts, dry_run=dry_run)
    for item in done:
        show_remembered(door, item, dry_run=dry_run)


def _edited(door: Door, file: Path | None) -> list[Draft]:
    from gitmem.app.env import edit_text
    from gitmem.model.drafts import DRAFT_COMMENT, read_drafts

    start = TEMPLATE.format(comment=DRAFT_COMMENT)
    if file is not None:
        start = (file if file.is_absolute() else door.env.cwd / file).read_text()
    text = edit_text(door.env, start, ".yaml")
    if text is None:
        raise UsageError("the draft was left as it was; nothing was written", hint="gitmem remember --edit")
    return read_drafts(text.encode(), name="the draft")


def show_remembered(door: Door, item: Remembered, *, dry_run: bool) -> None:
    """What became of one draft."""
    from gitmem.cli.shown import memory_data, memory_line, reason_data
    from gitmem.model.records import memory_bytes

    memory = item.memory
    if door.as_json:
        data = {
            "id": memory.id,
            "result": item.result,
            "written": not dry_run and item.result != "unchanged",
            "reasons": [reason_data(reason) for reason in item.reasons],
        }
        if dry_run:
            data["yaml"] = memory_bytes(memory).decode()
        data["memory"] = memory_data(memory, "")
        door.data(data)
        return
    if dry_run:
        where = "gitmem/main as active" if item.result == "active" else "the inbox as a candidate"
        already = item.result == "unchanged"
        door.say(door.style("already there" if already else f"would be admitted to {where}", "green"))
        _reasons(door, item)
        for line in memory_bytes(memory).decode().rstrip("\n").split("\n"):
            door.say(f"  {door.style(line)}")
        return
    what = {
        "active": "remembered",
        "candidate": "waits in the inbox for a person",
        "unchanged": "already remembered",
    }[item.result]
    door.say(f"{memory_line(door, memory)}")
    door.note(f"{door.style(what, 'green' if item.result == 'active' else 'yellow')}: gitmem show {memory.id[:8]}")
    if item.result == "candidate":
        door.note(f"  a person lets it in with: gitmem accept {memory.id[:8]}")
    _reasons(door, item)


def _reasons(door: Door, item: Remembered) -> None:
    for reason in item.reasons:
        door.note(f"  {door.style(reason.code, 'yellow')}: {door.style(reason.message)}")
        door.note(f"    → {door.style(reason.hint)}")


def check(
    ctx: typer.Context,
    files: Annotated[list[Path], typer.Argument(help="Files with drafts in YAML or JSON; - is standard input.")],
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
        raise Refused(f"{len(refused)} drafts would be refused", hint="mend them and check again")


APPLICATIONS = {
    "remember": single(
        remember, 'gitmem remember -k fact "The pool closes idle sockets after 300 s" -e file:src/pool.py:40-58'
    ),
    "check": single(check, "gitmem check draft.yaml"),
}
