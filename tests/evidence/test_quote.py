from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.evidence.quote import QUOTE_LENGTH, cut, occurs, telling_line
from gitmem.model.text import forbidden


def test_the_line_that_tells_most_is_quoted() -> None:
    assert telling_line(b"{\r\n  ----------------------------\r\n\tpool size 20;\r\n}\r\n") == "pool size 20;"
    assert telling_line(b"\n \t\r\n") is None
    assert telling_line(b"}\n);\nfix\n") is None
    assert telling_line(b"") is None


def test_lines_that_may_not_be_stored_are_passed_over() -> None:
    assert telling_line("safe\nlonger but with \u202e bidi\n".encode()) == "safe"
    assert telling_line(b"okay\n\xff\xfe caf\xe9 in latin-1\n") == "okay"
    assert cut("\ufeffpool".encode()) == "pool"
    assert cut(b"\x1b[31mred") is None


def test_the_cut_is_at_a_character() -> None:
    quote = cut(("é" * 500).encode())
    assert quote == "é" * QUOTE_LENGTH
    assert cut(b"x" * 10_000_000) == "x" * QUOTE_LENGTH


def test_word_for_word_means_no_normalisation() -> None:
    cited = "use pool size 20 — don’t touch prod. cafe\u0301\r\n".encode()
    assert occurs("don’t touch", cited) is True
    assert occurs("don't touch", cited) is False
    assert occurs("Use pool", cited) is False
    assert occurs("caf\u00e9", cited) is False
    assert occurs("pool  size", cited) is False
    assert occurs("pool size 200", cited) is False
    assert occurs("", cited) is False
    assert occurs("\ud800", cited) is False
    assert occurs(None, cited) is None


@settings(deadline=None)
@given(st.binary(max_size=600) | st.text(max_size=600).map(lambda text: text.encode("utf-8", "replace")))
def test_a_chosen_quote_is_in_the_bytes_short_and_clean(data: bytes) -> None:
    quote = telling_line(data)
    if quote is not None:
        assert occurs(quote, data)
        assert len(quote) <= QUOTE_LENGTH and quote.strip() == quote and not any(forbidden(quote))
