"""`transcript:`: a record of a captured session, found by what a person types and proved by git alone."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from hashlib import sha256

import pytest

from gitmem.errors import Ambiguous, NotFound, UsageError
from gitmem.evidence.resolvers import expand, resolve
from gitmem.model.nouns import Span, TranscriptRef
from gitmem.store.sessions import stored_session
from tests.evidence.world import SAID, SESSION, Heard, World


def cite(world: World, short: str) -> TranscriptRef:
    ref = expand(short, world.sources())
    assert isinstance(ref, TranscriptRef)
    return ref


def test_a_record_and_a_call_are_cited_by_a_prefix(world: World) -> None:
    said = cite(world, "transcript:8c2f#4d1e0001")
    assert (said.session, said.record, said.speaker) == (f"claude-code/{SESSION}", "4d1e0001", "human")
    assert said.quote and said.quote in SAID[0]["text"]
    shown = cite(world, "transcript:claude-code/8c2f#call_1")
    assert (shown.record, shown.speaker) == ("5aaa0003", "tool")
    asked = cite(world, 'transcript:8c2f#call_1:"retries should be 7"')
    assert (asked.record, asked.speaker) == ("4d1e0002", "assistant")
    assert cite(world, "transcript:8c2f#5aaa").record == "5aaa0003"


def test_what_is_ambiguous_lists_its_candidates(world: World) -> None:
    with pytest.raises(Ambiguous) as caught:
        cite(world, "transcript:8c2f#4d1e")
    assert "4d1e0001" in caught.value.message and "4d1e0002" in caught.value.message
    world.say("8c2f0000-another")
    with pytest.raises(Ambiguous) as caught:
        cite(world, "transcript:8c2f#4d1e0001")
    assert f"claude-code/{SESSION}" in caught.value.message and "claude-code/8c2f0000-another" in caught.value.message
    assert cite(world, "transcript:8c2f6#4d1e0001")


def test_what_is_not_there_is_named(world: World) -> None:
    for short, said in (
        ("transcript:7777#4d1e0001", "no captured session begins with '7777'"),
        ("transcript:8c2f#nothing", "has no record or call 'nothing'"),
        ('transcript:8c2f#5aaa0003:"413 passed"', "does not say '413 passed'"),
    ):
        with pytest.raises(NotFound, match=said):
            cite(world, short)
    for short in ("transcript:8c2f", "transcript:#4d1e0001", 'transcript:8c2f#4d1e0001:""'):
        with pytest.raises(UsageError):
            cite(world, short)


def test_the_digest_is_proved_without_gitmem(world: World) -> None:
    ref = cite(world, "transcript:8c2f#5aaa0003")
    stored = stored_session(world.sources().backend, "claude-code", SESSION)
    assert stored and stored.manifest.last
    proof = stored.proof(stored.manifest.last, ref.span.start, ref.span.end)
    done = subprocess.run(["sh", "-c", proof], cwd=world.repo, capture_output=True, text=True, check=True)
    assert done.stdout.split()[0] == ref.sha256


def test_a_quote_is_word_for_word_as_it_was_said(world: World) -> None:
    """In the bytes it stands with JSON's escapes; what counts are the words."""
    ref = cite(world, 'transcript:8c2f#5aaa0003:"31.20s\n1 warning"')
    found = resolve(ref, world.sources())
    assert found.state == "verified" and found.quoted and "31.20s\n1 warning" in found.text
    assert resolve(replace(ref, quote="31.20s 1 warning"), world.sources()).quoted is False


def test_human_are_only_the_words_of_a_person(world: World) -> None:
    own = cite(world, "transcript:8c2f#4d1e0001")
    assert resolve(own, world.sources("agent")).human
    assert not resolve(replace(own, quote='"who": "human"'), world.sources("agent")).human
    claimed = replace(cite(world, "transcript:8c2f#4d1e0002"), speaker="human")
    found = resolve(claimed, world.sources("terminal"))
    assert (found.state, found.human) == ("changed", False) and "said by assistant" in found.detail
    assert not resolve(own, replace(world.sources(), transcripts=None)).human


def test_what_gitmem_put_in_itself_is_no_evidence(world: World) -> None:
    for short in ("transcript:8c2f#6bbb0004", 'transcript:8c2f#6bbb0004:"The pool has 20 sockets"'):
        with pytest.raises(UsageError, match="gitmem itself"):
            cite(world, short)
    other = cite(world, "transcript:8c2f#5aaa0003")
    stored = stored_session(world.sources().backend, "claude-code", SESSION)
    assert stored and stored.manifest.last
    ours = next(turn for turn in Heard().turns(stored, stored.manifest.last) if turn.speaker == "ours")
    data = stored.span(stored.manifest.last, ours.start, ours.end)
    assert data
    forged = replace(
        other, record=ours.record, span=Span(1, ours.start, ours.end), sha256=sha256(data).hexdigest(),
        speaker="ours", quote="The pool has 20 sockets",
    )  # fmt: skip
    assert resolve(forged, world.sources()).state == "missing"
    assert resolve(other, world.sources()).state == "verified"


def test_other_bytes_other_places_other_clones(world: World) -> None:
    ref = cite(world, "transcript:8c2f#5aaa0003")
    moved = replace(ref, span=Span(1, ref.span.start + 1, ref.span.end))
    assert resolve(moved, world.sources()).state == "changed"
    assert resolve(replace(ref, span=Span(2, 0, 1)), world.sources()).state == "missing"
    assert resolve(replace(ref, span=Span(1, 0, 10**9)), world.sources()).state == "missing"
    assert resolve(replace(ref, record="4d1e0001"), world.sources()).state == "missing"
    assert resolve(replace(ref, session="claude-code/other"), world.sources()).state == "unobservable"
    assert resolve(ref, world.sources()).state == "verified"
