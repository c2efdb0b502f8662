"""`test:REPORT#suite::case`: one case of a stored test report. Nothing is ever run."""

from __future__ import annotations

from typing import Final

from gitmem.errors import Ambiguous, NotFound, UsageError
from gitmem.evidence.committed import file_at, must_be_plain, nearest, standing
from gitmem.evidence.quote import occurs, shown
from gitmem.evidence.reports import Case, Unreadable, named, read_cases
from gitmem.evidence.short import splits
from gitmem.evidence.sources import Sources, is_plain_path
from gitmem.model.judgement import Resolution
from gitmem.model.nouns import TestRef
from gitmem.model.records import digest
from gitmem.model.text import escape
from gitmem.model.vocabulary import Role
from gitmem.store.objects import Entry, object_id

EXAMPLE: Final = "test:reports/junit.xml#tests.test_pool::test_retry"


def expand(rest: str, role: Role, sources: Sources) -> TestRef:
    """Cites the report of the work tree, or the one at HEAD when there is none.

    When the same bytes are committed at HEAD the record says so, and others can check it too.
    """
    path, wanted, data = _find(rest, sources)
    try:
        cases = read_cases(data)
    except Unreadable as error:
        raise UsageError(
            f"{path} cannot be read as a test report: {error}",
            hint="cite JUnit XML (pytest --junitxml=FILE) or TAP, or cite the file itself: file:" + path,
        ) from None
    case = _the_one(path, wanted, cases)
    entry = _committed(path, sources)
    same = entry is not None and object_id("blob", data, sources.backend.object_format) == entry.oid
    quote = case.quote(data)
    return TestRef(
        path=path,
        case=case.name if len(named(cases, case.name)) == 1 else wanted,
        outcome=case.outcome,
        sha256=digest(data),
        blob=entry.oid if entry and same else None,
        commit=sources.head if same else None,
        quote=quote if occurs(quote, case.text(data)) else None,
        role=role,
    )


def resolve(ref: TestRef, sources: Sources) -> Resolution:
    """The report must be the same bytes, and say the same about the case: an outcome is never taken on trust."""
    if not is_plain_path(ref.path):
        return Resolution(ref, "missing", "the path is not one that a repository can hold")
    if ref.blob is not None and ref.commit is not None:
        found = standing(ref.path, ref.commit, ref.blob, sources)
        if found.state == "verified":
            return _checked(ref, found.data, found.detail)
        if found.state != "unobservable":
            return Resolution(ref, found.state, found.detail)
    others = [data for data in (sources.read_work_tree(ref.path), _at_head(ref.path, sources)) if data is not None]
    for data in others:
        if digest(data) == ref.sha256:
            return _checked(ref, data, "")
    if others:
        return Resolution(ref, "changed", f"{ref.path} is not the report that was cited: tests ran again since?")
    return Resolution(ref, "unobservable", f"the report {ref.path} is not in this clone")


def _checked(ref: TestRef, data: bytes, detail: str) -> Resolution:
    if digest(data) != ref.sha256:
        return Resolution(ref, "changed", "the report does not hash to the record")
    try:
        found = named(read_cases(data), ref.case)
    except Unreadable as error:
        return Resolution(ref, "changed", f"the report cannot be read: {error}")
    if not found:
        return Resolution(ref, "changed", "the report has no such case")
    cited = b"\n".join(case.text(data) for case in found)
    quoted = occurs(ref.quote, cited)
    outcomes = sorted({case.outcome for case in found})
    if outcomes != [ref.outcome]:
        said = f"the report says {' and '.join(outcomes)}, the record {escape(ref.outcome)}"
        return Resolution(ref, "changed", said, shown(cited), quoted)
    return Resolution(ref, "verified", detail, shown(cited), quoted)


def _find(rest: str, sources: Sources) -> tuple[str, str, bytes]:
    """(path, case, the report's bytes): the first reading of `REPORT#CASE` whose report exists; both may hold `#`."""
    rest = rest.removeprefix("./")
    readings = splits(rest, "#")
    for path, wanted in readings:
        data = _report(path, sources)
        if data is not None:
            return path, wanted, data
    whole = _report(rest.rstrip("#"), sources)
    if whole is not None or not readings:
        example = EXAMPLE if whole is None else f"test:{rest.rstrip('#')}#{_some_case(whole)}"
        raise UsageError("a test reference names one case of a stored report", hint=f"for example {example}")
    path = readings[-1][0]
    must_be_plain(path, EXAMPLE)
    like = nearest(sources.head, path, sources) if sources.head else None
    raise NotFound(
        f"there is no report {path}, neither in the work tree nor in HEAD",
        hint=f"did you mean {like}?" if like else "write one first, for example pytest --junitxml=" + path,
    )


def _some_case(report: bytes) -> str:
    try:
        return next((case.name for case in read_cases(report)), "suite::case")
    except Unreadable:
        return "suite::case"


def _report(path: str, sources: Sources) -> bytes | None:
    if not is_plain_path(path):
        return None
    data = sources.read_work_tree(path)
    return _at_head(path, sources) if data is None else data


def _committed(path: str, sources: Sources) -> Entry | None:
    try:
        return file_at(sources.head, path, sources) if sources.head else None
    except (NotFound, UsageError):  # a clone without that tree; a folder of this name
        return None


def _at_head(path: str, sources: Sources) -> bytes | None:
    entry = _committed(path, sources)
    try:
        return sources.read(entry.oid)[1] if entry else None
    except NotFound:
        return None


def _the_one(path: str, wanted: str, cases: list[Case]) -> Case:
    from difflib import get_close_matches

    found = named(cases, wanted)
    names = sorted({case.name for case in found})
    if not found:
        known = [case.name for case in cases[:5000]]
        like = get_close_matches(wanted, known, n=3, cutoff=0.4) or known[:3]
        raise NotFound(
            f"{path} has no case {escape(wanted)!r} among its {len(cases)}",
            hint="nearest: " + ", ".join(map(escape, like)) if like else "the report holds no case at all",
        )
    if len(names) > 1:
        raise Ambiguous(
            f"{path} has {len(names)} cases {escape(wanted)!r}",
            hint="give more of the name: " + ", ".join(map(escape, names[:5])),
        )
    if len({case.outcome for case in found}) > 1:
        raise Ambiguous(
            f"{path} has {escape(wanted)!r} {len(found)} times, with different outcomes",
            hint="cite a report in which each case stands once",
        )
    return found[0]
