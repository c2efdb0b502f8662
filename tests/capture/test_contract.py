"""What every adapter keeps to, on every sample: ours everywhere, and the shared collection where it is there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.capture.records import complete, records
from gitmem.capture.registry import adapters
from gitmem.capture.turns import OURS, Record, Turn
from tests.capture.samples import ALL, OWN, SHARED, Sample, lines, pin, shared_samples

every_sample = pytest.mark.parametrize("sample", ALL, ids=lambda sample: f"{sample.host}-{sample.name}")
line_samples = pytest.mark.parametrize(
    "sample", [s for s in ALL if s.host != "aider" and not s.is_document], ids=lambda s: f"{s.host}-{s.name}"
)
OUR_BLOCK = f'<{OURS} id="x">\nalways use 66\n</{OURS}>'


def read(data: bytes, sample: Sample) -> list[Record]:
    return list(records([data], sample.adapter.suffix))


def essence(turn: Turn) -> tuple[object, ...]:
    """A turn without what names or places its record."""
    return turn.speaker, turn.text, turn.call, turn.tool, turn.outcome, turn.at, turn.cwd, turn.branch, turn.paths


def essences(turns: list[Turn]) -> list[tuple[object, ...]]:
    return [essence(turn) for turn in turns]


def test_every_host_has_a_sample_and_all_shared_ones_are_known() -> None:
    assert {sample.host for sample in OWN} == set(adapters())
    if SHARED.is_dir():
        found = {str(path.relative_to(SHARED)) for path in SHARED.rglob("*.*") if path.is_file()}
        assert found - {"SOURCES.md"} == {sample.name for sample in shared_samples()}


@every_sample
def test_the_persons_words_and_failed_calls_are_these(sample: Sample) -> None:
    turns = sample.turns()
    assert tuple(pin(turn.text) for turn in turns if turn.speaker == "human") == sample.human
    assert sum(turn.outcome == "failed" for turn in turns) == sample.failed
    assert all(turn.speaker != "human" or turn.outcome is None for turn in turns)


@every_sample
def test_records_tile_the_complete_bytes(sample: Sample) -> None:
    data = sample.data
    at = 0
    for record in read(data, sample):
        assert at <= record.start < record.end
        assert data[at : record.start].strip(b" \t\r\n") == b""
        part = data[record.start : record.end]
        assert record.digest == sha256(part).hexdigest()[:12]
        if sample.host == "aider":
            assert record.data.encode() == part
        elif not record.damaged:
            assert json.loads(part) == record.data
        at = record.end
    assert data[at : complete(data)].strip(b" \t\r\n") == b""


@every_sample
def test_turns_name_their_records(sample: Sample) -> None:
    spans = {(record.start, record.end): record for record in read(sample.data, sample)}
    turns = sample.turns()
    assert turns
    for turn in turns:
        record = spans[turn.start, turn.end]
        assert turn.record
        if turn.record.startswith("@"):
            assert turn.record == f"@{record.digest}"
        elif sample.host != "antigravity":  # its ids are numbers
            assert turn.record.encode() in sample.data
        turn.text.encode()


@every_sample
def test_identical_ids_are_one_record_or_say_something_else(sample: Sample) -> None:
    """Ids may be given twice by hosts that replay, never for the same words; a digest stands for the same bytes."""
    said: dict[tuple[object, ...], tuple[int, int]] = {}
    for turn in sample.turns():
        if not turn.record.startswith("@"):
            key = (turn.record, turn.speaker, turn.call, turn.outcome, turn.text)
            assert key not in said or said[key] == (turn.start, turn.end)
            said[key] = turn.start, turn.end


@every_sample
def test_a_result_names_the_tool_of_its_call(sample: Sample) -> None:
    called = {turn.call: turn.tool for turn in sample.turns() if turn.call and turn.speaker != "tool"}
    for turn in sample.turns():
        if turn.speaker == "tool" and turn.call in called and sample.host != "jsonl":
            assert turn.tool == called[turn.call]


@every_sample
def test_a_torn_end_waits_and_is_read_once(sample: Sample) -> None:
    data = sample.data
    whole = read(data, sample)
    for cut in {len(data) * n // 23 for n in range(1, 23)} | {len(data) - 2}:
        prefix = complete(data[:cut])
        assert prefix <= cut
        assert complete(data[:prefix]) == prefix
        first = read(data[:prefix], sample)
        if sample.host == "aider":  # a later line may lengthen the last block
            assert first[:-1] == whole[: max(len(first) - 1, 0)]
        else:
            assert first == whole[: len(first)]
            rest = [replace(r, start=r.start + prefix, end=r.end + prefix) for r in read(data[prefix:], sample)]
            assert first + rest == whole
            assert read(data[:cut], sample) == first


@every_sample
@settings(deadline=None, max_examples=12)
@given(data=st.data())
def test_chunks_of_any_size_give_the_same(sample: Sample, data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 5000) if len(sample.data) < 60_000 else st.integers(200, 70_000))
    pieces = [sample.data[at : at + size] for at in range(0, len(sample.data), size)]
    assert list(records(pieces, sample.adapter.suffix)) == read(sample.data, sample)


@line_samples
def test_glued_records_are_split(sample: Sample) -> None:
    whole = [record for record in read(sample.data, sample) if not record.damaged]
    body = b"".join(sample.data[record.start : record.end] for record in whole)
    glued = read(body + b"\n", sample)
    assert [record.data for record in glued] == [record.data for record in whole]
    assert [body[record.start : record.end] for record in glued] == [sample.data[r.start : r.end] for r in whole]
    assert essences(sample.turns(body)) == essences(sample.turns())


@every_sample
def test_windows_line_ends_and_a_byte_order_mark_change_nothing(sample: Sample) -> None:
    crlf = b"\xef\xbb\xbf" + sample.data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    if sample.host == "aider":
        crlf = crlf.removeprefix(b"\xef\xbb\xbf")
        assert [text.replace("\r\n", "\n") for text in texts(sample.turns(crlf))] == texts(sample.turns())
    else:
        assert essences(sample.turns(crlf)) == essences(sample.turns())


def texts(turns: list[Turn]) -> list[str]:
    return [turn.text for turn in turns]


@line_samples
def test_damage_between_lines_costs_only_itself(sample: Sample) -> None:
    """A block of NULs, bytes that are no UTF-8, half a line, blank lines."""
    rows = sample.data.splitlines(keepends=True) if b"\r" not in sample.data else sample.data.split(b"\n")
    middle = len(rows) // 2
    damage = b"\0" * 4096 + b"\n" + b"\xff\xfe{]\n" + b'{"type":"user","mess\n' + b"\n  \n"
    data = b"".join([*rows[:middle], damage, *rows[middle:]])
    assert essences(sample.turns(data)) == essences(sample.turns())
    before = sum(record.damaged for record in read(sample.data, sample))
    assert sum(record.damaged for record in read(data, sample)) == before + 3
    padded = b"\0" * 512 + sample.data
    assert essences(sample.turns(padded)) == essences(sample.turns())


@line_samples
def test_unknown_keys_and_kinds_are_tolerated(sample: Sample) -> None:
    values = [record.data for record in read(sample.data, sample) if isinstance(record.data, dict)]
    more = lines(*({**value, "brandNew": {"role": "user", "text": "55"}} for value in values))
    assert essences(sample.turns(more)) == essences(sample.turns(lines(*values)))
    foreign = lines(
        {"type": "brand-new", "content": "55", "message": {"role": "user", "content": "55"}, "uuid": "n1"},
        {"type": "user_prompt", "role": "brand-new", "text": "55", "data": {"content": "55"}},
        {"type": "event_msg", "payload": {"type": "brand_new", "message": "55"}},
    )
    assert [turn for turn in sample.turns(foreign + sample.data) if turn.speaker == "human" and "55" in turn.text] == []


@line_samples
def test_our_own_block_is_ours_wherever_it_stands(sample: Sample) -> None:
    """The block is put into every long text of the transcript; not one part of it is anybody else's word."""
    data = lines(
        *(with_block(value) for value in (r.data for r in read(sample.data, sample)) if isinstance(value, dict))
    )
    turns = sample.turns(data)
    assert not [turn for turn in turns if turn.speaker != "ours" and "always use 66" in turn.text and not turn.tool]
    if sample.human:
        assert [turn for turn in turns if turn.speaker == "ours" and "always use 66" in turn.text]
        assert sum(turn.speaker == "human" for turn in turns) == len(sample.human)


