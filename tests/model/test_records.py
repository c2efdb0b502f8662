"""Records to bytes and back; the bytes of the format, which may not change; events."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.errors import CorruptRecord
from gitmem.model.nouns import (
    Actor,
    Config,
    Event,
    GateRecord,
    Memory,
    Previous,
    Proposal,
    Scope,
    Tombstone,
    TombstoneEntry,
)
from gitmem.model.records import (
    config_bytes,
    config_from_bytes,
    digest,
    edited_bytes,
    event_bytes,
    event_from_bytes,
    memory_bytes,
    memory_from_bytes,
    texts,
    to_data,
    tombstone_bytes,
    tombstone_from_bytes,
)
from gitmem.model.vocabulary import FILE_LIMIT, FORMAT, KINDS
from gitmem.model.yaml_codec import _read_canonical
from tests.model.samples import HOSTILE, MEMORY, REFS, memories

GOLDEN = Path(__file__).parents[1] / "golden"
SHARED = Path(__file__).parents[3] / "shared/cases/bugs"

TOMBSTONE = Tombstone(
    digest="5f" * 32,
    project="shop-k3x9qd",
    kind_class="claim",
    title="Pool size is 50",
    history=(
        TombstoneEntry("reject", "2026-03-02T10:00:00Z", "01hqyc3v0w0000000000000000", "7k3q9dxwm2ab", "it is 20"),
        TombstoneEntry("lift", "2026-03-03T10:00:00Z", "01hqyc3v0w0000000000000001", "7k3q9dxwm2ab", "no: it is 50"),
    ),
)
CONFIG = Config(
    project="shop-k3x9qd",
    aliases=("shop-aaaaaa",),
    review="forge",
    evidence={"fact": ("file", "test"), "decision": ("human",)},
    unobservable="refuse",
)
EVENT = Event(
    id="01hqyc3v0w0000000000000000",
    at="2026-03-02T10:00:00Z",
    op="accept",
    memory="7k3q9dxwm2ab",
    status_from="candidate",
    status_to="active",
    before="aa" * 32,
    after="bb" * 32,
    reason="measured: caf\u00e9 \u2028 stays",
    actor=Actor("terminal", "person@example.invalid"),
    gate=GateRecord(1, "admit", ("verified",)),
    writer="c1",
    prev=Previous("events/2026-03/7/k/x.json", "cc" * 32),
    proposed=Proposal("2026-03-01T10:00:00Z", Actor("agent", host="claude-code", session="8c2f"), "dd" * 32),
)
TRIPS: dict[str, tuple[Any, Any, Any]] = {
    "memory.yaml": (MEMORY, memory_bytes, memory_from_bytes),
    "tombstone.yaml": (TOMBSTONE, tombstone_bytes, tombstone_from_bytes),
    "config.yaml": (CONFIG, config_bytes, config_from_bytes),
    "event.json": (EVENT, event_bytes, event_from_bytes),
}


@pytest.mark.parametrize("name", TRIPS)
def test_the_bytes_of_the_format_stay_as_they_are(name: str) -> None:
    """When this fails, every digest that was ever written is another one: that is a new format."""
    record, to_bytes, from_bytes = TRIPS[name]
    golden = (GOLDEN / name).read_bytes()
    assert to_bytes(record) == golden
    assert from_bytes(golden) == from_bytes(golden, trusted=True) == record


@settings(deadline=None, max_examples=60)
@given(memories)
def test_any_memory_comes_back_with_the_fields_that_nobody_knows(memory: Memory) -> None:
    raw = memory_bytes(memory)
    assert memory_from_bytes(raw) == memory_from_bytes(raw, trusted=True) == memory
    assert memory_bytes(memory_from_bytes(raw)) == raw


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_and_every_reference_comes_back(kind: Any) -> None:
    for ref in REFS.values():
        memory = replace(MEMORY, kind=kind, evidence=(ref,))
        assert memory_from_bytes(memory_bytes(memory)) == memory


def test_the_bytes_are_read_by_the_fast_reader() -> None:
    assert _read_canonical(memory_bytes(MEMORY).decode()) == to_data(MEMORY)


@pytest.mark.parametrize("text", HOSTILE, ids=repr)
def test_hostile_texts_come_back_in_every_record(text: str) -> None:
    for _, (record, to_bytes, from_bytes) in TRIPS.items():
        field = (
            {"title": text} if hasattr(record, "title") else {"project": text} if record is CONFIG else {"reason": text}
        )
        changed = replace(record, **field, extra={"x": text, "y": [text]})
        assert from_bytes(to_bytes(changed)) == changed


def test_what_is_trusted_is_read_and_written_without_the_slow_libraries() -> None:
    program = (
        "import sys; from pathlib import Path; from gitmem.model.records import *;"
        "raw = Path(sys.argv[1]).read_bytes();"
        "m = memory_from_bytes(raw, trusted=True); assert memory_bytes(m) == raw;"
        "slow = {'pydantic', 'ruamel', 'ruamel.yaml', 'ryaml'} & sys.modules.keys(); assert not slow, slow;"
        "memory_from_bytes(raw); assert 'pydantic' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program, str(GOLDEN / "memory.yaml")], check=True)


def test_digest_is_the_sha256_of_the_bytes() -> None:
    assert digest(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_texts_names_every_string_and_its_place() -> None:
    found = dict(texts(replace(MEMORY, extra={"x": {"k": ["deep"]}})))
    assert found["title"] == MEMORY.title
    assert found["evidence.0.quote"] == "412 passed in 31.20s"
    assert found["x.k.0"] == "deep"
    assert {"scope.project", "alternatives.0.why", "steps.1.text", "links.1.why"} <= found.keys()


# A format that is too new


def newer(raw: bytes) -> bytes:
    return raw.replace(b"format: 1\n", b"format: 99\n").replace(b'"format":1', b'"format":99')


@pytest.mark.parametrize("name", TRIPS)
@pytest.mark.parametrize("trusted", [True, False])
def test_a_newer_format_is_not_read_and_says_to_upgrade(name: str, trusted: bool) -> None:
    record, to_bytes, from_bytes = TRIPS[name]
    assert from_bytes(to_bytes(record), trusted=trusted) == record
    with pytest.raises(CorruptRecord, match="format 99") as caught:
        from_bytes(newer(to_bytes(record)), path="p", trusted=trusted)
    assert "upgrade gitmem" in caught.value.hint


def test_a_newer_format_is_never_rewritten() -> None:
    changed = replace(MEMORY, title="another")
    assert memory_from_bytes(edited_bytes(memory_bytes(MEMORY), changed)) == changed
    with pytest.raises(CorruptRecord, match="format 99"):
        edited_bytes(newer(memory_bytes(MEMORY)), changed)


@pytest.mark.parametrize("number", ["0", "-1", '"1"', "true", "null"])
def test_a_format_that_never_was_is_refused(number: str) -> None:
    raw = memory_bytes(MEMORY)
    assert memory_from_bytes(raw).format == FORMAT
    with pytest.raises(CorruptRecord, match="format"):
        memory_from_bytes(raw.replace(b"format: 1\n", f"format: {number}\n".encode()))


# Wrong shapes


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("title: Retry the redis connect with backoff", "title: 12", ("title", "line 6", "string")),
        ("title: Retry the redis connect with backoff", "title:", ("title", "line 6", "string")),
        ("kind: solution", "kind: rumour", ("kind", "line 5")),
        ("    generation: 1", "    generation: one", ("evidence.0.span.generation", "integer")),
        ("    generation: 1", "    generation: true", ("evidence.0.span.generation", "integer")),
        ('    commit: "a9c4', '    commits: "a9c4', ("evidence.1.commit", "required")),
        ("  - type: url", "  - type: rumour", ("evidence.6", "rumour")),
        ("  - type: url", "  - types: url", ("evidence.6", "type")),
        ("tags:\n  - redis\n", "tags:\n  - 5\n", ("tags.0", "string")),
        ("valid:\n", "valid: null\nx_valid:\n", ("valid", "object")),
        ("tags:\n  - redis\n  - flaky-tests\n", "tags: redis\n", ("tags", "array")),
    ],
)  # fmt: skip
def test_a_wrong_type_is_named_with_its_place_and_line(old: str, new: str, words: tuple[str, ...]) -> None:
    # The comment inside keeps the text from being canonical, so that the lines are known.
    text = memory_bytes(MEMORY).decode().replace("format: 1\n", "format: 1\n# by hand\n")
    assert memory_from_bytes(text.encode()) == MEMORY
    assert old in text
    with pytest.raises(CorruptRecord) as caught:
        memory_from_bytes(text.replace(old, new).encode(), path="memories/7/k/x.yaml")
    assert all(word in caught.value.message for word in ("memories/7/k/x.yaml", *words)), caught.value.message


def test_lines_are_told_for_a_file_in_canonical_form_too() -> None:
    raw = memory_bytes(MEMORY)
    assert memory_from_bytes(raw) == MEMORY
    with pytest.raises(CorruptRecord, match=r"kind \(line 4\)"):
        memory_from_bytes(raw.replace(b"kind: solution", b"kind: rumour"))


def test_all_faults_of_a_record_are_told_at_once() -> None:
    raw = memory_bytes(MEMORY).replace(b"kind: solution", b"kind: rumour").replace(b"origin: inferred", b"origin: 5")
    with pytest.raises(CorruptRecord) as caught:
        memory_from_bytes(raw)
    assert [fault.split()[0] for fault in caught.value.details["problems"]] == ["kind", "origin"]


def test_what_was_wrongly_trusted_is_corrupt_too() -> None:
    assert memory_from_bytes(memory_bytes(MEMORY), trusted=True) == MEMORY
    for raw in (
        b"id: x\n",
        b"- a\n",
        b"",
        b"{}\n",
        memory_bytes(MEMORY).replace(b"  - redis\n  - flaky-tests\n", b"  x: y\n"),
    ):
        with pytest.raises(CorruptRecord):
            memory_from_bytes(raw, trusted=True)


# Events


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        (b'"op":"accept"', b'"op":"accept","op":"accept"', "twice"),
        (b'"op":"accept"', b'"op": "accept"', "canonical"),
        (b"\n", b"", "canonical"),
        (b"\n", b"\n\n", "canonical"),
        (b"caf\\u00e9", "caf\u00e9".encode(), "canonical"),
        (b'"format":1', b'"format":1.0', "format"),
        (b'"format":1', b'"x":1e400,"format":1', "canonical"),
        (b'"format":1', b'"x":NaN,"format":1', "NaN"),
        (b'"format":1', b'"x":' + b"[" * 900 + b"]" * 900 + b',"format":1', "recursion"),
        (b'"format":1', b'"x":' + b"[" * 30_000 + b"]" * 30_000 + b',"format":1', "JSON"),
        (b'"format":1', b'"x":"' + b"x" * FILE_LIMIT + b'","format":1', "limit"),
        (b'"format":1', b'"x":"\xff","format":1', "JSON"),
        (b'"memory":"7k3q9dxwm2ab",', b"", "memory: field required"),
        (b'"version":1', b'"version":"1"', "gate.version"),
        (b"{", b"[", "JSON"),
    ],
)  # fmt: skip
def test_an_event_in_any_other_form_is_refused(old: bytes, new: bytes, word: str) -> None:
    raw = event_bytes(EVENT)
    assert event_from_bytes(raw) == EVENT
    assert old in raw
    with pytest.raises(CorruptRecord, match=word):
        event_from_bytes(raw.replace(old, new, 1), path="events/x.json")


def test_unknown_fields_of_an_event_survive_where_they_stood_last() -> None:
    event = replace(EVENT, extra={"x": [1, {"y": None}]}, actor=replace(EVENT.actor, extra={"z": "1"}))
    assert event_from_bytes(event_bytes(event)) == event
    assert event_bytes(event).isascii()
    assert json.loads(event_bytes(event))["from"] == "candidate"


@settings(deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])), st.none() | st.text(max_size=5))
def test_any_event_comes_back(reason: str, memory: str | None) -> None:
    event = replace(EVENT, reason=reason, memory=memory, prev=None, proposed=None)
    assert event_from_bytes(event_bytes(event)) == event


# B022: an older version keeps what it does not know


def test_unknown_fields_keep_their_place_and_value_through_an_edit() -> None:
    text = memory_bytes(replace(MEMORY, extra={})).decode()
    text = text.replace("status: active\n", "x_model: {name: x, params: [1, 2]} # ours\nstatus: active\n")
    text = text.replace("  audience: team\n", "  audience: team\n  fleet: eu\n")
    text = text.replace("  - type: human\n", "  - type: human\n    media: {type: audio}\n")
    memory = memory_from_bytes(text.encode())
    assert memory.extra == {"x_model": {"name": "x", "params": [1, 2]}}
    assert memory.scope.extra == {"fleet": "eu"}
    assert memory.evidence[5].extra == {"media": {"type": "audio"}}
    edited = edited_bytes(text.encode(), replace(memory, status="stale"))
    assert edited == text.replace("status: active", "status: stale").encode()
    moved = memory_bytes(replace(memory, scope=Scope("shop-k3x9qd", extra=memory.scope.extra)))
    assert memory_from_bytes(moved) == memory


@pytest.mark.parametrize("path", sorted((SHARED / "B022").glob("*.yaml")), ids=str)
def test_the_shared_record_of_the_future_is_refused_whole(path: Path) -> None:
    with pytest.raises(CorruptRecord):
        memory_from_bytes(path.read_bytes())
    with pytest.raises(CorruptRecord, match="format 99"):
        memory_from_bytes(b"format: 99\nid: f1\nconfidence_model: {name: x, params: [1, 2]}\n")
