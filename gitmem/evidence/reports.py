"""Stored test reports: JUnit XML and TAP 13/14. Reading only; nothing is ever run.

A report is foreign input. XML with a document type (the door to entities) is refused before anything in it
is expanded; depth and number of cases are bounded, size by the caller.
"""

from __future__ import annotations

import re
from typing import Final, Literal, NamedTuple

from gitmem.evidence.quote import cut
from gitmem.model.pattern import pattern, pattern_of_bytes

Outcome = Literal["passed", "failed", "skipped"]
_DEPTH_LIMIT: Final = 64
_CASE_LIMIT: Final = 200_000
_TAG = pattern_of_bytes(rb"""<[^<>"']*(?:"[^"]*"[^<>"']*|'[^']*'[^<>"']*)*>""")
_MESSAGE = pattern_of_bytes(rb"""\smessage\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_MESSAGE_END = pattern_of_bytes(rb"&#(?:10|x0*[aA]);|[\r\n]")
_POINT = pattern(r"(?P<indent> *)(?P<not>not )?ok\b(?: +(?P<number>[0-9]{1,9}))?(?: +-)? *(?P<rest>.*)")
_DIRECTIVE = pattern(r"(?:^|(?<=\s))#\s*(?:skip|todo)", re.IGNORECASE)
_TAP_SIGN = pattern_of_bytes(rb"^(?:TAP version 1[34]|1\.\.[0-9]+|(?:not )?ok\b)", re.MULTILINE)


class Unreadable(ValueError):
    """Why bytes cannot be read as a report."""


class Case(NamedTuple):
    """One case: its full name, what came of it, where it stands in the report's bytes.

    name: `classname::name` of JUnit (`suite::name` without a class), `parent::child` of TAP. alias: `suite::name`.
    """

    name: str
    outcome: Outcome
    start: int
    end: int
    alias: str = ""
    message: str | None = None

    def text(self, report: bytes) -> bytes:
        return report[self.start : self.end]

    def quote(self, report: bytes) -> str | None:
        """The failure's first line, else the case's own line, as it stands in the report."""
        return self.message or cut(self.text(report).split(b"\n", 1)[0])


def read_cases(report: bytes) -> list[Case]:
    """The cases of a JUnit XML or TAP report in order. Raises Unreadable."""
    if report.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<":
        return _junit(report)
    if _TAP_SIGN.search(report):
        return _tap(report)
    raise Unreadable("it is neither JUnit XML nor TAP")


def named(cases: list[Case], wanted: str) -> list[Case]:
    """The cases that `wanted` names: by full name, else with the suite, else by the last parts of the name."""
    exact = [case for case in cases if case.name == wanted] or [case for case in cases if case.alias == wanted]
    return exact or [case for case in cases if case.name.endswith("::" + wanted)]


class _JunitReader:
    def __init__(self, report: bytes) -> None:
        from xml.parsers import expat

        self.report = report
        self.cases: list[Case] = []
        self._suites: list[str | None] = []  # one entry an open element: its name when it is a named suite
        self._case: Case | None = None  # the open one
        self._level = 0  # the number of elements around it
        # UTF-8 whatever the declaration says, so that positions in bytes hold.
        self._parser = parser = expat.ParserCreate("utf-8")
        parser.StartDoctypeDeclHandler = self._refuse
        parser.EntityDeclHandler = self._refuse
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        try:
            parser.Parse(report, True)
        except expat.ExpatError as error:
            raise Unreadable(f"its XML is broken: {error}") from error

    def _refuse(self, *_: object) -> None:
        raise Unreadable("it has a document type, which no test report needs and which can hide an attack")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if len(self._suites) >= _DEPTH_LIMIT:
            raise Unreadable(f"it is nested deeper than {_DEPTH_LIMIT} elements")
        if tag == "testcase" and self._case is None:
            name, suite = attributes.get("name"), self._suite()
            full, alias = (
                "::".join(filter(None, parts))
                for parts in ((attributes.get("classname") or suite, name), (suite, name))
            )
            outcome: Outcome = "skipped" if attributes.get("status") == "notrun" else "passed"
            self._case = Case(full, outcome, self._parser.CurrentByteIndex, 0, alias)
            self._level = len(self._suites)
        elif self._case and len(self._suites) == self._level + 1:
            if tag in ("failure", "error"):
                message = self._case.message or self._first_message_line()
                self._case = self._case._replace(outcome="failed", message=message)
            elif tag == "skipped" and self._case.outcome == "passed":
                self._case = self._case._replace(outcome="skipped")
        self._suites.append(attributes.get("name") if tag == "testsuite" else None)

    def _end(self, tag: str) -> None:
        self._suites.pop()
        if self._case and len(self._suites) == self._level:
            # The place of the closing tag; of an empty element, the place behind it.
            end = self._parser.CurrentByteIndex
            if self.report.startswith(b"</testcase", end):
                end = self.report.index(b">", end) + 1
            self.cases.append(self._case._replace(end=end))
            self._case = None
            if len(self.cases) > _CASE_LIMIT:
                raise Unreadable(f"it has more than {_CASE_LIMIT:,} cases")

    def _suite(self) -> str | None:
        return next((name for name in reversed(self._suites) if name), None)

    def _first_message_line(self) -> str | None:
        tag = _TAG.match(self.report, self._parser.CurrentByteIndex)
        message = _MESSAGE.search(tag[0]) if tag else None
        return cut(_MESSAGE_END.split(message[1] or message[2] or b"", maxsplit=1)[0]) if message else None


def _junit(report: bytes) -> list[Case]:
    return _JunitReader(report).cases


def _tap(report: bytes) -> list[Case]:
    """TAP 13 and 14. Cases of a subtest come before the point that sums them up and get its name in front."""
    waiting: dict[int, list[Case]] = {}  # by indent: cases whose parent has not come yet
    position, last, in_block = 0, None, False
    for line in report.split(b"\n"):
        start, position = position, position + len(line) + 1
        text = line.decode(errors="replace").rstrip("\r")
        stripped = text.strip()
        if in_block or (last is not None and stripped == "---"):
            in_block = stripped != "..."
            if last is not None:
                waiting[last][-1] = waiting[last][-1]._replace(end=start + len(line))
            continue
        point = _POINT.fullmatch(text)
        if point is None:
            last = None
            continue
        last = len(point["indent"])
        _add_point(waiting, last, point, start, start + len(line))
        if sum(map(len, waiting.values())) > _CASE_LIMIT:
            raise Unreadable(f"it has more than {_CASE_LIMIT:,} cases")
    return [case for indent in sorted(waiting) for case in waiting[indent]]


def _add_point(waiting: dict[int, list[Case]], indent: int, point: re.Match[str], start: int, end: int) -> None:
    directive = _DIRECTIVE.search(point["rest"])
    described = point["rest"][: directive.start()] if directive else point["rest"]
    name = re.sub(r"\\([\\#])", r"\1", described).strip() or point["number"] or "unnamed"
    outcome: Outcome = "skipped" if directive else "failed" if point["not"] else "passed"
    deeper = [level for level in waiting if level > indent]
    if len(deeper) > _DEPTH_LIMIT:
        raise Unreadable(f"it is nested deeper than {_DEPTH_LIMIT} subtests")
    children = [case._replace(name=f"{name}::{case.name}") for level in sorted(deeper) for case in waiting.pop(level)]
    waiting.setdefault(indent, []).extend([*children, Case(name, outcome, start, end)])
