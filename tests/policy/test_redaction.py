"""A line loses its secrets and nothing else; what was JSON stays JSON."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.policy.json_spans import parse
from gitmem.policy.redaction import marker, redact_line
from gitmem.policy.secret_rules import RULES
from tests.policy.test_secrets import ALNUM, HARMLESS, LABELLED, PW, TOKENS, made

MARKER = re.compile(rb"\[gitmem:removed [a-z-]+\]")


def record(text: str, **more: Any) -> bytes:
    return json.dumps({"type": "user", "message": {"role": "user", "content": text}, **more}).encode()


def content(line: bytes) -> str:
    said: str = json.loads(line)["message"]["content"]
    return said


@pytest.mark.parametrize("name", TOKENS)
def test_a_marker_stands_in_the_place_of_a_token_and_the_rest_stays(name: str) -> None:
    token = TOKENS[name].encode()
    before, after = b"\xff\x00 I set it to ", b" \xe2\x80\x94 and it worked\r"
    out, rules = redact_line(before + token + after)
    assert out == before + marker(rules[0]) + after
    assert name in {rules[0], *rules}
    line = record(f"café\n{TOKENS[name]}\n\ttail")
    out, rules = redact_line(line)
    assert out == line.replace(token, marker(rules[0])) and json.loads(out)


@pytest.mark.parametrize("name", LABELLED)
def test_a_labelled_value_goes_from_text_and_from_json_of_any_depth(name: str) -> None:
    text, value = LABELLED[name]
    spelled: Any = text
    for depth in range(3):
        line = spelled.encode() if depth == 0 else record(spelled)
        out, rules = redact_line(line)
        left = out.decode()
        for _ in range(3):
            left = left.replace("\\n", "\n").replace("\\\\", "\\").replace('\\"', '"')
        assert value not in left and rules, depth
        assert depth == 0 or parse(out) is not None
        spelled = json.dumps({"out": spelled})


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    for line in (text.encode(), record(text), record(json.dumps(json.dumps(text)))):
        assert redact_line(line) == (line, ())
        assert redact_line(line)[0] is line
    assert redact_line(f"{text} and {TOKENS['npm-token']}".encode())[1] == ("npm-token",)


def test_a_disguise_does_not_help() -> None:
    token = TOKENS["github-token"]
    middle = len(token) // 2
    wrapped = base64.b64encode(f"line one of the file\nvalue={token}\nand more".encode()).decode()
    disguises = {
        "zero width": token[:middle] + "\u200b" + token[middle:],
        "colour": "\x1b[32m" + token[:middle] + "\x1b[0m" + token[middle:],
        "wrapped": token[:middle] + "\\\n    " + token[middle:],
        "percent": "https://x.example/cb?u="
        + "".join(f"%{ord(c):02X}" if i % 3 == 0 else c for i, c in enumerate(token)),
        "base64": f"data: {base64.b64encode(f'value={token}'.encode()).decode()}",
        "base64 behind a line end": "\n" + base64.b64encode(f"value={token}".encode()).decode(),
        "base64 in lines": "\n".join(wrapped[i : i + 40] for i in range(0, len(wrapped), 40)),
        "unicode escape": "".join(f"\\u{ord(c):04x}" for c in token),
        "json in json": json.dumps(json.dumps({"out": f"line\n{token}\n"})),
    }
    for how, text in disguises.items():
        for line in (text.encode(), record(text), record(json.dumps({"o": text})), json.dumps({"é": text}).encode()):
            out, rules = redact_line(line)
            assert rules, how
            for half in (token[:middle], token[middle:]):
                assert half.encode() not in out, how
            assert not line.startswith(b"{") or json.loads(out)
    plain = base64.b64encode(b"there is nothing to be hidden in this text").decode()
    assert redact_line(record(plain))[1] == ()


def test_escapes_at_the_edges_of_a_value_are_not_torn() -> None:
    """The first letter of a value may be the last of an escape, for a pattern that reads the line as it stands."""
    value = "abc8" + "Q~" + made(34)
    line = b'{"a":"x\\n' + value[1:].encode() + b'\\u00e9","b":1}'
    out, rules = redact_line(line)
    assert rules and json.loads(out)["b"] == 1 and value[6:].encode() not in out


def test_numbers_and_keys_of_json_can_be_hidden() -> None:
    line = b'{"code": 83315577, "n":[1, -83315577.5e3],"83315577": true, "k": null}'
    out, rules = redact_line(line, ("83315577",))
    assert rules == ("exact",) * 3
    assert json.loads(out) == {
        "code": "[gitmem:removed exact]", "n": [1, "[gitmem:removed exact]"], "[gitmem:removed exact]": True, "k": None,
    }  # fmt: skip


def test_exact_values_are_found_however_they_are_written() -> None:
    value = 'cörrect "horse\\battery'
    spelled = [value, json.dumps(value)[1:-1], json.dumps(json.dumps(value))]
    for text in [*spelled, base64.b64encode(f"the words: {value}".encode()).decode()]:
        for line in (text.encode(), record(text), record(f"twice {text} {text}")):
            out, rules = redact_line(line, ("unrelated", value))
            assert set(rules) == {"exact"} and b"battery" not in out and b"aG9yc2" not in out, line
        assert redact_line(text.encode(), ("unrelated",))[1] == ()


def test_a_private_key_in_a_string_goes_whole_and_one_cut_into_strings_too() -> None:
    text, body = LABELLED["private-key"]
    lines = text.split("\n")
    for line in (record(text), json.dumps({"source": [f"{part}\n" for part in lines], "id": "a1"}).encode()):
        out, _ = redact_line(line)
        assert json.loads(out)
        for part in body.split("\n"):
            assert part.encode() not in out
    # What stands between two mentions of a key in one record is not the key.
    apart = json.dumps({"a": lines[0], "uuid": "0b5e-11", "b": "a sentence of words", "c": lines[-1]}).encode()
    assert redact_line(apart)[0].count(b"a sentence of words") == 1 and b"0b5e-11" in redact_line(apart)[0]


def test_what_a_host_signed_stays_and_what_a_person_wrote_beside_it_goes() -> None:
    token = TOKENS["github-token"]
    signed = made(200, ALNUM + "+/") + "/" + token + "/" + made(60)
    rows: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": "", "signature": signed},
        {"thinkingSignature": json.dumps({"id": "rs_1", "encrypted_content": signed})},
        {"type": "reasoning", "encrypted_content": signed},
    ]
    for row in rows:
        line = json.dumps(row).encode()
        assert redact_line(line) == (line, ())
        out, _ = redact_line(json.dumps({**row, "content": f"use {token}"}).encode())
        assert out.count(token.encode()) == 1 and MARKER.search(out)
        assert redact_line(line, (token,))[1] == ("exact",)


def test_connection_strings_lose_the_password_and_keep_the_rest() -> None:
    schemes = ["postgresql+asyncpg", "mysql+pymysql", "mongodb+srv", "amqp", "redis", "https", "smtp"]
    cases = [f"{scheme}://app:{PW}@db.example.org:5432/app" for scheme in schemes]
    cases += [f"{scheme}://:{PW}@cache:6379/0" for scheme in ("redis", "amqp")]
    cases += [
        "postgres://ro@db.example.org:5432/app?pass" + f"word={PW}&sslmode=require",
        "Server=db;User Id=sa;Pass" + f"word={PW};TrustServerCertificate=true",
    ]
    for text in cases:
        out, rules = redact_line(record(text))
        assert rules and PW.encode() not in out, text
        left = content(out)
        for kept in ("db.example.org:5432", "sslmode=require", "cache:6379/0", "TrustServerCertificate=true"):
            assert (kept in text) == (kept in left)
    untouched = record("postgres://app:$PASSWORD@db.example.org:5432/app and <password> and ****")
    assert redact_line(untouched) == (untouched, ())


@settings(deadline=None)
@given(st.lists(st.sampled_from([*TOKENS.values(), *(text for text, _ in LABELLED.values()), *HARMLESS]), max_size=4))
def test_redacting_twice_changes_nothing(parts: list[str]) -> None:
    for line in ("; ".join(parts).encode(), record("\n".join(parts)), record(json.dumps(parts))):
        once, _ = redact_line(line)
        assert redact_line(once)[0] == once


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None, max_examples=200)
@given(JSON, st.sampled_from(sorted(TOKENS)), st.booleans())
def test_json_stays_json_and_the_same_but_for_markers(value: Any, name: str, plain: bool) -> None:
    planted = {"a": [value], "b": TOKENS[name], "c": json.dumps({"d": TOKENS[name], "e": value})}
    line = json.dumps(planted, ensure_ascii=plain).encode("utf-8", "surrogatepass")
    out, rules = redact_line(line)
    assert len(rules) >= 2 and TOKENS[name].encode() not in out
    again = json.loads(out.decode("utf-8", "surrogatepass"))
    assert json.dumps(again["a"]) == json.dumps([value]) or MARKER.search(json.dumps(again["a"]).encode())
    assert json.dumps(json.loads(again["c"])["e"]) == json.dumps(value) or MARKER.search(again["c"].encode())


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=200))
def test_any_bytes_can_be_read_and_only_markers_are_new(line: bytes) -> None:
    out, rules = redact_line(line, ("abc",))
    if not rules:
        assert out is line
        return
    position = 0
    for part in MARKER.split(out):
        position = line.index(part, position) + len(part)


def test_rules_of_both_finders_are_the_same() -> None:
    assert {rule.name for rule in RULES} >= {*TOKENS, *LABELLED}
