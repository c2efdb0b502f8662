"""Bytes to records: where lines and values end, what is torn, what is damaged, and what it costs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.capture.records import LONGEST, complete, records
from gitmem.capture.shorten import KEPT, LONG_LINE, shortened
from gitmem.capture.turns import Record
from tests.capture.samples import CASES


def read(data: bytes, suffix: str = "jsonl") -> list[Record]:
    return list(records([data], suffix))


def spans(data: bytes) -> list[bytes]:
    return [data[record.start : record.end] for record in read(data)]


def test_lines_end_at_one_byte_only() -> None:
    data = '{"a":"\u2028 \u2029 \x85 \x0b \x0c \x1c"}\n{"b":1}\n'.encode()
    assert len(data.decode().splitlines()) > 2
    assert [record.data for record in read(data)] == [{"a": "\u2028 \u2029 \x85 \x0b \x0c \x1c"}, {"b": 1}]


@pytest.mark.parametrize(
    ("torn", "kept"),
    [
        (b'{"a":1}\n{"b":', 8),
        (b'{"a":1}\n{"b":"\xf0\x9f\x98', 8),
        (b'{"a":1}\n{"b":2}', 15),
        (b'{"a":1}\n{"b":2}{"c":3}', 22),
        (b'{"a":1}\n{"b":2}{"c"', 8),
        (b'{"a":1}\n12', 8),
        (b'{"a":1}\n"x"', 8),
        (b'{"a":1}\n\xef\xbb', 8),
        (b'{"a":1}\n  ', 8),
        (b"", 0),
        (b"\n", 1),
        (b"text", 0),
    ],
)
def test_what_can_be_captured_now(torn: bytes, kept: int) -> None:
    assert complete(torn) == kept
    assert read(torn) == read(torn[:kept])


def test_values_that_are_glued_or_followed_by_something_else() -> None:
    assert spans(b'{"a":"\xc3\xa9"}{"b":2} \t [3]\n') == [b'{"a":"\xc3\xa9"}', b'{"b":2}', b"[3]"]
    assert spans(b'{"a":1}}\n') == [b'{"a":1}', b"}"]
    assert [record.data for record in read(b'{"a":1}rest\n')] == [{"a": 1}, None]
    assert [record.damaged for record in read(b'{"a":1}rest\n')] == [False, True]
    assert [record.data for record in read(b"12 monkeys\n7\n")] == [None, 7]


def test_what_no_reader_takes_is_a_damaged_record() -> None:
    bad = [b"\0\0\0", b"[" * 5000, b'{"a":' + b"9" * 5000 + b"}", b"\xff\xfe", b'{"a":']
    for line in bad:
        (record,) = read(line + b"\n")
        assert (record.start, record.end, record.data, record.damaged) == (0, len(line), None, True)
    assert [record.data for record in read(b'\0\0{"a":1}\n')] == [None, {"a": 1}]


def test_invalid_utf8_is_replaced_and_said() -> None:
    data = b'{"a":"caf\xe9"}{"b":"\xc3\xa9"}\n{"c":1}\n'
    assert [(record.data, record.damaged) for record in read(data)] == [
        ({"a": "caf\ufffd"}, True), ({"b": "é"}, False), ({"c": 1}, False),
    ]  # fmt: skip
    assert spans(data) == [b'{"a":"caf\xe9"}', b'{"b":"\xc3\xa9"}', b'{"c":1}']


def test_an_indented_document_is_one_record_and_waits_until_it_is_whole() -> None:
    data = json.dumps({"messages": [{"a": "{\n}"}]}, indent=2).encode()
    assert [record.data for record in read(data)] == [{"messages": [{"a": "{\n}"}]}]
    assert complete(data) == len(data)
    assert complete(data[:-1]) == 0
    assert read(data[:-1]) == []
    assert read(data[:-2] + b"\n") == []
    # A damaged line of JSON lines is none.
    assert [record.data for record in read(b'{\n{"a":1}\n')] == [None, {"a": 1}]


def test_a_long_string_is_cut_and_its_bytes_are_not() -> None:
    picture = b'{"a":"' + b"x" * LONG_LINE + b'","b":"' + b"\\u00e9" * KEPT + b'","c":"end"}'
    data = picture + b'{"d":2}\n{"e":"\xc3\xa9"}\n'
    first, second, third = read(data)
    assert len(first.data["a"]) == KEPT
    assert first.data["b"].strip("é") == ""
    assert first.data["c"] == "end"
    assert data[first.start : first.end] == picture
    assert data[second.start : second.end] == b'{"d":2}'
    assert third.data == {"e": "é"}


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.sampled_from([b"x" * 200, b"\\\\", b'\\"', b"\\u00e9", "é😀".encode(), b"\\ud83d\\ude00"]), min_size=1)
)
def test_no_cut_breaks_an_escape_or_a_character(pieces: list[bytes]) -> None:
    body = b"".join(pieces) * (KEPT // len(b"".join(pieces)) + 2)
    line = b'{"a":"' + body + b'","b":"' + b"y" * LONG_LINE + b'"}'
    short = shortened(line)
    value = json.loads(short.data)
    assert json.loads(line)["a"].startswith(value["a"].rstrip("\ud83d"))
    assert len(short.data) < 3 * KEPT
    assert short.origin(len(short.data)) == len(line)


def test_a_line_over_the_limit_is_counted_and_dropped() -> None:
    piece = b"x" * (1 << 20)
    stream = [*[piece] * (LONGEST // len(piece) + 1), b"\n", b'{"a":1}\n']
    large, small = records(stream, "jsonl")
    assert (large.start, large.end, large.data, large.damaged) == (0, LONGEST + len(piece) + 1, None, True)
    assert (small.start, small.data) == (large.end, {"a": 1})


@pytest.mark.parametrize(
    "line",
    [b"{}" * 200_000, b'"' * 400_000, b'"' + b'\\"' * 2_000_000, b"[" * 2_000_000, b"\0" * 2_000_000 + b"{",
     b'{"a":' * 400_000, b'{"a":1}' + b" " * 2_000_000 + b'{"b":2}', b"\\" * 3_000_000, b'"' + b"\\" * 3_000_000],
    ids=range(9),
)  # fmt: skip
def test_hostile_lines_end(line: bytes) -> None:
    """Each of these takes hours when a step is quadratic, and a moment when none is."""
    assert read(line + b"\n")
    assert complete(line) in (0, len(line))


PROBE = """
import json, resource, sys
from gitmem.capture.records import records
from gitmem.capture.claude_code import turns
row = {"type": "user", "uuid": "u", "cwd": "/srv", "message": {"role": "user", "content": "x" * 2000}}
small = json.dumps(row).encode() + b"\\n"
row["message"]["content"] = [{"type": "tool_result", "tool_use_id": "t", "content": "né\\n" * 5_000_000}]
large = json.dumps(row, ensure_ascii=False).encode() + b"\\n"
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
def stream():
    for _ in range(50):
        yield small * 500
    for at in range(0, len(large), 65536):
        yield large[at:at + 65536]
