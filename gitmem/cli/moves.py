"""The verbs that move a memory through its life."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from shlex import quote
from typing import Annotated, Any

import typer

from gitmem.app import moves, verdicts
from gitmem.app.propose_move import left_to_the_forge, propose_edit, propose_move
from gitmem.app.propose_verdict import for_the_forge, propose_verdict
from gitmem.app.tiers import Weighty
from gitmem.app.workspace import Found, Workspace, open_workspace
from gitmem.cli import remember as flags
from gitmem.cli.app_of import Id, single
from gitmem.cli.asked import show_asked
from gitmem.cli.door import Door
from gitmem.cli.editor import until_taken
from gitmem.cli.remembering import draft_of_flags, drafts_of_file, require_void, show_remembered
from gitmem.cli.shown import memory_data, memory_line
from gitmem.cli.unsettled import note_closed
from gitmem.errors import UsageError
from gitmem.model.drafts import DRAFT_COMMENT, read_drafts
from gitmem.model.layout import INBOX, MAIN
from gitmem.model.nouns import Draft, Memory, Valid
from gitmem.model.text import one_line

Ids = Annotated[list[str], typer.Argument(help="Ids of candidates.", metavar="ID", show_default=False)]

_DONE = {
    "wrong": "found wrong; it cannot be learned again",
    "lift": "lifted: it stands again",
    "retract": "retracted",
    "archive": "archived",
    "restore": "restored",
    "dispute": "disputed: withheld until somebody settles it",
}
_WAITS = "lifted: it waits in the inbox again"
_ABOUT = {
    "wrong": "A memory is wrong: withhold it, and keep its claim from being learned again.",
    "lift": "Undo a rejection: the tombstone is lifted, the memory stands again.",
    "retract": "Take a memory back without saying that it is wrong. Proposers may retract their candidates.",
    "archive": "Put a memory away: still true, no longer of use.",
    "restore": "Bring an archived, disputed or stale memory back.",
    "dispute": "Withhold a memory until somebody settles whether it holds.",
}


def _shown(door: Door, found: Found, what: str) -> None:
    memory = found.memory
    if door.as_json:
        door.data({"id": memory.id, "status": memory.status, "memory": memory_data(memory, found.ref)})
        return
    door.say(memory_line(door, memory))
    door.note(f"{door.style(what, 'green')}: gitmem log {memory.id[:8]}")


def show_verdict(door: Door, workspace: Workspace, memory: Memory, what: str) -> None:
    """What became of a candidate, and what the verdict is worth as a review."""
    level = verdicts.level_here(workspace)
    if door.as_json:
        ref = MAIN if memory.status != "wrong" else INBOX
        data = {"id": memory.id, "status": memory.status, "memory": memory_data(memory, ref)}
        door.data({**data, "review": {"level": level.level, "label": level.label}})
        return
    door.say(memory_line(door, memory))
    door.note(f"{door.style(what, 'green')}: review level {level.level}, {level.label}; gitmem log {memory.id[:8]}")


def edit_in_editor(door: Door, workspace: Workspace, identifier: str, because: Callable[[], str]) -> Memory:
    """The memory as the person's editor left it and the gate took it. `because` is asked when there is an edit."""
    done: list[Memory] = []

    def take(text: str) -> None:
        draft = _one_draft(text)
        done.append(moves.edit(workspace, identifier, lambda memory: memory, because(), draft=draft).memory)

    until_taken(door, f"{DRAFT_COMMENT}\n{moves.draft_for_edit(workspace, identifier)}", take)
    return done[-1]


def _plain(verb: str) -> Callable[..., None]:
    def run(
        ctx: typer.Context,
        identifier: Id,
        because: flags.Because = "",
        evidence: flags.Evidence = None,
    ) -> None:
        door: Door = ctx.obj
        workspace = open_workspace(door.env)
        if left_to_the_forge(workspace, verb, identifier):
            show_asked(door, propose_move(workspace, verb, identifier, because, evidence or ()))
            return
        found = moves.move(workspace, verb, identifier, because, evidence or ())
        _shown(door, found, _WAITS if verb == "lift" and found.ref == INBOX else _DONE[verb])

    run.__doc__ = _ABOUT[verb]
    run.__name__ = verb
    return run


