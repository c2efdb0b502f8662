"""Drafts as people and agents write them; the check of foreign data agrees with what can be built of it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.errors import UsageError
from gitmem.model.drafts import INPUT_LIMIT, YAML_DRAFT_NODES, YAML_LIMIT, draft_of, draft_text, read_drafts
from gitmem.model.nouns import Config, Draft, Event, Memory, Tombstone, Valid
from gitmem.model.read import problems
from gitmem.model.records import _keys, from_data, memory_bytes, memory_from_bytes, to_data
from tests.model.samples import MEMORY, REFS, clean_texts, memories, trees
from tests.model.test_records import CONFIG, EVENT, TOMBSTONE

YAML_ONE = b"""\
# yaml-language-server: $schema=./draft.schema.json
kind: fact
title: The pool has 20 connections
tags: [redis]
valid: {from: "2026-03-02"}
evidence:
  - file:src/pool.py:2
  - {type: url, url: "https://example.invalid", sha256: "ab"}
"""
DATA: dict[str, Any] = {
    "kind": "fact",
    "title": "The pool has 20 connections",
    "tags": ["redis"],
    "valid": {"from": "2026-03-02"},
    "evidence": ["file:src/pool.py:2", {"type": "url", "url": "https://example.invalid", "sha256": "ab"}],
}
ONE = from_data(Draft, DATA)


def as_json(*drafts: Any, indent: int | None = None) -> bytes:
    return json.dumps(list(drafts) if len(drafts) != 1 else drafts[0], indent=indent).encode()


def faults(raw: bytes) -> list[str]:
    with pytest.raises(UsageError) as caught:
        read_drafts(raw, name="d")
    return list(caught.value.details.get("problems", [caught.value.message]))


@pytest.mark.parametrize(
    ("raw", "count"),
    [
        (YAML_ONE, 1),
        (b"\xef\xbb\xbf" + YAML_ONE, 1),
        (YAML_ONE.replace(b"\n", b"\r\n"), 1),
        (b"---\n" + YAML_ONE, 1),
        (as_json(DATA), 1),
        (b"\xef\xbb\xbf" + as_json(DATA), 1),
        (as_json(DATA, indent=4).replace(b"    ", b"\t").replace(b"\n", b"\r\n"), 1),
        (as_json(DATA, DATA, indent=1), 2),
        (as_json(DATA) + b"\n" + as_json(DATA) + b"\n\n" + as_json(DATA) + b"\n", 3),
        (b"- " + YAML_ONE.split(b"\n", 1)[1].rstrip().replace(b"\n", b"\n  ") + b"\n- " + as_json(DATA) + b"\n", 2),
        (draft_text(ONE).encode(), 1),
    ],
    ids=["yaml", "bom", "crlf", "marked", "json", "json bom", "json tabs", "list", "lines", "yaml list", "written"],
)  # fmt: skip
def test_every_way_of_writing_a_draft(raw: bytes, count: int) -> None:
    assert read_drafts(raw, name="d") == [ONE] * count


@settings(deadline=None, max_examples=60)
@given(memories)
def test_what_an_editor_opens_reads_back(memory: Memory) -> None:
    plain = replace(
        memory, alternatives=(), steps=(), links=(), evidence=(), extra={}, valid=Valid(memory.valid.start)
    )  # fmt: skip
    draft = draft_of(plain)
    assert read_drafts(draft_text(draft).encode(), name="d") == [draft]
    assert (draft.kind, draft.title, draft.audience) == (memory.kind, memory.title, memory.scope.audience)


def test_every_kind_of_reference_is_taken_in_full() -> None:
    draft = draft_of(replace(MEMORY, extra={}))
    assert draft.evidence == tuple(REFS.values())
    assert read_drafts(draft_text(draft).encode(), name="d") == [draft]


def test_all_faults_of_all_drafts_are_told_at_once() -> None:
    bad = {**DATA, "titel": "x", "kind": "rumour"}
    worse = {"kind": "fact", "title": 5, "evidence": [7, {"type": "file", "path": "x"}]}
    found = faults(as_json(DATA, bad, worse, 3, None))
    for words in (
        ("draft 2: titel", "not a field"), ("draft 2: kind",), ("draft 3: title", "string"),
        ("draft 3: evidence.0",), ("draft 3: evidence.1.blob", "required"), ("draft 3: evidence.1.commit", "required"),
        ("draft 4", "not a mapping"), ("draft 5", "not a mapping"),
    ):  # fmt: skip
        assert any(all(word in fault for word in words) for fault in found), (words, found)
    assert not any(fault.startswith("draft 1:") for fault in found)


def test_faults_of_yaml_name_the_line() -> None:
    assert faults(YAML_ONE.replace(b"tags:", b"tagz:")) == ["d: tagz (line 4): is not a field of this format"]
    two = b"- kind: fact\n  title: x\n- kind: fact\n  titel: x\n"
    assert faults(two) == [
        "draft 2: title (line 3): field required",
        "draft 2: titel (line 4): is not a field of this format",
    ]


def test_faults_of_json_lines_name_the_line() -> None:
    raw = as_json(DATA) + b"\n\n{not json\n" + as_json({**DATA, "x": 1}) + b'\n{"kind":"fact","kind":"fact"}\n'
    found = faults(raw)
    assert [fault.split(":")[0] for fault in found] == ["line 3", "line 4", "line 5"]
    assert "twice" in found[2]


@pytest.mark.parametrize(
    ("raw", "word"),
    [
        (b"", "no draft"), (b"\n# only a comment\n", "no draft"), (b"[]", "no draft"), (b"{}", "title"),
        (b"word\n", "not a mapping"), (b"kind: fact\ntitle: \xff\n", "UTF-8"), (as_json(DATA)[:-1] + b"\xff}", "UTF-8"),
        (as_json(DATA).decode().encode("utf-16"), "UTF-8"), (as_json(DATA).decode().encode("utf-16-le"), "d"),
        (b'{"kind":"fact","kind":"fact","title":"x"}', "'kind' stands twice"),
        (b"kind: fact\nkind: fact\n", "stands twice"), (b'{"kind":"fact","title":NaN}', "NaN is not a number"),
        (b"[" * 100_000, "d"), (b'{"a":' * 100_000, "d"), (b"a: &x b\n", "anchors"),
        (YAML_ONE + b"---\n" + YAML_ONE, "second"),
        (b"kind: fact\ntitle: 007\n", "title"), (b"{kind: fact, title: x, y: [}", "d"),
        (b"x" * (INPUT_LIMIT + 1), "limit"), (b"a: " + b"x" * YAML_LIMIT, "limit"),
        (b"- x\n" * YAML_DRAFT_NODES, "more than"),
    ],
    ids=range(21),
)  # fmt: skip
def test_what_is_no_draft_is_wrong_usage(raw: bytes, word: str) -> None:
    assert read_drafts(YAML_ONE, name="d")
    found = faults(raw)
    assert any(word in fault for fault in found), found


def test_flow_yaml_is_a_draft_too() -> None:
    assert read_drafts(b"{kind: fact, title: 'a b', tags: [x]}\n", name="d") == [Draft("fact", "a b", tags=("x",))]


def test_many_drafts_as_json_lines() -> None:
    raw = (as_json(DATA) + b"\n") * 3000
    assert read_drafts(raw, name="d") == [ONE] * 3000


# The check and the constructor

RECORDS: dict[Any, Any] = {Memory: MEMORY, Draft: ONE, Tombstone: TOMBSTONE, Config: CONFIG, Event: EVENT}


@pytest.mark.parametrize("cls", RECORDS)
@settings(deadline=None, max_examples=150)
@given(st.data())
def test_what_the_check_lets_through_can_be_built_and_written(cls: Any, data: st.DataObject) -> None:
    """One value of a good record is put in the place of another, or something else is: either the check finds it, or
    a record comes of it that gives the same data."""
    good = json.loads(json.dumps(to_data(RECORDS[cls])))
    assert problems(cls, good, {}) == []
    places: list[tuple[Any, Any]] = []

    def collect(value: Any) -> None:
        steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for step, item in steps:
            places.append((value, step))
            collect(item)

    collect(good)
    container, step = data.draw(st.sampled_from(places))
    container[step] = data.draw(
        trees | st.sampled_from([item[at] for item, at in places]).map(lambda x: json.loads(json.dumps(x)))
    )
    if not problems(cls, good, {}):
        record = from_data(cls, good)
        written = to_data(record)
        assert problems(cls, json.loads(json.dumps(written)), {}) == []
        assert from_data(cls, json.loads(json.dumps(written))) == record


@pytest.mark.parametrize("cls", RECORDS)
def test_every_field_of_the_wrong_type_is_named(cls: Any) -> None:
    good = json.loads(json.dumps(to_data(RECORDS[cls])))
    for _, key, _ in _keys(cls):
        found = problems(cls, {**good, key: [1.5]}, {(key,): 7}, closed=cls is Draft)
        assert found, key
        assert all(fault.startswith(f"{key} (line 7)") or fault.startswith(f"{key}.") for fault in found), found


def test_nobody_can_hide_a_fault_behind_the_name_of_a_short_form() -> None:
    assert problems(Draft, {"kind": "fact", "title": "x"}, {}, closed=True) == []
    found = problems(
        Draft, {"kind": "fact", "title": "x", "str": 1, "steps": [{"text": "t", "str": 1}]}, {}, closed=True
    )
    assert [fault.split(":")[0] for fault in found] == ["steps.0.str", "str"]


@settings(deadline=None, max_examples=60)
@given(clean_texts)
def test_a_title_written_by_hand_in_quotes_is_that_title(title: str) -> None:
    raw = b"# by hand\nkind: fact\ntitle: " + json.dumps(title, ensure_ascii=False).encode() + b"\n"
    assert read_drafts(raw, name="d") == [Draft("fact", title)]


def test_a_memory_is_not_made_anew_by_a_look_at_it() -> None:
    assert memory_from_bytes(memory_bytes(MEMORY)) == MEMORY
    assert draft_of(MEMORY).extra == {}