count = sum(1 for _ in turns(records(stream(), "jsonl")))
print(len(large), count, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def test_a_line_of_20_megabytes_in_a_large_file_is_read_in_bounded_memory() -> None:
    done = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True)
    size, count, grown = map(int, done.stdout.split())
    assert size > 20_000_000
    assert count == 2  # the same small turn 25,000 times, and the large one
    assert grown < 100, f"{grown} MiB"


def test_markdown_blocks_end_at_blank_lines_and_changes_of_kind() -> None:
    data = b"\n# aider chat started at 2026-03-02 10:00:00\n> a\n> b\n\n#### one  \ntext\nmore\n\nend"
    assert [record.data for record in read(data, "md")] == [
        "# aider chat started at 2026-03-02 10:00:00", "> a\n> b", "#### one  ", "text\nmore",
    ]  # fmt: skip
    assert read(data + b"\n", "md")[-1].data == "end"


@pytest.mark.parametrize(("name", "count", "damaged"), [("torn", 3, 0), ("full", 4, 0), ("nonl", 4, 0)])
def test_the_shared_torn_file(name: str, count: int, damaged: int) -> None:
    path = CASES / "B072" / f"{name}.jsonl"
    data = (
        path.read_bytes()
        if path.is_file()
        else {"torn": b"{}\n" * 3 + b'{"a":"\xf0\x9f', "full": b"{}\n" * 4}.get(name, b"{}\n" * 3 + b"{}")
    )
    found = read(data)
    assert len(found) == count
    assert sum(record.damaged for record in found) == damaged