def supersede(
    ctx: typer.Context,
    identifier: Id,
    title: flags.Title = None,
    kind: flags.Kind = None,
    body: flags.Body = "",
    evidence: flags.Evidence = None,
    tag: flags.Tags = None,
    path: flags.Paths = None,
    key: flags.Key = None,
    alias: flags.Aliases = None,
    valid_from: flags.From = None,
    valid_until: flags.Until = None,
    solves: flags.Solves = None,
    tried_for: flags.Tried = None,
    derived_from: flags.Derived = None,
    relates_to: flags.Relates = None,
    distinct_from: flags.Distinct = None,
    ruled_out: flags.RuledOut = None,
    cue: flags.Cue = None,
    step: flags.Steps = None,
    claim: flags.Claims = None,
    grounding: flags.Groundings = None,
    because: flags.Because = "",
    file: flags.File = None,
) -> None:
    """Put a new memory in the place of an old one: both sides in one commit.

    The new one is of the same kind; --kind may be left out. From an agent it is a proposal.
    """
    door: Door = ctx.obj
    workspace = open_workspace(door.env)
    given: dict[str, Any] = {
        "title": title, "body": body, "evidence": evidence, "tags": tag, "paths": path, "key": key, "aliases": alias,
        "valid_from": valid_from, "valid_until": valid_until, "solves": solves, "tried_for": tried_for,
        "derived_from": derived_from, "relates_to": relates_to, "distinct_from": distinct_from, "ruled_out": ruled_out,
        "cue": cue, "steps": step, "claims": claim, "groundings": grounding,
    }  # fmt: skip
    if file is not None:
        require_void("--file", {"kind": kind, **given})
        drafts = drafts_of_file(door, file)
        if len(drafts) != 1:
            hint = f"gitmem supersede {identifier} --file ONE.yaml"
            raise UsageError(f"{file} holds {len(drafts)} drafts; a supersession takes one", hint=hint)
        draft = drafts[0]
    elif title is None:
        moves.kind_of(workspace, identifier)
        hint = f'gitmem supersede {identifier} "…" --evidence file:PATH:LINES --because "…"'
        raise UsageError("say what holds now: the title is missing", hint=hint)
    else:
        draft = draft_of_flags(kind=kind or moves.kind_of(workspace, identifier), because=because, **given)
    cited = " ".join(f"-e {quote(each)}" for each in evidence or ())
    typed = f"gitmem supersede {identifier} {quote(title)} {cited}".rstrip() if title is not None else ""
    item = moves.supersede(workspace, identifier, draft, because, typed)
    show_remembered(door, item, dry_run=False)


def edit(
    ctx: typer.Context,
    identifier: Id,
    title: Annotated[str | None, typer.Option(help="A better title.")] = None,
    body: Annotated[str | None, typer.Option("--body", "-b", help="A better body.")] = None,
    evidence: flags.Evidence = None,
    tag: flags.Tags = None,
    untag: Annotated[list[str] | None, typer.Option(help="A tag to take off.")] = None,
    path: flags.Paths = None,
    unpath: Annotated[list[str] | None, typer.Option(help="A path to take off.")] = None,
    alias: flags.Aliases = None,
    valid_from: flags.From = None,
    valid_until: flags.Until = None,
    unalias: Annotated[list[str] | None, typer.Option(help="An alias to take off.")] = None,
    unlink: Annotated[
        list[str] | None, typer.Option(help="A memory that it links to or cites, to take off.", metavar="ID")
    ] = None,
    in_editor: Annotated[bool, typer.Option("--edit", help="Open the memory in $EDITOR.")] = False,
    because: flags.Because = "",
) -> None:
    """Change the text, tags, paths, validity, evidence or links of a memory.

    Its id, kind and key stay; to change what it says, supersede it. Comments and unknown fields survive.
    """
    door: Door = ctx.obj
    workspace = open_workspace(door.env)
    moves.kind_of(workspace, identifier, "edit")  # whether there is such a memory is said first
    moves.require_reason(because, f"gitmem edit {identifier}")
    asks = left_to_the_forge(workspace, "edit", identifier)

    def change(memory: Memory) -> Memory:
        return replace(
            moves.unlinked(memory, unlink or ()),
            title=memory.title if title is None else title,
            body=memory.body if body is None else body,
            tags=_listed(memory.tags, tag, untag),
            applies_to=_listed(memory.applies_to, path, unpath),
            aliases=_listed(memory.aliases, alias, unalias),
            valid=Valid(valid_from or memory.valid.start, valid_until or memory.valid.until, memory.valid.extra),
        )

    def take(text: str | None) -> None:
        draft = None if text is None else _one_draft(text)
        if asks:
            asked = propose_edit(workspace, identifier, change, because, evidence=evidence or (), draft=draft)
            show_asked(door, asked)
            return
        done = moves.edit(workspace, identifier, change, because, evidence=evidence or (), draft=draft)
        _shown(door, done, "edited")

    if in_editor:
        until_taken(door, f"{DRAFT_COMMENT}\n{moves.draft_for_edit(workspace, identifier)}", take)
    else:
        take(None)


