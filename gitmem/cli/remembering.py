"""What `gitmem remember` does once its command line is read. Knows nothing of Typer, which takes longer to import
than a write takes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gitmem.cli.quick import Flags
from gitmem.errors import UsageError
from gitmem.model.frozen import replace
from gitmem.model.nouns import Alternative, Draft, Link, Step, Valid
from gitmem.model.vocabulary import KINDS

if TYPE_CHECKING:
    from gitmem.app.remember import Remembered
    from gitmem.cli.door import Door

FLAGS: Final = Flags(
    positional="title",
    one={
        "--kind": "kind", "-k": "kind", "--body": "body", "-b": "body", "--key": "key", "--valid-from": "valid_from",
        "--valid-until": "valid_until", "--cue": "cue", "--because": "because", "--file": "file", "-f": "file",
    },
    many={
        "--evidence": "evidence", "-e": "evidence", "--tag": "tags", "-t": "tags", "--path": "paths", "-p": "paths",
        "--alias": "aliases", "--solves": "solves", "--tried-for": "tried_for", "--derived-from": "derived_from",
        "--relates-to": "relates_to", "--distinct-from": "distinct_from", "--ruled-out": "ruled_out",
        "--step": "steps", "--claim": "claims", "--grounding": "groundings",
    },
    yes={"--edit": "edit", "--dry-run": "dry_run", "--private": "private", "--user": "user"},
)  # fmt: skip

_STORES: Final = {
    "team": "gitmem/main", "private": "your private memory of this project", "user": "your memory of all projects"
}  # fmt: skip
_FOR: Final = {
    "team": "", "private": " for you alone, in this project", "user": " for you alone, in all of your projects"
}  # fmt: skip
_TEMPLATE: Final = """\
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
    kind: str | None = None,
    title: str | None = None,
    body: str = "",
    evidence: list[str] | None = None,
    tags: list[str] | None = None,
    paths: list[str] | None = None,
    key: str | None = None,
    aliases: list[str] | None = None,
    valid_from: str | None = None,
    valid_until: str | None = None,
    solves: list[str] | None = None,
    tried_for: list[str] | None = None,
    derived_from: list[str] | None = None,
    relates_to: list[str] | None = None,
    distinct_from: list[str] | None = None,
    ruled_out: list[str] | None = None,
    cue: str | None = None,
    steps: list[str] | None = None,
    claims: list[str] | None = None,
    groundings: list[str] | None = None,
    because: str = "",
) -> Draft:
    """The draft that the flags describe. The gate judges the words; here only their form is read."""
    lacking = " and ".join(name for name, given in (("a title", title), ("a --kind", kind)) if given is None)
    if title is None or kind is None:
        raise UsageError(
            f"a memory needs {lacking}",
            hint='gitmem remember --kind fact "The pool closes idle sockets" --evidence file:src/pool.py:40-58',
        )
    if kind not in KINDS:
        raise UsageError(f"there is no kind {kind!r}", hint=f"one of {', '.join(KINDS)}")
    links = [
        *(Link("solves", to) for to in _once(solves)),
        *(Link("tried_for", to) for to in _once(tried_for)),
        *(Link("derived_from", to) for to in _once(derived_from)),
        *(Link("relates_to", to) for to in _once(relates_to)),
        *(Link("differs_from", to, because) for to in _once(distinct_from)),
    ]
    return Draft(
        kind=kind,
        title=title,
        body=body,
        evidence=_once(evidence),
        tags=_once(tags),
        applies_to=_once(paths),
        key=key,
        aliases=_once(aliases),
        valid=Valid(valid_from, valid_until),
        links=tuple(links),
        alternatives=tuple(_ruled_out(text) for text in ruled_out or ()),
        cue=cue,
        steps=tuple(Step(text) for text in steps or ()),
        claims=tuple(claims or ()),
        groundings=tuple(groundings or ()),
    )


def _once(words: list[str] | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(words or ()))


def _ruled_out(text: str) -> Alternative:
    title, _, why = text.partition(": ")
    return Alternative(title.strip(), why.strip())


def drafts_of_file(door: Door, path: str | Path) -> list[Draft]:
    """The drafts of a file, or of standard input for `-`."""
    from gitmem.model.drafts import read_drafts

    return read_drafts(_bytes_of(door, path), name="standard input" if str(path) == "-" else str(path))


def _bytes_of(door: Door, path: str | Path) -> bytes:
    if str(path) == "-":
        stream = getattr(door.env.stdin, "buffer", None)
        raw: bytes = stream.read() if stream is not None else door.env.stdin.read().encode()
        return raw
    try:
        return (door.env.cwd / path).read_bytes()
    except OSError as error:
        raise UsageError(
            f"{path} cannot be read: {error.strerror}", hint="gitmem schema draft prints what a draft looks like"
        ) from None


