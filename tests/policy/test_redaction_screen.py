"""The screen lets no secret pass, the ways back lead to the right bytes, and hostile lines cost what others do."""

# ruff: noqa: E501
from __future__ import annotations

import base64
import json
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.policy import layers, redaction, screening
from gitmem.policy.json_spans import descend, parse, text_of
from gitmem.policy.layers import Layer, carried, readings
from gitmem.policy.patterns import compiled
from gitmem.policy.screening import may_match, relaxed, scan
from gitmem.policy.secret_rules import RULES
from gitmem.policy.secrets import candidates
from tests.policy.test_secrets import LABELLED, TOKENS


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_the_screen_and_the_keyword_filter_let_no_match_pass(rule: Any) -> None:
    """Whatever a pattern matches holds one of its keywords, in every case of its letters, and is screened."""
    assert rule in RULES

    @settings(deadline=None, max_examples=40, suppress_health_check=list(HealthCheck))
    @given(st.from_regex(rule.pattern, fullmatch=True))
    def holds(text: str) -> None:
        data = text.encode("utf-8", "replace")
        if compiled(rule.pattern).search(data):
            assert compiled(relaxed(rule.pattern)).search(data)
            assert may_match(data)
        if compiled(rule.pattern).search(data.decode()):
            assert rule in candidates(text)

    holds()


def test_the_screen_stops_ordinary_text() -> None:
    ordinary = (
        b'{"input_tokens": 4096, "key": "value", "path": "src/pool.py", "text": "the password is stored elsewhere"}'
    )
    assert not may_match(ordinary)
    assert all(may_match(text.encode()) for text in (*TOKENS.values(), *(text for text, _ in LABELLED.values())))


PIECES = st.sampled_from([
    "\\", "\\\\", "\\n", "\\r\\n", '\\"', "\\u00e9", "\\ud83d\\ude00", "\\ud83d", "\\u200b", "\\u001b[31m", "\x1b[0m", "\\\n  ", "\u200b",
    "é", "\u202e", "\x00", "%41", "%", "%E2%82", "n", "u", "e[1m", "abc", " ", "\n", "\r", "/", "\\/", "\\x1b[1m", "\\0", "\\033[4m", "😀",
])  # fmt: skip


@settings(deadline=None, max_examples=400)
@given(st.lists(PIECES, max_size=12))
def test_a_reading_and_its_way_back_agree(pieces: list[str]) -> None:
    """Bytes that were not replaced stand, in the line, where the way back says."""
    line = "".join(pieces).encode()
    for layer in readings(line):
        end_before = 0
        for position in range(len(layer.data)):
            start, end = layer.span(position, position + 1)
            assert 0 <= start < end <= len(line) and end >= end_before
            assert end - start > 1 or line[start] == layer.data[position]
            end_before = end


@settings(deadline=None, max_examples=400)
@given(st.lists(PIECES, max_size=12))
def test_the_quick_way_to_undo_escapes_is_the_long_one(pieces: list[str]) -> None:
    data = "".join(pieces).encode()
    if layers._holds_unseen(data):
        assert len(layers._ESCAPES_OR_UNSEEN.sub(b"", data)) < len(data)
    else:
        assert layers._without_escapes(data) == layers._ESCAPES.sub(lambda match: layers._meaning(match[0]), data)
        assert not re.search(layers._UNSEEN, data)


@settings(deadline=None)
@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=8), lambda x: st.lists(x) | st.dictionaries(st.text(max_size=4), x)
    )
)
def test_json_is_parsed_with_the_place_of_every_string(value: Any) -> None:
    line = json.dumps([value, {"k": "é\n"}]).encode()
    roots = parse(b" " + line + line + b"\r")
    assert roots is not None and [(node.start, node.end) for node in roots] == [
        (1, 1 + len(line)),
        (1 + len(line), 1 + 2 * len(line)),
    ]
    for node in descend(parse(line) or []):
        if node.kind == "string":
            assert text_of(line, node) == json.loads(line[node.start : node.end])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        '"a"',
        "1",
        "{",
        "[1,]",
        '{"a"}',
        '{"a":}',
        "{1:2}",
        "[1 2]",
        '{"a":1,}',
        "[}",
        "[1]]",
        "[x]",
        '["\\"]',
        "# x",
    ],
)
def test_what_is_no_record_is_no_json(text: str) -> None:
    assert parse(text.encode()) is None
    assert parse(b'{"a":[1,{}]}') is not None


def test_base64_is_found_where_it_begins() -> None:
    token = TOKENS["github-token"]
    for before in ("", "x ", "a=", "\n", '"', "é"):
        data = f"{before}{base64.b64encode(token.encode()).decode()} tail".encode()
        assert [text for text, _, _ in carried(Layer(data))] == [token.encode()]
    assert list(carried(Layer(b"src/gitmem/policy/AbstractFactoryBeanConfiguration and " + b"a9c4" * 20))) == []


HOSTILE = {
    "backslashes": b"\\" * 100_000,
    "quotes": b'"' * 100_000,
    "open": b"[" * 100_000,
    "objects": b'{"a":' * 20_000,
    "labels": b"password" * 12_000,
    "assignments": b"password=" * 11_000,
    "urls": b"a://" * 25_000,
    "url users": b"http://a:" * 11_000,
    "keys": b"-----BEGIN PRIVATE KEY-----" * 3_700,
    "percents": b"%2" * 33_000 + b"%25" * 11_000,
    "base64": b"QUJD" * 25_000,
    "base64 lines": b"QUJDQUJDQUJDQUJD\n" * 6_000,
    "escapes": b"\\u001b[" * 14_000,
    "invisible": "\u200b".encode() * 33_000,
    "readers": b'{"command":"' + b"cat " * 25_000 + b'"}',
    "spaces": b"password" + b" " * 100_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_line_is_read_a_fixed_number_of_times(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work is counted in bytes that are read: the same for each byte of a line four times as long."""
    read: list[int] = []

    def counted(data: bytes, exact: Any = ()) -> Any:
        read.append(len(data))
        return scan(data, exact)

    monkeypatch.setattr(redaction, "scan", counted)

    def cost(line: bytes) -> float:
        read.clear()
        redaction.Redactor().line(line)
        return sum(read) / len(line)

    line = HOSTILE[name]
    assert cost(line * 4) <= cost(line) * 1.2 and cost(line) <= 8


PADDING = ("word " * 1500, "." * 5000, "A" * 5000, "\n" * 300, " ", "", "x", "password", "a_" * 2500, '"', "://")
TEXTS = (*TOKENS.values(), *(text for text, _ in LABELLED.values()))


@settings(deadline=None, max_examples=150)
@given(st.lists(st.sampled_from(PADDING) | st.sampled_from(TEXTS), max_size=8))
def test_looking_only_where_the_screen_matched_finds_the_same(parts: list[str]) -> None:
    data = "".join(parts).encode()
    everywhere = [(rule.name, *span) for rule in RULES for span in screening._matches(rule, data)]
    assert sorted(set(scan(data))) == sorted(set(everywhere))
