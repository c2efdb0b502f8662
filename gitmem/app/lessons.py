"""Lessons: a check that failed and passed later in one session, kept as a problem and what solved it.

Each is private, observed, and cites both records. The same lesson in another session is one more piece of evidence of
the one that is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, Literal

from gitmem.app.facts import Lookup, sources
from gitmem.app.lesson_text import Said, said
from gitmem.app.writing import Mutation, write
from gitmem.errors import Refused
from gitmem.evidence.transcript import resolve
from gitmem.model.frozen import dataclass, replace
from gitmem.model.ids import memory_id
from gitmem.model.judgement import Change
from gitmem.model.layout import PRIVATE
from gitmem.model.nouns import EvidenceRef, Link, Memory, Scope, Span, TranscriptRef
from gitmem.model.records import digest
from gitmem.model.text import one_line
from gitmem.model.vocabulary import ITEM_LIMIT, LESSON, QUOTE_LIMIT, VISIBLE
from gitmem.policy.text_rules import is_plain

if TYPE_CHECKING:
    from gitmem.app.learning_reader import Reader
    from gitmem.app.workspace import View, Workspace
    from gitmem.capture.fixes import Fix
    from gitmem.capture.turns import Turn

_QUOTED: Final = ("passed", "success", "ok", "no issues", "passing", "0 errors", "0 issues")
Result = Literal["learned", "again", "known", "set aside", "refused"]


@dataclass(frozen=True)
class Lesson:
    """What became of one fix. `learned`: kept. `again`: it was known from other sessions, and this one was added.
    `known`: from this very session, or by the team. `set aside`: a person rejected or archived it. `refused`: see
    `why`.

    `sessions`: how many taught it. `problem`, `solution`: ids, empty when nothing is kept.
    """

    session: str
    result: Result
    title: str
    fix: str
    problem: str = ""
    solution: str = ""
    sessions: int = 0
    why: str = ""


def keep(
    workspace: Workspace, reader: Reader, fixes: Iterable[Fix], top: Sequence[str], *, dry_run: bool
) -> list[Lesson]:
    """Keep what the fixes of one session teach. `workspace` is of the channel `capture`."""
    return [_kept(workspace, reader, fix, top, dry_run=dry_run) for fix in fixes]


def _kept(workspace: Workspace, reader: Reader, fix: Fix, top: Sequence[str], *, dry_run: bool) -> Lesson:
    told = said(fix, top)
    name = reader.stored.manifest.name
    done: list[Lesson] = []

    def plan(view: View, known: Lookup) -> list[Mutation]:
        failed = cited(view, reader, fix.failed.turn, fix.failed.error)
        passed = cited(view, reader, fix.passed.turn, _sign(fix.passed.turn.text))
        problem, problem_aside = holder(view, known, told.problem_key)
        solution, solution_aside = holder(view, known, told.fix_key)
        result: Result = "again" if solution else "learned"
        mutations: list[Mutation] = []
        aside = (problem is None and problem_aside) or (solution is None and solution_aside)
        ids = (problem.id if problem else "", solution.id if solution else "")
        if aside or any(one is not None and one.scope.audience != "private" for one in (problem, solution)):
            done[:] = [Lesson(name, "set aside" if aside else "known", told.problem, told.fix, *ids)]
            return []
        if problem is None:
            problem = _new(view, "problem", told, told.problem_key, [failed])
            mutations.append(Mutation(Change("create", problem), PRIVATE))
        else:
            mutations += _more(problem, [failed], name)
        if solution is None:
            solution = replace(
                _new(view, "solution", _plain(view, told, fix, top), told.fix_key, [failed, passed]),
                links=(Link("solves", problem.id),),
            )
            mutations.append(Mutation(Change("create", solution), PRIVATE))
        else:
            mutations += _more(solution, [failed, passed], name)
        taught = _sessions(mutations[-1].change.after if mutations else solution)
        result = result if mutations else "known"
        done[:] = [Lesson(name, result, told.problem, told.fix, problem.id, solution.id, taught)]
        return mutations

    try:
        write(workspace, plan, subject=lambda _: f"lesson: {one_line(told.problem, 60)}", dry_run=dry_run)
    except Refused as error:
        codes = {reason.code for reason in error.reasons}
        result: Result = "set aside" if "tombstoned" in codes else "known" if codes == {"duplicate"} else "refused"
        why = "; ".join(dict.fromkeys(f"{reason.code}: {reason.message}" for reason in error.reasons))
        return Lesson(name, result, told.problem, told.fix, why=why)
    return done[0]


def _plain(view: View, told: Said, fix: Fix, top: Sequence[str]) -> Said:
    """Without lines of the edits, where these read as an order or as a secret."""
    draft = _new(view, "solution", told, told.fix_key, [])
    return told if is_plain(draft) else said(fix, top, excerpts=False)


def _new(
    view: View, kind: Literal["problem", "solution"], told: Said, key: str, evidence: Sequence[EvidenceRef]
) -> Memory:
    is_problem = kind == "problem"
    return Memory(
        id=memory_id(view.workspace.env.random(8)),
        kind=kind,
        title=told.problem if is_problem else told.fix,
        body=told.problem_body if is_problem else told.fix_body,
        status="active",
        scope=Scope(view.require_config().project, "private"),
        origin="observed",
        key=key,
        tags=(LESSON,),
        applies_to=told.files[:ITEM_LIMIT],
        evidence=tuple(evidence),
    )


def _more(memory: Memory, refs: Sequence[TranscriptRef], session: str) -> list[Mutation]:
    """The edit that adds what is not cited yet. What is full stays as it is."""
    there = {(ref.session, ref.record) for ref in memory.evidence if isinstance(ref, TranscriptRef)}
    new = [ref for ref in refs if (ref.session, ref.record) not in there]
    if not new or len(memory.evidence) + len(new) > ITEM_LIMIT:
        return []
    after = replace(memory, evidence=(*memory.evidence, *new))
    return [Mutation(Change("edit", after, before=memory, reason=f"seen again in {session}"), PRIVATE)]


def holder(view: View, known: Lookup, key: str) -> tuple[Memory | None, bool]:
    """(the visible memory with this key, whether there is one that somebody put out of sight)."""
    aside = False
    for identifier in dict.fromkeys(known.key_holders(key)):
        found = view.anywhere(identifier)
        if found is None or found.memory.key != key:
            continue
        if found.memory.status in VISIBLE:
            return found.memory, False
        aside = True
    return None, aside


def cited(view: View, reader: Reader, turn: Turn, words: str) -> TranscriptRef:
    """The record of a turn as evidence, with `words` as its quote where they stand in it as they are."""
    data = reader.stored.span(reader.generation, turn.start, turn.end) or b""
    span = Span(reader.generation.number, turn.start, turn.end)
    plain = TranscriptRef(reader.stored.manifest.name, turn.record, span, digest(data), turn.speaker, None)
    where = sources(view, view.workspace.env.channel)
    for quote in (words, *sorted(_parts(words), key=len, reverse=True)[:1]):
        quote = quote[:QUOTE_LIMIT].strip()
        if sum(map(str.isalnum, quote)) >= 3:  # as the gate asks
            quoted = replace(plain, quote=quote)
            if resolve(quoted, where).quoted:
                return quoted
    return plain


def _parts(words: str) -> list[str]:
    """The parts of a line between what a host may have written in another way: quotes, backslashes, tabs."""
    return re.split(r"[\"\\\t]", words)


def _sign(text: str) -> str:
    """The last line that says that it passed."""
    lines = [line.strip() for line in text[-4000:].splitlines() if line.strip()]
    telling = [line for line in lines if any(sign in line.casefold() for sign in _QUOTED) and len(line) <= 200]
    return telling[-1] if telling else ""


def _sessions(memory: Memory) -> int:
    return len({ref.session for ref in memory.evidence if isinstance(ref, TranscriptRef)})
