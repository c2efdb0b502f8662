from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.errors import UsageError
from gitmem.evidence.short import Place, is_revision, line_range, parse, places, splits


def test_role_stands_before_the_type_and_only_there() -> None:
    assert parse("file:a=b:3") == ("supports", "file", "a=b:3")
    assert parse("contradicts=file:a") == ("contradicts", "file", "a")
    assert parse("invalidated_by=commit:HEAD") == ("invalidated_by", "commit", "HEAD")
    assert parse('human:"x=y: z"') == ("supports", "human", '"x=y: z"')


@pytest.mark.parametrize("text", ["", "src/pool.py", "refutes=file:a", "=file:a", ":a", "fi le:a", "a b"])
def test_what_is_no_short_form_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert "file:" in caught.value.hint


def test_readings_of_a_place_the_most_literal_first() -> None:
    assert places("src/a b.py:40-58") == [Place("src/a b.py:40-58", None, None), Place("src/a b.py", None, "40-58")]
    assert places("a@HEAD@{1}:2") == [
        Place("a@HEAD@{1}:2", None, None),
        Place("a@HEAD@{1}", None, "2"),
        Place("a@HEAD", "{1}", "2"),
        Place("a", "HEAD@{1}", "2"),
    ]


def test_splits_are_bounded_and_have_two_parts() -> None:
    assert splits("#a#", "#") == []
    assert splits("a#b#c", "#") == [("a#b", "c"), ("a", "b#c")]
    assert len(splits("#".join("x" * 500), "#")) == 16


@pytest.mark.parametrize(
    ("lines", "right"),
    [("12", (12, 12)), ("40-58", (40, 58)), ("0", None), ("5-4", None), ("1-", None), ("-1", None), ("١", None),
     ("1" * 5000, None), ("1\n", None)],
)  # fmt: skip
def test_line_ranges(lines: str, right: tuple[int, int] | None) -> None:
    assert line_range(lines) == right


@pytest.mark.parametrize(
    "text", ["--output=x", "-q", "^HEAD", "a..b", "HEAD:src", "a\0b", "a\nb", "", "x" * 300, "\ud800"]
)
def test_what_is_no_revision(text: str) -> None:
    assert is_revision("HEAD@{1}") and is_revision("v1.2~3^2") and is_revision("fix/ä")
    assert not is_revision(text)


@settings(deadline=None)
@given(st.text())
def test_parsing_any_text_gives_a_form_or_a_usage_error(text: str) -> None:
    try:
        short = parse(text)
    except UsageError:
        return
    assert text.endswith(f"{short.type}:{short.rest}")
    assert all(place.path and place.path in short.rest for place in places(short.rest) if short.rest)
