"""`gitmem lessons`: what the captured sessions teach."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from gitmem.app import learning
from gitmem.app.episodes import Episode
from gitmem.app.lessons import Lesson
from gitmem.app.workspace import open_workspace
from gitmem.cli.app_of import single
from gitmem.cli.door import Door, counted

_SHOWN = {
    "learned": "learned",
    "again": "again",
    "known": "known",
    "set aside": "set aside by a person",
    "refused": "refused",
}


def lessons(
    ctx: typer.Context,
    session: Annotated[
        str | None,
        typer.Option(help="Read this session again from its start: [HOST/] and its id, or the first characters of it."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be kept, and keep nothing.")] = False,
) -> int:
    """Learn from captured sessions, without a model: what failed and passed later, how sessions ended, what is open.

    Reads what is new since the last time. A lesson is a problem and what solved it: private, and it cites the failure
    and the pass. Running it again keeps nothing twice.
    """
    door: Door = ctx.obj
    workspace = open_workspace(door.env, long_lived=True)
    chosen = None
    if session is not None:
        from gitmem.app.sessions import session as named

        chosen = [named(workspace, session)]
    found = learning.learn(workspace, chosen, again=session is not None, dry_run=dry_run)
    if door.as_json:
        _as_json(door, found, dry_run=dry_run)
        return 0
    for read in found.sessions:
        if read.lessons or session is not None:
            many = f"{counted(read.checks, 'check')}, {read.failures} failed, {read.unknown} of unknown end"
            door.say(f"{door.style(read.session, 'bold')}  {many}")
        for lesson in read.lessons:
            _say(door, lesson)
    for episode in found.episodes:
        _say_episode(door, episode)
    for fault in found.faults:
        door.note(door.style(f"not read: {fault}", "yellow"))
    learned = sum(one.result == "learned" for read in found.sessions for one in read.lessons)
    would = "would be " if dry_run else ""
    door.say(
        f"{counted(len(found.sessions), 'session')} read, {found.unchanged:,} unchanged; "
        f"{counted(learned, 'lesson')} {would}learned"
    )
    if found.passed:
        kept = f"{counted(found.passed, 'captured session')} passed over"
        door.note(f"{kept}: of another project, or of a host whose turns teach nothing")
    elif not found.sessions and not found.unchanged and not found.faults:
        door.note("no session is captured here; gitmem capture looks for them")
    return 0


def _say(door: Door, lesson: Lesson) -> None:
    names = " ".join(filter(None, (lesson.problem, lesson.solution)))
    door.say(f"  {_SHOWN[lesson.result]}  {names}  {door.style(lesson.title)}")
    door.say(f"    {door.style(lesson.fix, 'dim')}")
    if lesson.why:
        door.say(f"    {door.style(lesson.why, 'dim')}")
    if lesson.sessions > 1 and lesson.result in ("learned", "again", "known"):
        door.say(
            f"    {counted(lesson.sessions, 'session')} taught this; for the team: gitmem promote {lesson.solution}"
        )


def _say_episode(door: Door, episode: Episode) -> None:
    if episode.result in ("told", "changed"):
        plan = f"; open steps: {episode.plan}" if episode.plan else ""
        door.say(f"episode  {episode.id}  {door.style(episode.title)}{plan}")
    elif episode.result == "refused":
        door.say(f"episode of {door.style(episode.session)} refused: {door.style(episode.why)}")


def _as_json(door: Door, found: learning.Learned, *, dry_run: bool) -> None:
    for read in found.sessions:
        for lesson in read.lessons:
            door.data(_lesson(lesson))
    for episode in found.episodes:
        door.data(_episode(episode))
    door.data(
        {
            "read": len(found.sessions),
            "unchanged": found.unchanged,
            "checks": sum(read.checks for read in found.sessions),
            "failures": sum(read.failures for read in found.sessions),
            "unknown": sum(read.unknown for read in found.sessions),
            "faults": list(found.faults),
            "dry_run": dry_run,
        }
    )


def _episode(episode: Episode) -> dict[str, Any]:
    return {
        "session": episode.session,
        "result": episode.result,
        "ended": episode.ended,
        "title": episode.title,
        "episode": episode.id or None,
        "plan": episode.plan or None,
        "why": episode.why,
    }


def _lesson(lesson: Lesson) -> dict[str, Any]:
    offer = f"gitmem promote {lesson.solution}" if lesson.sessions > 1 and lesson.solution else None
    return {
        "session": lesson.session,
        "result": lesson.result,
        "problem": lesson.problem or None,
        "solution": lesson.solution or None,
        "title": lesson.title,
        "fix": lesson.fix,
        "sessions": lesson.sessions,
        "offer": offer,
        "why": lesson.why,
    }


APPLICATIONS = {"lessons": single(lessons, "gitmem lessons --dry-run")}
