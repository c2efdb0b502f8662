"""Rules about evidence: there is some, it is what it says it is, and it is strong enough."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gitmem.model.ids import is_digest
from gitmem.model.judgement import Change, Facts, Reason, Resolution, Viewer
from gitmem.model.nouns import CommitRef, Config, EvidenceRef, FileRef, HumanRef, MemoryRef, TestRef, TranscriptRef
from gitmem.model.pattern import pattern
from gitmem.model.vocabulary import AUDIENCES, ROLES, SYMBOL_LIMIT
from gitmem.policy.codes import reason, shown_id
from gitmem.policy.shape_rules import is_relative_path
from gitmem.policy.texts import claims
from gitmem.policy.visibility import visible

_LINES: Final = pattern(r"[1-9][0-9]{0,8}(?:-[1-9][0-9]{0,8})?", re.ASCII)
_OBJECT: Final = pattern(r"[0-9a-f]{40}(?:[0-9a-f]{24})?", re.ASCII)
_QUOTE_LETTERS: Final = 3  # letters and digits below which a quote means nothing
_CITE: Final = "cite it again: --evidence file:src/pool.py:40-58"


def supported(change: Change, facts: Facts, config: Config | None) -> Iterator[Reason]:
    if not claims(change):
        return
    supports = [ref for ref in change.after.evidence if ref.role == "supports"]
    if not supports:
        hint = "cite what shows it: --evidence file:src/pool.py:40-58 (gitmem remember --help lists the forms)"
        yield reason("evidence.missing", "nothing supports the claim", hint, "evidence")
        return
    if all(ref.type == "url" for ref in supports):
        hint = "cite a file, commit, test, transcript or your own words as well: --evidence file:PATH:LINES"
        yield reason("evidence.url_only", "an address alone does not support a claim", hint, "evidence")
    asked = config.evidence.get(change.after.kind) if config is not None else None
    if asked is not None and not any(ref.type in asked for ref in supports):
        message = f"the policy wants a {change.after.kind} supported by one of: {', '.join(asked)}"
        yield reason("evidence.weak", message, f"cite one: --evidence {next(iter(asked), 'file')}:…", "evidence")


def well_formed(change: Change, facts: Facts, config: Config | None) -> Iterator[Reason]:
    for where, ref, _ in _judged(change, facts):
        if ref.role not in ROLES:
            yield reason(
                "evidence.role", f"{where} has no role that gitmem knows", f"use one of {', '.join(ROLES)}", where
            )
        fault = _malformed(ref)
        if fault:
            yield reason("evidence.shape", f"{where}: {fault}", _CITE, where)


def _malformed(ref: EvidenceRef) -> str:
    if not is_digest(ref.sha256):
        return "sha256 is not a lower-case hexadecimal SHA-256"
    if isinstance(ref, (FileRef, TestRef)) and not is_relative_path(ref.path):
        return "the path is not relative to the root of the repository"
    if isinstance(ref, FileRef) and ref.lines is not None and not _is_lines(ref.lines):
        return 'lines is not like "12" or "40-58"'
    if isinstance(ref, FileRef) and ref.symbol is not None and not (ref.lines and 0 < len(ref.symbol) <= SYMBOL_LIMIT):
        return f"symbol stands beside lines and has 1 to {SYMBOL_LIMIT} characters"
    if isinstance(ref, FileRef) and not (_OBJECT.fullmatch(ref.blob) and _OBJECT.fullmatch(ref.commit)):
        return "blob and commit are not full object ids"
    if isinstance(ref, TranscriptRef) and not 0 <= ref.span.start < ref.span.end:
        return "the span is empty or ends before it starts"
    return ""


def _is_lines(lines: str) -> bool:
    if not _LINES.fullmatch(lines):
        return False
    first, _, last = lines.partition("-")
    return not last or int(first) <= int(last)


def resolves(change: Change, facts: Facts, config: Config | None) -> Iterator[Reason]:
    for where, ref, resolution in _judged(change, facts):
        if resolution is None:
            message = f"{where} was not looked at, so nothing is known about it"
            yield reason("evidence.unresolved", message, "gitmem verify looks at every reference", where)
        elif resolution.state == "changed":
            message = f"{where}: the {ref.type} that is cited has other bytes now"
            yield reason("evidence.changed", message, _CITE, where)
        elif resolution.state == "missing":
            yield reason("evidence.gone", f"{where}: there is no such {ref.type}", _CITE, where)
        elif resolution.state != "verified":
            message = f"{where}: the {ref.type} that is cited cannot be reached from this clone"
            if config is not None and config.unobservable == "hold":
                hint = "somebody who can reach it may accept the candidate: gitmem accept ID"
                yield reason("evidence.unobservable", message, hint, where)
            else:
                hint = "fetch what it cites, or cite something that this clone has"
                yield reason("evidence.unreachable", message, hint, where)


def quotes(change: Change, facts: Facts, config: Config | None) -> Iterator[Reason]:
    for where, ref, resolution in _judged(change, facts):
        if ref.quote is None:
            continue
        if sum(char.isalnum() for char in ref.quote) < _QUOTE_LETTERS:
            hint = "quote enough words to be found by, or leave the quote out"
            yield reason("quote.short", f"{where}: the quote is too short to mean anything", hint, f"{where}.quote")
        if resolution is not None and resolution.quoted is False:
            message = f"{where}: the quote does not occur word for word in what is cited"
            yield reason("quote.absent", message, "copy the words as they stand, or cite other lines", f"{where}.quote")


def people(change: Change, facts: Facts, config: Config | None) -> Iterator[Reason]:
    """A person's words are a person's: said at this terminal, or in a record that was classed as theirs."""
    for where, ref, resolution in _judged(change, facts):
        said_here = isinstance(ref, HumanRef) and facts.said_by == "terminal"
        cited_as_human = isinstance(ref, HumanRef) or (isinstance(ref, TranscriptRef) and ref.speaker == "human")
        if cited_as_human and not said_here and not (resolution is not None and resolution.human):
            message = f"{where} is cited as a person's own words, and nothing shows that a person said them"
            hint = "a person may say it at a terminal, or cite the transcript record in which they did"
            yield reason("human.unproven", message, hint, where)


def passing_test(change: Change, facts: Facts, config: Config | None) -> Iterator[Reason]:
    if change.after.kind != "solution" or not claims(change):
        return
    supports = [ref for ref in change.after.evidence if ref.role == "supports" and ref.type != "url"]
    tests = [ref for ref in supports if isinstance(ref, TestRef)]
    if tests and len(tests) == len(supports) and not any(ref.outcome == "passed" for ref in tests):
        hint = "cite a run in which it passed, or write a failed_tactic instead"
        yield reason("test.failed", "no test that passed supports the solution", hint, "evidence")


def cited_memories(change: Change, facts: Facts, config: Config | None) -> Iterator[Reason]:
    """A cited memory must be one that every reader of this memory may be shown."""
    if config is None:
        return
    after = change.after
    found = [(where, ref) for where, ref, _ in _judged(change, facts) if isinstance(ref, MemoryRef)]
    if not found:
        return
    audiences = frozenset({"team"}) if after.scope.audience == "team" else frozenset(AUDIENCES)
    readable = visible(Viewer(config.projects, audiences, config.projects), at=None)
    for where, ref in found:
        cited = facts.linked.get(ref.id)
        if cited is None or cited.scope.project not in config.projects or ref.id == after.id:
            message = f"{where} cites a memory that does not exist here"
            yield reason("memory.missing", message, "gitmem list shows what there is", where)
        elif ref.id in facts.waiting:
            message = f"{where} cites {shown_id(ref.id)}, which lies in the inbox of this clone and nowhere else"
            yield reason("memory.missing", message, f"gitmem accept {shown_id(ref.id)} first, or leave it out", where)
        elif not readable.admits(cited):
            message = f"{where} cites a memory that the readers of this one are not shown"
            yield reason("memory.withheld", message, "cite what that memory rests on instead", where)


def known_everywhere(change: Change, facts: Facts, config: Config | None) -> Iterator[Reason]:
    """What is for all of a user's projects is read where none of the others is: it has to carry its grounds along."""
    if change.after.scope.audience != "user":
        return
    for where, ref, _ in _judged(change, facts):
        if isinstance(ref, (FileRef, CommitRef, TestRef)):
            message = f"{where} cites a {ref.type} of one repository, and the record is read in all of the user's"
            yield reason("evidence.elsewhere", message, 'quote a person: --evidence human:"…", or --private', where)


def _judged(change: Change, facts: Facts) -> Iterator[tuple[str, EvidenceRef, Resolution | None]]:
    """The references to be judged: all of a claim; of any other change only those that it adds."""
    before = change.before.evidence if change.before is not None and not claims(change) else ()
    for number, ref in enumerate(change.after.evidence):
        if ref in before:
            continue
        resolution = facts.resolutions[number] if number < len(facts.resolutions) else None
        if resolution is not None and resolution.ref != ref:
            resolution = None
        yield f"evidence[{number}]", ref, resolution


RULES: Final = (supported, well_formed, resolves, quotes, people, passing_test, cited_memories, known_everywhere)