def require_void(source: str, flags: Mapping[str, Any]) -> None:
    """Raise UsageError when flags of the command line would be lost because `source` brings the whole draft."""
    names = {parameter: flag for flag, parameter in {**FLAGS.one, **FLAGS.many}.items() if flag.startswith("--")}
    given = [names.get(parameter, "the title") for parameter, value in flags.items() if value]
    if given:
        raise UsageError(f"{source} brings the whole draft: leave out {', '.join(given)}", hint="write it in the draft")


def run(
    door: Door,
    *,
    file: str | Path | None = None,
    edit: bool = False,
    dry_run: bool = False,
    because: str = "",
    private: bool = False,
    user: bool = False,
    **flags: Any,
) -> None:
    """Remember what the flags describe, see `draft_of_flags`, or the drafts of a file, and show what became of it.

    `private`, `user`: for whom all of them are, whatever the drafts say.
    """
    from gitmem.app.workspace import open_workspace

    if private and user:
        raise UsageError("--private and --user are two stores", hint="--user is read in all of your projects")

    def take(drafts: list[Draft]) -> None:
        if private or user:
            drafts = [replace(draft, audience="private" if private else "user") for draft in drafts]
        workspace = open_workspace(door.env, meanwhile=_load_writing)
        from gitmem.app import catch_up  # noqa: F401 - beside git, which starts to read objects
        from gitmem.app.remember import remember

        for item in remember(workspace, drafts, dry_run=dry_run, reason=because):
            show_remembered(door, item, dry_run=dry_run)

    if edit or file is not None:
        require_void("--edit" if edit else "--file", flags)
    elif not any(flags.values()) and not door.env.stdin.isatty():
        file = "-"
    if edit:
        _in_editor(door, file, take)
    elif file is not None:
        take(drafts_of_file(door, file))
    else:
        take([draft_of_flags(because=because, **flags)])


def _load_writing() -> None:
    """Most of what a write needs, while git looks for the repository."""
    import gitmem.app.remember  # noqa: F401


def _in_editor(door: Door, file: str | Path | None, take: Callable[[list[Draft]], None]) -> None:
    from gitmem.cli.editor import until_taken
    from gitmem.model.drafts import DRAFT_COMMENT, read_drafts

    start = _TEMPLATE.format(comment=DRAFT_COMMENT)
    if file is not None:
        start = _bytes_of(door, file).decode("utf-8", "replace")
    until_taken(door, start, lambda text: take(read_drafts(text.encode(), name="the draft")))


def show_remembered(door: Door, item: Remembered, *, dry_run: bool, answers: Sequence[str] = ()) -> None:
    """What became of one draft."""
    from gitmem.cli.shown import cited, memory_data, memory_line, reason_data
    from gitmem.model.layout import HOMES, INBOX
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
        data["memory"] = memory_data(memory, INBOX if memory.status == "candidate" else HOMES[memory.scope.audience])
        door.data(data)
        return
    if dry_run:
        home = _STORES[memory.scope.audience]
        where = f"{home} as active" if item.result == "active" else "the inbox as a candidate"
        door.say(door.style("already remembered" if item.result == "unchanged" else f"would go to {where}", "green"))
        _reasons(door, item)
        for line in memory_bytes(memory).decode().rstrip("\n").split("\n"):
            door.say(f"  {door.style(line)}")
        return
    what = {
        "active": "remembered" + _FOR[memory.scope.audience],
        "candidate": "waits in the inbox",
        "unchanged": "already remembered",
    }[item.result]
    door.say(f"{memory_line(door, memory)}")
    for ref in memory.evidence:
        door.say(f"    {cited(door, ref)}")
    replaced = memory.linked("supersedes")
    if replaced and item.result == "active":
        what = f"supersedes {', '.join(identifier[:8] for identifier in replaced)}"
    door.note(f"{door.style(what, 'green' if item.result == 'active' else 'yellow')}: gitmem show {memory.id[:8]}")
    if item.result == "candidate" and item.forge and not answers:
        door.note("  the policy leaves review to the forge: gitmem propose --push offers it there")
    elif answers:
        for command in answers:
            door.note(f"  a person may run: {door.style(command)}")
    elif item.result == "candidate":
        door.note(f"  a person lets it in with: gitmem accept {memory.id[:8]}")
    if item.result != "unchanged" and (until := memory.valid.until) and _is_past(door, until):
        door.note(
            door.style(f"  it is not true any more since {until}: only --valid-at and --history show it", "yellow")
        )
    _reasons(door, item)


def _is_past(door: Door, until: str) -> bool:
    from gitmem.model.times import parse_instant

    return parse_instant(until) <= door.env.now()


def _reasons(door: Door, item: Remembered) -> None:
    for reason in item.reasons:
        door.note(f"  {door.style(reason.code, 'yellow')}: {door.style(reason.message)}")
        door.note(f"    → {door.style(reason.hint)}")