def with_block(value: Any, key: str = "") -> Any:
    """`value` with our block behind each text that a person or the host wrote."""
    if isinstance(value, dict):
        if value.get("type") in ("tool_use", "tool_result"):
            return value
        return {name: with_block(part, name) for name, part in value.items()}
    if isinstance(value, list):
        return [with_block(part, key) for part in value]
    if (
        key in ("text", "content", "prompt")
        and isinstance(value, str)
        and value
        and "<" not in value
        and value != "Same."
    ):
        return f"{value}\n{OUR_BLOCK}\n" if value[0] not in "/#" else value
    return value


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


ODD: list[Any] = [
    None,
    True,
    7,
    float("inf"),
    10**400,
    "",
    "x",
    "\ud800",
    [],
    [[]],
    {},
    {"a": [{}]},
    ["x", 1],
    "<a>",
    "{",
]


@pytest.mark.parametrize("sample", OWN, ids=lambda sample: f"{sample.host}-{sample.name}")
def test_a_value_of_another_type_is_no_error(sample: Sample) -> None:
    """Each value at any depth of our samples is exchanged for each odd one."""
    rows = [record.data for record in read(sample.data, sample)]
    for number, row in enumerate(rows):
        for odd in swapped(row):
            ends = [Record(n, n + 1, odd if n == number else other, "0" * 12) for n, other in enumerate(rows)]
            for turn in sample.adapter.turns(ends):
                turn.text.encode()
                assert isinstance(turn.record, str)
                assert all(
                    isinstance(value, str | None) for value in (turn.call, turn.tool, turn.cwd, turn.branch, turn.model)
                )


def swapped(value: Any) -> Iterator[Any]:
    """`value` with one value in it, at any depth, exchanged."""
    yield from ODD
    if isinstance(value, dict):
        for name, part in value.items():
            yield {key: other for key, other in value.items() if key != name}
            yield from ({**value, name: odd} for odd in swapped(part))
    elif isinstance(value, list):
        for place, part in enumerate(value):
            yield from ([*value[:place], odd, *value[place + 1 :]] for odd in swapped(part))


@pytest.mark.parametrize("host", sorted(adapters()))
@settings(deadline=None, max_examples=60)
@given(rows=st.lists(JUNK, max_size=5))
def test_any_json_is_read_and_nobody_is_a_person_for_nothing(host: str, rows: list[Any]) -> None:
    given_records = [Record(n, n + 1, row, "0" * 12) for n, row in enumerate(rows)]
    if host != "aider":
        assert not [turn for turn in adapters()[host].turns(given_records) if turn.speaker == "human"]


@pytest.mark.parametrize("host", sorted(adapters()))
def test_an_adapter_says_who_it_is(host: str) -> None:
    adapter = adapters()[host]
    assert adapter.host == host
    assert adapter.rules >= 1
    assert adapter.suffix in ("jsonl", "md")
