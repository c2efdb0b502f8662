"""An edit of a file that a person laid out changes the lines of what changed, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.model.nouns import FileRef, Link, Memory, Valid
from gitmem.model.records import edited_bytes, memory_bytes, memory_from_bytes
from tests.model.samples import HOSTILE, memories

BY_HAND = """\
# yaml-language-server: $schema=../../../schemas/memory.schema.json
# Written by hand.
format: 1
id:   "7k3q9dxwm2ab"
kind: fact

title: 'The pool: 20 connections'   # measured twice
x_team: {name: infra,  weights: [1, 2]}  # not ours
body: >-
  folded
  text
# Who may read it.
scope: {project: "shop-k3x9qd", audience: team}
status: "active"  # since March
tags: [redis, 'flaky-tests']
valid: {from: "2026-03-02", until: null}
origin: human
cue: null
links:
- type: "relates_to"   # the other pool
  to: "2m8r4cvte9hk"
evidence:
    # the file
    - {type: file, path: src/pool.py, lines: "2", blob: "1f", commit: "a9", sha256: "77"}

# The end.
"""


def lines_changed(old: str, new: str) -> list[str]:
    before, after = old.split("\n"), new.split("\n")
    return [line for line in after if line not in before] + [f"-{line}" for line in before if line not in after]


def edit(memory: Memory, **fields: Any) -> str:
    new = replace(memory, **fields)
    edited = edited_bytes(BY_HAND.encode(), new)
    assert memory_from_bytes(edited) == new
    return edited.decode()


@pytest.fixture
def memory() -> Memory:
    return memory_from_bytes(BY_HAND.encode())


def test_an_edit_of_nothing_changes_nothing(memory: Memory) -> None:
    assert edited_bytes(BY_HAND.encode(), memory) == BY_HAND.encode()


def test_a_changed_text_keeps_the_comment_beside_it(memory: Memory) -> None:
    assert edit(memory, status="stale") == BY_HAND.replace('"active"', '"stale"')
    changed = edit(memory, title="Two: words\nand a line")
    assert 'title: "Two: words\\nand a line"  # measured twice' in changed
    assert len(lines_changed(BY_HAND, changed)) == 2


def test_a_changed_block_is_written_anew_and_its_neighbours_are_not(memory: Memory) -> None:
    changed = edit(memory, body="one\ntwo", valid=Valid("2026-03-02", "2026-04-02"))
    assert lines_changed(BY_HAND, changed) == [
        "body: |-", "  one", "  two", "valid:", '  from: "2026-03-02"', '  until: "2026-04-02"',
        "-body: >-", "-  folded", "-  text", '-valid: {from: "2026-03-02", until: null}',
    ]  # fmt: skip


def test_a_list_that_grew_keeps_its_items_and_its_indentation(memory: Memory) -> None:
    link = Link("superseded_by", "9k3q9dxwm2ab")
    ref = FileRef("b.py", "1f", "a9", "77", quote="a\nb", role="invalidated_by")
    changed = edit(memory, links=(*memory.links, link), evidence=(*memory.evidence, ref))
    assert '  to: "2m8r4cvte9hk"\n- type: superseded_by\n  to: "9k3q9dxwm2ab"\nevidence:' in changed
    assert "    # the file\n" in changed
    assert "    - type: file\n      path: b.py\n" in changed
    assert not [line for line in lines_changed(BY_HAND, changed) if line.startswith("-") and "type" not in line]


def test_a_new_field_stands_behind_its_neighbour_and_a_removed_one_leaves_its_comment(memory: Memory) -> None:
    added = edit(memory, aliases=("pool",), applies_to=("src/**",))
    assert "text\naliases:\n  - pool\n# Who may read" in added
    first = added.index("applies_to:\n")
    assert added.index("scope:") < first
    gone = edit(memory, extra={})
    assert "x_team" not in gone
    assert lines_changed(BY_HAND, gone) == ["-x_team: {name: infra,  weights: [1, 2]}  # not ours"]


def test_a_canonical_file_stays_canonical(memory: Memory) -> None:
    canonical = memory_bytes(memory)
    changed = replace(memory, title="another")
    assert edited_bytes(canonical, changed) == memory_bytes(changed)
    commented = canonical.replace(b"kind: fact\n", b"# mine\nkind: fact\n")
    assert edited_bytes(commented, changed).count(b"# mine\n") == 1


@pytest.mark.parametrize(
    "old",
    [b"{format: 1, id: x}\n", b"  id: x\n", b"not: [yaml", b"", b"? id\n: x\n", b"--- {id: x}\n"],
)
def test_what_cannot_be_edited_is_written_canonically(old: bytes, memory: Memory) -> None:
    assert edited_bytes(old, memory) == memory_bytes(memory)
    assert edited_bytes(BY_HAND.encode(), memory) != memory_bytes(memory)


@settings(deadline=None, max_examples=50)
@given(memories)
def test_the_result_always_reads_as_the_new_record(new: Memory) -> None:
    assert memory_from_bytes(edited_bytes(BY_HAND.encode(), new)) == new


@settings(deadline=None, max_examples=100)
@given(st.sampled_from(HOSTILE), st.sampled_from(HOSTILE), st.sampled_from(["title", "status", "body"]))
def test_hostile_texts_replace_each_other(old: str, new: str, field: str) -> None:
    first = edited_bytes(BY_HAND.encode(), replace(memory_from_bytes(BY_HAND.encode()), **{field: old}))
    second = replace(memory_from_bytes(first), **{field: new})
    edited = edited_bytes(first, second)
    assert memory_from_bytes(edited) == second
    assert b"# Who may read it." in edited
