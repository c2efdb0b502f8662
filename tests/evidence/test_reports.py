from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.evidence.reports import Unreadable, named, read_cases
from tests.evidence.world import JUNIT, TAP


def outcomes(report: str) -> list[tuple[str, str]]:
    return [(case.name, case.outcome) for case in read_cases(report.encode())]


def test_junit() -> None:
    assert outcomes(JUNIT) == [
        ("tests.test_pool::test_size", "passed"),
        ("tests.test_pool::test_retry[a>b]", "failed"),
        ("tests.test_other::test_size", "skipped"),
        ("tests.test_pool::test_twice", "passed"),
        ("tests.test_pool::test_twice", "failed"),
    ]


def test_junit_cases_know_their_bytes() -> None:
    report = JUNIT.encode()
    texts = [case.text(report).decode() for case in read_cases(report)]
    assert texts[0] == '<testcase classname="tests.test_pool" name="test_size" time="0.1" />'
    assert all(text.startswith("<testcase ") and text.endswith((" />", "</testcase>")) for text in texts)
    assert [case.quote(report) for case in read_cases(report)][1] == "assert 3 == 4"


def test_junit_with_a_mark_at_the_start_and_names_that_are_not_ascii() -> None:
    report = '\ufeff<testsuite name="größe"><testcase name="ä &amp; b"/></testsuite>'.encode()
    (case,) = read_cases(report)
    assert (case.name, case.text(report).decode()) == ("größe::ä & b", '<testcase name="ä &amp; b"/>')


def test_only_the_case_itself_fails_not_what_lies_deeper() -> None:
    inner = '<testsuite name="s"><testcase name="a"><system-out><failure/></system-out></testcase></testsuite>'
    assert outcomes(inner) == [("s::a", "passed")]
    assert outcomes(inner.replace("<system-out>", "").replace("</system-out>", "")) == [("s::a", "failed")]


BOMB = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>'


@pytest.mark.parametrize(
    "head",
    [
        BOMB,
        '<!DOCTYPE x SYSTEM "file:///etc/passwd">',
        "<!DOCTYPE testsuite>",
        '<?xml version="1.0"?>\n<!DOCTYPE x []>',
    ],
)
def test_a_document_type_is_refused_before_anything_is_expanded(head: str) -> None:
    body = '<testsuite name="s"><testcase name="a"/></testsuite>'
    assert outcomes(body) == [("s::a", "passed")]
    with pytest.raises(Unreadable, match="document type"):
        read_cases((head + body).encode())


def test_bounds_of_depth() -> None:
    assert outcomes("<t>" * 60 + '<testcase name="a"/>' + "</t>" * 60) == [("a", "passed")]
    with pytest.raises(Unreadable, match="nested"):
        read_cases(b"<t>" * 100_000)


@pytest.mark.parametrize(
    "report",
    [b"<testsuite>", b"<a></b>", b"plain words", b"", b"\xff\xfe<\0a\0/\0>\0", b'<?xml version="1.0"?><a>\xe9</a>'],
)
def test_what_is_no_report(report: bytes) -> None:
    with pytest.raises(Unreadable):
        read_cases(report)


def test_a_wrong_declaration_of_encoding_changes_nothing() -> None:
    report = '<?xml version="1.0" encoding="utf-16"?><testsuite name="s"><testcase name="ä"/></testsuite>'
    assert outcomes(report) == [("s::ä", "passed")]


def test_tap() -> None:
    assert outcomes(TAP) == [
        ("pool::opens", "passed"),
        ("pool::closes", "skipped"),
        ("pool", "passed"),
        ("retry gives up", "failed"),
        ("3", "skipped"),
    ]


def test_tap_cases_know_their_bytes() -> None:
    report = TAP.replace("\n", "\r\n").encode()
    failed = named(read_cases(report), "retry gives up")[0]
    assert failed.text(report).startswith(b"not ok 2 - retry") and failed.text(report).rstrip().endswith(b"...")
    assert failed.quote(report) == "not ok 2 - retry gives up"


def test_tap_escapes_and_words_that_only_look_like_directives() -> None:
    assert outcomes("1..3\nok 1 - issue \\#12 # skip x\nok 2 - a#todo\nok 3 - c\\\\d\n") == [
        ("issue #12", "skipped"),
        ("a#todo", "passed"),
        ("c\\d", "passed"),
    ]


def test_names_match_in_full_then_by_suite_then_by_their_end() -> None:
    cases = read_cases(JUNIT.encode())
    assert len(named(cases, "test_size")) == 2
    assert [case.name for case in named(cases, "tests.test_other::test_size")] == ["tests.test_other::test_size"]
    assert [case.outcome for case in named(cases, "pytest::test_retry[a>b]")] == ["failed"]
    assert named(cases, "size") == []


@settings(deadline=None, max_examples=300)
@given(
    st.lists(
        st.sampled_from(
            ["<testcase name='a>'>", "</testcase>", "<testsuite name='s'>", "</testsuite>", "<failure message='x'/>",
             "<!--", "-->", "ok 1 - a\n", "    not ok 2 - b # SKIP\n", "  ---\n", "  ...\n",
             " " * 50, "#", "<![CDATA[", "]]>", "\0", "ä"]
        ) | st.text(max_size=5), max_size=30,
    )
)  # fmt: skip
def test_any_bytes_give_cases_within_the_report_or_unreadable(parts: list[str]) -> None:
    report = "".join(parts).encode("utf-8", "surrogatepass")
    try:
        cases = read_cases(report)
    except Unreadable:
        return
    for case in cases:
        assert 0 <= case.start <= case.end <= len(report)
        case.quote(report)