def _listed(old: tuple[str, ...], added: list[str] | None, taken: list[str] | None) -> tuple[str, ...]:
    kept = tuple(item for item in old if item not in (taken or ()))
    return (*kept, *(item for item in dict.fromkeys(added or ()) if item not in kept))


def _one_draft(text: str) -> Draft:
    drafts = read_drafts(text.encode(), name="the edited memory")
    if len(drafts) != 1:
        raise UsageError("the edited text holds more than one memory", hint="edit one; gitmem remember adds others")
    return drafts[0]


def accept(
    ctx: typer.Context,
    identifiers: Annotated[
        list[str] | None, typer.Argument(help="Ids of candidates.", metavar="ID...", show_default=False)
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All that waits and is of low risk.")] = False,
    because: flags.Because = "",
) -> None:
    """Let candidates of the inbox in. The gate judges them again at today's tip; all that are named get in, or none.

    What is not of low risk, as gitmem review says, is named by itself, with --because; --all tells which that is.
    """
    door: Door = ctx.obj
    if bool(identifiers) == everything:
        raise UsageError("accept takes ids, or --all", hint="gitmem list --inbox shows what waits")
    workspace = open_workspace(door.env)
    note_closed(door, workspace)
    if identifiers and for_the_forge(workspace, "accept", identifiers):
        show_asked(door, propose_verdict(workspace, "accept", identifiers, because))
        return
    accepted, left = (
        (verdicts.accept(workspace, identifiers, because), [])
        if identifiers
        else verdicts.accept_low(workspace, because)
    )
    for memory in accepted:
        show_verdict(door, workspace, memory, "accepted")
    for each in left:
        show_left(door, each)


def show_left(door: Door, left: Weighty) -> None:
    """A candidate that is to be decided alone, why, and how."""
    memory = left.memory
    if door.as_json:
        told = {"id": memory.id, "title": memory.title, "alone": list(left.alone), "command": left.command}
        door.data({"left": told})
        return
    why = door.style("; ".join(left.alone), "yellow")
    door.note(f"to be decided alone: {memory.id[:8]} {door.style(one_line(memory.title, 60))}: {why}")
    door.note(f"    {left.command}")


def reject(ctx: typer.Context, identifiers: Ids, because: flags.Because = "") -> None:
    """Turn candidates of the inbox down for good: a tombstone keeps the claim from coming back."""
    door: Door = ctx.obj
    workspace = open_workspace(door.env)
    note_closed(door, workspace)
    if for_the_forge(workspace, "reject", identifiers):
        show_asked(door, propose_verdict(workspace, "reject", identifiers, because))
        return
    for memory in verdicts.reject(workspace, identifiers, because):
        show_verdict(door, workspace, memory, "rejected; it cannot be learned again")


_EXAMPLES = {
    "wrong": 'gitmem wrong 7k3q --because "the limit was never 50" --evidence file:src/pool.py:12',
    "lift": 'gitmem lift 7k3q --because "it was right after all"',
    "retract": 'gitmem retract 7k3q --because "filed twice"',
    "archive": 'gitmem archive 7k3q --because "the service was shut down"',
    "restore": 'gitmem restore 7k3q --because "checked again"',
    "dispute": 'gitmem dispute 7k3q --because "the logs say otherwise"',
}
APPLICATIONS: dict[str, Any] = {
    **{verb: single(_plain(verb), example) for verb, example in _EXAMPLES.items()},
    "supersede": single(
        supersede, 'gitmem supersede 7k3q "The pool size is 50" -e file:src/pool.py:12 --because "raised in March"'
    ),
    "edit": single(edit, 'gitmem edit 7k3q --tag redis --because "find it by its tag"'),
    "accept": single(accept, "gitmem accept 7k3q 2m8r"),
    "reject": single(reject, 'gitmem reject 7k3q --because "we never did this"'),
}
