"""Manifests: what is written is read back, and what a stranger wrote is checked."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.errors import CorruptRecord
from gitmem.model.layout import may_name_session, session_folder, session_name
from gitmem.model.sessions import Apart, Chunk, Generation, Manifest, manifest_bytes, manifest_from_bytes

AT = "2026-03-02T10:00:00Z"
GENERATION = Generation(
    1, AT, AT, 120, 3, (Chunk(0, 60, "a" * 64), Chunk(60, 110, "b" * 64)),
    {"github-pat": (1, 3), "exact": (2,)}, (Apart("c" * 64, 5000, "image/png"),),
)  # fmt: skip
MANIFEST = Manifest("claude-code", "8c2f6a10", "jsonl", (GENERATION, Generation(2, AT, AT)), "parent")


def test_what_is_written_is_read_back() -> None:
    raw = manifest_bytes(MANIFEST)
    assert manifest_from_bytes(raw, where="x") == MANIFEST
    assert json.loads(raw)["generations"][0]["removed"] == {"exact": [2], "github-pat": [1, 3]}
    assert (GENERATION.bytes, MANIFEST.captured, MANIFEST.name) == (110, AT, "claude-code/8c2f6a10")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["format"], 2),
        (["session"], ""),
        (["session"], 7),
        (["host"], "x" * 401),
        (["parent"], []),
        (["generations", 0, "number"], -1),
        (["generations", 0, "origin"], True),
        (["generations", 0, "captured"], "../../heads/main"),
        (["generations", 0, "chunks", 0, "start"], 1),
        (["generations", 0, "chunks", 1, "start"], 70),
        (["generations", 0, "chunks", 1, "end"], 60),
        (["generations", 0, "chunks", 0, "sha256"], "A" * 64),
        (["generations", 0, "removed"], [1]),
        (["generations", 0, "apart", 0, "sha256"], "../x"),
        (["generations"], None),
    ],
)
def test_a_fault_is_named(path: list[Any], value: Any) -> None:
    data = json.loads(manifest_bytes(MANIFEST))
    at = data
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    with pytest.raises(CorruptRecord, match="is no manifest of a session"):
        manifest_from_bytes(json.dumps(data).encode(), where="refs/x:manifest.json")


@settings(deadline=None)
@given(st.binary())
def test_no_bytes_raise_anything_else(raw: bytes) -> None:
    with pytest.raises(CorruptRecord):
        manifest_from_bytes(raw, where="x")


@settings(deadline=None)
@given(st.text(st.characters(), min_size=1))
def test_any_id_has_a_name_that_git_takes(identifier: str) -> None:
    name = session_name(identifier)
    assert name == session_name(name) and 0 < len(name) <= 100
    assert name.isascii() and name == name.lower() and ".." not in name and not name.endswith((".lock", "."))
    assert session_folder("claude-code", identifier).count("/") == 2
    for cut in range(len(identifier) + 1):
        assert may_name_session(name, identifier[:cut])


def test_ids_that_differ_only_in_case_differ_in_more() -> None:
    one, other = session_name("ses_AbC"), session_name("ses_aBc")
    assert one != other and one.startswith("ses-abc-")
    assert session_name("8c2f6a10-7d1e-4c55-9a3b-2f1e0d9c8b7a") == "8c2f6a10-7d1e-4c55-9a3b-2f1e0d9c8b7a"
