"""Which characters text may hold, and that nothing that a terminal obeys is ever shown."""

from __future__ import annotations

import re
import sys
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.model.text import escape, forbidden, is_clean, is_forbidden, one_line

CLASSES = {
    "null": "\x00", "bell": "\x07", "escape": "\x1b", "carriage return": "\r", "delete": "\x7f", "next line": "\x85",
    "C1": "\x9b", "soft hyphen": "\u00ad", "grapheme joiner": "\u034f", "Arabic letter mark": "\u061c",
    "Hangul filler": "\u115f", "Khmer vowel": "\u17b4", "Mongolian selector": "\u180b", "Mongolian separator": "\u180e",
    "zero width space": "\u200b", "zero width joiner": "\u200d", "right-to-left mark": "\u200f",
    "line separator": "\u2028", "paragraph separator": "\u2029", "bidi override": "\u202e", "word joiner": "\u2060",
    "bidi isolate": "\u2066", "Braille blank": "\u2800", "Hangul filler letter": "\u3164", "surrogate": "\ud83d",
    "private use": "\ue000", "variation selector": "\ufe0f", "byte order mark": "\ufeff", "half-width filler": "\uffa0",
    "interlinear": "\ufff9", "noncharacter": "\uffff", "musical": "\U0001d173", "unassigned": "\U0003ffff",
    "tag": "\U000e0041", "selector supplement": "\U000e0100", "private plane": "\U00100000",
}  # fmt: skip


@pytest.mark.parametrize("name", CLASSES)
def test_every_class_is_found_where_it_stands_and_escaped(name: str) -> None:
    char = CLASSES[name]
    assert list(forbidden(f"caf\u00e9\n\t{char}b")) == [(6, char)]
    assert list(forbidden("caf\u00e9\n\tb")) == []
    assert escape(f"a{char}b") == f"a\\u{{{ord(char):x}}}b"


@pytest.mark.parametrize(
    "text",
    ["plain", "a\n\tb", "caf\u00e9", "cafe\u0301", "nai\u0308ve", "漢字とかな", "한국어", "العربية", "עברית", "हिन्दी",
     "ไทย", "emoji 😀🚀", "👍🏽", "→ ≤ µ €", "nbsp\u00a0\u2009\u3000x", "“quotes” – dash…"],
)  # fmt: skip
def test_ordinary_text_is_let_through(text: str) -> None:
    assert is_clean(text)
    assert escape(text, keep_newlines=True) == text


def test_the_quick_check_agrees_with_the_rule_for_every_character() -> None:
    for code in range(sys.maxunicode + 1):
        char = chr(code)
        if is_clean(char) == is_forbidden(char):
            pytest.fail(f"U+{code:04X}")
    assert is_forbidden("\u202e")
    assert not is_forbidden("a")


@settings(deadline=None, max_examples=300)
@given(st.text(alphabet=st.characters()))
def test_what_is_shown_holds_no_control_byte(text: str) -> None:
    shown = escape(text)
    assert not re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]", shown)
    assert not any(unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn") for char in shown)
    kept = escape(text, keep_newlines=True)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", kept)
    assert kept.count("\n") == text.count("\n")
    assert escape(shown) == shown
    shown.encode()


@settings(deadline=None)
@given(st.text(), st.integers(1, 40))
def test_one_line_is_one_line_of_at_most_so_many_characters(text: str, width: int) -> None:
    line = one_line(text, width)
    assert len(line) <= width
    assert "\n" not in line
    assert is_clean(line)


def test_one_line_says_that_it_was_cut() -> None:
    assert one_line("a\n  b\tc", 10) == "a b c"
    assert one_line("abcdefgh", 5) == "abcd…"
